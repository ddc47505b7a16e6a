"""The rows of what can be exported: pages, links, refusals, history; one after another, so that memory stays constant.

COLUMNS says what each row has, in order. Text is never null ("" where there is none); numbers may be.
"""

import heapq
import sqlite3
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from analecta.model import State
from analecta.store.library import Library
from analecta.store.partition import NOARCHIVE, NOFOLLOW, NOINDEX, SOFT404
from analecta.store.schema import unpack_text
from analecta.store.url_lookup import Known
from analecta.text.display import iso
from analecta.views.reasons import NO_REFUSALS

Row = dict[str, Any]

COLUMNS: dict[str, dict[str, type]] = {
    "pages": {
        "url": str, "final_url": str, "status": int, "mime": str, "title": str, "lang": str, "topic": str,
        "confidence": float, "order": int, "depth": int, "parent": str, "fetched_at": str, "digest": str,
        "duplicate_of": str, "warc_file": str, "warc_offset": int, "topics": dict, "model": str, "host": str,
        "size": int, "words": int, "noindex": bool, "nofollow": bool, "noarchive": bool, "soft404": bool,
        "reserved": str, "truncated": str, "author": str, "date": str,
    },
    "links": {"source": str, "target": str, "anchor": str, "state": str},
    "refusals": {"url": str, "state": str, "reason": str, "detail": str, "parent": str, "anchor": str, "depth": int},
    "history": {
        "run": int, "at": str, "pages": int, "topic": str, "items": int, "least": float, "mean": float, "most": float,
    },
}  # fmt: skip

_PAGES = """SELECT p.kept_at, p.id, p.status, p.mime, p.title, p.lang, p.topic, p.confidence, p.fetched_at, p.digest,
  p.duplicate_of, f.name, p.offset, p.topics, p.model, p.size, p.words, p.flags, p.reserved, h.reserved, p.truncated,
  p.author, p.date
  FROM pages p JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host LEFT JOIN files f ON f.n = p.file
  ORDER BY p.seq"""
_LINKS = "SELECT id, links, anchors FROM pages WHERE links IS NOT NULL ORDER BY seq"
_NOINDEX = f"SELECT id FROM pages WHERE flags & {NOINDEX}"
_REFUSALS = f"""SELECT id FROM urls WHERE state IN ({int(State.FAILED)}, {int(State.REFUSED)})
  AND coalesce(reason, '') NOT IN {NO_REFUSALS} ORDER BY n"""


class Left(msgspec.Struct):
    """What was left out of an export, to be told."""

    noindex: int = 0
    reserved: int = 0
    unknown: int = 0


def pages(library: Library, left: Left, everything: bool = False, for_training: bool = False) -> Iterator[Row]:
    """Pages in the order in which they were kept; without those that say noindex, unless all are asked for.

    `order` counts the pages that are left out as well: a page has the same number in every export.
    """
    topics = library.topic_names()
    with library.shards() as shards:
        known, hidden = Known(shards), frozenset[int]() if everything else says_noindex(shards)
        for order, row in enumerate(_in_order(shards), 1):
            page = _page(row, order, known, hidden, topics)
            if page["noindex"] and not everything:
                left.noindex += 1
            elif for_training and page["reserved"]:
                left.reserved += 1
            else:
                yield page


def links(library: Library, left: Left) -> Iterator[Row]:
    """Every link whose target was written down, with its words; none from or to pages that say noindex."""
    with library.shards() as shards:
        known, hidden = Known(shards), says_noindex(shards)
        for shard in shards:
            for id, targets, anchors in shard.execute(_LINKS):
                if id not in hidden:
                    yield from _links(known, hidden, known.url(id), targets, anchors, left)


def refusals(library: Library, _: Left) -> Iterator[Row]:
    """URLs that were found but are no pages: refused by us, or failed."""
    with library.shards() as shards:
        known, hidden = Known(shards), says_noindex(shards)
        for shard in shards:
            for (id,) in shard.execute(_REFUSALS):
                if found := known.get(id):
                    yield {
                        "url": found.url,
                        "state": found.state.name.lower(),
                        "reason": found.reason,
                        "detail": found.detail,
                        "parent": _address(known, hidden, found.parent),
                        "anchor": "" if found.parent in hidden else found.anchor,
                        "depth": found.depth,
                    }


