"""Requests outside the queue: robots.txt files and where they redirect to. Each counts as one of the host it goes to.

The first takes the turn of the page that needs it. A further one stands in line for a turn of its host, before that
host's queue; where the line is long, its page goes back and comes again later, and takes no place among the downloads.
"""

import asyncio
import time
from collections.abc import Callable

import msgspec

from analecta.frontier.clock import CountedClock
from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import SLOW_DOWN, HostQueue, retry_after
from analecta.model import UNASKED, FetchResult, NoResponse, Request, Response, UrlState
from analecta.protocols import FetchFunction, Locate
from analecta.urls import partition_of

_MORE = 1.0  # seconds beyond the delay between requests of two partitions


class SideRequests:
    """Asks for robots.txt files of one partition; `locate` tells the address of a host where addresses are limited."""

    def __init__(
        self,
        ask: FetchFunction,
        frontier: Frontier,
        locate: Locate | None = None,
        clock: Callable[[], float] = time.monotonic,
        partition: tuple[int, int] = (0, 1),
    ) -> None:
        self.ask, self.frontier, self.locate, self.clock = ask, frontier, locate, clock
        self.me, self.partitions = partition
        self._lines: dict[str, asyncio.Lock] = {}  # of hosts that requests wait for

    async def __call__(self, request: Request) -> FetchResult:
        """Ask in the turn that was given, or in one of the host that is asked."""
        name, frontier = request.host, self.frontier
        host = frontier.host(name)
        if host.turn_given:
            key, host.turn_given = host.turn_given, 0
            return await self.ask(self._told(request, key))
        if host.bad and host.fate[0] == UrlState.FAILED:
            return NoResponse(request.url, host.fate[1], host.bad, retry=True)
        if frontier.lines is not None:
            return await self._ask_by_clock(request, frontier.lines, host)
        if not host.delay and frontier.addresses is None:
            return await self.ask(request)
        await asyncio.sleep(self._behind(name))
        if wait := frontier.claim(name, self.clock()):
            return NoResponse(request.url, "turn", "its host must be waited for", retry=True, wait=wait)
        try:
            key = await self._turn(name)
        finally:
            frontier.unclaim(name)
        return await self._ask_in_turn(request, key)

    def _behind(self, name: str) -> float:
        """Seconds to let other partitions go first at a host of theirs: they know nothing of our request."""
        rank = (self.me - partition_of(name, self.partitions)) % self.partitions
        return rank * (self.frontier.manners.delay + _MORE)

    async def _turn(self, name: str) -> int:
        """Wait for a turn of a host, after those that came before; the key of the turn."""
        ip = await self.locate(name) if self.locate is not None else ""
        lock = self._lines.setdefault(name, asyncio.Lock())
        try:
            async with lock:
                while wait := self.frontier.turn_wait(name, self.clock(), ip):
                    await asyncio.sleep(wait)
                return self.frontier.take_turn(name)
        finally:
            if not lock.locked():
                self._lines.pop(name, None)

    async def _ask_in_turn(self, request: Request, key: int) -> FetchResult:
        fetched: FetchResult = NoResponse(request.url, "closed", retry=True)
        try:
            fetched = await self.ask(self._told(request, key))
            return fetched
        finally:
            self.frontier.end_turn(key, request.host, self.clock(), lambda host: self._ended(host, fetched))

    def _ended(self, host: HostQueue, fetched: FetchResult) -> str | None:
        """How it went, from the side of the host that was asked."""
        now, manners = self.clock(), self.frontier.manners
        if isinstance(fetched, Response):
            if fetched.status in SLOW_DOWN:
                return host.pressed(now, manners, retry_after(fetched.headers, time.time(), manners.back_off))
            host.answered(now, manners, fetched.took)
        elif fetched.refused or fetched.reason in UNASKED:
            host.dropped(now)
        else:
            return host.failed(now, manners, hopeless=not fetched.retry)
        return None

    async def _ask_by_clock(self, request: Request, lines: CountedClock, host: HostQueue) -> FetchResult:
        """In a crawl in order, which knows the clock by its lines alone."""
        wait = lines.reserve(request.host, host.delay)
        if wait is None:
            return NoResponse(request.url, "timeout", "its host must be waited for", retry=True)
        await asyncio.sleep(wait)
        sent = lambda: lines.send(request.host, host.delay)  # noqa: E731
        return await self.ask(msgspec.structs.replace(request, sent=sent))

    def _told(self, request: Request, key: int) -> Request:
        """The request, which tells the frontier when it leaves."""
        name = request.host
        return msgspec.structs.replace(request, sent=lambda: self.frontier.sent(key, name, self.clock()))
