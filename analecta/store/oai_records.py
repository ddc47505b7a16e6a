"""The records that harvesters see, in LIB/oai.db: each with a change number, a datestamp, its sets and its metadata.

A record that is new, changes, is deleted or comes back gets the next change number and a stamp that is not earlier than
any before. So the order of numbers is the order of dates, a record stands in one place at a time, and a list that goes
by numbers meets every record that keeps its place exactly once.
"""

import contextlib
import secrets
import sqlite3
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from analecta.arrays import Ints
from analecta.errors import ResourceError
from analecta.store.schema import OAI_SQL, OAI_VERSION, MetaKey
from analecta.store.sqlite import connect, has_table, marks, meta_value

_PUT = """INSERT INTO records (n, id, born, stamp, digest, sets, metadata) VALUES (?1, ?2, ?1, ?3, ?4, ?5, ?6)
  ON CONFLICT (id) DO UPDATE SET n = ?1, stamp = ?3, digest = ?4, sets = ?5, metadata = ?6"""
_MOST = 2**63 - 1
_COLUMNS = "r.n, r.id, r.stamp, r.sets, r.metadata"


class RecordChange(msgspec.Struct, frozen=True):
    """What a record is from now on; without metadata it is deleted."""

    id: int
    digest: int
    sets: tuple[str, ...]
    metadata: str | None


class OaiRecord(msgspec.Struct, frozen=True, gc=False):
    """A record as it is given out; `metadata` is XML, and None where the record is deleted."""

    n: int
    id: int
    stamp: int
    sets: tuple[str, ...]
    metadata: str | None


class RecordSpan(msgspec.Struct, frozen=True):
    """Which records: of a set ("" for all), stamped in a time, that were there up to change number `top`."""

    set: str = ""
    since: int | None = None
    until: int | None = None
    top: int | None = None


@contextlib.contextmanager
def writing(path: Path, now: float, repository: str) -> Iterator[sqlite3.Connection]:
    """The one connection that writes; the file is made where there is none."""
    with contextlib.closing(connect(path)) as db:
        if not has_table(db, "meta"):
            db.executescript(f"BEGIN; {OAI_SQL} COMMIT;")
        first = {
            MetaKey.OAI_VERSION: OAI_VERSION,
            MetaKey.OAI_KEY: secrets.token_bytes(32),
            MetaKey.OAI_BEGAN: int(now),
            MetaKey.OAI_REPOSITORY: repository,
        }
        db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", first.items())
        if meta_value(db, MetaKey.OAI_VERSION) != OAI_VERSION:
            raise ResourceError(f"{path} was made by another version of Analecta: update it, or move the file away")
        yield db


@contextlib.contextmanager
def one_moment(db: sqlite3.Connection) -> Iterator[None]:
    """Let all that is read be of one moment."""
    with db:
        db.execute("BEGIN")
        yield


def sample_id(db: sqlite3.Connection) -> int:
    """The id of any record; 0 where there is none."""
    row = db.execute("SELECT id FROM records LIMIT 1").fetchone()
    return int(row[0]) if row else 0


# --- writing -------------------------------------------------------------------------------------------------------


def put(db: sqlite3.Connection, changes: Iterable[RecordChange], stamp: int) -> None:
    """Write what changed."""
    with db:  # all or nothing
        db.execute("BEGIN IMMEDIATE")
        for n, change in enumerate(changes, last_number(db) + 1):
            _put(db, n, change, stamp)
        put_clock(db, stamp)


