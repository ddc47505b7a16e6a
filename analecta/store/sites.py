"""Links between sites, counted in each shard as pages arrive, in the transaction that keeps the page (C2).

What is counted is between units (store/site_rules.py): how many links of pages of one lead to pages of another. A page
that is a copy of another is not counted, nor one that was fetched again; nor a link that carries an address with it,
such as those of share buttons: it says nothing about where it leads.
"""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from analecta.model import Lease, Link
from analecta.store.library import Library
from analecta.store.site_rules import Sites
from analecta.urls import carries

# Came after the first libraries were made: they are added where a crawl first counts.
_SITES = """CREATE TABLE IF NOT EXISTS sites (
  n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, pages INTEGER NOT NULL DEFAULT 0)"""
_LINKS = """CREATE TABLE IF NOT EXISTS site_links (
  src INTEGER, dst INTEGER, n INTEGER NOT NULL, PRIMARY KEY (src, dst)) WITHOUT ROWID"""
_ADD = "INSERT INTO site_links VALUES (?, ?, ?) ON CONFLICT (src, dst) DO UPDATE SET n = n + excluded.n"
_KEPT = "UPDATE sites SET pages = pages + ? WHERE n = ?"
_MANY = 200_000  # names held in memory

Links = dict[str, dict[str, int]]


class Units:
    """The numbers of units in one shard."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._numbers: dict[str, int] = {}
        db.execute(_SITES)
        db.execute(_LINKS)

    def number(self, name: str) -> int:
        """The number of a unit; a new one gets the next."""
        n = self._numbers.get(name)
        if n is None:
            if len(self._numbers) > _MANY:
                self._numbers.clear()
            self.db.execute("INSERT OR IGNORE INTO sites (name) VALUES (?)", (name,))
            n = self._numbers[name] = int(self.db.execute("SELECT n FROM sites WHERE name = ?", (name,)).fetchone()[0])
        return n


class SiteCount:
    """Counts the links of pages as they arrive."""

    def __init__(self, units: Units, sites: Sites) -> None:
        self.units = units
        self.sites = sites

    def add(self, pages: Iterable[tuple[Lease, Sequence[Link]]]) -> None:
        """Count the links of some pages to other units."""
        found: Counter[tuple[str, str]] = Counter()
        kept: Counter[str] = Counter()
        for lease, links in pages:
            own = self.sites.unit(lease.url, lease.host)
            kept[own] += 1
            for unit, n in Counter(self._units(links)).items():
                if unit != own:
                    found[own, unit] += n
        number, db = self.units.number, self.units.db
        db.executemany(_KEPT, [(n, number(name)) for name, n in kept.items()])
        db.executemany(_ADD, [(number(src), number(dst), n) for (src, dst), n in found.items()])

    def _units(self, links: Sequence[Link]) -> list[str]:
        targets = [link.target for link in links if not carries(link.target.url)]
        if self.sites.are_hosts:
            return [target.host for target in targets]
        return [self.sites.unit(target.url, target.host) for target in targets]


class SiteGraph:
    """The links between sites of a whole library, read as they grow."""

    def __init__(self, sites: Sites) -> None:
        self.sites = sites
        self._names: list[dict[int, str]] = []  # of units, by shard
        self._parts: dict[str, list[tuple[int, int]]] = {}  # of sites: shard and number of their units

    def refresh(self, shards: Sequence[sqlite3.Connection]) -> None:
        """Take up the units that are new."""
        self._names += [{} for _ in shards[len(self._names) :]]
        for place, (shard, names) in enumerate(zip(shards, self._names, strict=True)):
            if has_counts(shard):
                for n, name in shard.execute("SELECT n, name FROM sites WHERE n > ?", (len(names),)):
                    names[n] = site = self.sites.of(name)
                    self._parts.setdefault(site, []).append((place, n))

    def out(self, shards: Sequence[sqlite3.Connection], site: str) -> dict[str, int]:
        """How many links of a site lead to each other one."""
        found: Counter[str] = Counter()
        for place, n in self._parts.get(site, ()):
            for dst, links in shards[place].execute("SELECT dst, n FROM site_links WHERE src = ?", (n,)):
                found[self._names[place][dst]] += links
        found.pop(site, None)
        return dict(found)

    def pages(self, shards: Sequence[sqlite3.Connection]) -> dict[str, int]:
        """How many pages each site has, of those that have any."""
        found: Counter[str] = Counter()
        for shard, names in zip(shards, self._names, strict=True):
            if has_counts(shard):
                for n, pages in shard.execute("SELECT n, pages FROM sites WHERE pages > 0"):
                    found[names[n]] += pages
        return dict(found)

    def all(self, shards: Sequence[sqlite3.Connection]) -> Links:
        """All links between sites."""
        found: dict[str, Counter[str]] = {}
        for shard, names in zip(shards, self._names, strict=True):
            for src, dst, n in shard.execute("SELECT src, dst, n FROM site_links") if has_counts(shard) else ():
                if names[src] != names[dst]:
                    found.setdefault(names[src], Counter())[names[dst]] += n
        return {site: dict(links) for site, links in found.items()}


@contextlib.contextmanager
def read_sites(library: Library, sites: Sites) -> Iterator[tuple[SiteGraph, list[sqlite3.Connection]]]:
    """The links between the sites of a library at this moment."""
    graph = SiteGraph(sites)
    with library.shards() as shards:
        graph.refresh(shards)
        yield graph, shards


def has_counts(shard: sqlite3.Connection) -> bool:
    """Whether links between sites were counted there."""
    return shard.execute("SELECT 1 FROM sqlite_master WHERE name = 'site_links'").fetchone() is not None
