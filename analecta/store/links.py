"""The links of all pages, read from the shards: as arrays, by the page they lead to, and their words."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from analecta.store.schema import NOINDEX, SOFT404, unpack_ids, unpack_text

ALIASES = "SELECT id, elsewhere FROM urls WHERE elsewhere IS NOT NULL"
PageLinks = tuple[list[tuple[int, int, bytes | None]], list[tuple[int, int]]]


class LinksOfPage(msgspec.Struct, frozen=True):
    """The links of one page: the ids that they lead to, and the words of each."""

    id: int
    targets: list[int]
    anchors: list[str]


# --- The pages of the library that link to a URL, with the words of their links --------------------------------------


_MOST = 8
_PAGES = "SELECT id, title, topic, confidence, links, anchors FROM pages WHERE "  # no index: a walk through all pages
_LINKS_TO = "instr(links, ?) > 0"


class Inlink(msgspec.Struct, frozen=True):
    """A page that links to a URL; `confidence` is what the judge said of the page that links."""

    url: str
    title: str
    topic: str
    confidence: float
    anchor: str


class Inlinks(msgspec.Struct, frozen=True):
    """How many pages link to a URL, how many of them are on a topic, and the best of them."""

    pages: int = 0
    on_topic: int = 0
    best: list[Inlink] = []


def inlinks(
    shards: Sequence[sqlite3.Connection],
    address: Callable[[int], str],
    ids: Sequence[int],
    topics: Sequence[str],
    most: int = _MOST,
) -> Inlinks:
    """The pages that link to a URL under any of its ids (its own, and those of redirects to it)."""
    found = [row for shard in shards for row in _linking(shard, ids)]
    found.sort(key=lambda row: (row[2] < 0, -row[3], row[0]))
    best = [
        Inlink(address(id), title, topics[topic] if 0 <= topic < len(topics) else "", sure, anchor)
        for id, title, topic, sure, anchor in found[:most]
    ]
    return Inlinks(len(found), sum(row[2] >= 0 for row in found), best)


def _linking(shard: sqlite3.Connection, ids: Sequence[int]) -> Iterator[tuple[int, str, int, float, str]]:
    wanted = [id.to_bytes(8, "little", signed=True) for id in ids]
    for id, title, topic, sure, links, anchors in shard.execute(_PAGES + " OR ".join([_LINKS_TO] * len(ids)), wanted):
        # The bytes of one id may also stand across two others: only whole numbers count.
        places = np.flatnonzero(np.isin(unpack_ids(links), ids)).tolist()
        if places and id not in ids:
            yield id, title or "", topic, sure or 0.0, _anchor(anchors, places)


def _anchor(anchors: bytes | None, places: Sequence[int]) -> str:
    """The words of the first of these links that has any."""
    texts = unpack_text(anchors).split("\n")
    return next((texts[place] for place in places if place < len(texts) and texts[place]), "")


# --- What others call a page: the words of the links that lead to it -------------------------------------------------


MOST = 5  # different texts of a page's links that are kept, those met first: it is then not changed by every new link
LONGEST = 100  # characters of one; what is longer is a whole teaser
_ANCHORS = f"""SELECT links, anchors FROM pages WHERE anchors IS NOT NULL AND duplicate_of IS NULL
  AND flags & {NOINDEX | SOFT404} = 0 ORDER BY seq"""


def anchor_texts(shards: Sequence[sqlite3.Connection], ids: Iterable[int]) -> Mapping[int, Sequence[str]]:
    """The texts of the links to each of these pages, also by way of redirects and copies.

    Pages that say noindex, and those that are none, lend no words.
    """
    found: dict[int, list[str]] = {id: [] for id in ids}
    for shard in shards:  # a step is enough: long chains of redirects are rare
        found |= {id: found[to] for id, to in shard.execute(ALIASES) if to in found and id not in found}
    for shard in shards:
        for links, packed in shard.execute(_ANCHORS):
            for id, text in zip(unpack_ids(links).tolist(), _texts(packed), strict=False):
                if text and (known := found.get(id)) is not None and len(known) < MOST and text not in known:
                    known.append(text)
    return found


def _texts(packed: bytes) -> list[str]:
    return [text[:LONGEST] for text in unpack_text(packed).split("\n")]
