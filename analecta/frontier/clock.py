"""Time for a crawl in order: what is chosen follows counted time, when it is asked for follows the clock.

Counted time passes with each page taken in, and else only where nothing is left to do but to wait. The frontier of such
a crawl hears of no other time, so that it chooses the same again. The clock is kept here: requests to one host stand
in a line, one after another as they were chosen, and none goes before its host may be asked.

Where a request meets trouble, those behind it go back unasked: they were chosen before the trouble was known.
"""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

PAGE = 1 / 128  # seconds of counted time for a page; a power of two, for sums of such are exact
_LONGEST = 600.0  # seconds that a robots.txt elsewhere is waited for
_MANY = 20_000  # lines before those that nobody needs are forgotten


@dataclass(slots=True, eq=False)
class HostLane:
    """Requests to one host. `next` is the earliest time of the next one, by the clock."""

    next: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # first come, first served
    broken: bool = False  # one of them met trouble
    members: int = 0

    def put_off(self, time: float) -> None:
        """Ask no more before this time."""
        self.next = max(self.next, time)

    def send(self, time: float) -> bool:
        """A request leaves: nothing else before this time. In a line nothing comes between, so it always may."""
        self.put_off(time)
        return True

    async def turn(self, clock: Callable[[], float]) -> None:
        """Wait until the host may be asked."""
        while (wait := self.next - clock()) > 0:
            await asyncio.sleep(wait)


class CountedClock:
    """The lines of all hosts, and the counted time `now`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.now = 0.0
        self._lines: dict[str, HostLane] = {}
        self._idle_since: float | None = None

    # --- counted time ---------------------------------------------------------------------------------------------

    def count(self, pages: int) -> None:
        """So many requests were taken in."""
        self.now += pages * PAGE
        self._idle_since = None

    def idle(self, due: float) -> None:
        """Nothing can be done before `due`: that time passes by the clock."""
        now = self.clock()
        if self._idle_since is None:
            self._idle_since = now
        if now - self._idle_since >= due - self.now:
            self.now = math.ceil(due / PAGE) * PAGE
            self._idle_since = None

    def busy(self) -> None:
        """Something can be done after all."""
        self._idle_since = None

    def by_clock(self, due: float) -> float:
        """A counted time as the clock would show it if nothing came between."""
        return self.clock() + due - self.now

    # --- lines ----------------------------------------------------------------------------------------------------

    def join(self, host: str, least: float = 0.0) -> HostLane:
        """Stand in the line of a host, which is not asked before the time `least`."""
        if len(self._lines) > _MANY:
            self._forget()
        line = self._lines.setdefault(host, HostLane())
        line.put_off(least)
        line.members += 1
        return line

    def leave(self, host: str, line: HostLane, wait: float) -> None:
        """A request was taken in; the host is to be left alone for `wait` seconds. Who comes now knows of trouble."""
        line.members -= 1
        line.put_off(self.clock() + wait)
        if line.broken and self._lines.get(host) is line:
            self._lines[host] = HostLane(line.next)

    def reserve(self, host: str, delay: float) -> float | None:
        """Take a turn out of line, for a robots.txt: seconds to wait for it; None where that is too long."""
        line, now = self._lines.setdefault(host, HostLane()), self.clock()
        wait = max(0.0, line.next - now)
        if wait > _LONGEST:
            return None
        line.next = now + wait + delay
        return wait

    def send(self, host: str, wait: float) -> bool:
        """A request out of line leaves: the host is to be left alone for `wait` seconds from now."""
        return self._lines.setdefault(host, HostLane()).send(self.clock() + wait)

    def _forget(self) -> None:
        now = self.clock()
        self._lines = {host: line for host, line in self._lines.items() if line.members or line.next > now}
