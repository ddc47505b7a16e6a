"""The pocket web: a small made-up web, the same for the same seed, of which everything is known."""

import gzip
import html
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from email.utils import formatdate
from functools import lru_cache
from itertools import islice

import msgspec
import xxhash
from ada_url import join_url

from analecta.testweb import addresses
from analecta.testweb.addresses import AddressInfo, AddressMap, sitemaps
from analecta.testweb.pages import ENTRIES, PARKED, PageWriter
from analecta.testweb.plan import PageCard, PocketSite, WebPlan
from analecta.testweb.sentences import TOPICS
from analecta.testweb.server import HERE, NAMED, TEXT, ServedResponse

# --- The smallest valid PDF and PNG, written by hand -----------------------------------------------------------------


def pdf(text: str) -> bytes:
    """A PDF of one page with these lines on it."""
    lines = [line.encode("latin-1", "replace") for line in text.split("\n")]
    shown = b"\n".join(b"(%b) '" % line.replace(b"\\", b"").replace(b"(", b"").replace(b")", b"") for line in lines)
    stream = b"BT /F1 11 Tf 14 TL 50 790 Td\n%b\nET" % shown
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>\nstream\n%b\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    )
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(objects) + 1, len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
    return out + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, start)


def png(colour: int) -> bytes:
    """A square PNG of one colour (24 bits)."""
    side = 16

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = b"\0" + (colour & 0xFFFFFF).to_bytes(3, "big") * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(row * side)) + chunk(b"IEND", b"")
    )


# --- The pocket web: a small made-up web, the same for the same seed, of which everything is known -------------------
# A page is written when it is asked for, from (seed, number): a web of 100,000 pages costs no more than its sites.


SHOWN = 20  # good pages of each topic that are listed
KEPT = 2000  # bodies kept, some 15 MB
_HREF = re.compile(r'<a href="([^"]*)"')
_LOC = re.compile(r"<loc>([^<]*)</loc>")
_TYPES = {"pdf": b"application/pdf", "png": b"image/png", "txt": b"text/plain; charset=utf-8"}


class AddressTruth(msgspec.Struct, frozen=True):
    """What is true of an address.

    Kinds: home, hub, authority, page, about; mirror, near-duplicate, alias; redirect, missing; trap, soft-404,
    parked; file, robots, sitemap. `topic` is "" for what is about no topic. `declared` says where the charset
    is named: header, meta, bom, or wrong.
    """

    url: str
    kind: str
    topic: str = ""
    duplicate_of: str = ""
    language: str = "en"
    charset: str = "utf-8"
    links: tuple[str, ...] = ()
    title: str = ""
    status: int = 200
    location: str = ""
    allowed: bool = True  # by robots.txt, for the agent "analecta"
    robots: str = ""  # what meta robots or X-Robots-Tag say
    declared: str = "header"
    orphan: bool = False  # no link leads to it, only a sitemap


