"""Small makers that the tests of frontier, store and crawl share."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import MAX_WAIT, Politeness
from analecta.model import Candidate, FoundBy, Lease, Response, UrlRef, UrlState
from analecta.store.partition import PageRecord, Shard
from analecta.store.rows import PageRow
from analecta.urls import canonical

FREE = Politeness(0.0, 1000, 0)  # hosts that may be asked at any time


def target(url: str) -> UrlRef:
    """The target of a URL that is known to be good."""
    found = canonical(url)
    assert found is not None, url
    return found


def candidate(url: str, priority: float = 0.5, topic: int = 0, **more: Any) -> Candidate:
    """A candidate, of which the tests care for little."""
    return Candidate(target(url), priority, topic, **more)


def lease(url: str, **more: Any) -> Lease:
    """A lease of a URL, made without a shard."""
    one = target(url)
    plain = Lease(1, one.id, one.url, one.host, 0.5, 0, 0, 0, FoundBy.LINK, 0, 0, 0)
    return msgspec.structs.replace(plain, **more)


def answer(url: str = "http://h.test/", body: bytes = b"<p>hello", **more: Any) -> Response:
    """What a well-behaved server says."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    asked = b"GET / HTTP/1.1\r\nHost: h.test\r\n\r\n"
    plain = Response(url, 200, head, {"content-type": "text/html"}, body, body, "192.0.2.1", asked, 1_700_000_000.25)
    return msgspec.structs.replace(plain, **more)


def page_row(id: int, file: int = 0, offset: int = 0, length: int = 0, **more: Any) -> PageRecord:
    """A page row: those that a test names, and what the table needs."""
    needed = {"kept_at": 1.0, "fetched_at": 1.0, "status": 200, "topic": 0, "flags": 0, "model": "m"}
    given = {"id": id, "file": file, "offset": offset, "length": length}
    return PageRecord(**(needed | given | more))


def item(url: str = "http://h.test/", title: str = "A page", **more: Any) -> PageRow:
    """A page that may be shown."""
    one = target(url)
    plain = PageRow(
        one.id, one.url, one.host, title, 0, 0.9, ((0, 0.9),), "text/html", "en", "", "", 100, 1000, 1_700_000_000.0,
        "sha1:A", False, "", "p00-00000.warc.gz", 0, 10, 0, "", "", False, 0, 1,
    )  # fmt: skip
    return msgspec.structs.replace(plain, **more)


@contextlib.contextmanager
def shard_at(path: Path = Path(":memory:")) -> Iterator[Shard]:
    """A shard, closed at the end; in memory unless a path is given."""
    with contextlib.closing(Shard(path)) as shard:
        yield shard


def states(shard: Shard) -> dict[int, int]:
    """The state of every URL of a shard."""
    return dict(shard.db.execute("SELECT id, state FROM urls").fetchall())


def pushed(frontier: Frontier, *candidates: Candidate) -> None:
    """Push what was never seen, as the harvest does."""
    fresh = frontier.fresh([one.target.id for one in candidates])
    frontier.push([candidates[i] for i in fresh])


def drained(frontier: Frontier, now: float = 0.0) -> list[str]:
    """The URLs in the order in which the frontier gives them, each closed at once."""
    urls = []
    while leases := frontier.pop(1, now):
        urls.append(leases[0].url)
        frontier.close(leases[0], now, lambda host: host.dropped(now))
        frontier.ledger.settle(leases[0].id, UrlState.DONE)
    return urls


def committed(frontier: Frontier, shard: Shard) -> None:
    """Commit as the engine does: with the numbers of queued URLs."""
    shard.put("queued", msgspec.json.encode(frontier.queued))
    shard.commit()


def reopened(shard: Shard, manners: Politeness = FREE, wall: float = 0.0, **more: Any) -> Frontier:
    """The frontier of a shard that was just opened at time 0, built as crawl/build.py builds it."""
    back = shard.release_leases(0, 3)
    frontier = Frontier(shard, manners, **more)
    frontier.sieve.load(shard.seen_ids(), shard.last_n())
    queued = {int(topic): n for topic, n in msgspec.json.decode(shard.get("queued", b"{}")).items()}
    patience = [(host, delay, min(max(until - wall, 0.0), MAX_WAIT)) for host, delay, until in shard.hosts.patience()]
    counts = {topic: queued.get(topic, 0) + back[topic] for topic in {*queued, *back}}
    frontier.restore(shard.hot_rows(), shard.cold_hosts(), counts, patience)
    return frontier
