"""Requests in their host's turn: for pages, after the host's robots.txt, and for robots.txt files.

A crawl in order asks each host in lanes (frontier/clock.py), and where a host is busy for a few seconds it waits in
place; any other gives the page back to the frontier instead. The frontier hears of it when a request really leaves.

A robots.txt file takes the turn of the page that needs it. Where it redirects to, the request stands in line for a
turn of that host, before its queue; where the line is long, the page goes back and comes again later, and takes no
place among the downloads.
"""

import asyncio
import time
from collections.abc import Callable

import msgspec

from analecta.crawl.options import EngineOptions
from analecta.fetch.robots import HostNotDue, Robots, Rules
from analecta.frontier.clock import CountedClock, HostLane
from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import SLOW_DOWN, HostQueue, IpLimits, adapted_delay, retry_after
from analecta.model import UNASKED, FetchResult, Lease, NoResponse, Page, Request, Response, UrlState
from analecta.parse import ParserDied
from analecta.parse.sitemap import Sitemap
from analecta.protocols import FetchFunction
from analecta.urls import partition_of

IN_PLACE = 5.0  # seconds that a request waits in place for its host, because of what came after it was picked
PATIENCE = 10.0  # seconds that a crawl in order waits in place where a host asks for it
_MORE = 1.0  # seconds beyond the delay between requests of two partitions
_SOON = 0.05  # seconds after which to look again whether a request to an address has left or ended


class Fetch(msgspec.Struct):
    """A fetch: in progress until it has a result. What is a page has been parsed by then, here or in a child."""

    lease: Lease
    lane: HostLane | None = None  # of its host, in a crawl in order
    result: FetchResult | None = None
    page: Page | ParserDied | None = None
    sitemap: Sitemap | None = None  # a large one, of which all pages but the last have been given out
    robots: Rules | None = None  # a robots.txt that was read on the way
    delay: float = 0.0  # that the host's robots.txt asks for, where the frontier has still to hear of it


