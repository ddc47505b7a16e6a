"""Hosts: when each may be asked, its queue, and the domain and the address that hosts share."""

from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime

import msgspec

from analecta.model import UrlState
from analecta.protocols import Locate

# --- The manners we keep towards one host: when it may be asked, and what its answers teach us -----------------------
# Decide first, act after: every method takes the time (monotonic seconds) and none of them sleeps.


MIN_WAIT, MAX_WAIT = 1.0, 86_400.0  # how long a Retry-After may make us wait
SLOW_DOWN = frozenset((429, 503))
_GROW_AFTER = 5  # good answers in a row before it is asked for one more at a time
BAD_HOST, BUSY_HOST = "bad-host", "busy-host"  # why the URLs of a host are given up
_EASE_AFTER = 10  # good answers in a row before a slowed host is trusted a little more
_LONGEST_PAUSE = 600.0  # seconds that a host in trouble is left alone by our own choice


class Politeness(msgspec.Struct, frozen=True):
    """How hosts are treated unless they ask for more patience."""

    delay: float = 1.0
    parallel: int = 2
    per_domain: int = 5
    strikes: int = 3  # failures in a row after which a host may be given up for the rest of the run (B16)
    back_off: float = 10.0  # seconds after a first failure; doubled each time
    patience: float = 3600.0  # seconds without one good answer before it is
    delay_factor: float = 0.0  # the delay as a multiple of the response time; 0 = fixed
    max_delay: float = 30.0  # the longest delay that the response time may lead to
    start: int = 0  # requests at a time to a host that is new, of which nobody knows what it is worth; 0 = as any other


Entry = tuple[float, int, int]  # (-priority, n, id)


