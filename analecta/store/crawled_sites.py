"""The sites that were crawled to the end, in the order in which they were, by a crawl that goes from site to site.

Together with the links that the shards have counted this is all that such a crawl needs to go on.
"""

from collections.abc import Iterable

from analecta.store.library import Library

# Came after the first libraries were made.
_TABLE = """CREATE TABLE IF NOT EXISTS crawled_sites (
  n INTEGER PRIMARY KEY, site TEXT NOT NULL UNIQUE, most INTEGER NOT NULL)"""
_ADD = "INSERT INTO crawled_sites (site, most) VALUES (?, ?) ON CONFLICT (site) DO UPDATE SET most = excluded.most"


def add_crawled(library: Library, sites: Iterable[str], most: int) -> None:
    """Note that sites were crawled, and how many pages of each might be taken (0: all)."""
    with library.database() as db:
        db.execute(_TABLE)
        db.execute("BEGIN")
        db.executemany(_ADD, ((site, most) for site in sites))
        db.execute("COMMIT")


def crawled_sites(library: Library) -> dict[str, int]:
    """The sites with that number, the first first; empty where no such crawl has been."""
    with library.database(readonly=True) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'crawled_sites'").fetchone():
            return {}
        return dict(db.execute("SELECT site, most FROM crawled_sites ORDER BY n").fetchall())
