"""The plan of the pocket web: which sites there are and what page number n is. Arithmetic only, nothing is stored.

A site owns a run of page numbers; within it number 0 is the home page, then hubs, about, privacy and articles.
What an article is (a copy, an orphan, forbidden...) follows from the bits of a hash of (seed, n).
To plant further structure (communities), add sites with their own `peers`.
"""

import re
from bisect import bisect_right
from functools import lru_cache
from random import Random

import msgspec
import xxhash

from analecta.testweb import sentences
from analecta.testweb.sentences import TOPICS, capital, lexicon, title, titles

MIRRORS = 3
ASKS = {0: "noindex", 1: "nofollow", 2: "noarchive", 3: "noindex, nofollow"}  # of 40 articles
# What sets the second site of each topic apart, in the order of the topics.
ODD = ("calendar", "session", "facets", "repeating", "relative", "soft-404")
ROBOTS = ("plain",) * 6 + ("broken", "missing", "closed", "delay", "agents", "plain")
MOODS = ("",) * 7 + ("slow", "", "limited", "busy", "cutting")


class PocketSite(msgspec.Struct, frozen=True):
    """A host of the pocket web."""

    host: str
    name: str
    topic: str
    rank: int  # 0 is the topic's most linked site
    style: int  # how its URLs look
    first: int  # its page numbers are first .. first + count - 1
    count: int
    language: str = "en"
    charset: str = "utf-8"
    declared: str = "header"  # header, meta, bom or wrong
    robots: str = "plain"  # plain, delay, agents, closed, missing (404) or broken (500)
    sitemap: str = ""  # plain or index
    odd: str = ""  # one of ODD
    mood: str = ""
    hubs: int = 1  # how many link lists it has
    articles: int = 2  # the place of its first article among its pages


class PageCard(msgspec.Struct, frozen=True):
    """What is known of a page without writing it."""

    n: int
    site: PocketSite
    local: int
    kind: str
    topic: str
    title: str
    path: str
    focus: tuple[int, int, int] = (0, 1, 2)
    source: int = -1  # the page that this one copies, for a near-duplicate
    orphan: bool = False  # only a sitemap leads to it
    printed: bool = False  # has a print version
    moved: int = 0  # how many redirects its old address takes
    file: str = ""  # pdf, png or txt: a file that goes with it
    robots: str = ""  # what it asks of robots
    said: str = "meta"  # where it asks: meta or header

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{self.site.host}{self.path}"


class WebPlan:
    """Sites and pages of a web of about `size` pages."""

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seed = size, seed
        self.sites = tuple(_sites(size, Random(seed)))
        self.count = self.sites[-1].first + self.sites[-1].count
        self.by_host = {site.host: site for site in self.sites}
        self.by_topic = {topic: [site for site in self.sites if site.topic == topic] for topic in TOPICS}
        # Some leading sites are mirrored, each under another name.
        self.mirrors = {f"mirror-{i}.test": self.sites[3 * i] for i in range(MIRRORS)}
        self._first = [site.first for site in self.sites]
        self.card = lru_cache(50_000)(self._card)  # what page n is; some 20 MB

    def find(self, site: PocketSite, path: str) -> PageCard | None:
        """The page that has this path, if any."""
        if path == "/":
            return self.card(site.first)
        if path in ("/about.html", "/privacy.html") and site.count >= 6:
            return self.card(site.first + site.articles - (2 if path == "/about.html" else 1))
        local = number_in(path)
        if not 0 < local < site.count:
            return None
        card = self.card(site.first + local)
        return card if card.path == path else None

    def hash(self, n: int, salt: bytes = b"") -> int:
        """64 random bits for page n."""
        return int(xxhash.xxh3_64_intdigest(b"%d %b" % (n, salt), self.seed))

    def _card(self, n: int) -> PageCard:
        site = self.sites[bisect_right(self._first, n) - 1]
        local = n - site.first
        if local == 0:
            return PageCard(n, site, local, "home", site.topic, site.name, "/")
        if local <= site.hubs:
            return PageCard(
                n, site, local, "hub", site.topic, f"Links: {site.topic}, part {local}", f"/links-{local}.html"
            )
        if local < site.articles:
            kind = ("about", "privacy")[local - site.articles + 2]
            return PageCard(n, site, local, "about", "", f"{capital(kind)}: {site.name}", f"/{kind}.html")
        return self._article(n, site, local)

    def _article(self, n: int, site: PocketSite, local: int) -> PageCard:
        bits, order = self.hash(n), local - site.articles
        plain = order < 3 and (site.rank < 3 or order == 0)
        kind, source, topic = "page", -1, site.topic
        if plain:
            kind = "authority" if site.rank < 3 and site.language == "en" else "page"
        elif site.language == "en" and bits % 100 < 3:
            kind, source = "near-duplicate", self._original(site, bits)
        elif site.language == "en" and bits % 100 < 7:
            topic = ""
        forms = lexicon(site.topic, site.language)
        spread = self.hash(n if source < 0 else source, b"title")
        size = len(forms["ns"])
        focus = (spread % size, (spread >> 8) % size, (spread >> 16) % size)
        which = titles(site.language)
        name = title(which[(spread >> 24) % len(which)], forms, spread >> 30, focus)
        if not topic:
            name = f"Members' news, {forms['year'][bits % 50]}"
        asks = "" if plain else ASKS.get((bits >> 50) % 40, "")
        private = not plain and (bits >> 20) % 40 == 0
        path = _path(site, local, name, bits)
        return PageCard(
            n,
            site,
            local,
            kind,
            topic,
            name,
            "/private" + path if private else path,
            focus,
            source,
            orphan=bool(site.sitemap) and not plain and (bits >> 10) % 16 == 0,
            printed=source < 0 and not private and (bits >> 26) % 16 == 0,
            moved={0: 2, 1: 1, 2: 1}.get((bits >> 32) % 42, 0) if not private else 0,
            file={0: "pdf", 1: "png", 2: "txt"}.get((bits >> 40) % 60, ""),
            robots=asks,
            said="header" if (bits >> 57) % 2 else "meta",
        )

    def _original(self, site: PocketSite, bits: int) -> int:
        """The page on another site that a near-duplicate copies: always one that is no copy itself."""
        others = [other for other in self.by_topic[site.topic][:4] if other is not site and other.language == "en"]
        other = others[(bits >> 8) % len(others)]
        safe = min(3 if other.rank < 3 else 1, other.count - other.articles)
        return other.first + other.articles + (bits >> 14) % max(1, safe)


