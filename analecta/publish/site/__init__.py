"""A library as a static site (S13): it needs no network to be read, and stands wherever it is put.

`read_site` reads all that is shown from the library; the pages are functions of that; `write_folder` puts them in
place. The same library gives the same bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from analecta.communities.view import CommunityIndex, index_communities
from analecta.publish.map import copies_of, map_page
from analecta.publish.site import pages
from analecta.publish.site.content import SiteContent, SiteOptions, community_path, hoods, read_site
from analecta.publish.site.copies import copy_page
from analecta.publish.site.feeds import machine_files, topic_feed, whole_feed
from analecta.publish.site_folder import check_site, write_folder
from analecta.store.library import LibraryFolder
from analecta.views.clusters import load
from analecta.views.collections import Collection, CollectionItem, with_communities

_BEST = 20  # pages of a community
_ASSETS = ("style.css", "search.js", "icon.svg")


class Published(msgspec.Struct, frozen=True):
    """What was written."""

    folder: str
    topics: int
    items: int
    copies: int
    files: int


def publish(library: LibraryFolder, folder: Path, wishes: SiteOptions = SiteOptions()) -> Published:
    """Write the site of a library."""
    check_site(folder)
    homes = index_communities(library)
    found, best = with_communities(library, homes, wishes.most, wishes.per_host, _BEST)
    return write_site(library, folder, found, homes, best, wishes)


def write_site(
    library: LibraryFolder,
    folder: Path,
    found: Sequence[Collection],
    homes: CommunityIndex,
    best: Mapping[int, Sequence[CollectionItem]],
    wishes: SiteOptions = SiteOptions(),
) -> Published:
    """Write the site of these collections, and of the `best` pages of each community."""
    site = read_site(library, found, homes, best, wishes)
    count = write_folder(folder, _files(library, site))
    entries = site.entries
    copies = sum(bool(entry.copy) for _, entry in entries)
    return Published(str(folder), len(site.shelves), len(entries), copies, count)


def _files(library: LibraryFolder, site: SiteContent) -> Iterator[tuple[str, str]]:
    yield "index.html", pages.front_page(site)
    yield "titles.html", pages.titles_page(site)
    yield "search.html", pages.search_page(site)
    yield "search-data.js", pages.search_data(site)
    yield "feeds/all.xml", whole_feed(site)
    for name in _ASSETS:
        yield name, files("analecta.publish.site").joinpath("assets", name).read_text("utf-8")
    if chart := pages.overview_chart(site):
        yield "history.svg", chart
    if site.base_url:
        yield "404.html", pages.missing_page(site)
    yield from machine_files(site)
    yield from _shelves(site)
    yield from _communities(site)
    yield from _copies(library, site)
    yield from _maps(library, site)


def _shelves(site: SiteContent) -> Iterator[tuple[str, str]]:
    for shelf in site.shelves:
        yield shelf.path, pages.shelf_page(site, shelf)
        yield shelf.feed, topic_feed(site, shelf)
        if len(shelf.history) > 1:
            yield f"topics/{shelf.slug}.svg", pages.history_chart(shelf.topic, shelf.history)


def _communities(site: SiteContent) -> Iterator[tuple[str, str]]:
    if found := hoods(site):
        yield "communities.html", pages.communities_page(site, found)
    for hood in found:
        yield community_path(hood.community), pages.community_page(site, hood)


def _copies(library: LibraryFolder, site: SiteContent) -> Iterator[tuple[str, str]]:
    with library.snapshot() as snapshot:
        for shelf, entry in site.entries:
            if entry.copy:
                yield entry.copy, copy_page(site, shelf, entry, library.archive, snapshot.text(entry.item))


def _maps(library: LibraryFolder, site: SiteContent) -> Iterator[tuple[str, str]]:
    """The maps of topics (P10); their copies are the site's own."""
    urls = {entry.item.id: f"../{entry.copy}" for _, entry in site.entries if entry.copy}
    wanted = [(shelf.topic, shelf.map) for shelf in site.shelves] + [("", site.map)]
    with library.snapshot() as snapshot:
        for topic, path in wanted:
            if path and (analysis := load(library, topic)):
                kept, texts = copies_of(snapshot, analysis)
                yield path, map_page(kept, topic or site.title, texts if site.copies else {}, urls, site.homes)
