"""What other programs read of a site: Atom feeds (RFC 4287), the sitemap, robots.txt."""

import uuid
from collections.abc import Iterator, Sequence

from analecta.publish.site.content import SiteContent, SiteItem, TopicPage, community_path
from analecta.publish.templates import render_xml

MOST = 50  # entries of a feed


def topic_feed(site: SiteContent, shelf: TopicPage) -> str:
    """The newest pages of a topic."""
    found = [(shelf, entry) for entry in shelf.ranked]
    return _feed(site, f"{shelf.topic} · {site.title}", shelf.feed, shelf.path, f"{site.library}\n{shelf.topic}", found)


def whole_feed(site: SiteContent) -> str:
    """The newest pages of all topics."""
    return _feed(site, site.title, "feeds/all.xml", "index.html", site.library, site.found)


def newest(entries: Sequence[tuple[TopicPage, SiteItem]], most: int) -> list[tuple[TopicPage, SiteItem]]:
    """Those that were fetched last."""
    return sorted(entries, key=lambda one: (-one[1].item.fetched_at, one[1].item.url))[:most]


def urn(name: str) -> str:
    """An id that is the same for the same name, always."""
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}"


def _feed(
    site: SiteContent, title: str, path: str, page: str, name: str, found: Sequence[tuple[TopicPage, SiteItem]]
) -> str:
    entries = newest(found, MOST)
    updated = entries[0][1].item.fetched_at if entries else site.made
    return render_xml(
        "atom.xml", site=site, title=title, path=path, page=page, name=name, updated=updated, entries=entries, urn=urn
    )


def machine_files(site: SiteContent) -> Iterator[tuple[str, str]]:
    """Files that want whole addresses, by their paths: sitemap 0.9, OpenSearch 1.1, robots.txt."""
    if site.base_url:
        yield "sitemap.xml", render_xml("sitemap.xml", site=site, pages=_sitemap(site))
        yield "opensearch.xml", render_xml("opensearch.xml", site=site)
        yield "robots.txt", f"User-agent: *\nAllow: /\n\nSitemap: {site.base_url}sitemap.xml\n"


def _sitemap(site: SiteContent) -> list[tuple[str, float]]:
    """The front page, the collections, the communities and the list of titles; copies are not ours to be found by."""
    pages = [("index.html", site.made), ("titles.html", site.made)]
    pages += [
        (shelf.path, max((entry.item.fetched_at for entry in shelf.ranked), default=site.made))
        for shelf in site.shelves
    ]
    if site.communities:
        pages += [(path, site.made) for path in ("communities.html", *map(community_path, site.communities))]
    return pages