_NUMBER = re.compile(r"(\d+)(?:/|\.html?|\.pdf|\.png|\.txt)?$")


def number_in(path: str) -> int:
    """The number that ends a path, or -1."""
    found = _NUMBER.search(path)
    return int(found[1]) if found and len(found[1]) < 9 else -1


def slug(text: str) -> str:
    """A title as it stands in a URL."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "page"


def _path(site: PocketSite, local: int, name: str, bits: int) -> str:
    words = slug(name)
    return (
        f"/articles/{words}-{local}.html",
        f"/{1998 + bits % 27}/{words}-{local}/",
        f"/view.php?id={local}",
        f"/{words}-{local}",
        f"/{('guides', 'stories', 'questions')[bits % 3]}/{words}-{local}.htm",
    )[site.style]


def _sites(size: int, rng: Random) -> list[PocketSite]:
    ranks = max(2, size // 600)
    foreign = max(2, size // 200)
    abroad = [
        (language, topic, *declared)
        for language, one in sentences.LANGUAGES.items()
        for topic, declared in zip(one["nouns"], one["sites"], strict=True)
    ]
    shares = [1 / (1 + rank) ** 0.6 for rank in range(ranks)]
    pages = max(0, size - foreign * len(abroad)) / len(TOPICS) / sum(shares)
    sites: list[PocketSite] = []
    taken: set[str] = set()

    def add(topic: str, rank: int, count: int, **more: str) -> None:
        word = rng.choice(
            sentences.ENGLISH["host_words"] if rank % 3 == 1 else [slug(noun) for noun in lexicon(topic)["n"]]
        )
        kind = rng.choice(sentences.ENGLISH["title_words"])
        host = f"{word}-{kind}.test"
        if host in taken:
            host = f"{word}-{kind}-{len(sites)}.test"
        taken.add(host)
        name = f"The {capital(word.replace('-', ' '))} {capital(kind)}"
        first = sites[-1].first + sites[-1].count if sites else 0
        hubs = 1 + count // 40
        articles = 1 + hubs + (2 if count >= 6 else 0)
        sites.append(
            PocketSite(host, name, topic, rank, len(sites) % 5, first, count, hubs=hubs, articles=articles, **more)
        )

    for rank in range(ranks):
        for i, topic in enumerate(TOPICS):
            more = {"sitemap": "plain"} if (i + rank) % 3 == 0 else {}
            if rank == 1:
                more |= {"robots": ROBOTS[i], "mood": MOODS[i], "odd": ODD[i] if i < len(ODD) else ""}
                more |= {"sitemap": "index"} if i == len(TOPICS) - 1 else {}
            add(topic, rank, max(3, round(pages * shares[rank] * rng.uniform(0.7, 1.3))), **more)
    for language, topic, charset, declared in abroad:
        add(topic, ranks, foreign, language=language, charset=charset, declared=declared)
    return sites
