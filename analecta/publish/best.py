"""The best pages of a topic: those that a crawl found, without the seeds, copies and what must not be shown."""

import heapq

import msgspec

from analecta.model import Found
from analecta.store.library import Library
from analecta.store.shard import NOINDEX, SOFT404

_BEST = f"""SELECT p.confidence, coalesce(p.title, ''), u.url FROM pages p JOIN urls u ON u.id = p.id
  WHERE p.topic = ? AND p.duplicate_of IS NULL AND p.flags & {NOINDEX | SOFT404} = 0 AND u.found != {int(Found.SEED)}
  ORDER BY p.confidence DESC, u.url LIMIT ?"""


class Good(msgspec.Struct, frozen=True, order=True):
    """A page worth showing."""

    confidence: float
    title: str
    url: str


def best(library: Library, topic: int, count: int) -> list[Good]:
    """The pages of a topic of which the judge was surest."""
    with library.shards() as shards:
        found = sorted(Good(*row) for shard in shards for row in shard.execute(_BEST, (topic, 3 * count)))
    by_title = {page.title or page.url: page for page in found}  # the better ones come last and stay
    return heapq.nlargest(count, by_title.values())
