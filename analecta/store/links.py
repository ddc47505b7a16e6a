"""The links of all pages, read from the shards: as arrays, by the page they lead to, and their words."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from analecta.store.schema import unpack_text
from analecta.store.url_lookup import Known

_LINKS = "SELECT p.id, u.host, p.links FROM pages p JOIN urls u ON u.id = p.id WHERE p.duplicate_of IS NULL"
_MOVES = "SELECT id, elsewhere FROM urls WHERE elsewhere IS NOT NULL"


def page_links(
    shards: Sequence[sqlite3.Connection],
) -> tuple[list[tuple[int, int, bytes | None]], list[tuple[int, int]]]:
    """Of each page its id, a number of its host and its links (as packed ids); and the URLs that lead to another."""
    pages = [
        (id, host * len(shards) + i, links)
        for i, shard in enumerate(shards)
        for id, host, links in shard.execute(_LINKS)
    ]
    return pages, [move for shard in shards for move in shard.execute(_MOVES)]


# --- The pages of the library that link to a URL, with the words of their links --------------------------------------


_MOST = 8
_PAGES = "SELECT id, title, topic, confidence, links, anchors FROM pages WHERE "  # no index: a walk through all pages
_LINKS_TO = "instr(links, ?) > 0"


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
    for id, title, topic, sure, links, anchors in shard.execute(_PAGES + " OR ".join([_LINKS_TO] * len(ids)), wanted):
        # The bytes of one id may also stand across two others: only whole numbers count.
        places = np.flatnonzero(np.isin(np.frombuffer(links, np.int64), ids)).tolist()
        if places and id not in ids:
            yield id, title or "", topic, sure or 0.0, _anchor(anchors, places)


def _anchor(anchors: bytes | None, places: Sequence[int]) -> str:
    """The words of the first of these links that has any."""
    texts = unpack_text(anchors).split("\n")
    return next((texts[place] for place in places if place < len(texts) and texts[place]), "")


# --- What others call a page: the words of the links that lead to it -------------------------------------------------


MOST = 5  # different texts of a page's links that are kept, those met first: it is then not changed by every new link
LONGEST = 100  # characters of one; what is longer is a whole teaser
_ANCHORS = "SELECT links, anchors FROM pages WHERE anchors IS NOT NULL AND duplicate_of IS NULL ORDER BY seq"


def anchors(shards: Sequence[sqlite3.Connection], ids: Iterable[int]) -> Mapping[int, Sequence[str]]:
    """The texts of the links to each of these pages, also by way of redirects and copies."""
    found: dict[int, list[str]] = {id: [] for id in ids}
    for shard in shards:  # a step is enough: long chains of redirects are rare
        found |= {id: found[to] for id, to in shard.execute(_MOVES) if to in found and id not in found}
    for shard in shards:
        for links, packed in shard.execute(_ANCHORS):
            for id, text in zip(np.frombuffer(links or b"", np.int64).tolist(), _texts(packed), strict=False):
                if text and (known := found.get(id)) is not None and len(known) < MOST and text not in known:
                    known.append(text)
    return found


def _texts(packed: bytes) -> list[str]:
    return [text[:LONGEST] for text in unpack_text(packed).split("\n")]
