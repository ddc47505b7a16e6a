"""What waits in a shard, and the pages that link to it: read when a new model or a new course changes their worth."""

import json
from collections.abc import Collection
from sqlite3 import Connection

import msgspec

from analecta.model import Found, Lease, State, Verdict
from analecta.store.partition import NOFOLLOW, SOFT404

_TOPICS = msgspec.msgpack.Decoder(tuple[tuple[int, float], ...]).decode


class Waiting(msgspec.Struct):
    """A URL that waits: `page` is the one that it was found on, `host` a number."""

    id: int
    page: int
    host: int
    depth: int
    priority: float


class Source(msgspec.Struct):
    """A page that was kept: how it was come by, what is said of it now, and the packed ids that it links to."""

    lease: Lease
    verdict: Verdict
    twin: bool
    links: bytes


def waiting(db: Connection, cold: bool = False) -> list[Waiting]:
    """The URLs in the frontier's memory that were found by a link or a redirect; or those outside it."""
    hot = "INDEXED BY urls_open WHERE state < 2 AND cold = 0 AND state = 0"
    query = (
        f"SELECT id, parent, host, depth, priority FROM urls {'WHERE cold = 1' if cold else hot}"
        f" AND found IN ({Found.LINK:d}, {Found.REDIRECT:d}) AND priority BETWEEN 0.0 AND 1.0"
    )
    return [Waiting(*row) for row in db.execute(query)]


def sources(db: Connection, ids: Collection[int]) -> list[Source]:
    """Those of the pages with these ids that are here and whose links are followed."""
    query = (
        "SELECT u.id, h.name, u.priority, u.topic, u.depth, u.astray, p.topic, p.confidence, p.topics,"
        " p.duplicate_of IS NOT NULL, p.links FROM json_each(?) wanted JOIN urls u ON u.id = wanted.value"
        " JOIN pages p ON p.seq = u.page JOIN hosts h ON h.n = u.host"
        f" WHERE p.links IS NOT NULL AND p.flags & {NOFOLLOW | SOFT404} = 0"
    )
    return [_source(*row) for row in db.execute(query, (json.dumps(list(ids)),))]


def _source(
    id: int, host: str, priority: float, path: int, depth: int, astray: int,
    topic: int, sure: float | None, topics: bytes | None, twin: int, links: bytes,
) -> Source:  # fmt: skip
    lease = Lease(0, id, "", host, priority, path, depth, 0, Found.LINK, astray, 0, 0)
    several = _TOPICS(topics) if topics else ((topic, sure or 0.0),)
    return Source(lease, Verdict(topic, sure or 0.0, several), bool(twin), links)


def host_names(db: Connection) -> dict[int, str]:
    """The names of hosts by their numbers."""
    return dict(db.execute("SELECT n, name FROM hosts"))


def entered_hosts(db: Connection) -> list[str]:
    """Hosts of which some URL was queued at least."""
    rows = db.execute(f"SELECT name FROM hosts WHERE n IN (SELECT host FROM urls WHERE state != {State.REFUSED:d})")
    return [name for (name,) in rows]
