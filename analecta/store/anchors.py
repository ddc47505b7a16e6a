"""What others call a page: the words of the links that lead to it."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from analecta.store.schema import unpack_text

MOST = 5  # different texts of a page's links that are kept, those met first: it is then not changed by every new link
LONGEST = 100  # characters of one; what is longer is a whole teaser
_LINKS = "SELECT links, anchors FROM pages WHERE anchors IS NOT NULL AND duplicate_of IS NULL ORDER BY seq"
_MOVES = "SELECT id, elsewhere FROM urls WHERE elsewhere IS NOT NULL"


def anchors(shards: Sequence[sqlite3.Connection], ids: Iterable[int]) -> Mapping[int, Sequence[str]]:
    """The texts of the links to each of these pages, also by way of redirects and copies."""
    found: dict[int, list[str]] = {id: [] for id in ids}
    for shard in shards:  # a step is enough: long chains of redirects are rare
        found |= {id: found[to] for id, to in shard.execute(_MOVES) if to in found and id not in found}
    for shard in shards:
        for links, packed in shard.execute(_LINKS):
            for id, text in zip(np.frombuffer(links or b"", np.int64).tolist(), _texts(packed), strict=False):
                if text and (known := found.get(id)) is not None and len(known) < MOST and text not in known:
                    known.append(text)
    return found


def _texts(packed: bytes) -> list[str]:
    return [text[:LONGEST] for text in unpack_text(packed).split("\n")]
