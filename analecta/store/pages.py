"""Verdicts, topics and copies of stored pages, read and written apart from a crawl."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from analecta.model import UrlState
from analecta.store.partition import NOINDEX, SOFT404, UNREAD, Shard
from analecta.store.schema import MetaKey, unpack_text, unpack_topics
from analecta.store.sqlite import connect

_CLOSED = f"p.flags & {NOINDEX | SOFT404}"  # on no topic, whatever its words
_ONE = "FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?"

# --- verdicts --------------------------------------------------------------------------------------------------------


class VerdictRow(NamedTuple):
    """What is said of a page, as its row in the shard holds it."""

    seq: int
    id: int
    topic: int
    confidence: float | None
    topics: bytes | None
    model: str | None


_PUT = "UPDATE pages SET topic = ?, confidence = ?, topics = ?, model = ? WHERE seq = ? AND id = ? AND model = ?"


def put_verdicts(shard: Shard, rows: Iterable[VerdictRow], model: str) -> None:
    """Write verdicts over those of a model; to be committed."""
    shard.db.executemany(_PUT, [(*row[2:], row.seq, row.id, model) for row in rows])


def verdict_of(shard: Shard, id: int) -> VerdictRow | None:
    """What is said of a page; None where it is not here, or its owner wants it listed nowhere."""
    query = f"SELECT p.seq, u.id, p.topic, p.confidence, p.topics, p.model {_ONE} AND {_CLOSED} = 0"
    row = shard.db.execute(query, (id,)).fetchone()
    return VerdictRow(*row) if row else None


class PageToJudge(NamedTuple):
    """A page that is to be judged again: its packed text, and how it was found."""

    seq: int
    id: int
    packed: bytes | None
    anchor: str | None
    parent: int
    closed: int  # not 0: on no topic, whatever its words
    off_topic: int  # 1: an example of what is not meant

    @property
    def text(self) -> str:
        """Its text."""
        return unpack_text(self.packed)


class DocumentToJudge(NamedTuple):
    """A document without a text, which is what the page is that links to it; with what is said of it now."""

    seq: int
    id: int
    parent: int
    closed: int
    topic: int
    confidence: float | None
    topics: bytes | None


class PagesToJudge:
    """The pages of one shard, read to be judged again; to be closed.

    From `priority` on a URL is an example; `documents` are the media types of what may have no text.
    """

    def __init__(self, path: Path, priority: float, documents: Iterable[str]) -> None:
        self._db = connect(path, readonly=True)
        self._priority = priority
        self._unread = f"p.text IS NULL AND p.mime IN ({', '.join(repr(mime) for mime in sorted(documents))})"

    def numbers(self, model: str) -> list[int]:
        """The numbers of the pages that another model than this has judged."""
        rows = self._db.execute("SELECT seq FROM pages WHERE model IS NOT ? ORDER BY seq", (model,))
        return [seq for (seq,) in rows]

    def pages(self, first: int, last: int, model: str) -> list[PageToJudge]:
        """Those from one number to another, without documents that have no text."""
        query = f"""SELECT p.seq, p.id, p.text, u.anchor, u.parent, {_CLOSED},
          u.priority >= {self._priority} AND u.topic < 0 FROM pages p JOIN urls u ON u.id = p.id
          WHERE p.seq >= ? AND p.seq <= ? AND p.model IS NOT ? AND NOT ({self._unread}) ORDER BY p.seq"""
        return [PageToJudge(*row) for row in self._db.execute(query, (first, last, model))]

    def documents(self, model: str) -> list[DocumentToJudge]:
        """The documents that have no text."""
        query = f"""SELECT p.seq, p.id, u.parent, {_CLOSED}, p.topic, p.confidence, p.topics FROM pages p
          JOIN urls u ON u.id = p.id WHERE p.model IS NOT ? AND {self._unread} ORDER BY p.seq"""
        return [DocumentToJudge(*row) for row in self._db.execute(query, (model,))]

    def text(self, id: int) -> str:
        """The text of a page by its id; "" where there is none."""
        row = self._db.execute(f"SELECT p.text {_ONE}", (id,)).fetchone()
        return unpack_text(row[0]) if row else ""

    def verdict(self, id: int) -> tuple[int, float | None, bytes | None] | None:
        """Topic, confidence and packed topics of a page; None where it is not here."""
        row: tuple[int, float | None, bytes | None] | None
        row = self._db.execute(f"SELECT p.topic, p.confidence, p.topics {_ONE}", (id,)).fetchone()
        return row

    def close(self) -> None:
        """Close the shard."""
        self._db.close()


# --- pages that go to other topics -----------------------------------------------------------------------------------


def renumber_topics(shard: Shard, numbers: Mapping[int, int]) -> None:
    """Give pages and URLs of some topics to others; to be committed."""
    rows = shard.db.execute("SELECT seq, topics FROM pages WHERE topics IS NOT NULL").fetchall()
    values = [(_renumbered(packed, numbers), seq) for seq, packed in rows]
    shard.db.executemany("UPDATE pages SET topics = ? WHERE seq = ?", values)
    for table in ("pages", "urls"):
        ways = [(new, old) for old, new in numbers.items()]
        shard.db.executemany(f"UPDATE {table} SET topic = ? WHERE topic = ?", ways)


def move_page(shard: Shard, id: int, old: int, new: int) -> None:
    """Let a page go from a topic to another, if it is still of the first; to be committed."""
    row = shard.db.execute(f"SELECT p.seq, p.topics {_ONE} AND p.topic = ?", (id, old)).fetchone()
    if row:
        packed = _renumbered(row[1], {old: new}) if row[1] else None
        shard.db.execute("UPDATE pages SET topic = ?, topics = ? WHERE seq = ?", (new, packed, row[0]))


def refers_to_topic(shard: Shard, topic: int) -> bool:
    """Whether a URL is of a topic, or a page, and be it besides others."""
    query = "SELECT 1 FROM pages WHERE topic = ? UNION ALL SELECT 1 FROM urls WHERE topic = ?"
    if shard.db.execute(query, (topic, topic)).fetchone():
        return True
    rows = shard.db.execute("SELECT topics FROM pages WHERE topics IS NOT NULL")
    return any(topic == one for (packed,) in rows for one, _ in unpack_topics(packed))


def _renumbered(packed: bytes, numbers: Mapping[int, int]) -> bytes | None:
    """The topics of a page by other numbers; None where they have become one."""
    sure: dict[int, float] = {}
    for topic, confidence in unpack_topics(packed):
        sure.setdefault(numbers.get(topic, topic), confidence)
    return msgspec.msgpack.encode(tuple(sure.items())) if len(sure) > 1 else None


# --- copies of pages in other partitions -----------------------------------------------------------------------------


# Plain tuples, for there are as many as pages: when a page was kept, its id, what tells of its body (a hash and a
# fingerprint); of one that was not compared yet also its number and its place among the partitions.
Fingerprint = tuple[float, int, int, int]
NewFingerprint = tuple[float, int, int, int, int, int]


def new_fingerprints(shard: Shard, place: int) -> list[NewFingerprint]:
    """Of pages that are no copies and were not compared yet."""
    query = f"""SELECT kept_at, id, body, simhash, seq, {place} FROM pages WHERE duplicate_of IS NULL AND seq > ?"""
    return shard.db.execute(query, (shard.get(MetaKey.TWINS, 0),)).fetchall()


def old_fingerprints(shard: Shard) -> list[Fingerprint]:
    """Of pages that are no copies and were compared before."""
    query = "SELECT kept_at, id, body, simhash FROM pages WHERE duplicate_of IS NULL AND seq <= ?"
    return shard.db.execute(query, (shard.get(MetaKey.TWINS, 0),)).fetchall()


def point_copy(shard: Shard, seq: int, id: int, original: int) -> None:
    """Let a page be a copy of another; a document that waits to be read is read where the other stands.

    To be committed: a page that is a copy must not leave its URL done.
    """
    change = (
        f"UPDATE pages SET duplicate_of = ?, flags = flags & ~{UNREAD},"
        f" limits = CASE WHEN flags & {UNREAD} THEN NULL ELSE limits END WHERE seq = ?"
    )
    shard.db.execute(change, (original, seq))  # ids have no index
    shard.db.execute(
        "UPDATE urls SET state = ?, elsewhere = ?, reason = 'duplicate' WHERE id = ? AND state = ?",
        (int(UrlState.ALIAS), original, id, int(UrlState.DONE)),
    )


def note_compared(shard: Shard) -> None:
    """Note which pages were compared: all before the first document that waits to be read. To be committed."""
    unread = f"SELECT min(seq) - 1 FROM pages WHERE flags & {UNREAD}"
    last = shard.db.execute(f"SELECT coalesce(({unread}), max(seq), 0) FROM pages").fetchone()[0]
    shard.put(MetaKey.TWINS, last)
