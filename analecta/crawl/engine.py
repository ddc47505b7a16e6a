"""The loop of one partition, on one screen: land, work, pop, keep, launch.

Answers are taken in batches. Everything a batch changes is one transaction, committed after the archive is flushed,
and a URL is asked for only after its lease is committed: whenever the process is killed, the next start goes on from
the last batch with nothing lost and nothing twice.

A crawl in order takes answers as they were asked for, in whole batches, chooses only after it has taken one in, and
goes by counted time (frontier/lines.py): what it chooses depends on what hosts answer, not on when. It cannot be the
same again where hosts answer otherwise, or not in time; but where one asks for a few seconds, they are waited in place.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

import msgspec

from analecta.crawl.exchange import Exchange, Hello, Letter, Receipt
from analecta.crawl.harvest import Harvest
from analecta.crawl.messages import Order, Reins
from analecta.crawl.offers import Offers
from analecta.crawl.pages import Landed, Pages
from analecta.crawl.pile import Pile
from analecta.fetch.robots import Robots
from analecta.fetch.rules import Rules
from analecta.frontier.lines import Line, Lines
from analecta.frontier.policy import SEED_PRIORITY
from analecta.frontier.politeness import SLOW_DOWN, retry_after
from analecta.frontier.queues import NEVER, Frontier
from analecta.frontier.traps import DEMOTED
from analecta.model import Answer, Fetched, Lease, NoAnswer, Request, Target
from analecta.parse import Parser, ParserDied
from analecta.seams import Fetch
from analecta.store.archive import Archive
from analecta.store.shard import Shard

LINGER = 0.004  # seconds a batch waits for company once its first answer is there
NAP = 0.05  # the longest wait without a look at the mail
PATIENCE = 10.0  # seconds that a crawl in order waits in place where a host asks for it
FAR_OFF = 120.0  # seconds after which what must be waited for does not count as near
_NEAR = 1.01 * DEMOTED  # priority above which a URL was not sent to the back


class Flight(msgspec.Struct):
    """A fetch under way, or over and waiting to be taken in."""

    lease: Lease
    landed: Landed | None = None
    learned: Rules | None = None  # a robots.txt that was read on the way
    delay: float = 0.0  # that the host's robots.txt asks for, where the frontier has still to hear of it
    line: Line | None = None


class Engine:
    """Fetches, judges and keeps the pages of one partition until told to stop."""

    def __init__(
        self,
        *,
        fetch: Fetch,
        robots: Robots,
        parser: Parser,
        frontier: Frontier,
        harvest: Harvest,
        pages: Pages,
        offers: Offers,
        exchange: Exchange,
        shard: Shard,
        archive: Archive,
        reins: Reins,
        pile: Pile,
        parallel: int = 128,
        batch: int = 16,
        ordered: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`ordered` takes answers in the order of asking: the same web then gives the same crawl."""
        self.fetch = fetch
        self.robots = robots
        self.parser = parser
        self.frontier = frontier
        self.harvest = harvest
        self.pages = pages
        self.offers = offers
        self.exchange = exchange
        self.shard = shard
        self.archive = archive
        self.reins = reins
        self.pile = pile
        self.parallel = parallel
        self.batch = batch
        self.ordered = ordered
        self.clock = clock
        self.lines = Lines(clock) if ordered else None
        if self.lines:
            frontier.count_time(self.lines)
        self.flights: deque[Flight] = deque()
        self.tasks: set[asyncio.Task[None]] = set()
        self._down = 0
        self._wanted = 1  # landed flights that ring the bell
        self._bell = asyncio.Event()

    async def run(self) -> None:
        """The loop."""
        while not self.reins.over():
            self.read_mail()
            batch = await self.land()
            self.work(batch)
            leases = self.pick() if batch or not self.ordered or not self.flights else []
            self.keep()
            self.launch(leases)
            self.pile.go_on(self.wake)
            self.exchange.flush(self.clock())
            self.reins.report(self)
        await self.abandon()

    # --- the steps -------------------------------------------------------------------------------------------------

    def read_mail(self) -> None:
        """Take in links from other partitions, and orders."""
        for message in self.reins.receive():
            match message:
                case Letter() | Receipt() | Hello():
                    self.offers.offer(self.exchange.take(message))
                case Order():
                    self.reins.obey(message, self)

    async def land(self) -> list[Flight]:
        """The next batch of answers; less than a full one if no more come soon, in order if order matters."""
        self._wanted = 1
        if not self._ready():
            await self._wait(self._patience())
        self._wanted = min(self.batch, len(self.flights))
        if not self.ordered and self._ready() and self._down < self._wanted:
            await self._wait(LINGER)
        elif self.ordered and not all(flight.landed for flight in self._head()):
            await self._wait(NAP)
        return self._take_landed()

    def work(self, batch: list[Flight]) -> None:
        """Parse, judge, archive, keep; offer the links."""
        for flight in batch:
            if rules := flight.learned:
                self.harvest.learned(flight.lease.host, rules.delay, rules.sitemaps, rules.reserved)
            if flight.delay:
                self.frontier.slow_down(flight.lease.host, flight.delay)
        if batch:
            self._count(len(batch))
            self.harvest.take([flight.landed for flight in batch if flight.landed], self.now())
            self._leave_lines(batch)
        self.pages.take_late(self.pile.taken())

    def pick(self) -> list[Lease]:
        """The best that may be asked for now; URLs that have meanwhile turned out to be of a trap go to the back."""
        if self.ordered:
            self.frontier.floor = self._near()
        leases = self.frontier.pop(self.room(), self.now(), self.floor())
        self._idle(not leases)
        return self.offers.without_traps(leases, self.now())

    def keep(self) -> None:
        """The archive first, then the transaction that says what is in it."""
        if not self.shard.changed:
            return
        self.archive.flush()
        for file, length in self.archive.written.items():
            self.shard.set_file(file, self.archive.path(file).name, length)
        self.archive.written.clear()
        self.shard.put("queued", msgspec.json.encode(self.frontier.queued))
        self.shard.commit()

    def launch(self, leases: list[Lease]) -> None:
        """Ask for the pages."""
        for lease in leases:
            flight = Flight(lease, line=self.lines.join(lease.host) if self.lines else None)
            self.flights.append(flight)
            task = asyncio.create_task(self._fly(flight))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    # --- how much, and how good ------------------------------------------------------------------------------------

    def room(self) -> int:
        """How many more may be asked for now."""
        return max(0, min(self.parallel - len(self.flights), self.reins.allowance(self)))

    def floor(self) -> float:
        """Before there is a model only the examples are fetched: the model is made from them."""
        return SEED_PRIORITY if self.pages.judge is None else -NEVER

    def _near(self) -> float:
        """A crawl in order sees for itself, and at once, whether the learning phase has what it wants (B10)."""
        if not self.pages.focus.course.learning:
            return -NEVER
        due = self.frontier.first_due()
        soon = due is None or due - self.now() <= FAR_OFF
        return _NEAR if self.flights or (soon and self.frontier.count_above(_NEAR)) else -NEVER

    def seeds_left(self) -> int:
        """Examples that are still to be fetched."""
        return self.frontier.count_above(SEED_PRIORITY) + len(self.flights)

    # --- a fetch ---------------------------------------------------------------------------------------------------

    async def _fly(self, flight: Flight) -> None:
        lease = flight.lease
        try:
            ask = self._ask(flight) if flight.line is None else self._ask_in_line(flight, flight.line)
            landed = Landed(lease, await ask)
            if isinstance(landed.fetched, Answer) and self.parser.heavy(landed.fetched):
                await self._parse_apart(landed, landed.fetched)
        except asyncio.CancelledError:
            landed = Landed(lease, NoAnswer(lease.url, "closed", retry=True))
        except Exception as error:  # a fault of ours must cost this URL, not the crawl
            landed = Landed(lease, NoAnswer(lease.url, "client", f"{type(error).__name__}: {error}"))
        flight.landed = landed
        self._down += 1
        if self._down >= self._wanted:
            self._bell.set()

    async def _ask_in_line(self, flight: Flight, line: Line) -> Fetched:
        """After those that were chosen before it at its host, and when the host may be asked."""
        lease = flight.lease
        async with line.lock:
            if line.broken:
                return NoAnswer(lease.url, "turn", retry=True)
            fetched = await self._ask_in_turn(flight, line)
            while isinstance(fetched, Answer) and (wait := self._short_wait(lease, fetched)):
                self.archive.write(fetched)
                lease.tries += 1
                line.put_off(self.clock() + wait)
                fetched = await self._ask_in_turn(flight, line)
            line.broken = _is_trouble(fetched)
            return fetched

    async def _ask_in_turn(self, flight: Flight, line: Line) -> Fetched:
        host = self.frontier.hosts[flight.lease.host]
        await line.turn(self.clock)
        line.put_off(self.clock() + host.delay)
        try:
            return await self._ask(flight)
        finally:
            line.put_off(self.clock() + max(host.delay, flight.delay))

    def _short_wait(self, lease: Lease, answer: Answer) -> float:
        """Seconds that a busy host asks for, if that is worth waiting for; else 0."""
        if answer.status not in SLOW_DOWN or lease.tries >= self.harvest.tries:
            return 0.0
        wait = retry_after(answer.headers, time.time(), self.frontier.manners.back_off)
        return wait if wait <= PATIENCE else 0.0

    async def _ask(self, flight: Flight) -> Fetched:
        lease = flight.lease
        rules = self.robots.peek(lease.url)
        if rules is None:
            rules = await self._learn_rules(flight)
            if rules is None:
                return NoAnswer(lease.url, "turn", retry=True)
        elif rules.delay and not rules.set_aside:
            self._slow_down(flight, rules.delay)
        if refusal := self._refusal(lease, rules):
            return refusal
        return await self.fetch(Request(lease.url, lease.host, lease.etag, lease.modified))

    def _refusal(self, lease: Lease, rules: Rules) -> NoAnswer | None:
        """Why robots.txt lets us not ask; None where it does."""
        if rules.set_aside:
            return NoAnswer(lease.url, "crawl-delay", "asks for more than 30 s between requests", refused=True)
        if rules.allowed(lease.url):
            return None
        if rules.reason == "robots":
            return NoAnswer(lease.url, "robots", rules.cause, refused=True)
        if rules.cause in ("guard", "no-such-host"):  # the page itself would fare no better
            return NoAnswer(lease.url, rules.cause, "as its robots.txt", refused=rules.cause == "guard")
        since = rules.fetched_at if self.ordered else time.time()
        return NoAnswer(lease.url, rules.reason, rules.cause, retry=True, wait=round(rules.retry_at - since, 3))

    async def _learn_rules(self, flight: Flight) -> Rules | None:
        """Ask for robots.txt, which is a request like any other.

        Where hosts are given a delay the turn is used up by it (None): the page goes back to wait for the next.
        """
        lease = flight.lease
        host = self.frontier.hosts[lease.host]
        first = not host.learning
        host.learning = host.turn_given = True  # this flight's turn is for robots.txt
        if host.delay and not self.ordered:
            self.frontier.hold(lease.host)
        rules = await self.robots.rules(lease.url)
        if first:
            host.learning = False
            flight.learned = rules
        if self._refusal(lease, rules):
            return rules
        if rules.delay:
            self._slow_down(flight, rules.delay)
        return None if host.delay or rules.delay else rules

    def _slow_down(self, flight: Flight, delay: float) -> None:
        """Let the frontier know; in a crawl in order when the answer is taken in."""
        if self.ordered:
            flight.delay = delay
        else:
            self.frontier.slow_down(flight.lease.host, delay)

    async def _parse_apart(self, landed: Landed, answer: Answer) -> None:
        """A page that looks dangerous is parsed in a child, while the others go on; documents may have to wait."""
        lease = landed.lease
        target = Target(lease.url, lease.id, lease.host)
        if self.pile.full() and self._may_wait() and (page := self.parser.unread(answer, target)):
            landed.page = page
            return
        self.pile.under_way += 1
        try:
            landed.page = await asyncio.to_thread(self.parser, answer, target, True)
        except ParserDied as died:
            landed.page = died
        finally:
            self.pile.under_way -= 1

    def _may_wait(self) -> bool:
        """Examples are learnt from at once, and a crawl in order does nothing earlier or later than another time."""
        return not self.ordered and self.pages.judge is not None

    # --- time ------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """The time by which it is chosen what to ask for."""
        return self.lines.now if self.lines else self.clock()

    def _count(self, taken: int) -> None:
        if self.lines:
            self.lines.count(taken)

    def _idle(self, empty: bool) -> None:
        """Let counted time pass by the clock where nothing else can be done, and more can be done then."""
        if self.lines is None:
            return
        due = self.frontier.first_due()
        led = self.pages.judge is not None or self.seeds_left() > 0
        if empty and not self.flights and due is not None and self.room() and led:
            self.lines.idle(due)
        else:
            self.lines.busy()

    def _leave_lines(self, batch: list[Flight]) -> None:
        for flight in batch:
            if self.lines and flight.line:
                self.lines.leave(flight.lease.host, flight.line, self.frontier.wait(flight.lease.host))

    # --- waiting ---------------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """There is mail."""
        self._bell.set()

    def _ready(self) -> bool:
        return self._down > 0

    def _head(self) -> list[Flight]:
        return [self.flights[i] for i in range(min(self.batch, len(self.flights)))]

    def _patience(self) -> float:
        """How long nothing can happen: until a host may be asked again, or the mail should be looked at."""
        due = self.frontier.next_due()
        if due is None or not self.room():
            return NAP
        return min(NAP, max(0.001, due - self.clock()))

    async def _wait(self, seconds: float) -> None:
        self._bell.clear()
        alarm = asyncio.get_running_loop().call_later(seconds, self._bell.set)
        await self._bell.wait()
        alarm.cancel()

    def _take_landed(self) -> list[Flight]:
        if self.ordered:
            head = self._head()
            whole = all(flight.landed for flight in head)
            taken = head if whole else []
            for _ in taken:
                self.flights.popleft()
        else:
            taken = [flight for flight in self.flights if flight.landed]
            self.flights = deque(flight for flight in self.flights if not flight.landed)
        self._down -= len(taken)
        return taken

    async def abandon(self) -> None:
        """Give up what is under way; it is queued again."""
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.pile.close()
        for flight in self.flights:
            self.frontier.requeue(flight.lease, "stopped", asked=False)
        self.flights.clear()
        self.keep()
        self.reins.report(self, always=True)


def _is_trouble(fetched: Fetched) -> bool:
    """Whether those that were chosen with it should not be asked for now."""
    if isinstance(fetched, Answer):
        return fetched.status in SLOW_DOWN
    return not fetched.refused
