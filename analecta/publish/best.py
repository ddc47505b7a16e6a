"""The best pages of a topic: those that a crawl found, without the seeds, copies and what must not be shown.

Pages of a kind that makes poor items, whatever they are about, come after all others (S15). The texts of those alone
are looked at that may be shown, so that a crawl pays nothing for it.
"""

import heapq

import msgspec

from analecta.judge.page_kinds import kinds_of
from analecta.model import Found
from analecta.store.library import Library
from analecta.store.packed import unpack_text
from analecta.store.shard import NOINDEX, SOFT404
from analecta.terms import words

_BEST = f"""SELECT p.confidence, coalesce(p.title, ''), u.url, p.text FROM pages p JOIN urls u ON u.id = p.id
  WHERE p.topic = ? AND p.duplicate_of IS NULL AND p.flags & {NOINDEX | SOFT404} = 0 AND u.found != {int(Found.SEED)}
  ORDER BY p.confidence DESC, u.url LIMIT ?"""
_CANDIDATES = 3  # times as many as are asked for


class Good(msgspec.Struct, frozen=True):
    """A page worth showing; with its kind where that makes it a poor item."""

    confidence: float
    title: str
    url: str
    kind: str = ""


def best(library: Library, topic: int, count: int) -> list[Good]:
    """The pages of a topic of which the judge was surest."""
    with library.shards() as shards:
        rows = [row for shard in shards for row in shard.execute(_BEST, (topic, _CANDIDATES * count))]
    rows = heapq.nlargest(_CANDIDATES * count, rows, key=lambda row: row[:3])
    kinds = kinds_of(words([f"{row[1]}\n{unpack_text(row[3])}" for row in rows]), [row[2] for row in rows])
    found = [Good(row[0], row[1], row[2], kind) for row, (kind, _) in zip(rows, kinds, strict=True)]
    better_last = sorted(found, key=_worth)
    by_title = {page.title or page.url: page for page in better_last}
    return heapq.nlargest(count, by_title.values(), key=_worth)


def _worth(page: Good) -> tuple[bool, float, str, str]:
    return not page.kind, page.confidence, page.title, page.url
