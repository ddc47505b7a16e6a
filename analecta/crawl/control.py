"""What the coordinator and its partitions tell each other, and the partition's side of that conversation.

Messages may be lost, repeated or late, so each says everything: the last one counts.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from analecta.crawl.processes.exchange import Ack, Handshake, LinkBatch
from analecta.frontier.frontier import NEVER
from analecta.frontier.mirrors import Sighting
from analecta.frontier.policy import CrawlPhase
from analecta.model import Tally, UrlState
from analecta.protocols import Transport

COORDINATOR = -1
_REPORT_EVERY = 0.1


class Directive(msgspec.Struct, tag="order", array_like=True):
    """What a partition shall do: how many pages it may fetch in all, with which model, and whether to stop."""

    granted: int
    model: str = ""
    stop: str = ""  # "", "drain" (finish what is under way) or "now"
    serial: int = 0
    hubs: tuple[int, ...] = ()  # pages whose links come to the front when the model is taken up
    course: CrawlPhase = CrawlPhase()
    near_only: bool = False  # some partition still has what the learning phase wants: the rest must wait
    sites: tuple[str, ...] = ()  # that are to be crawled now, where a crawl goes from site to site
    patience: float = 20.0  # seconds for draining
    floor: float = 0.0  # of priorities: below 0 where no partition has anything but demoted URLs
    mirrors: tuple[str, ...] = ()  # hosts that give the pages of others, as was seen across partitions


class EngineStatus(msgspec.Struct, tag="report", array_like=True):
    """How a partition stands."""

    partition: int
    tally: Tally
    in_flight: int
    queued: int
    examples_left: int
    pending: int
    sent: int
    received: int
    model: str
    wait: float  # seconds until the next host may be asked; -1 where nothing waits
    silent: int  # hosts that had answered and do not now
    titles: list[tuple[str, str, float]]
    serial: int = 0  # this and the next two are the control's own
    order: int = 0  # the serial of the last order it has heard
    granted: int = 0
    unread: int = 0  # documents that wait to be read
    near: int = -1  # URLs, waiting or under way, that the learning phase wants; -1 where it does not learn
    done: list[str] = []  # of the sites to be crawled now those of which nothing is left here
    next_host: str = ""  # that may be asked next, where one must be waited for
    in_turn: bool = False  # an example waits for nothing but the delay of its host
    best: float = 0.0  # 0: a URL that is not demoted waits or is under way; else the priority of the best that waits
    stuck: bool = False  # all that is left, if anything is, belongs to hosts that fail or refuse
    seen: list[Sighting] = []  # pages since the last report, to be compared with those of other partitions


Message = LinkBatch | Ack | Handshake | Directive | EngineStatus

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Message).decode


class Control(Protocol):
    """Connects an engine with the coordinator: by messages, or in one process (crawl/local.py)."""

    def receive(self) -> list[Message]:
        """Directives, and messages of other partitions, that have arrived since the last call."""

    def report(self, status: EngineStatus) -> None:
        """Tell the coordinator how things stand."""


class MessageControl:
    """A Control that sends and receives bytes."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def receive(self) -> list[Message]:
        """All messages that have arrived."""
        return [decode(message) for message in self.transport.receive()]

    def report(self, status: EngineStatus) -> None:
        """Send it to the coordinator."""
        self.transport.send(COORDINATOR, encode(status))


class ControlChannel:
    """How an engine is led: the last directive it has heard, and its status, a few times a second."""

    def __init__(self, control: Control, clock: Callable[[], float], alone: bool = True) -> None:
        """`alone`: there is no other partition."""
        self.control = control
        self.clock = clock
        self.alone = alone
        self.order = Directive(0)
        self._serial = 0
        self._reported = -1.0
        self._news: tuple[object, ...] = ()
        self._drain_until = 0.0

    def receive(self) -> list[Message]:
        """All messages that have arrived."""
        return self.control.receive()

    def accept(self, order: Directive) -> Directive | None:
        """Take an order and give the one before; None where it is late, and is none: the last one counts."""
        before = self.order
        if order.serial < before.serial:
            return None
        if order.stop and not before.stop:
            self._drain_until = self.clock() + order.patience  # what is under way then is given up and queued again
        self.order = order
        return before

    def floor(self, ordered: bool) -> float:
        """The least priority that may be asked for, as far as other partitions are concerned.

        A crawl in order goes by what it sees itself: when orders come is not the same again.
        """
        return -NEVER if self.alone or ordered else self.order.floor

    def over(self) -> bool:
        """Whether the loop should end. Draining ends with the order to stop now, or when it takes too long."""
        return self.order.stop == "now" or (self.order.stop == "drain" and self.clock() > self._drain_until)

    def allowance(self, used: int) -> int:
        """How many more pages may be asked for, if so many have been or are."""
        return 0 if self.order.stop else self.order.granted - used

    def is_due(self, *news: object) -> bool:
        """Whether it is time for a report, or there is `news`: what the coordinator waits for, and is told at once."""
        now = self.clock()
        if now - self._reported < _REPORT_EVERY and news == self._news:
            return False
        self._reported, self._news = now, news
        return True

    def report(self, report: EngineStatus) -> None:
        """Tell the coordinator how things stand."""
        self._serial += 1
        report.serial, report.order, report.granted = self._serial, self.order.serial, self.order.granted
        self.control.report(report)


def with_settled(tally: Tally, settled: Mapping[tuple[UrlState, str], int]) -> Tally:
    """A tally with those that were failed or refused unasked: of a host that was given up, of a queue that was cut."""
    whole = msgspec.structs.replace(tally, reasons=dict(tally.reasons), topics=dict(tally.topics))
    for (state, reason), count in settled.items():
        whole.failed += count * (state == UrlState.FAILED)
        whole.refused += count * (state == UrlState.REFUSED)
        whole.reasons[reason] = whole.reasons.get(reason, 0) + count
    return whole
