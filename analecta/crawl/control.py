"""What the coordinator and its partitions tell each other, and the partition's side of that conversation.

Messages may be lost, repeated or late, so each says everything: the last one counts.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from analecta.crawl.processes.exchange import Hello, Letter, Receipt
from analecta.frontier.frontier import NEVER
from analecta.frontier.mirrors import Sighting
from analecta.frontier.policy import SEED_PRIORITY
from analecta.frontier.traps import NEAR
from analecta.model import State, Tally
from analecta.protocols import Judge, Transport

if TYPE_CHECKING:
    from analecta.crawl.engine import Engine
from analecta.frontier.policy import Course

COORDINATOR = -1
_REPORT_EVERY = 0.1


class Order(msgspec.Struct, tag="order", array_like=True):
    """What a partition shall do: how many pages it may fetch in all, with which model, and whether to stop."""

    granted: int
    model: str = ""
    stop: str = ""  # "", "drain" (finish what is under way) or "now"
    serial: int = 0
    hubs: tuple[int, ...] = ()  # pages whose links come to the front when the model is taken up
    course: Course = Course()
    near_only: bool = False  # some partition still has what the learning phase wants: the rest must wait
    sites: tuple[str, ...] = ()  # that are to be crawled now, where a crawl goes from site to site
    patience: float = 20.0  # seconds for draining
    floor: float = 0.0  # of priorities: below 0 where no partition has anything but demoted URLs
    mirrors: tuple[str, ...] = ()  # hosts that give the pages of others, as was seen across partitions


class Report(msgspec.Struct, tag="report", array_like=True):
    """How a partition stands."""

    partition: int
    serial: int
    tally: Tally
    order: int  # the serial of the last order it has heard
    granted: int
    flying: int
    queued: int
    seeds_left: int
    pending: int
    sent: int
    received: int
    model: str
    wait: float  # seconds until the next host may be asked; -1 where nothing waits
    silent: int  # hosts that had answered and do not now
    titles: list[tuple[str, str, float]]
    unread: int = 0  # documents that wait to be read
    near: int = -1  # URLs, waiting or under way, that the learning phase wants; -1 where it does not learn
    done: list[str] = []  # of the sites to be crawled now those of which nothing is left here
    next_host: str = ""  # that may be asked next, where one must be waited for
    in_turn: bool = False  # an example waits for nothing but the delay of its host
    best: float = 0.0  # 0: a URL that is not demoted waits or is under way; else the priority of the best that waits
    stuck: bool = False  # all that is left, if anything is, belongs to hosts that fail or refuse
    seen: list[Sighting] = []  # pages since the last report, to be compared with those of other partitions


Message = Letter | Receipt | Hello | Order | Report

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Message).decode


class Reins:
    """How a partition is led: it obeys the last order and reports a few times a second."""

    def __init__(
        self,
        me: int,
        transport: Transport,
        load_judge: Callable[[str], Judge],
        clock: Callable[[], float],
        alone: bool = True,
    ) -> None:
        """`alone`: there is no other partition."""
        self.me = me
        self.alone = alone
        self.transport = transport
        self.load_judge = load_judge
        self.clock = clock
        self.order = Order(0)
        self._serial = 0
        self._reported = -1.0
        self._news: tuple[bool, str, bool, bool, list[str]] | None = None
        self._drain_until = 0.0

    def receive(self) -> list[Message]:
        """All messages that have arrived."""
        return [decode(message) for message in self.transport.receive()]

    def obey(self, order: Order, engine: "Engine") -> None:
        """Follow an order: the last one counts, and one that is late is none."""
        if order.serial < self.order.serial:
            return
        if order.stop and not self.order.stop:
            self._drain_until = self.clock() + order.patience  # what is under way then is given up and queued again
        elsewhere = order.sites != self.order.sites
        self.order = order
        if elsewhere:
            engine.offers.go_to(order.sites)
        if order.mirrors:
            engine.offers.traps.condemn(order.mirrors)
        if not order.model:
            return
        engine.frontier.floor = NEAR if order.near_only else -NEVER
        judge = engine.page_judge
        turned = judge.turn(order.course)
        if order.model != judge.model:
            engine.offers.reprioritise(judge.adopt(self.load_judge(order.model), order.model))
            engine.asker.documents_wait = True
        elif turned:
            engine.offers.reprioritise(judge.revalued())
        else:
            return
        if front := judge.front(order.hubs):
            engine.frontier.rescore(front)

    def floor(self, ordered: bool) -> float:
        """The least priority that may be asked for, as far as other partitions are concerned.

        A crawl in order goes by what it sees itself: when orders come is not the same again.
        """
        return -NEVER if self.alone or ordered else self.order.floor

    def over(self) -> bool:
        """Whether the loop should end. Draining ends with the order to stop now, or when it takes too long."""
        return self.order.stop == "now" or (self.order.stop == "drain" and self.clock() > self._drain_until)

    def allowance(self, engine: "Engine") -> int:
        """How many more pages may be asked for."""
        if self.order.stop:
            return 0
        return self.order.granted - engine.pages.tally.pages - len(engine.flights)

    def report(self, engine: "Engine", always: bool = False) -> None:
        """Tell the coordinator how things stand, if it is time; at once what it waits for."""
        now = self.clock()
        seeds_left = engine.seeds_left() if engine.page_judge.judge is None else 0
        done = engine.offers.sites.done() if engine.offers.sites else []
        best = engine.best()
        idle = self.allowance(engine) <= 0 and not engine.flights
        news = (seeds_left > 0, engine.page_judge.model, idle, best >= 0, done)
        if now - self._reported < _REPORT_EVERY and news == self._news and not always:
            return
        self._reported, self._news = now, news
        self._serial += 1
        due = engine.frontier.next_due()
        pages, hosts = engine.pages, len(engine.frontier.hosts)
        report = Report(
            self.me,
            self._serial,
            msgspec.structs.replace(with_settled(pages.tally, engine.frontier.settled), hosts=hosts),
            self.order.serial,
            self.order.granted,
            len(engine.flights),
            len(engine.frontier),
            seeds_left,
            engine.exchange.pending,
            engine.exchange.sent,
            engine.exchange.received,
            engine.page_judge.model,
            -1.0 if due is None else max(0.0, due - now),
            len(engine.frontier.silent),
            list(pages.titles),
            len(engine.pile),
            engine.frontier.count_above(NEAR) + len(engine.flights) if engine.page_judge.focus.course.learning else -1,
            done,
            engine.frontier.next_host(),
            seeds_left > 0 and engine.frontier.in_turn(SEED_PRIORITY),
            best,
            engine.frontier.stuck(),
            [] if self.alone else list(engine.offers.traps.sightings),
        )
        engine.offers.traps.sightings.clear()
        self.transport.send(COORDINATOR, encode(report))


def with_settled(tally: Tally, settled: Mapping[tuple[State, str], int]) -> Tally:
    """A tally with those that were failed or refused unasked: of a host that was given up, of a queue that was cut."""
    whole = msgspec.structs.replace(tally, reasons=dict(tally.reasons))
    for (state, reason), count in settled.items():
        whole.failed += count * (state == State.FAILED)
        whole.refused += count * (state == State.REFUSED)
        whole.reasons[reason] = whole.reasons.get(reason, 0) + count
    return whole
