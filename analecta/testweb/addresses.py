"""What stands at an address of the pocket web: a page, a redirect, a trap... One answer for truth and for server."""

import re

import msgspec

from analecta.testweb.links import PARKED
from analecta.testweb.plan import Card, Plan, Site, number_in

AGENT = "analecta"  # the product token that robots files of the pocket web know


class Place(msgspec.Struct, frozen=True):
    """What stands at an address. `kind` is the word that Truth uses."""

    kind: str
    url: str
    path: str
    site: Site | None = None
    card: Card | None = None
    status: int = 200
    location: str = ""
    duplicate_of: str = ""


_TRAPS = {
    "calendar": re.compile(r"/calendar/\d+/\d\d?/"),
    "facets": re.compile(r"/shop/\?[\w=&-]*"),
    "repeating": re.compile(r"/docs/(?:section/|part/)*"),
    "relative": re.compile(r"/news/(?:news/)*(?:item-\d+\.html)?"),
}
_SESSION = re.compile(r"[?&]sid=[0-9a-f]{16}$")


class Gazetteer:
    """Finds places."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def find(self, host: str, path: str) -> Place | None:
        """The place at a host and a path (with query), or None: 404."""
        url = f"http://{host}{path}"
        if host in PARKED:
            return Place("parked", url, path)
        if host in self.plan.mirrors:
            return self._mirrored(url, self.plan.mirrors[host], path)
        if host.startswith("www.") and host[4:] in self.plan.by_host:
            return Place("redirect", url, path, status=301, location=f"http://{host[4:]}{path}")
        site = self.plan.by_host.get(host)
        return self._on_site(url, site, path) if site else None

    def allowed(self, place: Place) -> bool:
        """Whether the robots.txt of the place lets AGENT fetch it."""
        site = place.site
        if site is None or place.path == "/robots.txt" or site.robots == "missing":
            return True
        if site.robots in ("closed", "broken"):
            return False
        return not place.path.startswith(("/private/", "/print/") if site.robots == "agents" else "/private/")

    def _mirrored(self, url: str, site: Site, path: str) -> Place | None:
        original = self._on_site(f"http://{site.host}{path}", site, path)
        if not original or original.status != 200 or original.kind in ("robots", "sitemap"):
            return original and msgspec.structs.replace(original, url=url)
        return msgspec.structs.replace(original, kind="mirror", url=url, duplicate_of=original.url)

    def _on_site(self, url: str, site: Site, path: str) -> Place | None:
        if path == "/robots.txt":
            return Place("robots", url, path, site, status={"missing": 404, "broken": 500}.get(site.robots, 200))
        if path.startswith("/sitemap"):
            return Place("sitemap", url, path, site) if path in sitemaps(site) else None
        if path == "/index.html":
            return Place("redirect", url, path, site, status=301, location="/")
        if path in ("/loop/a", "/loop/b") and site.first == 0:
            return Place("redirect", url, path, site, status=302, location="/loop/b" if path[-1] == "a" else "/loop/a")
        if path.startswith("/gone/"):
            return Place("missing", url, path, site, status=410 if number_in(path) % 2 else 404)
        return self._page(url, site, path) or self._besides(url, site, path) or self._odd(url, site, path)

    def _page(self, url: str, site: Site, path: str) -> Place | None:
        card = self.plan.find(site, path)
        if card:
            source = self.plan.card(card.source).url if card.source >= 0 else ""
            return Place(card.kind, url, path, site, card, duplicate_of=source)
        if path.endswith("?utm_source=newsletter"):
            card = self.plan.find(site, path.partition("?")[0])
            return Place("alias", url, path, site, card, duplicate_of=card.url) if card else None
        return None

    def _besides(self, url: str, site: Site, path: str) -> Place | None:
        """What goes with an article: its old addresses, its print version, its file."""
        local = number_in(path)
        if not site.articles <= local < site.count:
            return None
        card = self.plan.card(site.first + local)
        if card.moved and path == f"/old/{local}":
            return Place("redirect", url, path, site, card, 301, card.path)
        if card.moved == 2 and path == f"/go/{local}":
            return Place("redirect", url, path, site, card, 302, f"/old/{local}")
        if card.printed and path == f"/print/{local}":
            return Place("near-duplicate", url, path, site, card, duplicate_of=card.url)
        if card.file and path == f"/files/{local}.{card.file}":
            return Place("file", url, path, site, card)
        return None

    def _odd(self, url: str, site: Site, path: str) -> Place | None:
        if site.odd == "session" and _SESSION.search(path):
            plain = self._on_site(url, site, _SESSION.sub("", path))
            if plain and plain.status == 200 and plain.kind != "trap":
                return msgspec.structs.replace(
                    plain, kind="trap", path=path, duplicate_of=f"http://{site.host}{plain.path}"
                )
            return plain
        if site.odd in _TRAPS and _TRAPS[site.odd].fullmatch(path):
            return Place("trap", url, path, site)
        return Place("soft-404", url, path, site) if site.odd == "soft-404" else None


def sitemaps(site: Site) -> tuple[str, ...]:
    """The paths of a site's sitemaps, the one that robots.txt names first."""
    return {
        "plain": ("/sitemap.xml",),
        "index": ("/sitemap_index.xml", "/sitemap-1.xml", "/sitemap-2.xml.gz"),
    }.get(site.sitemap, ())
