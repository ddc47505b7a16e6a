"""The loop of one partition, on one screen.

Results are taken in batches. Everything a batch changes is one transaction, committed after the archive is flushed,
and a URL is asked for only after its lease is committed: whenever the process is killed, the next start goes on from
the last batch with nothing lost and nothing twice.

A crawl in order takes results as they were asked for, in whole batches, chooses only after it has taken one in, and
goes by counted time (frontier/clock.py): what it chooses depends on what hosts answer, not on when. It cannot be the
same again where hosts answer otherwise, or not in time; but where one asks for a few seconds, they are waited in place.
"""

import time
from collections.abc import Sequence

import msgspec

from analecta.crawl.control import ControlChannel, Directive, EngineStatus, Message, with_settled
from analecta.crawl.discovery import LinkDiscovery, LinkRules
from analecta.crawl.fetcher import NAP, Fetcher
from analecta.crawl.ingest import Ingest
from analecta.crawl.options import EngineOptions
from analecta.crawl.outcomes import Outcomes
from analecta.crawl.page_judge import PageJudge
from analecta.crawl.processes.exchange import Ack, Handshake, LinkBatch, LinkExchange
from analecta.frontier.clock import CountedClock
from analecta.frontier.frontier import NEVER, Frontier
from analecta.frontier.policy import EXAMPLE_PRIORITY
from analecta.frontier.traps import NEAR
from analecta.model import Lease, Tally
from analecta.store.recovery import Partition
from analecta.store.schema import MetaKey

FAR_OFF = 120.0  # seconds after which what must be waited for does not count as near


