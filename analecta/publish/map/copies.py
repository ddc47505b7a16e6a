"""What the library holds of the pages on a map: the archived copies, and whether a page may still be shown."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice, zip_longest

import msgspec
from msgspec.structs import replace

from analecta.store.rows import Item, items, text_of
from analecta.urls import url_id
from analecta.views.clusters import Analysis, Cluster

LETTERS = 1500  # of the text of a copy
MOST = 600  # copies in one file: with these letters, a megabyte


class Copy(msgspec.Struct, frozen=True):
    """What was kept of a page: when, the archive's file and the place in it, and how its text begins."""

    fetched_at: float
    warc: str
    offset: int
    text: str


def copies_of(shards: Sequence[sqlite3.Connection], analysis: Analysis) -> tuple[Analysis, dict[int, Copy]]:
    """The analysis without pages that may no longer be shown, and copies of its first pages by id.

    Of pages whose owners want no copy shown (noarchive) there is none.
    """
    drawn = {*_ids(analysis), *(url_id(origin.url) for origin in analysis.origins if origin.url)}
    found = {item.id: item for item in items(shards) if item.id in drawn}
    kept = still_shown(analysis, found)
    wanted = (found[id] for id in dict.fromkeys(_ids(kept)))
    return kept, {item.id: _copy(shards, item) for item in islice(_archived(wanted), MOST)}


def still_shown(analysis: Analysis, ids: Collection[int]) -> Analysis:
    """The analysis with no page but these: one may have come to say noindex since."""

    def kept(cluster: Cluster) -> Cluster:
        lists = {
            name: [page for page in getattr(cluster, name) if page.id in ids]
            for name in ("examples", "hubs", "authorities", "members")
        }
        return replace(cluster, **lists)

    origins = [one for one in analysis.origins if not one.url or url_id(one.url) in ids]
    return replace(analysis, clusters=[kept(cluster) for cluster in analysis.clusters], origins=origins)


def _ids(analysis: Analysis) -> Iterator[int]:
    """All pages: those that a group names before those that are dots, and of these the nearest of each group first."""
    for cluster in analysis.clusters:
        yield from (page.id for page in (*cluster.examples, *cluster.hubs, *cluster.authorities))
    rows = zip_longest(*(cluster.members for cluster in analysis.clusters))
    yield from (page.id for page in chain.from_iterable(rows) if page is not None)


def _archived(found: Iterator[Item]) -> Iterator[Item]:
    return (item for item in found if item.warc and not item.noarchive)


def _copy(shards: Sequence[sqlite3.Connection], item: Item) -> Copy:
    return Copy(item.fetched_at, item.warc, item.offset, text_of(shards, item)[:LETTERS])
