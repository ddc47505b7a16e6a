"""The loop of one partition, on one screen: land, work, pop, keep, launch.

Answers are taken in batches. Everything a batch changes is one transaction, committed after the archive is flushed,
and a URL is asked for only after its lease is committed: whenever the process is killed, the next start goes on from
the last batch with nothing lost and nothing twice.

A crawl in order takes answers as they were asked for, in whole batches, chooses only after it has taken one in, and
goes by counted time (frontier/clock.py): what it chooses depends on what hosts answer, not on when. It cannot be the
same again where hosts answer otherwise, or not in time; but where one asks for a few seconds, they are waited in place.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

import msgspec

from analecta.crawl.control import ControlChannel, Directive, EngineStatus, StatusNews, with_settled
from analecta.crawl.discovery import LinkDiscovery
from analecta.crawl.fetcher import Fetch, Fetcher, FinishedFetch
from analecta.crawl.ingest import Ingest
from analecta.crawl.late_documents import LateDocuments
from analecta.crawl.outcomes import Outcomes
from analecta.crawl.page_judge import PageJudge
from analecta.crawl.processes.exchange import Ack, Handshake, LinkBatch, LinkExchange
from analecta.fetch.budget import MemoryBudget
from analecta.frontier.clock import CountedClock
from analecta.frontier.frontier import NEVER, Frontier
from analecta.frontier.policy import EXAMPLE_PRIORITY
from analecta.frontier.traps import NEAR
from analecta.model import Lease, NoResponse
from analecta.protocols import Judge
from analecta.store.archive import Archive
from analecta.store.partition import Shard

LINGER = 0.004  # seconds a batch waits for company once its first answer is there
MUCH = 400_000  # characters to judge (crawl/ingest.py) in a turn: at most a tenth of a second
NAP = 0.05  # the longest wait without a look at the mail
FAR_OFF = 120.0  # seconds after which what must be waited for does not count as near


class Engine:
    """Fetches, judges and keeps the pages of one partition until told to stop."""

    def __init__(
        self,
        *,
        number: int,
        load_judge: Callable[[str], Judge],
        asker: Fetcher,
        frontier: Frontier,
        harvest: Outcomes,
        pages: Ingest,
        page_judge: PageJudge,
        offers: LinkDiscovery,
        exchange: LinkExchange,
        shard: Shard,
        archive: Archive,
        reins: ControlChannel,
        pile: LateDocuments,
        budget: MemoryBudget,
        parallel: int = 128,
        batch: int = 16,
        ordered: bool = False,
        patience: float = FAR_OFF,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The engine of partition `number`; `load_judge` gives the judge of a model.

        `ordered` takes answers in the order of asking: the same web then gives the same crawl.

        What waits on hosts that must be left alone for longer than `patience` seconds holds up nothing else.
        """
        self.number = number
        self.load_judge = load_judge
        self.asker = asker
        self.frontier = frontier
        self.harvest = harvest
        self.pages = pages
        self.page_judge = page_judge
        self.offers = offers
        self.exchange = exchange
        self.shard = shard
        self.archive = archive
        self.reins = reins
        self.pile = pile
        self.budget = budget
        self.parallel = parallel
        self.batch = batch
        self.ordered = ordered
        self.patience = patience
        self.clock = clock
        self.lines = CountedClock(clock) if ordered else None
        if self.lines:
            frontier.count_time(self.lines)
        self.flights: deque[Fetch] = deque()
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
            self.report()
        await self.abandon()

    # --- the steps -------------------------------------------------------------------------------------------------

    def read_mail(self) -> None:
        """Take in links from other partitions, and orders."""
        for message in self.reins.receive():
            match message:
                case LinkBatch() | Ack() | Handshake():
                    self.offers.offer(self.exchange.take(message))
                case Directive():
                    self.obey(message)

    async def land(self) -> list[Fetch]:
        """The next batch of answers; less than a full one if no more come soon, in order if order matters."""
        self._wanted = 1
        if not self._ready():
            await self._wait(self._patience())
        else:
            await asyncio.sleep(0)  # there may be more in one turn than can be done in it, turn after turn
        self._wanted = min(self.batch, len(self.flights))
        if not self.ordered and self._ready() and self._down < self._wanted:
            await self._wait(LINGER)
        elif self.ordered and not all(flight.landed for flight in self._head()):
            await self._wait(NAP)
        return self._take_landed()

    def work(self, batch: list[Fetch]) -> None:
        """Give each URL its new state, keep the pages, offer what was found."""
        for flight in batch:
            if rules := flight.learned:
                self.offers.offer(self.harvest.learned(flight.lease.host, rules))
            if flight.delay:
                self.frontier.slow_down(flight.lease.host, flight.delay)
        if batch:
            self._count(len(batch))
            landed = [flight.landed for flight in batch if flight.landed]
            settled = self.harvest.settle(landed, self.now())
            self.offers.offer(settled.candidates)
            for lease, answer in settled.soft_404:
                self.pages.learn_soft404(lease, answer)
            self.offers.follow(self.pages.keep(settled.pages))
            self.offers.took(one.lease for one in landed)
            self._leave_lines(batch)
        self.offers.follow(self.pages.keep_late(self.pile.taken()))

    def pick(self) -> list[Lease]:
        """The best that may be asked for now; URLs that have meanwhile turned out to be of a trap go to the back."""
        if self.ordered:
            self.frontier.floor = self._near()
        leases = self.offers.pick(self.room(), self.now(), self.floor())
        self._idle(not leases)
        return leases

    def keep(self) -> None:
        """The archive first, then the transaction that says what is in it."""
        if not self.shard.changed:
            return
        self.archive.flush()
        for file, length in self.archive.written.items():
            self.shard.set_file(file, self.archive.path(file).name, length)
        self.archive.written.clear()
        self.shard.put("memory", msgspec.json.encode(self.budget.figures()))
        self.shard.put("queued", msgspec.json.encode(self.frontier.queued))
        self.shard.commit()

    def launch(self, leases: list[Lease]) -> None:
        """Ask for the pages."""
        for lease in leases:
            flight = Fetch(lease, line=self.lines.join(lease.host) if self.lines else None)
            self.flights.append(flight)
            task = asyncio.create_task(self._fly(flight))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    def obey(self, order: Directive) -> None:
        """Follow an order of the coordinator."""
        before = self.reins.accept(order)
        if before is None:
            return
        if order.sites != before.sites:
            self.offers.go_to(order.sites)
        if order.mirrors:
            self.offers.traps.condemn(order.mirrors)
        if not order.model:
            return
        self.frontier.floor = NEAR if order.near_only else -NEVER
        turned = self.page_judge.turn(order.course)
        if order.model != self.page_judge.model:
            self.offers.reprioritise(self.page_judge.adopt(self.load_judge(order.model), order.model))
            self.asker.documents_wait = True
        elif turned:
            self.offers.reprioritise(self.page_judge.revalued())
        else:
            return
        if front := self.page_judge.front(order.hubs):
            self.frontier.rescore(front)

    def report(self) -> None:
        """Tell the coordinator how things stand, if it is time; at once what it waits for."""
        news = self.news()
        if self.reins.is_due(news):
            self.reins.report(self.status(news))

    def news(self) -> StatusNews:
        """What the coordinator waits for."""
        idle = self.allowance() <= 0 and not self.flights
        left = self._examples_left() > 0
        return StatusNews(left, self.page_judge.model, idle, self.best() >= 0, self.offers.sites_done())

    def status(self, news: StatusNews) -> EngineStatus:
        """How this partition stands."""
        frontier, learning = self.frontier, self.page_judge.focus.course.learning
        left, due = self._examples_left(), frontier.next_due()
        sightings = self.offers.traps.take_sightings()
        return EngineStatus(
            partition=self.number,
            serial=0,
            tally=msgspec.structs.replace(with_settled(self.pages.tally, frontier.settled), hosts=len(frontier.hosts)),
            order=0,
            granted=0,
            flying=len(self.flights),
            queued=len(frontier),
            seeds_left=left,
            pending=self.exchange.pending,
            sent=self.exchange.sent,
            received=self.exchange.received,
            model=self.page_judge.model,
            wait=-1.0 if due is None else max(0.0, due - self.clock()),
            silent=len(frontier.silent),
            titles=list(self.pages.titles),
            unread=len(self.pile),
            near=frontier.count_above(NEAR) + len(self.flights) if learning else -1,
            done=news.sites_done,
            next_host=frontier.next_host(),
            in_turn=left > 0 and frontier.in_turn(EXAMPLE_PRIORITY),
            best=self.best(),
            stuck=frontier.stuck(),
            seen=[] if self.reins.alone else sightings,
        )

    def _examples_left(self) -> int:
        return self.seeds_left() if self.page_judge.judge is None else 0

    # --- how much, and how good ------------------------------------------------------------------------------------

    def room(self) -> int:
        """How many more may be asked for now."""
        return max(0, min(self.parallel - len(self.flights), self.allowance()))

    def floor(self) -> float:
        """Before there is a model only the examples are fetched: the model is made from them.

        What is demoted waits while any other URL waits or is under way, here or in another partition.
        """
        if self.page_judge.judge is None:
            return EXAMPLE_PRIORITY
        return 0.0 if self.has_open() else min(0.0, self.reins.floor(self.ordered))

    def has_open(self) -> bool:
        """Whether a URL that is not demoted waits or is under way."""
        flying = any(flight.lease.priority >= 0 for flight in self.flights)
        return flying or self.frontier.has_open(self.now(), self.patience)

    def allowance(self) -> int:
        """How many more pages the coordinator lets us ask for."""
        return self.reins.allowance(self.pages.tally.pages + len(self.flights))

    def best(self) -> float:
        """0 where a URL that is not demoted waits or is under way, else the priority of the best that waits."""
        return 0.0 if self.has_open() else self.frontier.best_demoted(self.now(), self.patience)

    def _near(self) -> float:
        """A crawl in order sees for itself, and at once, whether the learning phase has what it wants (B10)."""
        if not self.page_judge.focus.course.learning:
            return -NEVER
        due = self.frontier.first_due()
        soon = due is None or due - self.now() <= FAR_OFF
        return NEAR if self.flights or (soon and self.frontier.count_above(NEAR)) else -NEVER

    def seeds_left(self) -> int:
        """Examples that are still to be fetched."""
        return self.frontier.count_above(EXAMPLE_PRIORITY) + len(self.flights)

    async def _fly(self, flight: Fetch) -> None:
        lease = flight.lease
        try:
            landed = await self.asker.landed(flight)
        except asyncio.CancelledError:
            landed = FinishedFetch(lease, NoResponse(lease.url, "closed", retry=True))
        except Exception as error:  # a fault of ours must cost this URL, not the crawl
            landed = FinishedFetch(lease, NoResponse(lease.url, "client", f"{type(error).__name__}: {error}"))
        flight.landed = landed
        self._down += 1
        if self._down >= self._wanted:
            self._bell.set()

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
        led = self.page_judge.judge is not None or self.seeds_left() > 0
        if empty and not self.flights and due is not None and self.room() and led:
            self.lines.idle(due)
        else:
            self.lines.busy()

    def _leave_lines(self, batch: list[Fetch]) -> None:
        for flight in batch:
            if self.lines and flight.line:
                self.lines.leave(flight.lease.host, flight.line, self.frontier.wait(flight.lease.host))

    # --- waiting ---------------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """There is mail."""
        self._bell.set()

    def _ready(self) -> bool:
        return self._down > 0

    def _head(self) -> list[Fetch]:
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

    def _take_landed(self) -> list[Fetch]:
        if self.ordered:
            head = self._head()
            whole = all(flight.landed for flight in head)
            taken = head if whole else []
            for _ in taken:
                self.flights.popleft()
        else:
            taken = self._some_landed()
        self._down -= len(taken)
        return taken

    def _some_landed(self) -> list[Fetch]:
        """Those that have landed, or so many of them as can be worked on without keeping others waiting."""
        taken: list[Fetch] = []
        rest: deque[Fetch] = deque()
        work = 0
        for flight in self.flights:
            if flight.landed and work < MUCH:
                taken.append(flight)
                work += flight.landed.work
            else:
                rest.append(flight)
        self.flights = rest
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
        self.reins.report(self.status(self.news()))
