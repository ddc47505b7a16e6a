"""The verdicts of all pages that are stored: kept beside the library so that they can be put back, and compared."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import zstandard

from analecta.errors import Environment
from analecta.learning.examples import writing
from analecta.store.library import Library
from analecta.store.partition import NOINDEX, SOFT404

_BATCH = 2000  # rows of one transaction
_ALL = "SELECT seq, id, topic, confidence, topics, model FROM pages ORDER BY seq"
_SHOWN = f"SELECT seq FROM pages WHERE duplicate_of IS NULL AND flags & {NOINDEX | SOFT404} = 0"
_PUT = "UPDATE pages SET topic = ?, confidence = ?, topics = ?, model = ? WHERE seq = ? AND id = ? AND model = ?"


class Row(NamedTuple):
    """What is said of a page, as its row in the shard holds it."""

    seq: int
    id: int
    topic: int
    confidence: float | None
    topics: bytes | None
    model: str | None


Rows = list[list[Row]]  # by shard
_decode = msgspec.msgpack.Decoder(Rows).decode


class Change(msgspec.Struct, frozen=True):
    """A page whose topic is another now; a topic is -1 where it is of none."""

    id: int
    before: int
    sure_before: float
    after: int
    sure_after: float


def stored(library: Library) -> Rows:
    """The verdicts as they stand."""
    with library.shards() as shards:
        return [[Row(*row) for row in shard.execute(_ALL)] for shard in shards]


def put_back(library: Library, rows: Rows, model: str, doing: Callable[[int, int], None]) -> None:
    """Write verdicts over those of a model, a batch in one transaction; the caller holds the library."""
    done, pages = 0, sum(map(len, rows))
    with writing(library) as shards:
        for shard, own in zip(shards, rows, strict=True):
            for batch in _batches(own):
                shard.db.executemany(_PUT, [(*row[2:], row.seq, row.id, model) for row in batch])
                shard.commit()
                done += len(batch)
                doing(done, pages)


def _batches(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))


def save(path: Path, rows: Rows) -> None:
    """Keep verdicts in a file: all of it or nothing, also when the power fails."""
    path.parent.mkdir(exist_ok=True)
    partial = path.with_suffix(".partial")
    try:
        with partial.open("wb") as file:
            file.write(zstandard.compress(msgspec.msgpack.encode(rows)))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise Environment(f"the verdicts could not be kept in {path}: {error.strerror}") from error


def load(path: Path) -> Rows:
    """The verdicts that were kept."""
    try:
        return _decode(zstandard.decompress(path.read_bytes()))
    except (OSError, zstandard.ZstdError, msgspec.DecodeError) as error:
        raise Environment(f"the verdicts kept in {path} cannot be read: {error}") from error


def changes(library: Library, before: Rows, after: Rows) -> list[Change]:
    """Pages that may be shown and are of another topic now, those first of which the judge is surest."""
    found = []
    with library.shards() as shards:
        for shard, old, new in zip(shards, before, after, strict=True):
            open_pages = {seq for (seq,) in shard.execute(_SHOWN)}
            were = {row.seq: row for row in old if row.seq in open_pages}
            pairs = ((were[row.seq], row) for row in new if row.seq in were)
            found += [
                Change(row.id, was.topic, was.confidence or 0.0, row.topic, row.confidence or 0.0)
                for was, row in pairs
                if was.topic != row.topic
            ]
    return sorted(found, key=lambda one: (-max(one.sure_before, one.sure_after), one.id))
