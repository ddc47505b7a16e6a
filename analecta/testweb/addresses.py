"""What stands at an address of the pocket web: a page, a redirect, a trap, something odd."""

import gzip
import re
from collections.abc import Sequence
from random import Random

import msgspec
import xxhash

from analecta.testweb import sentences
from analecta.testweb.pages import ENTRIES, PARKED, WrittenLink, frame, listing
from analecta.testweb.plan import PageCard, PocketSite, WebPlan, number_in
from analecta.testweb.sentences import SentenceMaker

AGENT = "analecta"  # the product token that robots files of the pocket web know


class AddressInfo(msgspec.Struct, frozen=True):
    """What stands at an address. `kind` is the word that Truth uses."""

    kind: str
    url: str
    path: str
    site: PocketSite | None = None
    card: PageCard | None = None
    status: int = 200
    location: str = ""
    duplicate_of: str = ""


_TRAPS = {
    "calendar": re.compile(r"/calendar/\d+/\d\d?/"),
    "facets": re.compile(r"/shop/\?[\w=&-]*"),
    "repeating": re.compile(r"/docs/(?:section/|part/)*"),
    "relative": re.compile(r"/news/(?:news/)*(?:item-\d+\.html)?"),
}
_LOOP = {"/loop/a": "/loop/b", "/loop/b": "/loop/a"}
_SESSION = re.compile(r"[?&]sid=[0-9a-f]{16}$")


class AddressMap:
    """Finds places."""

    def __init__(self, plan: WebPlan) -> None:
        self.plan = plan

    def find(self, host: str, path: str) -> AddressInfo | None:
        """The place at a host and a path (with query), or None: 404."""
        url = f"http://{host}{path}"
        if host in PARKED:
            return AddressInfo("parked", url, path)
        if host in self.plan.mirrors:
            return self._mirrored(url, self.plan.mirrors[host], path)
        if host.startswith("www.") and host[4:] in self.plan.by_host:
            return AddressInfo("redirect", url, path, status=301, location=f"http://{host[4:]}{path}")
        site = self.plan.by_host.get(host)
        return self._on_site(url, site, path) if site else None

    def allowed(self, place: AddressInfo) -> bool:
        """Whether the robots.txt of the place lets AGENT fetch it."""
        site = place.site
        if site is None or place.path == "/robots.txt" or site.robots == "missing":
            return True
        if site.robots in ("closed", "broken"):
            return False
        return not place.path.startswith(("/private/", "/print/") if site.robots == "agents" else "/private/")

    def _mirrored(self, url: str, site: PocketSite, path: str) -> AddressInfo | None:
        original = self._on_site(f"http://{site.host}{path}", site, path)
        if not original or original.status != 200 or original.kind in ("robots", "sitemap"):
            return original and msgspec.structs.replace(original, url=url)
        return msgspec.structs.replace(original, kind="mirror", url=url, duplicate_of=original.url)

    def _on_site(self, url: str, site: PocketSite, path: str) -> AddressInfo | None:
        if path == "/robots.txt":
            return AddressInfo("robots", url, path, site, status={"missing": 404, "broken": 500}.get(site.robots, 200))
        if path.startswith("/sitemap"):
            return AddressInfo("sitemap", url, path, site) if path in sitemaps(site) else None
        if path == "/index.html":
            return AddressInfo("redirect", url, path, site, status=301, location="/")
        if path in _LOOP and site.first == 0:
            return AddressInfo("redirect", url, path, site, status=302, location=_LOOP[path])
        if path.startswith("/gone/"):
            return AddressInfo("missing", url, path, site, status=410 if number_in(path) % 2 else 404)
        return self._page(url, site, path) or self._besides(url, site, path) or self._odd(url, site, path)

    def _page(self, url: str, site: PocketSite, path: str) -> AddressInfo | None:
        card = self.plan.find(site, path)
        if card:
            source = self.plan.card(card.source).url if card.source >= 0 else ""
            return AddressInfo(card.kind, url, path, site, card, duplicate_of=source)
        if path.endswith("?utm_source=newsletter"):
            card = self.plan.find(site, path.partition("?")[0])
            return AddressInfo("alias", url, path, site, card, duplicate_of=card.url) if card else None
        return None

    def _besides(self, url: str, site: PocketSite, path: str) -> AddressInfo | None:
        """What goes with an article: its old addresses, its print version, its file."""
        local = number_in(path)
        if not site.articles <= local < site.count:
            return None
        card = self.plan.card(site.first + local)
        if card.moved and path == f"/old/{local}":
            return AddressInfo("redirect", url, path, site, card, 301, card.path)
        if card.moved == 2 and path == f"/go/{local}":
            return AddressInfo("redirect", url, path, site, card, 302, f"/old/{local}")
        if card.printed and path == f"/print/{local}":
            return AddressInfo("near-duplicate", url, path, site, card, duplicate_of=card.url)
        if card.file and path == f"/files/{local}.{card.file}":
            return AddressInfo("file", url, path, site, card)
        return None

    def _odd(self, url: str, site: PocketSite, path: str) -> AddressInfo | None:
        if site.odd == "session" and _SESSION.search(path):
            plain = self._on_site(url, site, _SESSION.sub("", path))
            if plain and plain.status == 200 and plain.kind != "trap":
                return msgspec.structs.replace(
                    plain, kind="trap", path=path, duplicate_of=f"http://{site.host}{plain.path}"
                )
            return plain
        if site.odd in _TRAPS and _TRAPS[site.odd].fullmatch(path):
            return AddressInfo("trap", url, path, site)
        return AddressInfo("soft-404", url, path, site) if site.odd == "soft-404" else None