@dataclass(slots=True, eq=False)
class HostQueue:
    """A host: whose turn it is there, and its queue.

    While a request that was picked has not left yet, nobody knows from when the delay runs: there is no other turn.
    """

    name: str
    domain: "Domain"
    manners: InitVar[Politeness]
    next: float = 0.0  # the earliest time of the next request
    address: "IpAddress | None" = None  # as far as it is known
    heap: list[Entry] = field(default_factory=list)  # its queue in memory
    cold_best: float | None = None  # the best priority among its cold URLs
    ticket: int = 0
    picked: int = -(1 << 60)  # the number of the last pick that came from here
    outside: bool = False  # it is not asked in this crawl: its URLs wait for another
    delay: float = field(init=False)
    parallel: int = field(init=False)
    in_flight: int = 0
    unsent: int = 0  # of those under way, how many have not left yet
    landed: int = 0  # and how many have been answered: these are being parsed
    strikes: int = 0  # failures in a row
    refusals: int = 0  # 429 and 503 in a row, and robots.txt that could not be had
    trouble_since: float = field(init=False)  # when the first of those in a row came
    struck_until: float = field(init=False)
    later: float = field(init=False)  # when the last of those that were sent away may come again
    good: int = 0
    slowed: bool = False  # it asked us to slow down
    known: bool = False  # it has answered in this run
    bad: str = ""
    fate: tuple[UrlState, str] = (UrlState.FAILED, BAD_HOST)  # what becomes of its URLs if it is given up
    turn_given: int = 0  # the key of a turn that was taken for its robots.txt, and not used yet
    learning: bool = False  # its robots.txt is being asked for
    held: bool = False  # nothing else until the fetch under way is over
    claims: int = 0  # requests outside the queue that wait for a turn: they come first

    def __post_init__(self, manners: Politeness) -> None:
        self.delay = manners.delay
        self.parallel = min(manners.parallel, manners.start or manners.parallel)
        self.trouble_since = self.struck_until = self.later = self.next

    @property
    def in_trouble(self) -> bool:
        """Whether the last that came of it was a failure or a refusal."""
        return self.strikes > 0 or self.refusals > 0

    def free(self) -> bool:
        """Whether another request may be under way at the same time."""
        if self.delay and (self.unsent or self.claims):
            return False
        return not self.full() and not self.bad and not self.held

    def full(self, besides: int = 0) -> bool:
        """Whether as many are under way, `besides` some, as may be; one whose answer is being parsed does not count."""
        return self.in_flight - (self.landed > 0) - besides >= self.parallel

    def asked(self) -> None:
        """A request was picked; it has not left yet."""
        self.in_flight += 1
        self.unsent += 1

    def left(self, now: float) -> None:
        """The request leaves: the delay to the next one runs from here, and again from the end of the answer."""
        self.unsent -= 1
        self.put_off(now + self.delay)

    def put_off(self, time: float) -> None:
        """Ask no more before this time."""
        self.next = max(self.next, time)

    def answered(self, now: float, manners: Politeness, took: float = 0.0) -> None:
        """It ended well: the delay counts from the end, and trust returns slowly."""
        self.dropped(now, self.delay)
        if manners.delay_factor:
            self.put_off(now + adapted_delay(took, manners))
        self.strikes = self.refusals = 0
        self.known = True
        self.good += 1
        if self.parallel < manners.parallel and self.good >= (_EASE_AFTER if self.slowed else _GROW_AFTER):
            self.parallel += 1
            self.good = 0

    def pressed(self, now: float, manners: Politeness, wait: float) -> str:
        """The host asks us to slow down (429, 503): wait as told, longer each time, and ask half as much at a time.

        Returns the reason where it is given up, for it has done nothing else for too long.
        """
        self.dropped(now, self.delay)
        self.good = 0
        self.slowed = True
        self.parallel = max(1, self.parallel // 2)
        if now >= self.struck_until:  # else it was asked before we knew
            self._count_trouble(now)
            self.refusals += 1
            if self.refusals > 1:
                wait = max(wait, _pause(manners, self.refusals - 1))
            self.struck_until = now + wait
        self.put_off(now + wait)
        return self._give_up(now, manners, BUSY_HOST, f"{self.refusals} refusals in a row")

    def failed(self, now: float, manners: Politeness, wait: float = 0.0, hopeless: bool = False) -> str:
        """No answer: back off, longer each time, at least for `wait`.

        Returns the reason where the host is given up: nothing else has come for too long, or nothing else can come.
        """
        self.dropped(now, self.delay)
        self.good = 0
        if now < self.struck_until:
            return ""  # asked before we knew: the same trouble, not a new one
        self._count_trouble(now)
        self.strikes += 1
        self.struck_until = now + max(wait, _pause(manners, self.strikes))
        self.put_off(self.struck_until)
        return self._give_up(now, manners, BAD_HOST, f"{self.strikes} failures in a row", hopeless)

    def dropped(self, now: float, wait: float = 0.0) -> None:
        """The request is over, and the next comes after `wait` at the earliest; else it says nothing about the host."""
        self.in_flight -= 1
        self.held = False
        self.put_off(now + wait)

    def _count_trouble(self, now: float) -> None:
        if not self.in_trouble:
            self.trouble_since = now

    def _give_up(self, now: float, manners: Politeness, reason: str, words: str, hopeless: bool = False) -> str:
        """The reason, where the host has had as many chances and as much time as it gets; else ""."""
        lasted = now - self.trouble_since
        if self.bad or self.strikes + self.refusals < manners.strikes or (lasted < manners.patience and not hopeless):
            return ""
        self.bad = f"{words} in {lasted:.0f} s"
        return reason


def adapted_delay(took: float, manners: Politeness) -> float:
    """The delay that a response time leads to, where the delay adapts to it."""
    return min(manners.delay_factor * took, manners.max_delay)


def _pause(manners: Politeness, times: int) -> float:
    """How long a host is left alone after so many troubles in a row."""
    return min(manners.back_off * 2.0 ** min(times - 1, 20), max(_LONGEST_PAUSE, manners.back_off))


def retry_after(headers: Mapping[str, str], wall_time: float, default: float) -> float:
    """Seconds that a 429 or 503 asks us to wait: a number, a date, or `default` for garbage; within reason."""
    text = headers.get("retry-after", "").strip()
    wait = default
    if text.isascii() and text.isdigit():
        wait = float(text[:12])
    elif text:
        try:
            date = parsedate_to_datetime(text)
            wait = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - wall_time
        except (ValueError, TypeError, OverflowError):
            wait = default
    return min(max(wait, MIN_WAIT), MAX_WAIT)


# --- The domain and the address that hosts share ---------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Domain:
    """Hosts that share a registrable domain share a limit on requests under way (B16)."""

    in_flight: int = 0
    parked: tuple[HostQueue, ...] = ()  # hosts that wait for it; most domains never have any


@dataclass(slots=True, eq=False)
class IpAddress:
    """Hosts at one IP address share a limit on requests under way (0: any number), and a gap in seconds between two."""

    most: int
    gap: float
    in_flight: int = 0
    unsent: int = 0  # of those under way, how many have not left yet
    next: float = 0.0  # the earliest time of the next request
    alarm: float = 0.0  # when the frontier is going to look at it again
    parked: list[tuple[float, int, int, HostQueue]] = field(default_factory=list)  # a heap of those that wait for it

    def open(self) -> bool:
        """Whether another request may be under way to it."""
        return (not self.most or self.in_flight < self.most) and not (self.gap and self.unsent)

    def free(self, now: float) -> bool:
        """Whether it may be asked now."""
        return self.next <= now and self.open()

    def take(self) -> None:
        """A request was picked; it has not left yet."""
        self.in_flight += 1
        self.unsent += 1

    def left(self, now: float) -> None:
        """The request leaves: the gap runs from here."""
        self.unsent -= 1
        self.next = max(self.next, now + self.gap)


class IpLimits:
    """The IP addresses that are asked: what may be under way to each, and the gap between two requests.

    `known` tells the address of a host as far as it is known ("" if not), `locate` asks name servers for it."""

    def __init__(self, most: int, gap: float, known: Callable[[str], str], locate: Locate) -> None:
        self.most, self.gap, self.known, self.locate = most, gap, known, locate
        self._known: dict[str, IpAddress] = {}

    def at(self, ip: str) -> IpAddress:
        """The address with this number."""
        return self._known.setdefault(ip, IpAddress(self.most, self.gap))

    def keep_only(self, used: set[IpAddress | None]) -> None:
        """Drop addresses that no host is known to have."""
        self._known = {ip: address for ip, address in self._known.items() if address.in_flight or address in used}
