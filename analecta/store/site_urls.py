"""URLs by site, for a crawl that goes from site to site: which wait for their turn, and which were let go.

A URL that waits is refused for now, with the reason `site-waits`; when its site is crawled, the best of them are let go
into the frontier. Of equals none comes first: they lie in the order of their ids, which are hashes.
"""

import sqlite3
from collections.abc import Iterable

from analecta.model import State
from analecta.store.sites import Units

WAITS = "site-waits"

_TABLE = """CREATE TABLE IF NOT EXISTS site_urls (
  unit INTEGER, let_go INTEGER, rank REAL, id INTEGER, PRIMARY KEY (unit, let_go, rank, id)) WITHOUT ROWID"""


def has_site_urls(shard: sqlite3.Connection) -> bool:
    """Whether a crawl that goes from site to site has been there."""
    return shard.execute("SELECT 1 FROM sqlite_master WHERE name = 'site_urls'").fetchone() is not None


class SiteUrls:
    """The URLs of one shard by unit."""

    def __init__(self, units: Units) -> None:
        self.units = units
        self.db: sqlite3.Connection = units.db
        self.db.execute(_TABLE)

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
        on_the_way = {id for id, state, _ in rows if state < State.DONE}
        return on_the_way, sum(page is not None for *_, page in rows), len(rows)

    def over(self, ids: Iterable[int]) -> list[tuple[int, bool]]:
        """Those of some URLs that are no longer on their way, and whether each has become a page."""
        query = "SELECT state, page FROM urls WHERE id = ?"
        rows = [(id, self.db.execute(query, (id,)).fetchone()) for id in ids]
        return [(id, row[1] is not None) for id, row in rows if row is None or row[0] >= State.DONE]
