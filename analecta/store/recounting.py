"""Counts the links between sites anew from the pages that a library holds: after a host was split, or settings changed.

While pages arrive nothing is counted twice; this is for libraries that are older than the count, and for new units.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from analecta.store.library import Library
from analecta.store.shard import SOFT404, UNREAD
from analecta.store.site_links import Units, has_counts
from analecta.store.site_urls import has_site_urls
from analecta.store.sites import Sites
from analecta.store.sqlite import connect

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
        ids, units = _of_urls(shards, sites, names)
        for shard in shards:
            shard.execute("BEGIN IMMEDIATE")
            _rewrite(shard, ids, units, list(names))
            shard.execute("COMMIT")


def count_links(library: Library, sites: Sites) -> tuple[list[str], Numbers, Numbers]:
    """As the pages that are stored have it, without writing: the units, pairs of their numbers, and links of each."""
    names: dict[str, int] = {}
    with library.shards() as shards:
        ids, units = _of_urls(shards, sites, names)
        counted = [_counted(shard, ids, units) for shard in shards]
    pairs = np.concatenate([np.empty((2, 0), np.int64), *(pairs for _, pairs, _ in counted)], axis=1)
    return list(names), pairs, np.concatenate([np.empty(0, np.int64), *(links for *_, links in counted)])


def _of_urls(shards: Sequence[sqlite3.Connection], sites: Sites, names: dict[str, int]) -> tuple[Numbers, Numbers]:
    """The ids of all URLs in order, and the number of each one's unit among `names`."""
    rows = [
        (id, names.setdefault(sites.unit(url, host), len(names)))
        for shard in shards
        for id, url, host in shard.execute(_URLS)
    ]
    table = np.array(sorted(rows), np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _counted(shard: sqlite3.Connection, ids: Numbers, units: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The unit of each page of a shard, the pairs of units that its pages link, and how many links each pair has."""
    pages = shard.execute(_PAGES).fetchall()
    src = _places(np.array([id for id, _ in pages], np.int64), ids, units)
    links = [np.frombuffer(packed or b"", np.int64) for _, packed in pages]
    source = np.repeat(src, [len(row) for row in links])
    target = _places(np.concatenate([*links, np.empty(0, np.int64)]), ids, units)
    apart = (source != target) & (target >= 0)
    pairs, count = np.unique(np.stack([source[apart], target[apart]]), axis=1, return_counts=True)
    return src, pairs, count


def _rewrite(shard: sqlite3.Connection, ids: Numbers, units: Numbers, names: Sequence[str]) -> None:
    own = Units(shard)
    src, pairs, count = _counted(shard, ids, units)
    shard.execute("DELETE FROM site_links")
    shard.execute("UPDATE sites SET pages = 0")
    rows = zip(*pairs.tolist(), count.tolist(), strict=True)
    values = [(own.number(names[a]), own.number(names[b]), n) for a, b, n in rows]
    shard.executemany("INSERT INTO site_links VALUES (?, ?, ?)", values)
    kept = zip(*(each.tolist() for each in np.unique(src, return_counts=True)), strict=True)
    shard.executemany("UPDATE sites SET pages = ? WHERE n = ?", [(n, own.number(names[a])) for a, n in kept])
    if has_site_urls(shard):
        _move(shard, own, lambda wanted: [names[unit] for unit in _places(wanted, ids, units)])


def _move(shard: sqlite3.Connection, own: Units, units_of: Callable[[Numbers], list[str]]) -> None:
    """Let URLs that wait do so with the units that they are of now."""
    rows = shard.execute("SELECT id, let_go, rank FROM site_urls").fetchall()
    shard.execute("DELETE FROM site_urls")
    units = units_of(np.array([id for id, _, _ in rows], np.int64))
    values = [(own.number(unit), let_go, rank, id) for unit, (id, let_go, rank) in zip(units, rows, strict=True)]
    shard.executemany("INSERT INTO site_urls VALUES (?, ?, ?, ?)", values)


def _places(wanted: Numbers, ids: Numbers, units: Numbers) -> Numbers:
    """The units of URLs; -1 where one is not known."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[at] == wanted, units[at], -1)
