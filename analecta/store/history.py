"""The collector: while a crawl runs it writes down how good each topic's best items are (S12).

Items are pages that the crawl found: no seeds, no copies, nothing that says noindex or only looks like a page; one with
several topics is an item of each. These are the pages that views/collections.py ranks.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from heapq import heappush, heappushpop

import msgspec

from analecta.model import Found
from analecta.store.library import Library, Moment
from analecta.store.partition import SHOWN

# CROSS JOIN keeps SQLite to this order: all URLs, of which there are many more, would else be walked through.
_ITEMS = f"""SELECT p.topic, coalesce(p.confidence, 0), p.topics FROM pages p CROSS JOIN urls u ON u.id = p.id
  WHERE p.topic >= 0 AND {SHOWN} AND u.found != {int(Found.SEED)}"""
_topics = msgspec.msgpack.Decoder(tuple[tuple[int, float], ...]).decode


def record(library: Library, pages: int, best: int = 50, wall: Callable[[], float] = time.time) -> list[Moment]:
    """Write down how good the `best` items of every topic that has items are, now that so many pages are fetched."""
    items: dict[int, int] = defaultdict(int)
    heaps: dict[int, list[float]] = defaultdict(list)
    with library.shards() as shards:
        for shard in shards:
            for first, sure, packed in shard.execute(_ITEMS):
                for topic, confidence in _topics(packed) if packed else ((first, sure),):
                    items[topic] += 1
                    heap = heaps[topic]
                    if len(heap) < best:
                        heappush(heap, confidence)
                    elif confidence > heap[0]:
                        heappushpop(heap, confidence)
    run, now = library.last_run_number(), wall()
    found = [
        Moment(run, now, pages, topic, items[topic], heap[0], sum(heap) / len(heap), max(heap))
        for topic, heap in sorted(heaps.items())
    ]
    if found:
        library.remember(found)
    return found
