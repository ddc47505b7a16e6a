"""A made-up web of communities: sites, the links between them, and pages that hold these links."""

import html
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from random import Random

import msgspec
import xxhash

from analecta.testweb import sentences
from analecta.testweb.pages import NAMES, WrittenLink, listing
from analecta.testweb.plan import number_in, slug
from analecta.testweb.sentences import SentenceMaker, capital, lexicon, title, titles
from analecta.testweb.server import HERE, TEXT, Mood, ServedResponse

# --- villages --------------------------------------------------------------------------------------------------------
# A web of sites in communities, as links between sites: who belongs together is known, so finders can be measured.
#
# Sites of a community link to one another, mostly to its leading sites, and to some of theirs again and again. Beside
# that a few stray links lead anywhere, neighbouring communities know each other a little, and everybody has the same
# share buttons and licences on all pages. The same numbers always give the same web.


EVERYWHERE = ("share-button", "fast-files", "free-licence", "site-maker", "page-counter", "video-box", "web-fonts",
              "cookie-notice", "map-service", "comment-box", "mail-list", "big-portal")  # fmt: skip
_AT_HOME, _NEXT_DOOR = 0.80, 0.015  # of the links of a site; what is left is stray links and what is everywhere
_STRAY = 0.03
_PER_COMMUNITY = 55  # sites, as in the paper: 11,000 in some 200 communities


