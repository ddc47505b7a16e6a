"""Shares out the pages that a crawl may fetch.

Their number is exact with any number of partitions, though what these are told and what they report comes late:
whatever any message allows a partition counts as given away, until it has heard a later one.
"""

from collections import deque
from collections.abc import Collection

from analecta.crawl.control import EngineStatus
from analecta.model import UNLIMITED

_HUNGRY = 400  # pages that a partition may have left when it gets more: half a second of work


class PageShare:
    """What one partition may fetch, and what it has fetched."""

    def __init__(self) -> None:
        self.granted = 0
        self.used = 0  # pages that its engine has fetched, or is about to
        self._pages = 0  # of these fetched
        self._before = 0  # pages that earlier engines of this partition fetched in this run
        self._told: deque[tuple[int, int]] = deque([(0, 0)])  # grants by serial: those it may be acting on

    @property
    def unused(self) -> int:
        """Pages that it may still fetch."""
        return self.granted - self.used

    @property
    def promised(self) -> int:
        """Pages that it has fetched or may fetch in this run: the most that any message allows it."""
        return self._before + max(self.granted, self.used, *(granted for _, granted in self._told))

    def observe(self, status: EngineStatus) -> None:
        """Take in what it reports."""
        self._pages, self.used = status.tally.pages, status.tally.pages + status.in_flight
        while len(self._told) > 1 and self._told[1][0] <= status.order:  # it has heard a later one
            self._told.popleft()

    def tell(self, serial: int) -> int:
        """The grant that goes out with directive number `serial`."""
        if self._told[-1][1] != self.granted:
            self._told.append((serial, self.granted))
        return self.granted

    def restart(self) -> None:
        """It has a new engine, which may fetch only what is left."""
        if self.granted < UNLIMITED:
            self.granted = max(0, self.granted - self._pages)
        self._before += self._pages
        self._pages = self.used = 0
        self._told = deque([(0, 0)])


class PageBudget:
    """Grants pages: all that are left, in equal parts; what an idle partition does not use goes to the others."""

    def __init__(self, partitions: int) -> None:
        self.shares = [PageShare() for _ in range(partitions)]

    def share(self, limit: int, held: Collection[int] = ()) -> None:
        """Share out `limit` pages in all; partitions that are `held` can use none now."""
        if limit == UNLIMITED:
            for share in self.shares:
                share.granted = UNLIMITED
            return
        free = limit - sum(share.promised for share in self.shares)
        few = max(4, min(_HUNGRY, limit // 20))
        at_work = [share for n, share in enumerate(self.shares) if n not in held]
        hungry = [share for share in at_work if share.unused < few]
        starving = any(share.unused <= 0 for share in at_work)
        for n in held:
            self.shares[n].granted = self.shares[n].used
        for share in at_work:
            if free <= 0 and starving and share.unused > 0:  # too slow for what it has: the others take half
                share.granted = share.used + share.unused // 2
        # In portions, for nobody knows which partition's hosts are fast; a single one gets all at once.
        portion = max(few, free // (2 * len(self.shares))) if len(self.shares) > 1 else free
        for position, share in enumerate(hungry):
            part = max(0, free // len(hungry) + (position < free % len(hungry)))
            share.granted += min(part, portion)