class PocketWeb:
    """A web of about `size` pages; `answer` is what a server needs, `truth` what a test needs."""

    def __init__(self, size: int = 3000, seed: int = 1) -> None:
        self.plan = WebPlan(size, seed)
        self.topics = tuple(TOPICS)
        self.places = AddressMap(self.plan)
        self.writer = PageWriter(self.plan)
        self.hosts = (*self.plan.by_host, *self.plan.mirrors, *PARKED)
        self.moods = {site.host: NAMED[site.mood] for site in self.plan.sites if site.mood}
        self._made = lru_cache(KEPT)(self._make)

    def truth(self, url: str, *, links: bool = True) -> AddressTruth | None:
        """What is true of an address, or None where nothing stands."""
        host, _, path = url.partition("://")[2].partition("/")
        place = self.places.find(host, "/" + path)
        return self._truth(place, links) if place else None

    def pages(self, *, links: bool = True) -> Iterator[AddressTruth]:
        """All that can be listed: each page, file, redirect and mirror, and the entries of the traps."""
        for host, path in self._addresses():
            found = self.truth(f"http://{host}{path}", links=links)
            if found:
                yield found

    def seeds(self, topic: str, n: int = 5) -> list[str]:
        """Addresses of good pages about a topic, from different sites as far as they go."""
        sites = [site for site in self.plan.by_topic[topic] if site.language == "en" and site.robots == "plain"]
        most = max(site.count for site in sites)
        order = (
            site.first + site.articles + i for i in range(most) for site in sites if site.articles + i < site.count
        )
        return list(islice((card.url for card in map(self.plan.card, order) if _exemplary(card)), n))

    def listed(self) -> Iterator[str]:
        """The addresses that a search engine would know: what robots may fetch and owners want listed."""
        for one in self.pages(links=False):
            if one.status == 200 and one.allowed and "noindex" not in one.robots:
                yield one.url

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> ServedResponse:
        """The answer of a host to a request; asked as localhost, it lists good pages of each topic."""
        if host in HERE and target == "/":
            rows = (f"{url}\t{topic}\n" for topic in self.topics for url in self.seeds(topic, SHOWN))
            return ServedResponse(200, TEXT, "".join(rows).encode())
        found = self._made(host, target, "gzip" in headers.get("accept-encoding", ""))
        wanted, since = headers.get("if-none-match"), headers.get("if-modified-since")
        line = f"ETag: {wanted}" if wanted else f"Last-Modified: {since}"
        same = (wanted or since) and found.status == 200 and b"%b\r\n" % line.encode() in found.head
        return ServedResponse(304, found.head) if same else found

    def text(self, place: AddressInfo) -> str:
        """The HTML or text that a place shows, before it is encoded."""
        if place.kind == "parked":
            return addresses.parked(place.url.split("/")[2])
        site, card = place.site, place.card
        assert site
        if place.kind == "robots":
            return addresses.robots(site)
        if place.kind == "soft-404":
            return addresses.soft_404(site)
        if card is None:
            return addresses.trap(place, site)
        if card.file and place.path.startswith("/files/"):
            return self.writer.plain(card)
        page = self.writer.printed(card) if place.path.startswith("/print/") else self.writer.page(card)
        return addresses.with_session(page, place.path) if site.odd == "session" else page

    def _make(self, host: str, target: str, packed: bool) -> ServedResponse:
        place = self.places.find(host, target)
        if place is None or (place.status >= 400):
            status = place.status if place else 404
            return ServedResponse(
                status, b"Content-Type: text/html\r\n", b"<title>%d</title><h1>Nothing here</h1>\n" % status
            )
        if place.location:
            return ServedResponse(place.status, b"Location: %b\r\n" % place.location.encode())
        kind, body = self._body(place)
        date = 1_500_000_000 + xxhash.xxh3_64_intdigest(place.path.encode()) % 200_000_000
        head = b'Content-Type: %b\r\nETag: "%b"\r\nLast-Modified: %b\r\n' % (
            kind,
            xxhash.xxh3_64_hexdigest(body).encode(),
            formatdate(date, usegmt=True).encode(),
        )
        if place.card and place.card.robots and place.card.said == "header":
            head += b"X-Robots-Tag: %b\r\n" % place.card.robots.encode()
        if packed and place.site and place.site.rank == 0 and kind.startswith(b"text/"):
            return ServedResponse(200, head + b"Content-Encoding: gzip\r\n", gzip.compress(body, 1, mtime=0))
        return ServedResponse(200, head, body)

    def _body(self, place: AddressInfo) -> tuple[bytes, bytes]:
        """Content type and body."""
        site, card = place.site, place.card
        if place.kind == "sitemap" and site:
            kind = b"application/gzip" if place.path.endswith(".gz") else b"application/xml"
            return kind, addresses.sitemap(self.plan, site, place.path)
        text = self.text(place)
        if place.kind == "robots":
            return b"text/plain", text.encode()
        if card and card.file and place.path.startswith("/files/"):
            return _TYPES[card.file], _file(card.file, text, self.plan.hash(card.n))
        return _content_type(site), text.encode(site.charset if site else "utf-8", "xmlcharrefreplace")

    def _truth(self, place: AddressInfo, links: bool) -> AddressTruth:
        site, card = place.site, place.card
        about = card if place.kind not in ("redirect", "trap", "missing", "robots", "sitemap") else None
        is_page = place.kind not in ("file", "robots", "sitemap")
        return AddressTruth(
            place.url,
            place.kind,
            topic=about.topic if about else "",
            duplicate_of=place.duplicate_of,
            language=site.language if site else "en",
            charset=site.charset if site and is_page else "utf-8",
            links=self._links(place) if links else (),
            title=about.title if about else "",
            status=place.status,
            location=join_url(place.url, place.location) if place.location else "",
            allowed=self.places.allowed(place),
            robots=about.robots if about and not place.path.startswith(("/print/", "/files/")) else "",
            declared=site.declared if site and is_page else "header",
            orphan=bool(card and card.orphan and place.path == card.path),
        )

    def _links(self, place: AddressInfo) -> tuple[str, ...]:
        if place.status != 200 or place.kind in ("file", "robots"):
            return ()
        if place.kind == "sitemap" and place.site:
            data = addresses.sitemap(self.plan, place.site, place.path)
            return tuple(_LOC.findall((gzip.decompress(data) if place.path.endswith(".gz") else data).decode()))
        hrefs = dict.fromkeys(_HREF.findall(self.text(place)))
        return tuple([join_url(place.url, html.unescape(href)) for href in hrefs])

    def _addresses(self) -> Iterator[tuple[str, str]]:
        for site in self.plan.sites:
            yield from ((site.host, path) for path in self._paths(site))
        for host, site in self.plan.mirrors.items():
            yield from ((host, self.plan.card(n).path) for n in range(site.first, site.first + site.count))
        yield from ((host, "/") for host in PARKED)

    def _paths(self, site: PocketSite) -> Iterator[str]:
        yield from ("/robots.txt", "/index.html", *sitemaps(site))
        if site.odd:
            yield ENTRIES[site.odd].href if site.odd in ENTRIES else "/?sid=0123456789abcdef"
        if site.first == 0:
            yield from ("/loop/a", "/loop/b")
        for n in range(site.first, site.first + site.count):
            card = self.plan.card(n)
            yield card.path
            besides = ((card.printed, "print"), (card.moved, "old"), (card.moved == 2, "go"))
            yield from (f"/{name}/{card.local}" for has, name in besides if has)
            if card.file:
                yield f"/files/{card.local}.{card.file}"


def _content_type(site: PocketSite | None) -> bytes:
    """The Content-Type of a site's pages; with `wrong`, it names a charset that they are not in."""
    if site is None or site.declared == "header":
        return b"text/html; charset=%b" % (site.charset if site else "utf-8").encode()
    if site.declared == "wrong":
        return b"text/html; charset=iso-8859-1" if site.charset != "windows-1252" else b"text/html; charset=utf-8"
    return b"text/html"


def _exemplary(card: PageCard) -> bool:
    """Whether a page may stand for its topic: no copy, open to robots, linked."""
    closed = card.path.startswith("/private") or card.robots or card.orphan
    return bool(card.topic) and card.source < 0 and not closed


def _file(kind: str, text: str, colour: int) -> bytes:
    """A file that goes with an article."""
    if kind == "png":
        return png(colour)
    return pdf(text) if kind == "pdf" else text.encode()
