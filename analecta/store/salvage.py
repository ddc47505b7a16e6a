"""Copies every row that can still be read out of a damaged SQLite file into a new one; the old file is put aside.

SQLite's own recovery is a separate program; this needs none. Rows of ordinary tables are read forwards up to the first
unreadable place, backwards from the end, and one by one in between.
"""

import contextlib
import itertools
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from analecta.store.checksums import seal_of
from analecta.store.sqlite import readable
from analecta.store.warc_scan import set_aside

_MOST_FILLED = 1000  # times: a larger size than this was damaged itself
_GAP = 5_000  # row numbers in a row that are tried in vain
_SCHEMA = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"


def salvage(path: Path, schema: str, quarantine: Path) -> int:
    """Rebuild a file in place, with at least the tables of `schema`; how many rows were saved."""
    fresh, copy = (path.with_name(f".{path.name}.{end}") for end in ("salvaged", "copy"))
    for left in (*_files(fresh), *_files(copy)):
        left.unlink(missing_ok=True)
    saved = 0
    with contextlib.closing(sqlite3.connect(fresh, isolation_level=None)) as new:
        new.executescript(schema)
        if path.exists() and path.stat().st_size:
            with contextlib.suppress(sqlite3.Error), contextlib.closing(_reading(path, copy)) as old:
                saved = _copy(old, new)
        new.execute("PRAGMA journal_mode = WAL")
    for left in _files(copy):
        left.unlink(missing_ok=True)
    for file in _files(path):
        if file.exists():
            set_aside(file, quarantine)
    os.replace(fresh, path)
    return saved


def _files(path: Path) -> list[Path]:
    return [path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"), seal_of(path)]


def _reading(path: Path, copy: Path) -> sqlite3.Connection:
    """A connection to a copy with its log: nothing is written to the file itself; a short one is filled up."""
    for file, to in zip(_files(path)[:2], _files(copy)[:2], strict=True):
        if file.exists():
            shutil.copyfile(file, to)
    with copy.open("r+b") as out:
        head = out.read(32)
        size = (int.from_bytes(head[16:18]) or 4096) * int.from_bytes(head[28:32])
        if copy.stat().st_size < size <= _MOST_FILLED * copy.stat().st_size:
            out.truncate(size)
    db = sqlite3.connect(copy, isolation_level=None)
    db.text_factory = readable
    return db


def _copy(old: sqlite3.Connection, new: sqlite3.Connection) -> int:
    saved = 0
    try:
        found = [(kind, name, sql) for kind, name, sql in old.execute(_SCHEMA)]
    except sqlite3.Error:
        found = []
    for _, _, sql in sorted(found, key=lambda one: one[0] != "table"):
        with contextlib.suppress(sqlite3.Error):
            new.execute(sql)
    tables = [name for (name,) in new.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        new.execute("BEGIN")
        saved += _copy_table(old, new, table)
        new.execute("COMMIT")
    return saved


def _copy_table(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> int:
    columns = [row[1] for row in new.execute(f"PRAGMA table_info({table})")]
    names = ", ".join(columns)
    insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"
    saved = 0
    for row in _rows(old, table, names, _key(new, table)):
        with contextlib.suppress(sqlite3.Error):  # a value that the table does not allow was damaged
            saved += new.execute(insert, row).rowcount
    return saved


def _key(db: sqlite3.Connection, table: str) -> str:
    """What rows are in the order of: the row number, or the primary key where a table has no such number."""
    try:
        db.execute(f"SELECT rowid FROM {table} LIMIT 1")
    except sqlite3.Error:
        parts = sorted((row[5], row[1]) for row in db.execute(f"PRAGMA table_info({table})") if row[5])
        return ", ".join(name for _, name in parts)
    return "rowid"


def _rows(db: sqlite3.Connection, table: str, names: str, key: str) -> Iterator[Sequence[Any]]:
    """All rows that can be read; some perhaps twice."""
    first = last = None
    whole = False
    with contextlib.suppress(sqlite3.Error):
        for number, *row in db.execute(f"SELECT {key.split(', ')[0]}, {names} FROM {table} NOT INDEXED ORDER BY {key}"):
            first = number
            yield row
        whole = True
    if whole:
        return
    backwards = ", ".join(f"{part} DESC" for part in key.split(", "))
    query = f"SELECT {key.split(', ')[0]}, {names} FROM {table} NOT INDEXED ORDER BY {backwards}"
    with contextlib.suppress(sqlite3.Error):
        for number, *row in db.execute(query):
            last = number
            yield row
    if key == "rowid":
        yield from _one_by_one(db, f"SELECT {names} FROM {table} WHERE rowid = ?", first or 0, last)


def _one_by_one(db: sqlite3.Connection, query: str, first: int, last: int | None) -> Iterator[Sequence[Any]]:
    """Rows between two numbers, as long as some are found."""
    misses = 0
    for number in itertools.count(first + 1):
        if misses > _GAP or (last is not None and number >= last):
            return
        found: list[Sequence[Any]] = []
        with contextlib.suppress(sqlite3.Error):
            found = db.execute(query, (number,)).fetchall()
        misses = 0 if found else misses + 1
        yield from found
