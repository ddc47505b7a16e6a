"""The maps of a site's topics (P10), where `analecta analyse` has been there; their copies are the site's own."""

from collections.abc import Iterator

from analecta.publish.map import copies_of, map_page
from analecta.publish.site.content import Site
from analecta.store.library import Library
from analecta.views.clusters import analysis_path, load

WHOLE = "maps/all-topics.html"


def map_path(library: Library, topic: str, slug: str) -> str:
    """Where the map of a topic will be; "" where nobody has analysed it."""
    if not analysis_path(library, topic).exists():
        return ""
    return f"maps/{slug}.html" if topic else WHOLE


def map_files(library: Library, site: Site) -> Iterator[tuple[str, str]]:
    """The maps, by their paths."""
    urls = {entry.item.id: f"../{entry.copy}" for _, entry in site.entries if entry.copy}
    wanted = [(shelf.topic, shelf.map) for shelf in site.shelves] + [("", site.map)]
    with library.shards() as shards:
        for topic, path in wanted:
            if path and (analysis := load(library, topic)):
                kept, texts = copies_of(shards, analysis)
                yield path, map_page(kept, topic or site.title, texts if site.copies else {}, urls, site.near.homes)
