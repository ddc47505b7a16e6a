"""Counts the links between sites anew from the pages that a library holds: after a host was split, or settings changed.

While pages arrive nothing is counted twice; this is for libraries that are older than the count, and for new units.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.store.library import Library
from analecta.store.partition import SOFT404, UNREAD
from analecta.store.site_rules import Sites
from analecta.store.site_urls import has_site_urls
from analecta.store.sites import Units, has_counts
from analecta.store.sqlite import connect
from analecta.urls import carries

Numbers = npt.NDArray[np.int64]

_URLS = "SELECT u.id, u.url, h.name FROM urls u JOIN hosts h ON h.n = u.host"
_PAGES = f"SELECT id, links FROM pages WHERE duplicate_of IS NULL AND flags & {SOFT404 | UNREAD} = 0"


def counted(library: Library) -> bool:
    """Whether the links between sites of all partitions are counted."""
    with library.shards() as shards:
        return all(map(has_counts, shards))


def recount(library: Library, sites: Sites) -> None:
    """Count all links between sites anew. The caller holds the library."""
    paths = [path for n in range(library.partitions) if (path := library.shard_path(n)).exists()]
    with contextlib.ExitStack() as stack:
        shards = [stack.enter_context(contextlib.closing(connect(path))) for path in paths]
        names: dict[str, int] = {}
        urls = _of_urls(shards, sites, names)
        for shard in shards:
            shard.execute("BEGIN IMMEDIATE")
            _rewrite(shard, urls, list(names))
            shard.execute("COMMIT")


def count_links(library: Library, sites: Sites) -> tuple[list[str], Numbers, Numbers]:
    """As the pages that are stored have it, without writing: the units, pairs of their numbers, and links of each."""
    names: dict[str, int] = {}
    with library.shards() as shards:
        urls = _of_urls(shards, sites, names)
        counted = [_counted(shard, urls) for shard in shards]
    pairs = np.concatenate([np.empty((2, 0), np.int64), *(pairs for _, pairs, _ in counted)], axis=1)
    return list(names), pairs, np.concatenate([np.empty(0, np.int64), *(links for *_, links in counted)])


class _Urls(msgspec.Struct, frozen=True):
    """All URLs in the order of their ids: which unit each is of, and to which one a link to it leads (-1: none)."""

    ids: Numbers
    units: Numbers
    leads: Numbers

    def of(self, wanted: Numbers, what: Numbers) -> Numbers:
        """What is known of some URLs; -1 where one is not."""
        if not len(self.ids):
            return np.full(len(wanted), -1, np.int64)
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return np.where(self.ids[at] == wanted, what[at], -1)


def _of_urls(shards: Sequence[sqlite3.Connection], sites: Sites, names: dict[str, int]) -> _Urls:
    """The URLs of all shards; their units are numbers among `names`."""
    rows = [
        (id, names.setdefault(sites.unit(url, host), len(names)), carries(url))
        for shard in shards
        for id, url, host in shard.execute(_URLS)
    ]
    ids, units, carry = np.array(sorted(rows), np.int64).reshape(-1, 3).T
    return _Urls(ids, units, np.where(carry, -1, units))


def _counted(shard: sqlite3.Connection, urls: _Urls) -> tuple[Numbers, Numbers, Numbers]:
    """The unit of each page of a shard, the pairs of units that its pages link, and how many links each pair has."""
    pages = shard.execute(_PAGES).fetchall()
    src = urls.of(np.array([id for id, _ in pages], np.int64), urls.units)
    links = [np.frombuffer(packed or b"", np.int64) for _, packed in pages]
    source = np.repeat(src, [len(row) for row in links])
    target = urls.of(np.concatenate([*links, np.empty(0, np.int64)]), urls.leads)
    apart = (source != target) & (target >= 0)
    pairs, count = np.unique(np.stack([source[apart], target[apart]]), axis=1, return_counts=True)
    return src, pairs, count


def _rewrite(shard: sqlite3.Connection, urls: _Urls, names: Sequence[str]) -> None:
    own = Units(shard)
    src, pairs, count = _counted(shard, urls)
    shard.execute("DELETE FROM site_links")
    shard.execute("UPDATE sites SET pages = 0")
    rows = zip(*pairs.tolist(), count.tolist(), strict=True)
    values = [(own.number(names[a]), own.number(names[b]), n) for a, b, n in rows]
    shard.executemany("INSERT INTO site_links VALUES (?, ?, ?)", values)
    kept = zip(*(each.tolist() for each in np.unique(src, return_counts=True)), strict=True)
    shard.executemany("UPDATE sites SET pages = ? WHERE n = ?", [(n, own.number(names[a])) for a, n in kept])
    if has_site_urls(shard):
        _move(shard, own, lambda wanted: [names[unit] for unit in urls.of(wanted, urls.units)])


def _move(shard: sqlite3.Connection, own: Units, units_of: Callable[[Numbers], list[str]]) -> None:
    """Let URLs that wait do so with the units that they are of now."""
    rows = shard.execute("SELECT id, let_go, rank FROM site_urls").fetchall()
    shard.execute("DELETE FROM site_urls")
    units = units_of(np.array([id for id, _, _ in rows], np.int64))
    values = [(own.number(unit), let_go, rank, id) for unit, (id, let_go, rank) in zip(units, rows, strict=True)]
    shard.executemany("INSERT INTO site_urls VALUES (?, ?, ?, ?)", values)