def mark_wrong(db: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Give records a digest that none has: the next look at the library sees them as changed."""
    db.executemany("UPDATE records SET digest = -1 WHERE id = ?", ((id,) for id in ids))


def _put(db: sqlite3.Connection, n: int, change: RecordChange, stamp: int) -> None:
    if old := db.execute("SELECT n, sets FROM records WHERE id = ?", (change.id,)).fetchone():
        gone = with_above(old[1].split())
        db.executemany("DELETE FROM members WHERE spec = ? AND n = ?", ((spec, old[0]) for spec in gone))
    db.execute(_PUT, (n, change.id, stamp, change.digest, " ".join(change.sets), change.metadata))
    db.executemany("INSERT INTO members VALUES (?, ?)", ((spec, n) for spec in with_above(change.sets)))


def put_sets(db: sqlite3.Connection, names: Mapping[str, str]) -> None:
    """Write the names of sets by spec."""
    query = "INSERT INTO sets (spec, name) VALUES (?, ?) ON CONFLICT (spec) DO UPDATE SET name = excluded.name"
    db.executemany(query, names.items())


def drop_sets(db: sqlite3.Connection, kept: Container[str]) -> None:
    """Forget all other sets but those that records are in, be it deleted ones."""
    empty = "NOT EXISTS (SELECT 1 FROM members WHERE members.spec = sets.spec)"
    others = [(spec,) for spec, _ in sets(db) if spec not in kept]
    db.executemany(f"DELETE FROM sets WHERE spec = ? AND {empty}", others)


def put_clock(db: sqlite3.Connection, stamp: int) -> None:
    """Remember the latest date that was told."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (MetaKey.OAI_CLOCK, stamp))


def live(db: sqlite3.Connection, ids: Sequence[int]) -> dict[int, int]:
    """The digests of those of these records that are not deleted."""
    return dict(db.execute(f"SELECT id, digest FROM records WHERE metadata IS NOT NULL AND id IN ({marks(ids)})", ids))


def live_ids(db: sqlite3.Connection) -> Ints:
    """The ids of all records that are not deleted; read from an index alone."""
    rows = db.execute("SELECT id FROM records INDEXED BY records_live WHERE metadata IS NOT NULL")
    return np.fromiter((id for (id,) in rows), np.int64)


# --- reading -------------------------------------------------------------------------------------------------------


def last_number(db: sqlite3.Connection) -> int:
    """The latest change number: its record is there, for records only move to higher ones."""
    return int(db.execute("SELECT coalesce(max(n), 0) FROM records").fetchone()[0])


def record(db: sqlite3.Connection, id: int) -> OaiRecord | None:
    """The record of a page, deleted or not."""
    row = db.execute(f"SELECT {_COLUMNS} FROM records r WHERE r.id = ?", (id,)).fetchone()
    return _record(row) if row else None


def records(db: sqlite3.Connection, span: RecordSpan, after: int, most: int) -> list[OaiRecord]:
    """The next records of a span, in the order of their changes."""
    low, high = _numbers(db, span)
    values = {"set": span.set, "after": max(after, low - 1), "high": high, "top": span.top, "most": most}
    source, n = ("members m CROSS JOIN records r ON r.n = m.n", "m.n") if span.set else ("records r", "r.n")
    which = "m.spec = :set AND " if span.set else ""
    born = "" if span.top is None else "AND r.born <= :top"
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM {source} WHERE {which} {n} > :after AND {n} <= :high {born} ORDER BY {n} LIMIT :most",
        values,
    )
    return [_record(row) for row in rows]


def before(db: sqlite3.Connection, span: RecordSpan, upto: int) -> list[OaiRecord]:
    """The last record of a span up to a change number."""
    low, high = _numbers(db, span)
    table = "members" if span.set else "records"
    which = "spec = ? AND" if span.set else "? = '' AND"
    query = f"SELECT max(n) FROM {table} WHERE {which} n BETWEEN ? AND ?"
    n = db.execute(query, (span.set, low, min(high, upto))).fetchone()[0]
    return [] if n is None else records(db, span, n - 1, 1)


def count(db: sqlite3.Connection, span: RecordSpan) -> int:
    """How many records a span has now; counted in an index, without touching the records."""
    low, high = _numbers(db, span)
    if span.set:
        query = "SELECT count(*) FROM members WHERE spec = ? AND n BETWEEN ? AND ?"
        return int(db.execute(query, (span.set, low, high)).fetchone()[0])
    query = "SELECT count(*) FROM records INDEXED BY records_stamp WHERE stamp >= ? AND stamp <= ?"
    return int(db.execute(query, (span.since or 0, _MOST if span.until is None else span.until)).fetchone()[0])


def sets(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """All sets: spec and name."""
    return db.execute("SELECT spec, name FROM sets ORDER BY n").fetchall()


def _numbers(db: sqlite3.Connection, span: RecordSpan) -> tuple[int, int]:
    """The change numbers of a time: the order of dates is that of numbers."""
    low, high = 0, _MOST
    if span.since is not None:
        query = "SELECT n FROM records WHERE stamp >= ? ORDER BY stamp, n LIMIT 1"
        low = (db.execute(query, (span.since,)).fetchone() or (_MOST,))[0]
    if span.until is not None:
        query = "SELECT n FROM records WHERE stamp <= ? ORDER BY stamp DESC, n DESC LIMIT 1"
        high = (db.execute(query, (span.until,)).fetchone() or (-1,))[0]
    return low, high


def _record(row: tuple[Any, ...]) -> OaiRecord:
    n, id, stamp, sets, metadata = row
    return OaiRecord(n, id, stamp, tuple(sets.split()), metadata)


def with_above(specs: Iterable[str]) -> set[str]:
    """Sets with all that they lie in."""
    parts = [spec.split(":") for spec in specs]
    return {":".join(part[: n + 1]) for part in parts for n in range(len(part))}
