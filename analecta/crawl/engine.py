"""The loop of one partition, on one screen: land, work, pop, keep, launch.

Answers are taken in batches. Everything a batch changes is one transaction, committed after the archive is flushed,
and a URL is asked for only after its lease is committed: whenever the process is killed, the next start goes on from
the last batch with nothing lost and nothing twice.
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
from analecta.frontier.policy import SEED_PRIORITY
from analecta.frontier.queues import NEVER, Frontier
from analecta.model import Answer, Fetched, Lease, NoAnswer, Request, Target
from analecta.parse import Parser, ParserDied
from analecta.seams import Fetch
from analecta.store.archive import Archive
from analecta.store.shard import Shard

LINGER = 0.004  # seconds a batch waits for company once its first answer is there
NAP = 0.05  # the longest wait without a look at the mail


class Flight(msgspec.Struct):
    """A fetch under way, or over and waiting to be taken in."""

    lease: Lease
    landed: Landed | None = None


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
        self.flights: deque[Flight] = deque()
        self.tasks: set[asyncio.Task[None]] = set()
        self.learned: list[tuple[str, Rules]] = []
        self._down = 0
        self._wanted = 1  # landed flights that ring the bell
        self._bell = asyncio.Event()

    async def run(self) -> None:
        """The loop."""
        while not self.reins.over():
            self.read_mail()
            batch = await self.land()
            self.work(batch)
            leases = self.pick()
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

    async def land(self) -> list[Landed]:
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

    def work(self, batch: list[Landed]) -> None:
        """Parse, judge, archive, keep; offer the links."""
        for host, rules in self.learned:
            self.harvest.learned(host, rules.delay, rules.sitemaps, rules.reserved)
        self.learned.clear()
        if batch:
            self.harvest.take(batch, self.clock())
        self.pages.take_late(self.pile.taken())

    def pick(self) -> list[Lease]:
        """The best that may be asked for now; URLs that have meanwhile turned out to be of a trap go to the back."""
        leases = self.frontier.pop(self.room(), self.clock(), self.floor())
        return self.offers.without_traps(leases, self.clock())

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
            flight = Flight(lease)
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

    def seeds_left(self) -> int:
        """Examples that are still to be fetched."""
        return self.frontier.count_above(SEED_PRIORITY) + len(self.flights)

    # --- a fetch ---------------------------------------------------------------------------------------------------

    async def _fly(self, flight: Flight) -> None:
        lease = flight.lease
        try:
            landed = Landed(lease, await self._ask(lease))
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

    async def _ask(self, lease: Lease) -> Fetched:
        rules = self.robots.peek(lease.url)
        if rules is None:
            rules = await self._learn_rules(lease)
            if rules is None:
                return NoAnswer(lease.url, "turn", retry=True)
        elif rules.delay and not rules.set_aside:
            self.frontier.slow_down(lease.host, rules.delay)
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
        return NoAnswer(lease.url, rules.reason, rules.cause, retry=True, wait=rules.retry_at - time.time())

    async def _learn_rules(self, lease: Lease) -> Rules | None:
        """Ask for robots.txt, which is a request like any other.

        Where hosts are given a delay the turn is used up by it (None): the page goes back to wait for the next.
        """
        host = self.frontier.hosts[lease.host]
        first = not host.learning
        host.learning = host.turn_given = True  # this flight's turn is for robots.txt
        if host.delay:
            self.frontier.hold(lease.host)
        rules = await self.robots.rules(lease.url)
        if first:
            host.learning = False
            self.learned.append((lease.host, rules))
        if self._refusal(lease, rules):
            return rules
        if rules.delay:
            self.frontier.slow_down(lease.host, rules.delay)
        return None if host.delay else rules

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

    def _take_landed(self) -> list[Landed]:
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
        return [flight.landed for flight in taken if flight.landed]

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
