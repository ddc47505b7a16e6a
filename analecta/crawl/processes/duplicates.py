"""Duplicates across partitions: no page body crosses a process, so each partition knows only its own pages.

When the partitions have stopped, the fingerprints of the pages that are new since the last time are compared over
all of them, in the order in which they were kept; the earlier page stands for the later one, as within a partition.
"""

import contextlib
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analecta.model import State
from analecta.store.library import Library
from analecta.store.sqlite import connect
from analecta.text.fingerprint import NearDuplicates

_NEW = "SELECT kept_at, id, body, simhash, seq FROM pages WHERE duplicate_of IS NULL AND seq > ?"
_OLD = "SELECT kept_at, id, body, simhash FROM pages WHERE duplicate_of IS NULL AND seq <= ?"
_BATCH = 200  # pages of a batch are compared each with each


def settle_twins(library: Library) -> int:
    """Point pages at their twins in other partitions; how many were found."""
    with contextlib.ExitStack() as stack:
        paths = [library.shard_path(i) for i in range(library.partitions) if library.shard_path(i).exists()]
        shards = [stack.enter_context(contextlib.closing(connect(path))) for path in paths]
        marks = [_mark(db) for db in shards]
        new = sorted(
            (*row, i) for i, db in enumerate(shards) for row in db.execute(_NEW, (marks[i],))
        )  # by the time they were kept
        if not new:
            return 0
        old = sorted(row for i, db in enumerate(shards) for row in db.execute(_OLD, (marks[i],)))
        bodies = {body: id for _, id, body, _ in reversed(old)}
        near = NearDuplicates.load(_column(old, 3), _column(old, 1))
        found = 0
        for db in shards:
            db.execute("BEGIN")  # all or nothing: a page that is a copy must not leave its URL done
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            likes = near.sift(_column(batch, 3), _column(batch, 1))
            for (_, id, body, _, seq, i), alike in zip(batch, likes, strict=True):
                twin = bodies.setdefault(body, id)
                if twin == id and alike is not None:
                    twin = alike
                if twin != id:
                    _point(shards[i], seq, id, twin)
                    found += 1
        for db in shards:
            last = db.execute("SELECT coalesce(max(seq), 0) FROM pages").fetchone()[0]
            db.execute("INSERT OR REPLACE INTO meta VALUES ('twins', ?)", (last,))
            db.execute("COMMIT")
        return found


def _mark(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = 'twins'").fetchone()
    return int(row[0]) if row else 0


def _column(rows: Sequence[tuple[Any, ...]], k: int) -> NDArray[np.int64]:
    return np.array([row[k] for row in rows], np.int64)


def _point(db: sqlite3.Connection, seq: int, id: int, twin: int) -> None:
    db.execute("UPDATE pages SET duplicate_of = ? WHERE seq = ?", (twin, seq))  # there is no index of their ids
    db.execute(
        "UPDATE urls SET state = ?, elsewhere = ?, reason = 'duplicate' WHERE id = ? AND state = ?",
        (int(State.ELSEWHERE), twin, id, int(State.DONE)),
    )
