"""The villages as a web of pages: every link that is counted between two sites stands on some page of the first.

A site has a front page and more pages the more it links to; the links are dealt out over them. A page lists an address
only once, for crawlers count it once, so a site that is linked often is linked at many of its pages. The same numbers
always give the same web.
"""

import html
from collections.abc import Iterator, Mapping
from functools import lru_cache
from random import Random

import msgspec
import xxhash

from analecta.testweb import words
from analecta.testweb.moods import Mood
from analecta.testweb.plan import number_in, slug
from analecta.testweb.sentences import Voice, capital, lexicon, some, title, titles
from analecta.testweb.server import HERE, Response
from analecta.testweb.villages import Villages
from analecta.testweb.words import TOPICS

ROBOTS = b"User-agent: *\nDisallow: /private/\n"
NUMBERS = 100  # pages that a site may be linked at
_A_PAGE, _FEWEST, _MOST = 20, 3, 12  # links of a page to other sites; pages of a site that have such
_WWW = 10  # every tenth site is at home with www
_FAVOURITES = 8  # words that a community keeps coming back to
_NAMES = tuple(TOPICS)
_TEXT = b"Content-Type: text/plain; charset=utf-8\r\n"
_HTML = b"Content-Type: text/html; charset=utf-8\r\n"

Links = list[tuple[str, str]]  # address and words


class Home(msgspec.Struct, frozen=True):
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


class VillagesWeb:
    """Serves the sites of some villages; `answer` is what a server needs."""

    def __init__(self, sites: int = 1100, communities: int = 0, seed: int = 1, stray: float = 1.0) -> None:
        self.villages = Villages(sites, communities, seed, stray)
        self.seed = seed
        names = [*map(self.villages.name, range(self.villages.count)), *self.villages.everywhere]
        self.numbers = {host: n for n, host in enumerate(names)}
        self.hosts = tuple(names)
        self.moods: dict[str, Mood] = {}
        self.home = lru_cache(20_000)(self._home)
        self.dealt = lru_cache(500)(self._dealt)

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> Response:
        """The answer of a host to a request; asked as localhost, it lists all sites with their communities."""
        if host in HERE:
            return self._listing() if target == "/" else Response(404, _TEXT, b"Nothing here.\n")
        site = self.numbers.get(host.removeprefix("www."))
        if site is None:
            return Response(404, _TEXT, b"There is no such site.\n")
        home = self.home(site)
        if host.startswith("www.") != home.www:
            return Response(301, b"Location: %b%b\r\n" % (home.address.encode(), target.encode()))
        if target == "/robots.txt":
            return Response(200, _TEXT, ROBOTS)
        page = number_in(target) if target != "/" else 0
        if not 0 <= page < NUMBERS or self.path(site, page) != target:
            return Response(404, _HTML, b"<title>404</title><h1>Nothing here</h1>\n")
        return Response(200, _HTML, self.page(site, page).encode())

    def listed(self) -> Iterator[str]:
        """The addresses that a search engine would know: all pages that the sites lead to."""
        for site in range(len(self.hosts)):
            yield from (self.home(site).address + self.path(site, page) for page in range(len(self.dealt(site))))

    def links(self, site: int) -> dict[str, int]:
        """How many links of a site lead to each other one."""
        own = self.villages.count
        return self.villages.links(site) if site < own else self.villages.links_of_everywhere(site - own)

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
        voice = Voice(home.topic, self._focus(home, bits >> 40), Random(bits))
        parts = [f"<h1>{self.title(site, page)}</h1>"]
        for _ in range(2 + bits % 3):
            parts += [f"<h2>{voice.heading()}</h2>", f"<p>{voice.paragraph(6)}</p>"]
        near = range(1, len(dealt)) if page == 0 else [n for n in (page - 1, page + 1) if 0 < n < len(dealt)]
        own = [(self.path(site, n), self.title(site, n)) for n in near]
        parts += ["<h2>On this site</h2>", _listed([("/", "Home"), *own])]
        if page < len(dealt):
            parts += ["<h2>Elsewhere</h2>", _listed([self._link(site, *link) for link in dealt[page]])]
        head = f"<title>{self.title(site, page)} - {home.name}</title>"
        body = "\n".join(parts)
        return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'

    def _home(self, site: int) -> Home:
        host = self.hosts[site]
        village = self.villages.of[site] if site < self.villages.count else -site
        topic = theme(village)
        nouns = lexicon(topic)["n"]
        favourites = Random(self._hash(village, -1)).sample(range(len(nouns)), min(_FAVOURITES, len(nouns)))
        bits = self._hash(site, -2)
        kinds = some(words.TITLE_WORDS)
        name = f"The {capital(nouns[favourites[bits % len(favourites)]])} {capital(kinds[(bits >> 8) % len(kinds)])}"
        return Home(host, name, topic, tuple(favourites), site % _WWW == 3)

    def _dealt(self, site: int) -> list[list[tuple[int, int]]]:
        """The links to other sites by page: the number of a site, and of the page that is linked there."""
        links = self.links(site)
        pages = min(_MOST, max(_FEWEST, -(-sum(links.values()) // _A_PAGE)))
        dealt: list[list[tuple[int, int]]] = [[] for _ in range(pages)]
        for other, n in links.items():
            number = self.numbers[other]
            begin = self._hash(site, number)
            for i in range(n):
                dealt[(begin + i) % pages].append((number, i // pages))
        return dealt

    def _link(self, site: int, other: int, page: int) -> tuple[str, str]:
        """A link as it is written: now and then with www, or without, where the other site has it otherwise."""
        home = self.home(other)
        www = home.www if self._hash(site, other) % 8 else not home.www
        text = f"{self.title(other, page)}, {home.name}" if page else home.name
        return f"http://{'www.' * www}{home.host}{self.path(other, page)}", text

    def _focus(self, home: Home, bits: int) -> tuple[int, int, int]:
        own = home.favourites
        return own[bits % len(own)], own[(bits >> 8) % len(own)], own[(bits >> 16) % len(own)]

    def _hash(self, *of: int) -> int:
        return int(xxhash.xxh3_64_intdigest(repr(of).encode(), self.seed))

    def _listing(self) -> Response:
        rows = (f"http://{host}/\tcommunity {n + 1}\n" for host, n in self.villages.truth.items())
        return Response(200, _TEXT, "".join(rows).encode())


def theme(village: int) -> str:
    """The topic of a community."""
    return _NAMES[village % len(_NAMES)]


def _listed(links: Links) -> str:
    rows = "".join([f'<li><a href="{href}">{html.escape(text)}</a></li>\n' for href, text in links])
    return f"<ul>\n{rows}</ul>"
