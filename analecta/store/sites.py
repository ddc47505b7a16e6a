"""Links between sites and the URLs of each, counted in each shard as pages arrive; and counted again."""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np

from analecta.arrays import Ints
from analecta.model import Lease, Link, UrlState
from analecta.store.hosts import NameTable
from analecta.store.library import LibraryFolder
from analecta.store.partition import SOFT404, UNREAD
from analecta.store.schema import SITE_LINKS_TABLE, SITE_URLS_TABLE, SITES_TABLE
from analecta.store.site_rules import Sites
from analecta.store.snapshot import Snapshot
from analecta.store.sqlite import has_table
from analecta.urls import carries

_ADD = "INSERT INTO site_links VALUES (?, ?, ?) ON CONFLICT (src, dst) DO UPDATE SET n = n + excluded.n"
_KEPT = "UPDATE sites SET pages = pages + ? WHERE n = ?"

Links = dict[str, dict[str, int]]


class SiteUnits(NameTable):
    """The units of one shard."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(db, "sites", 200_000)
        db.execute(SITES_TABLE)
        db.execute(SITE_LINKS_TABLE)

    def names(self) -> list[tuple[int, str]]:
        """The numbers and names of all."""
        return self.db.execute("SELECT n, name FROM sites").fetchall()


def count_new_links(units: SiteUnits, sites: Sites, pages: Iterable[tuple[Lease, Sequence[Link]]]) -> None:
    """Count the links to other units of pages that arrive."""
    found: Counter[tuple[str, str]] = Counter()
    kept: Counter[str] = Counter()
    for lease, links in pages:
        own = sites.unit(lease.url, lease.host)
        kept[own] += 1
        for unit, n in Counter(_units(sites, links)).items():
            if unit != own:
                found[own, unit] += n
    units.db.executemany(_KEPT, [(n, units.number(name)) for name, n in kept.items()])
    units.db.executemany(_ADD, [(units.number(src), units.number(dst), n) for (src, dst), n in found.items()])


def _units(sites: Sites, links: Sequence[Link]) -> list[str]:
    targets = [link.target for link in links if not carries(link.target.url)]
    if sites.are_hosts:
        return [target.host for target in targets]
    return [sites.unit(target.url, target.host) for target in targets]


class SiteGraph:
    """The links between sites of a whole library, read as they grow."""

    def __init__(self, sites: Sites) -> None:
        self.sites = sites
        self._names: list[dict[int, str]] = []  # of units, by shard
        self._parts: dict[str, list[tuple[int, int]]] = {}  # of sites: shard and number of their units

    def refresh(self, snapshot: Snapshot) -> None:
        """Take up the units that are new."""
        self._names += [{} for _ in snapshot.shards[len(self._names) :]]
        for place, (shard, names) in enumerate(zip(snapshot.shards, self._names, strict=True)):
            if has_table(shard, "site_links"):
                for n, name in shard.execute("SELECT n, name FROM sites WHERE n > ?", (len(names),)):
                    names[n] = site = self.sites.of(name)
                    self._parts.setdefault(site, []).append((place, n))

    def out(self, snapshot: Snapshot, site: str) -> dict[str, int]:
        """How many links of a site lead to each other one."""
        found: Counter[str] = Counter()
        for place, n in self._parts.get(site, ()):
            for dst, links in snapshot.shards[place].execute("SELECT dst, n FROM site_links WHERE src = ?", (n,)):
                found[self._names[place][dst]] += links
        found.pop(site, None)
        return dict(found)

    def pages(self, snapshot: Snapshot) -> dict[str, int]:
        """How many pages each site has, of those that have any."""
        found: Counter[str] = Counter()
        for shard, names in zip(snapshot.shards, self._names, strict=True):
            if has_table(shard, "site_links"):
                for n, pages in shard.execute("SELECT n, pages FROM sites WHERE pages > 0"):
                    found[names[n]] += pages
        return dict(found)

    def all(self, snapshot: Snapshot) -> Links:
        """All links between sites."""
        found: dict[str, Counter[str]] = {}
        for shard, names in zip(snapshot.shards, self._names, strict=True):
            if has_table(shard, "site_links"):
                for src, dst, n in shard.execute("SELECT src, dst, n FROM site_links"):
                    if names[src] != names[dst]:
                        found.setdefault(names[src], Counter())[names[dst]] += n
        return {site: dict(links) for site, links in found.items()}


@contextlib.contextmanager
def read_sites(library: LibraryFolder, sites: Sites) -> Iterator[tuple[SiteGraph, Snapshot]]:
    """The links between the sites of a library at this moment."""
    graph = SiteGraph(sites)
    with library.snapshot() as snapshot:
        graph.refresh(snapshot)
        yield graph, snapshot


# --- site urls -------------------------------------------------------------------------------------------------------
# URLs by site, for a crawl that goes from site to site: which wait for their turn, and which were let go.
#
# A URL that waits is refused for now, with the reason `site-waits`; when its site is crawled, the best of them are let
# go into the frontier. Of equals none comes first: they lie in the order of their ids, which are hashes.


WAITS = "site-waits"


class SiteUrls:
    """The URLs of one shard by unit."""

    def __init__(self, units: SiteUnits) -> None:
        self.units = units
        self.db: sqlite3.Connection = units.db
        self.db.execute(SITE_URLS_TABLE)

    def add(self, rows: Iterable[tuple[str, float, int]], let_go: bool = False) -> None:
        """Write down URLs: unit, rank and id."""
        number = self.units.number
        values = [(number(unit), let_go, rank, id) for unit, rank, id in rows]
        self.db.executemany("INSERT OR IGNORE INTO site_urls VALUES (?, ?, ?, ?)", values)

    def best(self, units: Iterable[int], count: int) -> list[int]:
        """Let go of the best that wait: their ids, the best first."""
        query = "SELECT rank, unit, id FROM site_urls WHERE unit = ? AND let_go = 0 ORDER BY rank DESC, id LIMIT ?"
        rows = [row for unit in units for row in self.db.execute(query, (unit, count))]
        chosen = sorted(rows, key=lambda row: (-row[0], row[2]))[:count]
        values = [(unit, rank, id) for rank, unit, id in chosen]
        self.db.executemany("DELETE FROM site_urls WHERE unit = ? AND let_go = 0 AND rank = ? AND id = ?", values)
        self.db.executemany("INSERT OR IGNORE INTO site_urls VALUES (?, 1, ?, ?)", values)
        return [id for _, _, id in chosen]

    def standing(self, units: Iterable[int]) -> tuple[set[int], int, int]:
        """Of those that were let go: which are still on their way, how many have become pages, how many there are."""
        query = (
            "SELECT u.id, u.state, u.page FROM site_urls s JOIN urls u ON u.id = s.id WHERE s.unit = ? AND s.let_go = 1"
        )
        rows = [row for unit in units for row in self.db.execute(query, (unit,))]
        on_the_way = {id for id, state, _ in rows if state < UrlState.DONE}
        return on_the_way, sum(page is not None for *_, page in rows), len(rows)

    def over(self, ids: Iterable[int]) -> list[tuple[int, bool]]:
        """Those of some URLs that are no longer on their way, and whether each has become a page."""
        query = "SELECT state, page FROM urls WHERE id = ?"
        rows = [(id, self.db.execute(query, (id,)).fetchone()) for id in ids]
        return [(id, row[1] is not None) for id, row in rows if row is None or row[0] >= UrlState.DONE]


# --- site counts -----------------------------------------------------------------------------------------------------
# Counts the links between sites anew from the pages that a library holds: after a host was split, or settings changed.
#
# While pages arrive nothing is counted twice; this is for libraries that are older than the count, and for new units.


_URLS = "SELECT u.id, u.url, h.name FROM urls u JOIN hosts h ON h.n = u.host"
_PAGES = f"SELECT id, links FROM pages WHERE duplicate_of IS NULL AND flags & {SOFT404 | UNREAD} = 0"


def counted(library: LibraryFolder) -> bool:
    """Whether the links between sites of all partitions are counted."""
    with library.shards() as shards:
        return all(has_table(shard, "site_links") for shard in shards)


def recount(library: LibraryFolder, sites: Sites) -> None:
    """Count all links between sites anew. The caller holds the library."""
    names: dict[str, int] = {}
    with library.writers() as shards:
        urls = _of_urls([shard.db for shard in shards], sites, names)
        for shard in shards:
            _rewrite(shard.db, urls, list(names))
            shard.commit()


def count_links(library: LibraryFolder, sites: Sites) -> tuple[list[str], Ints, Ints]:
    """As the pages that are stored have it, without writing: the units, pairs of their numbers, and links of each."""
    names: dict[str, int] = {}
    with library.shards() as shards:
        urls = _of_urls(shards, sites, names)
        counted = [_counted(shard, urls) for shard in shards]
    pairs = np.concatenate([np.empty((2, 0), np.int64), *(pairs for _, pairs, _ in counted)], axis=1)
    return list(names), pairs, np.concatenate([np.empty(0, np.int64), *(links for *_, links in counted)])


class _UnitUrls(msgspec.Struct, frozen=True):
    """All URLs in the order of their ids: which unit each is of, and to which one a link to it leads (-1: none)."""

    ids: Ints
    units: Ints
    leads: Ints

    def of(self, wanted: Ints, what: Ints) -> Ints:
        """What is known of some URLs; -1 where one is not."""
        if not len(self.ids):
            return np.full(len(wanted), -1, np.int64)
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return np.where(self.ids[at] == wanted, what[at], -1)


def _of_urls(shards: Sequence[sqlite3.Connection], sites: Sites, names: dict[str, int]) -> _UnitUrls:
    """The URLs of all shards; their units are numbers among `names`."""
    rows = [
        (id, names.setdefault(sites.unit(url, host), len(names)), carries(url))
        for shard in shards
        for id, url, host in shard.execute(_URLS)
    ]
    ids, units, carry = np.array(sorted(rows), np.int64).reshape(-1, 3).T
    return _UnitUrls(ids, units, np.where(carry, -1, units))


def _counted(shard: sqlite3.Connection, urls: _UnitUrls) -> tuple[Ints, Ints, Ints]:
    """The unit of each page of a shard, the pairs of units that its pages link, and how many links each pair has."""
    pages = shard.execute(_PAGES).fetchall()
    src = urls.of(np.array([id for id, _ in pages], np.int64), urls.units)
    links = [np.frombuffer(packed or b"", np.int64) for _, packed in pages]
    source = np.repeat(src, [len(row) for row in links])
    target = urls.of(np.concatenate([*links, np.empty(0, np.int64)]), urls.leads)
    apart = (source != target) & (target >= 0)
    pairs, count = np.unique(np.stack([source[apart], target[apart]]), axis=1, return_counts=True)
    return src, pairs, count


def _rewrite(shard: sqlite3.Connection, urls: _UnitUrls, names: Sequence[str]) -> None:
    own = SiteUnits(shard)
    src, pairs, count = _counted(shard, urls)
    shard.execute("DELETE FROM site_links")
    shard.execute("UPDATE sites SET pages = 0")
    rows = zip(*pairs.tolist(), count.tolist(), strict=True)
    values = [(own.number(names[a]), own.number(names[b]), n) for a, b, n in rows]
    shard.executemany("INSERT INTO site_links VALUES (?, ?, ?)", values)
    kept = zip(*(each.tolist() for each in np.unique(src, return_counts=True)), strict=True)
    shard.executemany("UPDATE sites SET pages = ? WHERE n = ?", [(n, own.number(names[a])) for a, n in kept])
    if has_table(shard, "site_urls"):  # URLs that wait do so with the units that they are of now
        waiting = shard.execute("SELECT id, let_go, rank FROM site_urls").fetchall()
        shard.execute("DELETE FROM site_urls")
        units = urls.of(np.array([id for id, _, _ in waiting], np.int64), urls.units).tolist()
        each = zip(units, waiting, strict=True)
        moved = [(own.number(names[unit]), let_go, rank, id) for unit, (id, let_go, rank) in each]
        shard.executemany("INSERT INTO site_urls VALUES (?, ?, ?, ?)", moved)
