"""Which records of the archive go along: all, or those of a topic, without what owners want no copy of.

Records are many, so the catalogue is a SQLite file of its own that is gone when it is closed: memory stays the same
however large the archive is. What was committed when it was made is in it, so a crawl may go on meanwhile.
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analecta.errors import ResourceError
from analecta.store.library import LibraryFolder
from analecta.store.schema import CATALOGUE_INDEXES, CATALOGUE_SQL, NOARCHIVE, NOINDEX, Ids, unpack_topics
from analecta.store.snapshot import Snapshot
from analecta.store.warc import ArchivedResponse, info, records, surt_key
from analecta.urls import url_id

_ADD = """INSERT INTO records (id, revisit, date, digest, refers, line, file, offset, length, whole)
  VALUES (?,?,?,?,?,?,?,?,?,?)"""
# The payload of a revisit is in an earlier record of the URL it refers to, perhaps by way of another revisit.
_ORIGINALS = """UPDATE records SET taken = 1 WHERE taken = 0 AND id NOT IN hidden AND n IN (SELECT o.n
  FROM records r CROSS JOIN records o ON o.id = r.refers AND o.digest = r.digest AND o.n < r.n
  WHERE r.taken AND r.revisit)"""
_ORPHANS = """UPDATE records SET taken = 0 WHERE taken AND revisit AND NOT EXISTS (SELECT 1 FROM records o
  WHERE o.id = records.refers AND o.digest = records.digest AND o.n < records.n AND o.taken)"""
_TAKEN = """SELECT r.n, f.name, r.offset, r.whole FROM records r JOIN files f ON f.n = r.file
  WHERE taken ORDER BY r.n"""
# Lines sort by their bytes, to the last one, as `LC_ALL=C sort` has it.
_LINES = """SELECT line, length, p.offset, p.name FROM records r JOIN {places} p ON p.n = r.n WHERE taken
  ORDER BY line, CAST(length AS TEXT), CAST(p.offset AS TEXT), p.name"""

_UNWANTED = f"SELECT id FROM pages WHERE flags & {NOARCHIVE | NOINDEX}"
# What could not be read may say anything: it goes along as little as if it said noarchive.
_UNREAD = "SELECT id FROM urls WHERE reason IN ('parser', 'poison')"
_REDIRECTS = "SELECT id, elsewhere FROM urls WHERE elsewhere IS NOT NULL AND reason LIKE 'http-3%'"


class Catalogue:
    """The records that go along, and where they are."""

    def __init__(self, folder: Path, db: sqlite3.Connection) -> None:
        self.folder = folder
        self.db = db
        self.files: dict[str, int] = {}
        self.made: dict[str, str] = {}  # what the files say of how they were made
        self.pages: Ids | None = None  # those on the topics, where topics are named
        self.left_out = 0  # pages whose owners want no copy shown

    def __len__(self) -> int:
        """How many records go along; requests are not counted."""
        return int(self.db.execute("SELECT count(*) FROM records WHERE taken").fetchone()[0])

    def date(self, id: int, file: str, offset: int) -> str | None:
        """The date of the record of a page, if both are wanted."""
        if self.pages is not None and not _has(self.pages, id):
            return None
        query = "SELECT date FROM records WHERE file = ? AND offset = ? AND taken"
        row = self.db.execute(query, (self.files.get(file), offset)).fetchone()
        return row[0] if row else None

    def dates(self) -> tuple[str, str]:
        """The dates of the first and of the last record that goes along."""
        first, last = self.db.execute("SELECT min(date), max(date) FROM records WHERE taken").fetchone()
        return first, last

    def taken(self) -> Iterator[tuple[int, Path, int, int]]:
        """What to copy, in the order of the archive: number, file, first byte, bytes with those of the request."""
        for n, name, offset, whole in self.db.execute(_TAKEN):
            yield n, self.folder / name, offset, whole

    def place(self, n: int, name: str, offset: int) -> None:
        """Note where a record was copied to."""
        self.db.execute("INSERT INTO places VALUES (?, ?, ?)", (n, name, offset))

    def lines(self, copied: bool = False) -> Iterator[str]:
        """The lines of a CDXJ, sorted: of the records where they are, or where they were copied to."""
        table = "places" if copied else "(SELECT r.n, f.name, r.offset FROM records r JOIN files f ON f.n = r.file)"
        for line, length, offset, name in self.db.execute(_LINES.format(places=table)):
            yield f'{line}"length": "{length}", "offset": "{offset}", "filename": {json.dumps(name)}}}\n'

    # --- making one -----------------------------------------------------------------------------------------------

    def read(self, shards: Sequence[sqlite3.Connection]) -> None:
        """Read all that is committed."""
        for shard in shards:
            for name, length in shard.execute("SELECT name, length FROM files ORDER BY n"):
                file = self.files[name] = len(self.files)
                self.db.execute("INSERT INTO files VALUES (?, ?)", (file, name))
                self.made |= info(self.folder / name, length)
                self.db.executemany(_ADD, (_values(file, one) for one in records(self.folder / name, length)))
        self.db.executescript(f"{CATALOGUE_INDEXES} BEGIN")  # a script ends the transaction that it finds

    def take(self, wanted: Ids | None, hidden: Ids) -> None:
        """Take the records of these URLs, or of all; not those of hidden ones, nor what is nothing without them."""
        self._fill("hidden", hidden)
        which = ""
        if wanted is not None:
            self._fill("wanted", wanted)
            which = " AND id IN wanted"
        self.db.execute("UPDATE records SET taken = 1 WHERE id NOT IN hidden" + which)
        while self.db.execute(_ORIGINALS).rowcount:
            pass
        while self.db.execute(_ORPHANS).rowcount:
            pass

    def _fill(self, table: str, ids: Ids) -> None:
        self.db.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?)", ((id,) for id in ids.tolist()))


@contextlib.contextmanager
def catalogue(
    library: LibraryFolder, snapshot: Snapshot, topics: Sequence[int] | None, everything: bool = False
) -> Iterator[Catalogue]:
    """The records of the topics' pages with the redirects that lead to them, or all records."""
    try:
        with contextlib.closing(sqlite3.connect("", isolation_level=None)) as db:
            db.executescript(CATALOGUE_SQL)
            db.execute("BEGIN")
            made = Catalogue(library.archive, db)
            made.read(snapshot.shards)
            _choose(made, snapshot.shards, topics, everything)
            yield made
    except sqlite3.OperationalError as error:  # such as "database or disk is full"
        raise ResourceError(f"cannot list the records of {library.folder} in a temporary file: {error}") from error


