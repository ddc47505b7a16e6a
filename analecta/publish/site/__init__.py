"""A library as a static site (S13): it needs no network to be read, and stands wherever it is put.

`read_site` reads all that is shown from the library; the pages are functions of that; `write_folder` puts them in
place. The same library gives the same bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path

import msgspec

from analecta.communities.view import CommunityView, neighbourhood
from analecta.errors import UsageError
from analecta.publish.map import copies_of, map_page
from analecta.publish.site.content import SiteContent, community_path, hoods, read_site
from analecta.publish.site.copies import copy_page
from analecta.publish.site.feeds import machine_files, topic_feed, whole_feed
from analecta.publish.site.pages import (
    communities_page,
    community_page,
    front_page,
    history_chart,
    missing_page,
    overview_chart,
    search_data,
    search_page,
    shelf_page,
    titles_page,
)
from analecta.publish.site_folder import check_site, write_folder
from analecta.store.library import LibraryFolder
from analecta.urls import canonical
from analecta.views.clusters import analysis_path, load
from analecta.views.collections import MOST, PER_HOST, Collection, CollectionItem, with_communities

# --- The maps of a site's topics (P10), where `analecta analyse` has been there; their copies are the site's own -----

WHOLE = "maps/all-topics.html"


def map_path(library: LibraryFolder, topic: str, slug: str) -> str:
    """Where the map of a topic will be; "" where nobody has analysed it."""
    if not analysis_path(library, topic).exists():
        return ""
    return f"maps/{slug}.html" if topic else WHOLE


def map_files(library: LibraryFolder, site: SiteContent) -> Iterator[tuple[str, str]]:
    """The maps, by their paths."""
    urls = {entry.item.id: f"../{entry.copy}" for _, entry in site.entries if entry.copy}
    wanted = [(shelf.topic, shelf.map) for shelf in site.shelves] + [("", site.map)]
    with library.snapshot() as snapshot:
        for topic, path in wanted:
            if path and (analysis := load(library, topic)):
                kept, texts = copies_of(snapshot, analysis)
                yield path, map_page(kept, topic or site.title, texts if site.copies else {}, urls, site.near.homes)


# --- A library as a static site (S13): it needs no network to be read, and stands wherever it is put -----------------

_BEST = 20  # pages of a community
_ASSETS = ("style.css", "search.js", "icon.svg")


class Published(msgspec.Struct, frozen=True):
    """What was written."""

    folder: str
    topics: int
    items: int
    copies: int
    files: int


class SiteOptions(msgspec.Struct, frozen=True):
    """What a person may say about a site."""

    title: str = ""
    base_url: str = ""
    copies: bool = True
    most: int = MOST
    per_host: int = PER_HOST


def publish(library: LibraryFolder, folder: Path, wishes: SiteOptions = SiteOptions()) -> Published:
    """Write the site of a library."""
    check_site(folder)
    near = neighbourhood(library)
    found, best = with_communities(library, near.homes, wishes.most, wishes.per_host, _BEST)
    return write_site(library, folder, found, near, best, wishes)


def write_site(
    library: LibraryFolder,
    folder: Path,
    found: Sequence[Collection],
    near: CommunityView,
    best: Mapping[int, Sequence[CollectionItem]],
    wishes: SiteOptions = SiteOptions(),
) -> Published:
    """Write the site of these collections, and of the `best` pages of each community."""
    where = partial(map_path, library)
    site = read_site(library, found, near, best, wishes.title, based(wishes.base_url), wishes.copies, where)
    count = write_folder(folder, _files(library, site))
    entries = site.entries
    copies = sum(bool(entry.copy) for _, entry in entries)
    return Published(str(folder), len(site.shelves), len(entries), copies, count)


def based(url: str) -> str:
    """The address below which the site will stand, with a slash at its end."""
    if not url:
        return ""
    target = canonical(url)
    if target is None or "?" in target.url:
        raise UsageError(f"--base-url {url} is no address of a folder on the web, such as https://example.org/library/")
    return target.url if target.url.endswith("/") else f"{target.url}/"


def _files(library: LibraryFolder, site: SiteContent) -> Iterator[tuple[str, str]]:
    yield "index.html", front_page(site)
    yield "titles.html", titles_page(site)
    yield "search.html", search_page(site)
    yield "search-data.js", search_data(site)
    yield "feeds/all.xml", whole_feed(site)
    for name in _ASSETS:
        yield name, files("analecta.publish.site").joinpath("assets", name).read_text("utf-8")
    if chart := overview_chart(site):
        yield "history.svg", chart
    if site.base_url:
        yield "404.html", missing_page(site)
    yield from machine_files(site)
    yield from _shelves(site)
    yield from _communities(site)
    yield from _copies(library, site)
    yield from map_files(library, site)


def _shelves(site: SiteContent) -> Iterator[tuple[str, str]]:
    for shelf in site.shelves:
        yield shelf.path, shelf_page(site, shelf)
        yield shelf.feed, topic_feed(site, shelf)
        if len(shelf.history) > 1:
            yield f"topics/{shelf.slug}.svg", history_chart(shelf.topic, shelf.history)


def _communities(site: SiteContent) -> Iterator[tuple[str, str]]:
    if found := hoods(site):
        yield "communities.html", communities_page(site, found)
    for hood in found:
        yield community_path(hood.community), community_page(site, hood)


def _copies(library: LibraryFolder, site: SiteContent) -> Iterator[tuple[str, str]]:
    with library.snapshot() as snapshot:
        for shelf, entry in site.entries:
            if entry.copy:
                yield entry.copy, copy_page(site, shelf, entry, library.archive, snapshot.text(entry.item))