class PageRequests:
    """Asks for the pages of one partition; `keep` gets the answers of which the last word is not the result."""

    def __init__(
        self,
        fetch: FetchFunction,
        robots: Robots,
        frontier: Frontier,
        keep: Callable[[Response], object],
        options: EngineOptions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.fetch, self.robots, self.frontier, self.keep = fetch, robots, frontier, keep
        self.tries, self.ordered, self.clock = options.tries, options.ordered, clock

    async def ask(self, fetch: Fetch) -> FetchResult:
        """Ask for a page; the fetch is told what its host's robots.txt says, where that is news."""
        return await (self._ask(fetch) if fetch.lane is None else self._ask_in_lane(fetch, fetch.lane))

    async def _ask_in_lane(self, fetch: Fetch, lane: HostLane) -> FetchResult:
        """After those that were chosen before it at its host, and when the host may be asked."""
        lease = fetch.lease
        async with lane.lock:
            if lane.broken:
                return _not_now(lease)
            result = await self._ask_in_turn(fetch, lane)
            while isinstance(result, Response) and (wait := self._short_wait(lease, result)):
                self.keep(result)
                del result  # it would keep its memory from what comes next
                lease.tries += 1
                lane.put_off(self.clock() + wait)
                result = await self._ask_in_turn(fetch, lane)
            # In trouble those that were chosen with it should not be asked for now.
            lane.broken = result.status in SLOW_DOWN if isinstance(result, Response) else not result.refused
            return result

    async def _ask_in_turn(self, fetch: Fetch, lane: HostLane) -> FetchResult:
        host = self.frontier.hosts[fetch.lease.host]
        await lane.turn(self.clock)
        lane.put_off(self.clock() + host.delay)
        took = 0.0
        try:
            result = await self._ask(fetch)
            took = result.took if isinstance(result, Response) else 0.0
            return result
        finally:
            adapted = adapted_delay(took, self.frontier.manners)
            lane.put_off(self.clock() + max(host.delay, fetch.delay, adapted))

    def _short_wait(self, lease: Lease, answer: Response) -> float:
        """Seconds that a busy host asks for, if that is worth waiting for; else 0."""
        if answer.status not in SLOW_DOWN or lease.tries >= self.tries:
            return 0.0
        wait = retry_after(answer.headers, time.time(), self.frontier.manners.back_off)
        return wait if wait <= PATIENCE else 0.0

    async def _ask(self, fetch: Fetch) -> FetchResult:
        lease = fetch.lease
        if not await self._may_ask_address(lease):
            return _not_now(lease)
        rules = self.robots.peek(lease.url)
        if rules is None:
            found = await self._learn_rules(fetch)
            if isinstance(found, HostNotDue):
                return _not_now(lease, found.wait)
            rules = found
        elif rules.delay and not rules.set_aside:
            self._slow_down(fetch, rules.delay)
        if refusal := self._refusal(lease, rules):
            return refusal
        if not await self._in_turn(lease):
            return _not_now(lease)
        sent = self._sent(fetch)
        try:
            return await self.fetch(Request(lease.url, lease.host, lease.etag, lease.modified, sent))
        finally:
            self.frontier.land(lease.id, lease.host, self.clock())

    async def _may_ask_address(self, lease: Lease) -> bool:
        """Whether the address of the host may be asked now, as far as it is known and limited."""
        if self.frontier.addresses is None:
            return True
        ip = await self.frontier.addresses.locate(lease.host)
        return not ip or self.frontier.locate(lease, ip, self.clock())

    async def _in_turn(self, lease: Lease) -> bool:
        """Wait for what came after the page was picked: the end of another answer, or a longer delay."""
        host = self.frontier.hosts[lease.host]
        if self.ordered or not host.delay:
            return True
        while (wait := host.next - self.clock()) > 0:
            if wait > IN_PLACE:
                return False
            await asyncio.sleep(wait)
        return host.unsent <= 1  # more were picked while the host had no delay

    def _sent(self, fetch: Fetch) -> Callable[[], bool] | None:
        """What to ask when the request is to leave; None where nothing depends on it."""
        lease, lane = fetch.lease, fetch.lane
        host = self.frontier.hosts[lease.host]
        if lane is not None:
            return lambda: lane.send(self.clock() + host.delay)
        if not host.delay and self.frontier.addresses is None:
            return None
        return lambda: self.frontier.sent(lease.id, lease.host, self.clock())

    def _refusal(self, lease: Lease, rules: Rules) -> NoResponse | None:
        """Why robots.txt lets us not ask; None where it does."""
        if rules.set_aside:
            return NoResponse(lease.url, "crawl-delay", "asks for more than 30 s between requests", refused=True)
        if rules.allowed(lease.url):
            return None
        if rules.reason == "robots":
            return NoResponse(lease.url, "robots", rules.cause, refused=True)
        if rules.cause in ("guard", "no-such-host") or (rules.hopeless and rules.cause.startswith("tls")):
            detail = f"as its robots.txt: {rules.detail}" if rules.detail else "as its robots.txt"
            return NoResponse(lease.url, rules.cause, detail, refused=rules.cause == "guard")  # it would fare no better
        since = rules.fetched_at if self.ordered else time.time()
        wait = max(0.0, round(rules.retry_at - since, 3))
        words = f"{rules.cause}: {rules.detail}" if rules.detail else rules.cause
        return NoResponse(lease.url, rules.reason, words, retry=True, wait=wait)

    async def _learn_rules(self, fetch: Fetch) -> Rules | HostNotDue:
        """Ask for robots.txt, which is a request like any other.

        Where hosts are given a delay the turn is used up by it: the page goes back to wait for the next. What is known
        from an earlier crawl, or was fetched for another site, needs no turn.
        """
        lease = fetch.lease
        host = self.frontier.hosts[lease.host]
        first = not host.learning
        if first:
            host.learning, host.turn_given = True, lease.id  # this fetch's turn is for robots.txt
        if host.delay and not self.ordered:
            self.frontier.hold(lease.host)
        try:
            rules = await self.robots.rules(lease.url)
            unused = first and host.turn_given == lease.id
        finally:
            if first:
                host.learning, host.turn_given = False, 0
        if isinstance(rules, HostNotDue):
            return rules
        if first:
            fetch.robots = rules
        if self._refusal(lease, rules):
            return rules
        if rules.delay:
            self._slow_down(fetch, rules.delay)
        return rules if unused or not (host.delay or rules.delay) else HostNotDue(0.0)

    def _slow_down(self, fetch: Fetch, delay: float) -> None:
        """Let the frontier know; in a crawl in order when the result is taken."""
        if self.ordered:
            fetch.delay = delay
        else:
            self.frontier.slow_down(fetch.lease.host, delay)


def _not_now(lease: Lease, wait: float = 0.0) -> NoResponse:
    """The page goes back unasked, to wait for its host's next turn."""
    return NoResponse(lease.url, "turn", retry=True, wait=wait)


def ending(result: FetchResult, frontier: Frontier, now: float, wall: float) -> Callable[[HostQueue], str | None]:
    """How a request went, from the side of the host that was asked; by the time `now`, and by that of the `wall`."""
    manners = frontier.manners
    if isinstance(result, Response):
        if result.status in SLOW_DOWN:
            pause = retry_after(result.headers, wall, manners.back_off)
            return lambda host: host.pressed(now, manners, pause)
        took = result.took if frontier.lines is None else 0.0  # in order, lines heed it
        return lambda host: host.answered(now, manners, took)
    # A certificate is the host's; what else no repetition can change is the fault of one page.
    wait, hopeless = result.wait, result.reason.startswith("tls") and not result.retry
    if result.refused or result.reason in UNASKED:
        return lambda host: _put_back(host, now, wait)
    if result.reason == "robots-unreachable":
        return lambda host: host.pressed(now, manners, wait) and "robots-unreachable"
    return lambda host: host.failed(now, manners, wait, hopeless)


def _put_back(host: HostQueue, now: float, wait: float) -> None:
    """The host was not asked, and is not to be asked for so long."""
    host.dropped(now)
    host.put_off(now + wait)


class SideRequests:
    """Asks for robots.txt files of one partition. Each counts as a request to the host it goes to."""

    def __init__(
        self,
        ask: FetchFunction,
        frontier: Frontier,
        clock: Callable[[], float] = time.monotonic,
        partition: tuple[int, int] = (0, 1),
    ) -> None:
        self.ask, self.frontier, self.clock = ask, frontier, clock
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
        addresses = self.frontier.addresses
        ip = await addresses.locate(name) if addresses is not None else ""
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
            now = self.clock()
            self.frontier.end_turn(key, request.host, now, ending(fetched, self.frontier, now, time.time()))

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


class AddressGate:
    """Asks when the IP address of a request may be asked: for a crawl in order, where no request overtakes another."""

    def __init__(self, ask: FetchFunction, addresses: IpLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.ask, self.addresses, self.clock = ask, addresses, clock

    async def __call__(self, request: Request) -> FetchResult:
        """Ask for one URL."""
        ip = await self.addresses.locate(request.host)
        if not ip:
            return await self.ask(request)
        address = self.addresses.at(ip)
        while not address.free(self.clock()):
            await asyncio.sleep(max(_SOON, address.next - self.clock()))
        address.take()
        unsent = True

        def sent() -> bool:
            nonlocal unsent
            if request.sent is not None and not request.sent():
                return False
            unsent = False
            address.left(self.clock())
            return True

        try:
            return await self.ask(msgspec.structs.replace(request, sent=sent))
        finally:
            address.in_flight -= 1
            address.unsent -= unsent