def _choose(
    made: Catalogue, shards: Sequence[sqlite3.Connection], topics: Sequence[int] | None, everything: bool
) -> None:
    asked = [] if everything else shards
    unwanted = _ids(asked, _UNWANTED)
    hidden = np.union1d(unwanted, _ids(asked, _UNREAD))
    if topics is None:
        made.left_out = len(unwanted)
        made.take(None, hidden)
        return
    pages = np.unique([id for shard in shards for id in _on_topic(shard, frozenset(topics))]).astype(np.int64)
    made.pages = np.setdiff1d(pages, hidden)
    made.left_out = len(pages) - len(made.pages)
    made.take(_with_redirects(shards, made.pages), hidden)


def _on_topic(shard: sqlite3.Connection, topics: frozenset[int]) -> Iterator[int]:
    """The pages on one of these topics; one with several topics is of each."""
    for id, topic, packed in shard.execute("SELECT id, topic, topics FROM pages WHERE topic >= 0"):
        if topic in topics or (packed and any(n in topics for n, _ in unpack_topics(packed))):
            yield id


def _has(ids: Ids, id: int) -> bool:
    """Whether a number is among sorted ones."""
    place = int(np.searchsorted(ids, id))
    return place < len(ids) and int(ids[place]) == id


def _values(file: int, one: ArchivedResponse) -> tuple[Any, ...]:
    refers = url_id(one.refers_to) if one.refers_to else 0
    revisit = one.kind == "revisit"
    place = (file, one.offset, one.length, one.whole)
    return url_id(one.url), revisit, one.date, one.digest, refers, _line(one), *place


def _line(one: ArchivedResponse) -> str:
    """A line of a CDXJ but for the place: key, time to the second, and what the record is."""
    time = "".join(filter(str.isdigit, one.date))[:14]
    fields = {"url": one.url, "mime": one.mime, "status": one.status, "digest": one.digest}
    told = json.dumps({name: value for name, value in fields.items() if value is not None})
    return f"{surt_key(one.url)} {time} {told[:-1]}, "


def _ids(shards: Sequence[sqlite3.Connection], query: str) -> Ids:
    """The ids that a query finds in all partitions, sorted."""
    found = (np.fromiter((id for (id,) in shard.execute(query)), np.int64) for shard in shards)
    return np.unique(np.concatenate([np.empty(0, np.int64), *found]))


def _with_redirects(shards: Sequence[sqlite3.Connection], ids: Ids) -> Ids:
    """These URLs and those that redirect to them, directly or by way of others."""
    pairs = [pair for shard in shards for pair in shard.execute(_REDIRECTS)]
    sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
    while len(grown := np.union1d(ids, sources[np.isin(targets, ids)])) > len(ids):
        ids = grown
    return ids
