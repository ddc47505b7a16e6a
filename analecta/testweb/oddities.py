"""What is no ordinary page: robots files, sitemaps, traps, the soft 404, the parked domain."""

import gzip
import re
from collections.abc import Sequence
from random import Random

import xxhash

from analecta.testweb import words
from analecta.testweb.addresses import AGENT, Place, sitemaps
from analecta.testweb.links import ENTRIES, Link
from analecta.testweb.pages import frame, listing
from analecta.testweb.plan import Plan, Site
from analecta.testweb.sentences import Voice, some

_OWN_HREF = re.compile(r'href="(/[^"]*)"')


def robots(site: Site) -> str:
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


def sitemap(plan: Plan, site: Site, path: str) -> bytes:
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


def trap(place: Place, site: Site) -> str:
    """A page of an endless section: little text, and links that lead further in."""
    rng = Random(xxhash.xxh3_64_intdigest(place.url.encode()))
    voice = Voice(site.topic, (0, 1, 2), rng, site.language)
    main = f"<h1>{ENTRIES[site.odd].text}</h1>\n<p>{voice.paragraph(3)}</p>\n{listing(_further(site.odd, place.path))}"
    return frame(site, ENTRIES[site.odd].text, main, [Link("/", "Home"), ENTRIES[site.odd]])


def _further(odd: str, path: str) -> Sequence[Link]:
    if odd == "calendar":
        year, month = (int(part) for part in path.split("/")[2:4])
        months = [year * 12 + month - 1 + step for step in (-1, 1, 12)]
        names = ("Last month", "Next month", "Next year")
        return [Link(f"/calendar/{m // 12}/{m % 12 + 1:02d}/", name) for m, name in zip(months, names, strict=True)]
    if odd == "facets":
        chosen = dict(pair.partition("=")[::2] for pair in path.partition("?")[2].split("&") if pair)
        page = int(chosen.get("page", "1")) if chosen.get("page", "1").isdigit() else 1
        facets = [
            ("colour", "red"),
            ("colour", "blue"),
            ("size", "small"),
            ("size", "large"),
            ("sort", "price"),
            ("page", str(page + 1)),
        ]
        # The order of the choices is kept, as careless shops do: the same shelf has many addresses.
        found = [{**{k: v for k, v in chosen.items() if k != name}, name: value} for name, value in facets]
        return [
            Link("/shop/?" + "&amp;".join(f"{k}={v}" for k, v in one.items()), f"{name}: {value}")
            for one, (name, value) in zip(found, facets, strict=True)
        ]
    if odd == "repeating":
        return [Link(f"{path}section/", "Section"), Link(f"{path}part/", "Part")]
    # Written without the leading slash, so that it is joined to wherever we are.
    return [Link(f"news/item-{i}.html", f"News item {i}") for i in range(1, 6)]


def soft_404(site: Site) -> str:
    """The page that a careless site gives, with status 200, for whatever it does not have."""
    main = "<h1>Oops!</h1>\n<p>We are sorry, the page that you are looking for could not be found.</p>"
    return frame(site, "Page not found", main, [Link("/", "Home"), Link("/links-1.html", "Links 1")])


def parked(host: str) -> str:
    """The page of a domain that is for sale: the same for each path."""
    ads = "".join([f'<li><a href="/{ad.replace(" ", "-")}">{ad}</a></li>\n' for ad in some(words.SPAM)])
    return (
        f"<!DOCTYPE html>\n<html><head><title>{host} is for sale</title></head><body><h1>{host}</h1>\n"
        f"<p>This domain may be for sale. Buy this domain today! Related searches:</p>\n"
        f"<ul>\n{ads}</ul></body></html>\n"
    )