class Engine:
    """Fetches, judges and keeps the pages of one partition until told to stop."""

    def __init__(
        self,
        partition: Partition,
        frontier: Frontier,
        fetcher: Fetcher,
        page_judge: PageJudge,
        links: LinkRules,
        exchange: LinkExchange,
        control: ControlChannel,
        options: EngineOptions,
    ) -> None:
        self.partition, self.frontier, self.fetcher = partition, frontier, fetcher
        self.page_judge, self.exchange, self.control, self.options = page_judge, exchange, control, options
        self.tally = Tally()
        self.outcomes = Outcomes(partition, frontier, self.tally, options)
        self.ingest = Ingest(partition, page_judge, self.tally, options.pages_per_host)
        place = (options.number, options.partitions)
        self.discovery = LinkDiscovery(frontier, exchange, links, self.tally, page_judge.topics, place)
        self.late_documents = fetcher.late_documents
        self.wake = fetcher.wake  # to be called when there are messages
        self.clock = time.monotonic
        partition.counters[MetaKey.QUEUED] = lambda: frontier.queued
        if options.ordered:
            frontier.count_time(CountedClock(self.clock))

    async def run(self) -> None:
        """The loop."""
        while not self.control.over():
            self.apply(self.control.receive())
            batch = await self.fetcher.batch(self.patience())
            settled = self.outcomes.settle(batch, self.tick(len(batch)))
            self.discovery.forget(settled.lost)
            self.discovery.add(self.fetcher.sitemap_pages())
            self.discovery.add(settled.candidates)
            kept = self.ingest.keep(settled) + self.ingest.keep_late(self.late_documents.taken())
            self.discovery.follow(kept)
            self.discovery.took(batch)
            leases = self.pick(bool(batch))
            self.partition.commit()
            self.fetcher.start(leases)
            self.late_documents.go_on([page.seq for page in kept if page.is_unread], self.fetcher.wake)
            del batch, settled, kept  # answers count against the memory until they are dropped
            self.exchange.flush(self.clock())
            self.report()
        await self.close()

    async def close(self) -> None:
        """Give up what is in progress; it is queued again."""
        for lease in await self.fetcher.close():
            self.frontier.requeue(lease, "stopped", asked=False)
        self.partition.commit()
        self.control.report(self.status(self.discovery.sites_done()))

    # --- the steps -------------------------------------------------------------------------------------------------

    def apply(self, messages: Sequence[Message]) -> None:
        """Take in links from other partitions, and directives."""
        for message in messages:
            match message:
                case LinkBatch() | Ack() | Handshake():
                    self.discovery.add(self.exchange.take(message))
                case Directive():
                    self.obey(message)

    def pick(self, taken: bool) -> list[Lease]:
        """The best that may be asked for now; a crawl in order picks where a batch was `taken`, or nothing is left."""
        if self.options.ordered:
            if self.in_flight and not taken:
                return []
            self.frontier.floor = self._near()
        leases = self.discovery.pick(self.room(), self.now(), self.floor())
        self._idle(not leases)
        return leases

    def obey(self, order: Directive) -> None:
        """Follow an order of the coordinator."""
        before = self.control.accept(order)
        if before is None:
            return
        if order.sites != before.sites:
            self.discovery.go_to(order.sites)
        if order.mirrors:
            self.discovery.traps.condemn(order.mirrors)
        if not order.model:
            return
        self.frontier.floor = NEAR if order.near_only else -NEVER
        turned = self.page_judge.turn(order.course)
        if order.model != self.page_judge.model:
            self.discovery.reprioritise(self.page_judge.adopt(order.model))
            self.fetcher.documents_wait = True
        elif turned:
            self.discovery.reprioritise(self.page_judge.revalued())
        else:
            return
        if front := self.page_judge.front(order.hubs):
            self.frontier.rescore(front)

    def report(self) -> None:
        """Tell the coordinator how things stand, if it is time; at once what it waits for."""
        idle = self.allowance() <= 0 and not self.in_flight
        left, has_open, done = self.examples_left() > 0, self.best() >= 0, self.discovery.sites_done()
        if self.control.is_due(left, self.page_judge.model, idle, has_open, done):
            self.control.report(self.status(done))

    def status(self, done: list[str]) -> EngineStatus:
        """How this partition stands; `done` are the sites of which nothing is left here."""
        frontier, learning = self.frontier, self.page_judge.focus.course.learning
        left, due = self.examples_left(), frontier.next_due()
        sightings = self.discovery.traps.take_sightings()
        return EngineStatus(
            partition=self.options.number,
            tally=msgspec.structs.replace(with_settled(self.tally, frontier.settled), hosts=len(frontier.hosts)),
            in_flight=self.in_flight,
            queued=len(frontier),
            examples_left=left,
            pending=self.exchange.pending,
            sent=self.exchange.sent,
            received=self.exchange.received,
            model=self.page_judge.model,
            wait=-1.0 if due is None else max(0.0, due - self.clock()),
            silent=len(frontier.silent),
            titles=list(self.ingest.titles),
            unread=len(self.late_documents),
            near=frontier.count_above(NEAR) + self.in_flight if learning else -1,
            done=done,
            next_host=frontier.next_host(),
            in_turn=left > 0 and frontier.in_turn(EXAMPLE_PRIORITY),
            best=self.best(),
            stuck=frontier.stuck(),
            seen=[] if self.control.alone else sightings,
        )

    # --- how much, and how good ------------------------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        """How many fetches are in progress."""
        return len(self.fetcher.in_progress)

    def room(self) -> int:
        """How many more may be asked for now."""
        return max(0, min(self.options.parallel - self.in_flight, self.allowance()))

    def floor(self) -> float:
        """Before there is a model only the examples are fetched: the model is made from them.

        What is demoted waits while any other URL waits or is under way, here or in another partition.
        """
        if self.page_judge.judge is None:
            return EXAMPLE_PRIORITY
        return 0.0 if self.has_open() else min(0.0, self.control.floor(self.options.ordered))

    def has_open(self) -> bool:
        """Whether a URL that is not demoted waits or is under way."""
        asked = any(fetch.lease.priority >= 0 for fetch in self.fetcher.in_progress)
        return asked or self.frontier.has_open(self.now(), self.options.patience)

    def allowance(self) -> int:
        """How many more pages the coordinator lets us ask for."""
        return self.control.allowance(self.tally.pages + self.in_flight)

    def best(self) -> float:
        """0 where a URL that is not demoted waits or is under way, else the priority of the best that waits."""
        return 0.0 if self.has_open() else self.frontier.best_demoted(self.now(), self.options.patience)

    def _near(self) -> float:
        """A crawl in order sees for itself, and at once, whether the learning phase has what it wants (B10)."""
        if not self.page_judge.focus.course.learning:
            return -NEVER
        due = self.frontier.first_due()
        soon = due is None or due - self.now() <= FAR_OFF
        return NEAR if self.in_flight or (soon and self.frontier.count_above(NEAR)) else -NEVER

    def examples_left(self) -> int:
        """Examples that are still to be fetched, before there is a model."""
        if self.page_judge.judge is not None:
            return 0
        return self.frontier.count_above(EXAMPLE_PRIORITY) + self.in_flight

    # --- time ------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """The time by which it is chosen what to ask for."""
        return self.frontier.lines.now if self.frontier.lines else self.clock()

    def tick(self, taken: int) -> float:
        """The time after so many fetches have finished."""
        if taken and self.frontier.lines:
            self.frontier.lines.count(taken)
        return self.now()

    def patience(self) -> float:
        """How long nothing can happen: until a host may be asked again, or messages should be looked at."""
        due = self.frontier.next_due()
        if due is None or not self.room():
            return NAP
        return min(NAP, max(0.001, due - self.clock()))

    def _idle(self, empty: bool) -> None:
        """Let counted time pass by the clock where nothing else can be done, and more can be done then."""
        counted = self.frontier.lines
        if counted is None:
            return
        due = self.frontier.first_due()
        led = self.page_judge.judge is not None or self.examples_left() > 0
        if empty and not self.in_flight and due is not None and self.room() and led:
            counted.idle(due)
        else:
            counted.busy()
