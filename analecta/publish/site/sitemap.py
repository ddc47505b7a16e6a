"""Files for machines that want whole addresses: sitemap 0.9, OpenSearch 1.1, robots.txt. Only with a base URL."""

from collections.abc import Iterator

from analecta.publish.site.content import Site, community_path
from analecta.publish.site.markup import Html, joined, node
from analecta.text.words import iso

_HEAD = Html('<?xml version="1.0" encoding="utf-8"?>\n')
_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
_SEARCH = "http://a9.com/-/spec/opensearch/1.1/"


def machine_files(site: Site) -> Iterator[tuple[str, str]]:
    """The files, by their paths."""
    if site.base_url:
        yield "sitemap.xml", sitemap(site)
        yield "opensearch.xml", opensearch(site)
        yield "robots.txt", f"User-agent: *\nAllow: /\n\nSitemap: {site.base_url}sitemap.xml\n"


def sitemap(site: Site) -> str:
    """The front page, the collections, the communities and the list of titles; copies are not ours to be found by."""
    pages = [("index.html", site.made), ("titles.html", site.made)]
    pages += [
        (shelf.path, max((entry.item.fetched_at for entry in shelf.ranked), default=site.made))
        for shelf in site.shelves
    ]
    if site.communities:
        pages += [(path, site.made) for path in ("communities.html", *map(community_path, site.communities))]
    urls = (node("url", node("loc", site.base_url + path), node("lastmod", iso(at))) for path, at in pages)
    return _HEAD + node("urlset", joined(urls, Html("\n")), xmlns=_SITEMAP) + "\n"


def opensearch(site: Site) -> str:
    """How a browser asks the search."""
    parts = (
        node("ShortName", site.title[:16]),
        node("LongName", site.title[:48]),
        node("Description", f"Search the library {site.title}"[:1024]),
        node("Url", type="text/html", method="get", template=f"{site.base_url}search.html?q={{searchTerms}}"),
        node("InputEncoding", "UTF-8"),
        node("OutputEncoding", "UTF-8"),
    )
    return _HEAD + node("OpenSearchDescription", joined(parts, Html("\n")), xmlns=_SEARCH) + "\n"
