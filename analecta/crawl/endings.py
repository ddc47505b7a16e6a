"""The end of a URL's life, or its return to the queue: written down and counted."""

from collections.abc import Callable

from analecta.frontier.policy import SEED_PRIORITY
from analecta.frontier.queues import Frontier
from analecta.model import Lease, State, Tally
from analecta.store.shard import Shard


class Endings:
    """Settles URLs of one partition and keeps the tally."""

    def __init__(self, shard: Shard, frontier: Frontier, tally: Tally, lost: Callable[[int], None]) -> None:
        """`lost(id)` is told of URLs that come to nothing."""
        self.lost = lost
        self.shard = shard
        self.frontier = frontier
        self.tally = tally

    def again(self, lease: Lease, reason: str, detail: str = "") -> None:
        """Ask again later: behind others of its worth, unless it is an example that all wait for."""
        if lease.priority < SEED_PRIORITY:
            lease.priority *= 0.5
        self.frontier.requeue(lease, reason, detail[:300])

    def end(self, lease: Lease, state: State, reason: str = "", detail: str = "", elsewhere: int = 0) -> None:
        """Write the last state of a URL, and why."""
        self.shard.settle(lease.id, state, reason, detail[:300], elsewhere)
        tally = self.tally
        if state == State.FAILED:
            tally.failed += 1
        elif state == State.REFUSED:
            tally.refused += reason not in ("sitemap", "probe")
        elif state == State.ELSEWHERE:
            tally.elsewhere += 1
        if state in (State.FAILED, State.REFUSED):
            tally.reasons[reason] = tally.reasons.get(reason, 0) + 1
            self.lost(lease.id)
