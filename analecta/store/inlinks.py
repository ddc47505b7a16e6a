"""The pages of the library that link to a URL, with the words of their links."""

import sqlite3
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from analecta.store.schema import unpack_text
from analecta.store.url_lookup import Known

_MOST = 8
_PAGES = "SELECT id, title, topic, confidence, links, anchors FROM pages WHERE "  # no index: a walk through all pages
_LINKS = "instr(links, ?) > 0"


class Linking(msgspec.Struct, frozen=True):
    """A page that links to a URL; `confidence` is what the judge said of the page that links."""

    url: str
    title: str
    topic: str
    confidence: float
    anchor: str


class Linked(msgspec.Struct, frozen=True):
    """How many pages link to a URL, how many of them are on a topic, and the best of them."""

    pages: int = 0
    on_topic: int = 0
    best: list[Linking] = []


def linked(known: Known, ids: Sequence[int], topics: Sequence[str], most: int = _MOST) -> Linked:
    """The pages that link to a URL under any of its ids (its own, and those of redirects to it)."""
    found = [row for shard in known.shards for row in _linking(shard, ids)]
    found.sort(key=lambda row: (row[2] < 0, -row[3], row[0]))
    best = [
        Linking(known.url(id), title, topics[topic] if 0 <= topic < len(topics) else "", sure, anchor)
        for id, title, topic, sure, anchor in found[:most]
    ]
    return Linked(len(found), sum(row[2] >= 0 for row in found), best)


def _linking(shard: sqlite3.Connection, ids: Sequence[int]) -> Iterator[tuple[int, str, int, float, str]]:
    wanted = [id.to_bytes(8, "little", signed=True) for id in ids]
    for id, title, topic, sure, links, anchors in shard.execute(_PAGES + " OR ".join([_LINKS] * len(ids)), wanted):
        # The bytes of one id may also stand across two others: only whole numbers count.
        places = np.flatnonzero(np.isin(np.frombuffer(links, np.int64), ids)).tolist()
        if places and id not in ids:
            yield id, title or "", topic, sure or 0.0, _anchor(anchors, places)


def _anchor(anchors: bytes | None, places: Sequence[int]) -> str:
    """The words of the first of these links that has any."""
    texts = unpack_text(anchors).split("\n")
    return next((texts[place] for place in places if place < len(texts) and texts[place]), "")
