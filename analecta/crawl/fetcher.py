"""Asks for one page: after its host's robots.txt, in its turn, and parses apart what looks dangerous.

A crawl in order asks each host in lines (frontier/clock.py), and where a host is busy for a few seconds it waits in
place; any other gives the page back to the frontier instead. The frontier hears of it when a request really leaves.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from enum import Enum, auto

import msgspec

from analecta.crawl.late_documents import LateDocuments
from analecta.fetch.robots import HostNotDue, Robots, Rules
from analecta.frontier.clock import HostLane
from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import SLOW_DOWN, adapted_delay, retry_after
from analecta.model import Candidate, FetchResult, FoundBy, Lease, NoResponse, Page, Request, Response, UrlRef
from analecta.parse import Parser, ParserDied
from analecta.parse.sitemap import Sitemap, read_sitemap
from analecta.protocols import FetchFunction, Locate
from analecta.store.archive import Archive
from analecta.text.tokens import LOOKED_AT

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_LINK = 100  # characters that are judged in the time that a link takes
_SMALL_MAP = 32 * 1024  # bytes: some 300 URLs, which are read in a few milliseconds
_SLICE = 500  # URLs of a sitemap that are offered at once
_SITEMAP_PRIORITY = 0.05  # a URL of which nothing is known but that it exists
IN_PLACE = 5.0  # seconds that a request waits in place for its host, because of what came after it was picked
PATIENCE = 10.0  # seconds that a crawl in order waits in place where a host asks for it


class ResponseKind(Enum):
    """What an answer is to the URL that was asked for."""

    PAGE = auto()
    PROBE = auto()  # how its host answers for a page that it cannot have
    REDIRECT = auto()
    UNCHANGED = auto()
    NOT_OK = auto()
    SITEMAP = auto()
    BROKEN_OFF = auto()


def kind_of_answer(lease: Lease, answer: Response, tries: int) -> ResponseKind:
    """What an answer is; one that was broken off is asked for again while `tries` are left."""
    if lease.found == FoundBy.PROBE:
        return ResponseKind.PROBE
    if answer.status in _REDIRECTS:
        return ResponseKind.REDIRECT
    if answer.status == 304:
        return ResponseKind.UNCHANGED
    if not 200 <= answer.status < 300:
        return ResponseKind.NOT_OK
    if lease.found == FoundBy.MAP:
        return ResponseKind.SITEMAP
    if answer.truncated == "disconnect" and lease.tries < tries:
        return ResponseKind.BROKEN_OFF
    return ResponseKind.PAGE


class FinishedFetch(msgspec.Struct):
    """A fetch that is over; what is a page has been parsed, here or in a child."""

    lease: Lease
    fetched: FetchResult
    page: Page | ParserDied | None = None
    sitemap: Sitemap | None = None  # a large one, of which all pages but the last have been offered

    @property
    def work(self) -> int:
        """How much there is still to do with it: characters to judge, and links that take as long as so many."""
        page = self.page
        return min(len(page.text), LOOKED_AT) + _LINK * len(page.links) if isinstance(page, Page) else 0


class Fetch(msgspec.Struct):
    """A fetch under way, or over and waiting to be taken in."""

    lease: Lease
    landed: FinishedFetch | None = None
    learned: Rules | None = None  # a robots.txt that was read on the way
    delay: float = 0.0  # that the host's robots.txt asks for, where the frontier has still to hear of it
    line: HostLane | None = None


class Fetcher:
    """Asks for pages of one partition."""

    def __init__(
        self,
        fetch: FetchFunction,
        robots: Robots,
        parser: Parser,
        frontier: Frontier,
        archive: Archive,
        pile: LateDocuments,
        suspect: Callable[[int], None],
        offer: Callable[[Sequence[Candidate]], None],
        tries: int = 3,
        ordered: bool = False,
        clock: Callable[[], float] = time.monotonic,
        locate: Locate | None = None,
    ) -> None:
        """`suspect(id)` is told which URL is being parsed, so that a crash can be laid at its door.

        `offer` takes the pages of a large sitemap, some at a time. `locate` tells the address of a host, where the
        frontier limits what is asked of one address.
        """
        self.fetch, self.robots, self.parser, self.frontier = fetch, robots, parser, frontier
        self.archive, self.pile, self.suspect, self.offer, self.tries = archive, pile, suspect, offer, tries
        self.ordered, self.clock, self.locate = ordered, clock, locate
        self.documents_wait = False  # examples are learned from at once; documents wait only once there is a judge
        self._parsing, self._reading = asyncio.Lock(), asyncio.Lock()

    async def landed(self, flight: Fetch) -> FinishedFetch:
        """What came of asking for a page."""
        ask = self._ask(flight) if flight.line is None else self._ask_in_line(flight, flight.line)
        landed = FinishedFetch(flight.lease, await ask)
        if isinstance(landed.fetched, Response):
            await self._read(landed, landed.fetched)
        return landed

    async def _read(self, landed: FinishedFetch, answer: Response) -> None:
        """Parse what is a page: each in a turn of its own, so that other work comes between them."""
        kind = kind_of_answer(landed.lease, answer, self.tries)
        if kind == ResponseKind.PAGE:
            if self.parser.heavy(answer):
                await self._parse_apart(landed, answer)
            else:
                landed.page = self._parse(landed.lease, answer)
        elif kind == ResponseKind.SITEMAP and not self.ordered and len(answer.body) > _SMALL_MAP:
            landed.sitemap = await self._read_sitemap(landed.lease, answer)

    def _parse(self, lease: Lease, answer: Response) -> Page | ParserDied:
        """Parse a page that is not heavy, here and now."""
        self.suspect(lease.id)
        try:
            return self.parser(answer, UrlRef(lease.url, lease.id, lease.host), heavy=False)
        except ParserDied as died:
            return died
        finally:
            self.suspect(0)

    async def _read_sitemap(self, lease: Lease, answer: Response) -> Sitemap:
        """Read a large sitemap while everything else goes on, and offer its pages some at a time.

        The lease ends with the last of them, so that after a kill the sitemap is read again.
        """
        sitemap = await asyncio.to_thread(read_sitemap, answer.body, answer.url)
        for _ in range(0, len(sitemap.urls) - _SLICE, _SLICE):
            self.offer(sitemap_pages(sitemap.urls[:_SLICE], lease))
            del sitemap.urls[:_SLICE]
            await asyncio.sleep(0)
        return sitemap

    async def _ask_in_line(self, flight: Fetch, line: HostLane) -> FetchResult:
        """After those that were chosen before it at its host, and when the host may be asked."""
        lease = flight.lease
        async with line.lock:
            if line.broken:
                return NoResponse(lease.url, "turn", retry=True)
            fetched = await self._ask_in_turn(flight, line)
            while isinstance(fetched, Response) and (wait := self._short_wait(lease, fetched)):
                self.archive.write(fetched)
                del fetched  # it would keep its memory from what comes next
                lease.tries += 1
                line.put_off(self.clock() + wait)
                fetched = await self._ask_in_turn(flight, line)
            line.broken = _is_trouble(fetched)
            return fetched

    async def _ask_in_turn(self, flight: Fetch, line: HostLane) -> FetchResult:
        host = self.frontier.hosts[flight.lease.host]
        await line.turn(self.clock)
        line.put_off(self.clock() + host.delay)
        took = 0.0
        try:
            fetched = await self._ask(flight)
            took = fetched.took if isinstance(fetched, Response) else 0.0
            return fetched
        finally:
            adapted = adapted_delay(took, self.frontier.manners)
            line.put_off(self.clock() + max(host.delay, flight.delay, adapted))

    def _short_wait(self, lease: Lease, answer: Response) -> float:
        """Seconds that a busy host asks for, if that is worth waiting for; else 0."""
        if answer.status not in SLOW_DOWN or lease.tries >= self.tries:
            return 0.0
        wait = retry_after(answer.headers, time.time(), self.frontier.manners.back_off)
        return wait if wait <= PATIENCE else 0.0

    async def _ask(self, flight: Fetch) -> FetchResult:
        lease = flight.lease
        if not await self._located(lease):
            return _not_now(lease)
        rules = self.robots.peek(lease.url)
        if rules is None:
            found = await self._learn_rules(flight)
            if isinstance(found, HostNotDue):
                return _not_now(lease, found.wait)
            rules = found
        elif rules.delay and not rules.set_aside:
            self._slow_down(flight, rules.delay)
        if refusal := self._refusal(lease, rules):
            return refusal
        if not await self._in_turn(lease):
            return _not_now(lease)
        sent = self._sent(flight)
        try:
            return await self.fetch(Request(lease.url, lease.host, lease.etag, lease.modified, sent))
        finally:
            self.frontier.land(lease.id, lease.host, self.clock())

    async def _located(self, lease: Lease) -> bool:
        """Whether the address of the host may be asked now, as far as it is known and limited."""
        if self.locate is None:
            return True
        ip = await self.locate(lease.host)
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

    def _sent(self, flight: Fetch) -> Callable[[], bool] | None:
        """What to ask when the request is to leave; None where nothing depends on it."""
        lease, line = flight.lease, flight.line
        host = self.frontier.hosts[lease.host]
        if line is not None:
            return lambda: line.send(self.clock() + host.delay)
        if not host.delay and self.locate is None:
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

    async def _learn_rules(self, flight: Fetch) -> Rules | HostNotDue:
        """Ask for robots.txt, which is a request like any other.

        Where hosts are given a delay the turn is used up by it: the page goes back to wait for the next. What is known
        from an earlier crawl, or was fetched for another site, needs no turn.
        """
        lease = flight.lease
        host = self.frontier.hosts[lease.host]
        first = not host.learning
        if first:
            host.learning, host.turn_given = True, lease.id  # this flight's turn is for robots.txt
        if host.delay and not self.ordered:
            self.frontier.hold(lease.host)
        rules = await self.robots.rules(lease.url)
        unused = first and host.turn_given == lease.id
        if first:
            host.learning, host.turn_given = False, 0
        if isinstance(rules, HostNotDue):
            return rules
        if first:
            flight.learned = rules
        if self._refusal(lease, rules):
            return rules
        if rules.delay:
            self._slow_down(flight, rules.delay)
        return rules if unused or not (host.delay or rules.delay) else HostNotDue(0.0)

    def _slow_down(self, flight: Fetch, delay: float) -> None:
        """Let the frontier know; in a crawl in order when the answer is taken in."""
        if self.ordered:
            flight.delay = delay
        else:
            self.frontier.slow_down(flight.lease.host, delay)

    async def _parse_apart(self, landed: FinishedFetch, answer: Response) -> None:
        """A page that looks dangerous is parsed in a child, while the others go on; documents may have to wait.

        There is a child for pages and one for documents. Whoever waits for one holds no thread.
        """
        lease = landed.lease
        target = UrlRef(lease.url, lease.id, lease.host)
        unread = self.parser.unread(answer, target)
        # A crawl in order does nothing earlier or later than another time.
        if unread and self.pile.full() and self.documents_wait and not self.ordered:
            landed.page = unread
            return
        self.pile.under_way += unread is not None
        try:
            async with self._reading if unread else self._parsing:
                landed.page = await asyncio.to_thread(self.parser, answer, target, True)
        except ParserDied as died:
            landed.page = died
        finally:
            self.pile.under_way -= unread is not None


def sitemap_candidates(targets: Sequence[UrlRef], parent: int, hops: int) -> list[Candidate]:
    """Sitemaps, to be read for their links."""
    return [Candidate(t, _SITEMAP_PRIORITY, -1, 0, parent, FoundBy.MAP, hops=hops) for t in targets]


def sitemap_pages(targets: Sequence[UrlRef], lease: Lease) -> list[Candidate]:
    """The pages that a sitemap names: worth a little, for nothing is known of them."""
    found = (lease.topic, lease.depth + 1, lease.id, FoundBy.SITEMAP)
    return [Candidate(target, _SITEMAP_PRIORITY, *found) for target in targets]


def _not_now(lease: Lease, wait: float = 0.0) -> NoResponse:
    """The page goes back unasked, to wait for its host's next turn."""
    return NoResponse(lease.url, "turn", retry=True, wait=wait)


def _is_trouble(fetched: FetchResult) -> bool:
    """Whether those that were chosen with it should not be asked for now."""
    if isinstance(fetched, Response):
        return fetched.status in SLOW_DOWN
    return not fetched.refused
