"""Pages as they are shown: the one gate for what may be, and rows for results of a search."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from analecta.model import OTHERS, Found
from analecta.store.partition import NOARCHIVE, SHOWN
from analecta.store.schema import unpack_text

# CROSS JOIN keeps SQLite to this order: all URLs, of which there are many more, would else be walked through.
_ITEMS = f"""SELECT p.id, u.url, h.name, coalesce(p.title, ''), p.topic, coalesce(p.confidence, 0), p.topics,
  coalesce(p.mime, ''), coalesce(p.lang, ''), coalesce(p.author, ''), coalesce(p.date, ''), coalesce(p.words, 0),
  coalesce(p.size, 0), p.fetched_at, coalesce(p.digest, ''), p.flags,
  trim(coalesce(p.reserved, '') || '; ' || coalesce(nullif(h.reserved, p.reserved), ''), '; '),
  coalesce(f.name, ''), coalesce(p.offset, 0), coalesce(p.length, 0), u.parent, coalesce(u.anchor, ''),
  coalesce(u.context, ''), u.found, p.seq
  FROM pages p CROSS JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host LEFT JOIN files f ON f.n = p.file
  WHERE {SHOWN}"""
_TEXT = "SELECT text FROM pages WHERE seq = ?"


class Item(msgspec.Struct, frozen=True, gc=False):
    """A page that may be shown. `topics` are its topics with confidences, best first; ids are 0 where there is none."""

    id: int
    url: str
    host: str
    title: str
    topic: int
    confidence: float
    topics: tuple[tuple[int, float], ...]
    mime: str
    lang: str
    author: str
    date: str  # YYYY, YYYY-MM or YYYY-MM-DD, as the page says
    words: int
    size: int
    fetched_at: float
    digest: str  # "sha1:..." of the body as it came
    noarchive: bool  # its owner wants no copy shown
    reserved: str  # what its owner reserves ("ai-train=no"), from page and host
    warc: str  # the archive's file and the record's place in it
    offset: int
    length: int
    parent: int  # the id of the page it was found on
    anchor: str  # the words of the link there
    context: str  # and around it
    example: bool  # brought by a person
    shard: int  # where its row is: number among the open shards, and seq
    seq: int

    @property
    def name(self) -> str:
        """What to call it where it has no title."""
        return self.title or self.url


def items(shards: Sequence[sqlite3.Connection], topic: int | None = None) -> Iterator[Item]:
    """The pages of one topic, or of all topics, in the order in which each partition kept them."""
    which = "p.topic >= 0" if topic is None else "p.topic = ?"
    for n, shard in enumerate(shards):
        for row in shard.execute(f"{_ITEMS} AND {which} ORDER BY p.seq", () if topic is None else (topic,)):
            yield _item(n, row)


def text_of(shards: Sequence[sqlite3.Connection], item: Item) -> str:
    """The text that was read of it."""
    return unpack_text(shards[item.shard].execute(_TEXT, (item.seq,)).fetchone()[0])


def _item(shard: int, row: tuple[Any, ...]) -> Item:
    *first, packed = row[:7]
    flags, found, seq = row[15], row[23], row[24]
    topics = msgspec.msgpack.decode(packed, type=tuple[tuple[int, float], ...]) if packed else ((first[4], first[5]),)
    noarchive, example = bool(flags & NOARCHIVE), found == Found.SEED
    values = (*first, topics, *row[7:15], noarchive, *row[16:23], example, shard, seq)
    return Item(*values)


# --- The pages that were found, as they are now ----------------------------------------------------------------------


_ROWS = f"""SELECT p.id, u.url, h.name, coalesce(p.title, ''), p.topic, coalesce(p.confidence, 0), coalesce(p.mime, ''),
  coalesce(p.lang, ''), coalesce(p.date, ''), p.fetched_at, p.text
  FROM urls u JOIN pages p ON p.seq = u.page JOIN hosts h ON h.n = u.host
  WHERE {SHOWN} AND p.topic >= ? AND u.id IN """


class Row(msgspec.Struct, frozen=True):
    """A page that may be shown."""

    id: int
    url: str
    host: str
    title: str
    topic: int
    confidence: float
    mime: str
    lang: str
    date: str
    fetched_at: float


def rows(shards: Sequence[sqlite3.Connection], ids: Sequence[int], every: bool = False) -> dict[int, tuple[Row, str]]:
    """Those of these pages that may be shown at this moment, with their texts; with `every` also those on no topic."""
    asked = f"{_ROWS}({','.join('?' * len(ids))})"
    found = (row for shard in shards for row in shard.execute(asked, [OTHERS if every else 0, *ids]))
    return {row[0]: (Row(*row[:-1]), unpack_text(row[-1])) for row in found}