class CommunityWeb:
    """About `sites` sites in communities (0: one for 55 sites); `stray` says how many links lead out (0: none)."""

    def __init__(self, sites: int = 11_000, communities: int = 0, seed: int = 1, stray: float = 1.0) -> None:
        self.seed, self.stray = seed, stray
        rng = Random(seed)
        communities = communities or max(4, sites // _PER_COMMUNITY)
        sizes = [rng.lognormvariate(0, 0.5) for _ in range(communities)]
        self.villages = list[range]()  # the numbers of the sites of each, leading ones first
        for size in sizes:
            first = self.villages[-1].stop if self.villages else 0
            self.villages.append(range(first, first + max(8, round(size * sites / sum(sizes)))))
        self.of = [place for place, village in enumerate(self.villages) for _ in village]
        self.count = len(self.of)  # sites that belong to a community
        self.everywhere = [f"{name}.test" for name in EVERYWHERE]
        self.hosts = (*map(self.name, range(self.count)), *self.everywhere)

    def name(self, site: int) -> str:
        """The host of a site."""
        village = self.of[site]
        return f"s{site - self.villages[village].start}.village-{village}.test"

    @cached_property
    def truth(self) -> dict[str, int]:
        """The community of each site that has one."""
        return {self.name(site): village for site, village in enumerate(self.of)}

    @cached_property
    def graph(self) -> dict[str, dict[str, int]]:
        """How many links lead from each site to each other."""
        return {host: self.links(site) for site, host in enumerate(self.hosts)}

    def links(self, site: int) -> dict[str, int]:
        """How many links of a site lead to each other one."""
        if site >= self.count:
            return self._links_of_everywhere(site - self.count)
        rng = Random(self.seed << 32 | site)
        total = min(600, max(12, round(rng.lognormvariate(4.6, 0.8))))  # half of all sites have fewer than 100
        village = self.villages[self.of[site]]
        friends = [self._within(village, rng) for _ in range(rng.randint(5, 12))]
        found: dict[str, int] = {}

        def add(host: str, n: int) -> None:
            if n and host != self.name(site):
                found[host] = found.get(host, 0) + n

        for friend in friends:
            add(self.name(friend), 1)
        for _ in range(max(0, round(total * _AT_HOME) - len(friends))):
            add(self.name(friends[int(len(friends) * rng.random() ** 1.5)]), 1)
        for _ in range(_about(total * _NEXT_DOOR * self.stray, rng)):
            beside = self.villages[(self.of[site] + rng.choice((1, -1))) % len(self.villages)]
            add(self.name(self._within(beside, rng)), 1)
        for _ in range(_about(total * _STRAY * self.stray, rng)):
            add(self.name(rng.randrange(self.count)), 1)
        for place, host in enumerate(self.everywhere):
            if rng.random() < 0.75 / (1 + place / 4):
                add(host, 1 + round(total * rng.uniform(0, 0.06)))
        return found

    def _within(self, village: range, rng: Random) -> int:
        return village[int(len(village) * rng.random() ** 1.6)]

    def _links_of_everywhere(self, place: int) -> dict[str, int]:
        """Half of what is everywhere links to nobody, half to anybody."""
        if place % 2 == 0:
            return {}
        rng = Random(self.seed << 32 | self.count + place)
        links = {self.name(rng.randrange(self.count)): 1 for _ in range(self.count // 100)}
        return links | dict.fromkeys(self.everywhere[place + 1 :], 5)


def _about(mean: float, rng: Random) -> int:
    """A whole number that is this on average."""
    return int(mean) + (rng.random() < mean % 1)


# --- community web ---------------------------------------------------------------------------------------------------
# The villages as a web of pages: every link that is counted between two sites stands on some page of the first.
#
# A site has a front page and more pages the more it links to; the links are dealt out over them. A page lists an
# address only once, for crawlers count it once, so a site that is linked often is linked at many of its pages. The
# same numbers always give the same web.


ROBOTS = b"User-agent: *\nDisallow: /private/\n"
NUMBERS = 100  # pages that a site may be linked at
_A_PAGE, _FEWEST, _MOST = 20, 3, 12  # links of a page to other sites; pages of a site that have such
_WWW = 10  # every tenth site is at home with www
_FAVOURITES = 8  # words that a community keeps coming back to
_HTML = b"Content-Type: text/html; charset=utf-8\r\n"


class WebSite(msgspec.Struct, frozen=True):
    """A site: its host as others call it, its name, what it is about."""

    host: str
    name: str
    topic: str
    favourites: tuple[int, ...]
    www: bool

    @property
    def address(self) -> str:
        """Where its pages are."""
        return f"http://www.{self.host}" if self.www else f"http://{self.host}"


class CommunityWebServer:
    """Serves the sites of some villages; `answer` is what a server needs."""

    def __init__(self, sites: int) -> None:
        self.villages = CommunityWeb(sites)
        self.hosts = self.villages.hosts
        self.numbers = {host: n for n, host in enumerate(self.hosts)}
        self.moods: dict[str, Mood] = {}
        self.home = lru_cache(20_000)(self._home)
        self.dealt = lru_cache(500)(self._dealt)

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> ServedResponse:
        """The answer of a host to a request; asked as localhost, it lists all sites with their communities."""
        if host in HERE:
            return self._listing() if target == "/" else ServedResponse(404, TEXT, b"Nothing here.\n")
        site = self.numbers.get(host.removeprefix("www."))
        if site is None:
            return ServedResponse(404, TEXT, b"There is no such site.\n")
        home = self.home(site)
        if host.startswith("www.") != home.www:
            return ServedResponse(301, b"Location: %b%b\r\n" % (home.address.encode(), target.encode()))
        if target == "/robots.txt":
            return ServedResponse(200, TEXT, ROBOTS)
        page = number_in(target) if target != "/" else 0
        if not 0 <= page < NUMBERS or self.path(site, page) != target:
            return ServedResponse(404, _HTML, b"<title>404</title><h1>Nothing here</h1>\n")
        return ServedResponse(200, _HTML, self.page(site, page).encode())

    def listed(self) -> Iterator[str]:
        """The addresses that a search engine would know: all pages that the sites lead to."""
        for site in range(len(self.hosts)):
            yield from (self.home(site).address + self.path(site, page) for page in range(len(self.dealt(site))))

    def title(self, site: int, page: int) -> str:
        """What a page is called; the front page as its site."""
        home = self.home(site)
        if page == 0:
            return home.name
        bits = self._hash(site, page)
        which, forms = titles(), lexicon(home.topic)
        focus = self._focus(home, bits >> 40)
        return title(which[bits % len(which)], forms, bits >> 8, focus)

    def path(self, site: int, page: int) -> str:
        """Where a page is."""
        return f"/{slug(self.title(site, page))}-{page}.html" if page else "/"

    def page(self, site: int, page: int) -> str:
        """A page: words about what the community likes, the way through the site, links to others."""
        home, bits = self.home(site), self._hash(site, page)
        dealt = self.dealt(site)
        voice = SentenceMaker(home.topic, self._focus(home, bits >> 40), Random(bits))
        parts = [f"<h1>{self.title(site, page)}</h1>"]
        for _ in range(2 + bits % 3):
            parts += [f"<h2>{voice.heading()}</h2>", f"<p>{voice.paragraph(6)}</p>"]
        near = range(1, len(dealt)) if page == 0 else [n for n in (page - 1, page + 1) if 0 < n < len(dealt)]
        own = [WrittenLink(self.path(site, n), html.escape(self.title(site, n))) for n in near]
        parts += ["<h2>On this site</h2>", listing([WrittenLink("/", "Home"), *own])]
        if page < len(dealt):
            parts += ["<h2>Elsewhere</h2>", listing([self._link(site, *link) for link in dealt[page]])]
        head = f"<title>{self.title(site, page)} - {home.name}</title>"
        body = "\n".join(parts)
        return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'

    def _home(self, site: int) -> WebSite:
        host = self.hosts[site]
        village = self.villages.of[site] if site < self.villages.count else -site
        topic = theme(village)
        nouns = lexicon(topic)["n"]
        favourites = Random(self._hash(village, -1)).sample(range(len(nouns)), min(_FAVOURITES, len(nouns)))
        bits = self._hash(site, -2)
        kinds = sentences.ENGLISH["title_words"]
        name = f"The {capital(nouns[favourites[bits % len(favourites)]])} {capital(kinds[(bits >> 8) % len(kinds)])}"
        return WebSite(host, name, topic, tuple(favourites), site % _WWW == 3)

    def _dealt(self, site: int) -> list[list[tuple[int, int]]]:
        """The links to other sites by page: the number of a site, and of the page that is linked there."""
        links = self.villages.links(site)
        pages = min(_MOST, max(_FEWEST, -(-sum(links.values()) // _A_PAGE)))
        dealt: list[list[tuple[int, int]]] = [[] for _ in range(pages)]
        for other, n in links.items():
            number = self.numbers[other]
            begin = self._hash(site, number)
            for i in range(n):
                dealt[(begin + i) % pages].append((number, i // pages))
        return dealt

    def _link(self, site: int, other: int, page: int) -> WrittenLink:
        """A link as it is written: now and then with www, or without, where the other site has it otherwise."""
        home = self.home(other)
        www = home.www if self._hash(site, other) % 8 else not home.www
        text = f"{self.title(other, page)}, {home.name}" if page else home.name
        return WrittenLink(f"http://{'www.' * www}{home.host}{self.path(other, page)}", html.escape(text))

    def _focus(self, home: WebSite, bits: int) -> tuple[int, int, int]:
        own = home.favourites
        return own[bits % len(own)], own[(bits >> 8) % len(own)], own[(bits >> 16) % len(own)]

    def _hash(self, *of: int) -> int:
        return int(xxhash.xxh3_64_intdigest(repr(of).encode(), self.villages.seed))

    def _listing(self) -> ServedResponse:
        rows = (f"http://{host}/\tcommunity {n + 1}\n" for host, n in self.villages.truth.items())
        return ServedResponse(200, TEXT, "".join(rows).encode())


def theme(village: int) -> str:
    """The topic of a community."""
    return NAMES[village % len(NAMES)]
