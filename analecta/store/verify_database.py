"""Checks of a SQLite file as such: its structure, its references, and its checksums where it is sealed."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from analecta.errors import Environment
from analecta.store.checksums import changed_pages
from analecta.store.sqlite import connect
from analecta.store.verify import Part

DAMAGED, CHANGED = "database damaged", "database changed since it was sealed"
_MOST = 100  # complaints of SQLite about one file
_SALVAGE = "every readable row is copied into a new file; lost pages are read again from the archive"
_REINDEX = "indexes are rebuilt; damaged rows are queued or read again where they can be told"


def verify_database(path: Path, part: Part) -> Iterator[int]:
    """Look at one file; yields now and then."""
    part.count("databases")
    try:
        with contextlib.closing(connect(path, readonly=True)) as db:
            yield 0
            for (words,) in db.execute(f"PRAGMA integrity_check({_MOST})"):
                if words != "ok":
                    part.find(DAMAGED, f"{path.name}: {words.splitlines()[0]}", _SALVAGE)
            yield 0
            for table, row, *_ in db.execute("PRAGMA foreign_key_check"):
                part.find(DAMAGED, f"{path.name}: row {row} of {table} refers to nothing", _SALVAGE)
            changed = changed_pages(path)
            if changed and DAMAGED not in part.kinds:
                for where in tables_of(db, changed):
                    part.find(CHANGED, f"{path.name}: {where}", _REINDEX)
    except (sqlite3.DatabaseError, Environment) as error:
        part.find(DAMAGED, f"{path.name}: {error}", _SALVAGE)


def is_sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with a file."""
    part = Part()
    for _ in verify_database(path, part):
        pass
    return DAMAGED not in part.kinds


def tables_of(db: sqlite3.Connection, pages: list[int]) -> list[str]:
    """What pages of a database file hold, in words; where SQLite was built without dbstat, only their numbers."""
    found = []
    for page in pages:
        with contextlib.suppress(sqlite3.Error):
            rows = db.execute("SELECT name FROM dbstat WHERE pageno = ?", (page,)).fetchall()
            found.append(f"page {page} ({rows[0][0] if rows else 'free, holds nothing'})")
            continue
        found.append(f"page {page}")
    return found