def sitemaps(site: PocketSite) -> tuple[str, ...]:
    """The paths of a site's sitemaps, the one that robots.txt names first."""
    return {
        "plain": ("/sitemap.xml",),
        "index": ("/sitemap_index.xml", "/sitemap-1.xml", "/sitemap-2.xml.gz"),
    }.get(site.sitemap, ())


# --- What is no ordinary page: robots files, sitemaps, traps, the soft 404, the parked domain ------------------------


_OWN_HREF = re.compile(r'href="(/[^"]*)"')
_FACETS = (("colour", "red"), ("colour", "blue"), ("size", "small"), ("size", "large"), ("sort", "price"))


def robots(site: PocketSite) -> str:
    """The robots.txt of a site."""
    if site.robots == "closed":
        return "User-agent: *\nDisallow: /\n"
    groups = {
        "delay": "User-agent: *\nCrawl-delay: 0.5\nDisallow: /private/\n",
        "agents": f"User-agent: *\nDisallow: /\n\nUser-agent: GreedyBot\nUser-agent: {AGENT}\n"
        "Disallow: /private/\nDisallow: /print/\n",
    }
    named = [f"Sitemap: http://{site.host}{path}\n" for path in sitemaps(site)[:1]]
    return (
        "# Welcome, robots.\n" + groups.get(site.robots, "User-agent: *\nDisallow: /private/\n") + "\n" + "".join(named)
    )


def sitemap(plan: WebPlan, site: PocketSite, path: str) -> bytes:
    """A sitemap of a site: of its articles, also of those that no link leads to."""
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    if path == "/sitemap_index.xml":
        parts = "".join([f"<sitemap><loc>http://{site.host}{part}</loc></sitemap>\n" for part in sitemaps(site)[1:]])
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex {space}>\n{parts}</sitemapindex>\n'.encode()
    numbers = range(site.first + site.articles, site.first + site.count)
    if site.sitemap == "index":
        half = len(numbers) // 2
        numbers = numbers[:half] if path == "/sitemap-1.xml" else numbers[half:]
    rows = "".join([f"<url><loc>{plan.card(n).url}</loc></url>\n" for n in numbers])
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {space}>\n{rows}</urlset>\n'.encode()
    return gzip.compress(text, mtime=0) if path.endswith(".gz") else text


def with_session(html: str, path: str) -> str:
    """The page with a new session id in each link of its own site."""

    def renewed(found: re.Match[str]) -> str:
        href = found[1]
        sid = xxhash.xxh3_64_hexdigest((path + href).encode())
        return f'href="{href}{"&amp;" if "?" in href else "?"}sid={sid}"'

    return _OWN_HREF.sub(renewed, html)


def trap(place: AddressInfo, site: PocketSite) -> str:
    """A page of an endless section: little text, and links that lead further in."""
    rng = Random(xxhash.xxh3_64_intdigest(place.url.encode()))
    voice = SentenceMaker(site.topic, (0, 1, 2), rng, site.language)
    main = f"<h1>{ENTRIES[site.odd].text}</h1>\n<p>{voice.paragraph(3)}</p>\n{listing(_further(site.odd, place.path))}"
    return frame(site, ENTRIES[site.odd].text, main, [WrittenLink("/", "Home"), ENTRIES[site.odd]])


def _further(odd: str, path: str) -> Sequence[WrittenLink]:
    if odd == "calendar":
        year, month = (int(part) for part in path.split("/")[2:4])
        steps = {"Last month": -1, "Next month": 1, "Next year": 12}
        months = {name: year * 12 + month - 1 + step for name, step in steps.items()}
        return [WrittenLink(f"/calendar/{m // 12}/{m % 12 + 1:02d}/", name) for name, m in months.items()]
    if odd == "facets":
        chosen = dict(pair.partition("=")[::2] for pair in path.partition("?")[2].split("&") if pair)
        page = int(chosen.get("page", "1")) if chosen.get("page", "1").isdigit() else 1
        found = []
        for name, value in (*_FACETS, ("page", str(page + 1))):
            # The order of the choices is kept, as careless shops do: the same shelf has many addresses.
            now = {key: other for key, other in chosen.items() if key != name} | {name: value}
            query = "&amp;".join(f"{key}={other}" for key, other in now.items())
            found.append(WrittenLink(f"/shop/?{query}", f"{name}: {value}"))
        return found
    if odd == "repeating":
        return [WrittenLink(f"{path}section/", "Section"), WrittenLink(f"{path}part/", "Part")]
    # Written without the leading slash, so that it is joined to wherever we are.
    return [WrittenLink(f"news/item-{i}.html", f"News item {i}") for i in range(1, 6)]


def soft_404(site: PocketSite) -> str:
    """The page that a careless site gives, with status 200, for whatever it does not have."""
    main = "<h1>Oops!</h1>\n<p>We are sorry, the page that you are looking for could not be found.</p>"
    return frame(site, "Page not found", main, [WrittenLink("/", "Home"), WrittenLink("/links-1.html", "Links 1")])


def parked(host: str) -> str:
    """The page of a domain that is for sale: the same for each path."""
    ads = "".join([f'<li><a href="/{ad.replace(" ", "-")}">{ad}</a></li>\n' for ad in sentences.ENGLISH["spam"]])
    return (
        f"<!DOCTYPE html>\n<html><head><title>{host} is for sale</title></head><body><h1>{host}</h1>\n"
        f"<p>This domain may be for sale. Buy this domain today! Related searches:</p>\n"
        f"<ul>\n{ads}</ul></body></html>\n"
    )
