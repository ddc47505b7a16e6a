"""The end of a URL's life, or its return to the queue: written down and counted."""

import time
from collections.abc import Callable

from analecta.frontier.frontier import Frontier
from analecta.frontier.policy import EXAMPLE_PRIORITY
from analecta.model import Lease, Tally, UrlState
from analecta.store.partition import Shard
from analecta.store.revisits import count_revisit, outcome


class UrlOutcomes:
    """Settles URLs of one partition and keeps the tally."""

    def __init__(
        self,
        shard: Shard,
        frontier: Frontier,
        tally: Tally,
        lost: Callable[[int], None],
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`lost(id)` is told of URLs that come to nothing."""
        self.lost = lost
        self.wall = wall
        self.shard = shard
        self.frontier = frontier
        self.tally = tally

    def again(self, lease: Lease, reason: str, detail: str = "", asked: bool = True) -> None:
        """Ask again later: behind others of its worth, unless it is an example that all wait for.

        It counts as a try of this URL only where it was `asked` for what it is.
        """
        if lease.priority < EXAMPLE_PRIORITY:
            lease.priority *= 0.5
        self.frontier.requeue(lease, reason, detail[:300], asked)

    def end(self, lease: Lease, state: UrlState, reason: str = "", detail: str = "", elsewhere: int = 0) -> None:
        """Write the last state of a URL, and why."""
        if lease.page:
            count_revisit(self.shard.db, outcome(state, reason))
        if lease.page and state == UrlState.FAILED:
            detail = _was_there(self.shard.standing(lease.page)[1], self.wall(), detail)
        self.shard.settle(lease.id, state, reason, detail[:300], elsewhere)
        tally = self.tally
        if state == UrlState.FAILED:
            tally.failed += 1
        elif state == UrlState.REFUSED:
            tally.refused += reason not in ("sitemap", "probe")
        elif state == UrlState.ALIAS:
            tally.elsewhere += 1
        if state in (UrlState.FAILED, UrlState.REFUSED):
            tally.reasons[reason] = tally.reasons.get(reason, 0) + 1
            self.lost(lease.id)


def _was_there(last: float, now: float, detail: str) -> str:
    """What became of a page that was asked for again: what was archived of it stays."""
    words = f"it was there until {_when(last)}, and was asked for again on {_when(now)}; what was kept stays"
    return f"{words}: {detail}" if detail else words


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d at %H:%M UTC", time.gmtime(seconds))
