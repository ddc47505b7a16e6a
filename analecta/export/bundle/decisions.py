"""What a crawl decided: of every URL what became of it and why, and the order in which pages were kept."""

import heapq
import sqlite3
from collections.abc import Iterator, Sequence

from analecta.export.bundle.manifest import Decision
from analecta.model import State
from analecta.store.library import Library

_ORDER = "SELECT kept_at, id FROM pages ORDER BY seq"
_URLS = """SELECT u.id, u.url, u.state, coalesce(u.reason, ''), coalesce(p.topic, -1), coalesce(p.confidence, 0),
  u.depth, coalesce(p.model, '') FROM urls u LEFT JOIN pages p ON p.seq = u.page ORDER BY u.n"""

_WAITED = """SELECT n FROM hosts WHERE delay IS NOT NULL OR wait_until IS NOT NULL
  UNION SELECT host FROM urls WHERE tries > 1 OR (state = 0 AND reason = 'robots-unreachable')"""


def decisions(library: Library) -> Iterator[Decision]:
    """Every URL that was met, partition after partition, in the order of finding."""
    names = library.topic_names()
    with library.shards() as shards:
        places = {id: place for place, id in enumerate(_in_order(shards), 1)}
        for shard in shards:
            for id, url, state, reason, topic, sure, depth, model in shard.execute(_URLS):
                on = names[topic] if 0 <= topic < len(names) else ""
                sure, place = round(sure, 6), places.get(id, 0)
                yield Decision(url, State(state).name.lower(), reason, on, sure, place, depth, model)


def waited(library: Library) -> int:
    """How many hosts had to be waited for: they asked for time, or gave no answer at first."""
    with library.shards() as shards:
        return sum(len(shard.execute(_WAITED).fetchall()) for shard in shards)


def in_order(found: Iterator[Decision]) -> list[Decision]:
    """The pages among them, in the order in which they were kept."""
    return sorted((one for one in found if one.order), key=lambda one: one.order)


def _in_order(shards: Sequence[sqlite3.Connection]) -> Iterator[int]:
    """The ids of all pages: within a partition in its own order, between them by the clock."""
    return (id for _, id in heapq.merge(*(shard.execute(_ORDER) for shard in shards), key=lambda row: row[0]))
