"""The pages of a package, as WACZ lists them: those on a topic, and apart from them the others."""

import sqlite3
from collections.abc import Iterator, Sequence

import msgspec

from analecta.model import Found
from analecta.store.partition import SHOWN, SOFT404
from analecta.store.record_index import Catalogue
from analecta.store.schema import unpack_text

_PAGES = """SELECT p.id, u.url, coalesce(p.title, ''), u.found, coalesce(p.confidence, 0), p.seq, f.name, p.offset
  FROM pages p CROSS JOIN urls u ON u.id = p.id JOIN files f ON f.n = p.file WHERE u.page = p.seq AND """
_MAIN = f"{SHOWN} AND p.topic >= 0"
_OTHERS = f"NOT ({_MAIN}) AND p.flags & {SOFT404} = 0"
_TEXT = "SELECT text FROM pages WHERE seq = ?"


class Listed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page in a package; `ts` is the date of its record."""

    id: str
    url: str
    ts: str
    title: str
    text: str | None = None


class Entry(msgspec.Struct, frozen=True):
    """A page to list, and how fit it is to be the first that is shown: examples before others, then by confidence."""

    page: Listed
    fit: tuple[bool, float]


def header(name: str, title: str, text: bool) -> bytes:
    """The first line of a list."""
    said = {"format": "json-pages-1.0", "id": name, "title": title, "hasText": text}
    return msgspec.json.encode(said) + b"\n"


def main_pages(shards: Sequence[sqlite3.Connection], found: Catalogue, text: bool = False) -> Iterator[Entry]:
    """The pages on topics whose records go along."""
    return _entries(shards, found, _MAIN, text)


def other_pages(shards: Sequence[sqlite3.Connection], found: Catalogue, text: bool = False) -> Iterator[Entry]:
    """The other pages whose records go along: copies of those, and where no topic is named pages on none."""
    return _entries(shards, found, _OTHERS, text)


def _entries(shards: Sequence[sqlite3.Connection], found: Catalogue, which: str, text: bool) -> Iterator[Entry]:
    for shard in shards:
        for id, url, title, come_by, confidence, seq, file, offset in shard.execute(f"{_PAGES}{which} ORDER BY p.seq"):
            if (date := found.date(id, file, offset)) is None:
                continue
            words = unpack_text(shard.execute(_TEXT, (seq,)).fetchone()[0]) if text else None
            page = Listed(f"{id & (1 << 64) - 1:016x}", url, date, title, words)
            yield Entry(page, (come_by == Found.SEED, confidence))