def history(library: Library, _: Left) -> Iterator[Row]:
    """How good each topic's best items were as crawls went on: their least, mean and most confidence (S12)."""
    topics = library.topic_names()
    for moment in library.history():
        yield moment._asdict() | {"at": iso(moment.at), "topic": _name(topics, moment.topic)}


KINDS: dict[str, Callable[..., Iterator[Row]]] = {
    "pages": pages,
    "links": links,
    "refusals": refusals,
    "history": history,
}


def says_noindex(shards: Sequence[sqlite3.Connection]) -> frozenset[int]:
    """The ids of pages that say noindex: what is exported does not name them, nor give their words (F35)."""
    return frozenset(id for shard in shards for (id,) in shard.execute(_NOINDEX))


def _address(known: Known, hidden: Container[int], id: int) -> str:
    return "" if id in hidden else known.url(id)


def _in_order(shards: Sequence[sqlite3.Connection]) -> Iterator[tuple[Any, ...]]:
    """The pages of all partitions: within one in its own order, between them by the clock."""
    return heapq.merge(*(shard.execute(_PAGES) for shard in shards), key=lambda row: row[0])


def _page(row: tuple[Any, ...], order: int, known: Known, hidden: Container[int], topics: Sequence[str]) -> Row:
    (_, id, status, mime, title, lang, topic, confidence, fetched, digest, twin, file, offset) = row[:13]
    packed, model, size, words, flags, reserved, host_reserved, truncated, author, date = row[13:]
    final = known.get(id)
    assert final is not None
    first = known.start(final)
    return {
        "url": first.url,
        "final_url": final.url,
        "status": status,
        "mime": mime or "",
        "title": title or "",
        "lang": lang or "",
        "topic": _name(topics, topic),
        "confidence": confidence,
        "order": order,
        "depth": final.depth,
        "parent": _address(known, hidden, first.parent),
        "fetched_at": iso(fetched),
        "digest": digest or "",
        "duplicate_of": _address(known, hidden, twin or 0),
        "warc_file": file or "",
        "warc_offset": offset,
        "topics": _topics(topics, topic, confidence, packed),
        "model": model or "",
        "host": final.host,
        "size": size,
        "words": words,
        "noindex": bool(flags & NOINDEX),
        "nofollow": bool(flags & NOFOLLOW),
        "noarchive": bool(flags & NOARCHIVE),
        "soft404": bool(flags & SOFT404),
        "reserved": "; ".join(dict.fromkeys(filter(None, (reserved, host_reserved)))),
        "truncated": truncated or "",
        "author": author or "",
        "date": date or "",
    }


def _topics(names: Sequence[str], topic: int, confidence: float | None, packed: bytes | None) -> dict[str, float]:
    """Every topic that a page belongs to, best first."""
    if packed:
        return {_name(names, int(t)): float(c) for t, c in msgspec.msgpack.decode(packed)}
    return {_name(names, topic): confidence or 0.0} if topic >= 0 else {}


def _name(topics: Sequence[str], topic: int) -> str:
    return topics[topic] if 0 <= topic < len(topics) else ""


def _links(
    known: Known, hidden: Container[int], source: str, targets: bytes, anchors: bytes | None, left: Left
) -> Iterator[Row]:
    ids: list[int] = np.frombuffer(targets, np.int64).tolist()
    texts = unpack_text(anchors).split("\n")
    texts += [""] * (len(ids) - len(texts))
    known.look_up(ids)
    for id, anchor in zip(ids, texts, strict=False):
        target = known.get(id)
        if target is None:
            left.unknown += 1
        elif id not in hidden:
            yield {"source": source, "target": target.url, "anchor": anchor, "state": target.state.name.lower()}
