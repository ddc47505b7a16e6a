"""The manners we keep towards one host: when it may be asked, and what its answers teach us.

Decide first, act after: every method takes the time (monotonic seconds) and none of them sleeps.
"""

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

import msgspec

MIN_WAIT, MAX_WAIT = 1.0, 86_400.0  # how long a Retry-After may make us wait
SLOW_DOWN = frozenset((429, 503))
_START = 1  # requests at a time to a host that has not answered yet
_GROW_AFTER = 5  # good answers in a row before it is asked for one more at a time
_EASE_AFTER = 10  # good answers in a row before a slowed host is trusted a little more


class Manners(msgspec.Struct, frozen=True):
    """How hosts are treated unless they ask for more patience."""

    delay: float = 1.0
    parallel: int = 2
    per_domain: int = 5
    strikes: int = 3  # failures in a row that make a host bad for the rest of the crawl (B16)
    back_off: float = 10.0  # seconds after a first failure; doubled each time


class Turns:
    """Whose turn it is at one host. `next` is the earliest time of the next request."""

    __slots__ = (
        "bad",
        "before",
        "delay",
        "flying",
        "good",
        "held",
        "known",
        "learning",
        "next",
        "parallel",
        "slowed",
        "strikes",
        "struck_until",
        "turn_given",
    )

    def __init__(self, manners: Manners, now: float = 0.0) -> None:
        self.delay = manners.delay
        self.parallel = min(manners.parallel, _START)
        self.flying = 0
        self.next = now
        self.before = now  # `next` before the last turn was given
        self.strikes = 0
        self.good = 0
        self.slowed = False  # it asked us to slow down
        self.bad = ""
        self.turn_given = False  # a turn was taken for it, and not used yet
        self.learning = False  # its robots.txt is being asked for
        self.known = False  # it has answered in this run
        self.struck_until = now
        self.held = False  # nothing else until the fetch under way is over

    def free(self) -> bool:
        """Whether another request may be under way at the same time."""
        return self.flying < self.parallel and not self.bad and not self.held

    def asked(self, now: float) -> None:
        """A request starts."""
        self.flying += 1
        self.before = self.next
        self.next = max(self.next, now + self.delay)

    def answered(self, now: float, manners: Manners) -> None:
        """It ended well: the delay counts from the end, and trust returns slowly."""
        self._ended(now)
        self.strikes = 0
        self.known = True
        self.good += 1
        if self.parallel < manners.parallel and self.good >= (_EASE_AFTER if self.slowed else _GROW_AFTER):
            self.parallel += 1
            self.good = 0

    def pressed(self, now: float, wait: float) -> None:
        """The host asks us to slow down (429, 503): wait as told, and ask half as much at a time."""
        self._ended(now)
        self.good = 0
        self.slowed = True
        self.parallel = max(1, self.parallel // 2)
        self.next = max(self.next, now + wait)

    def failed(self, now: float, manners: Manners, wait: float = 0.0) -> None:
        """No answer: back off, at least for `wait`, and give the host up after too many in a row."""
        self._ended(now)
        self.good = 0
        if now < self.struck_until:
            return  # asked before we knew: the same trouble, not a new one
        self.strikes += 1
        self.struck_until = now + max(wait, manners.back_off * 2 ** (self.strikes - 1))
        self.next = max(self.next, self.struck_until)
        if self.strikes >= manners.strikes:
            self.bad = f"{self.strikes} failures in a row"

    def released(self) -> None:
        """The turn was not used, and is free for another."""
        self.flying -= 1
        self.next = self.before

    def dropped(self, now: float) -> None:
        """The request was never made."""
        self._ended(now)

    def _ended(self, now: float) -> None:
        self.flying -= 1
        self.held = False
        self.next = max(self.next, now + self.delay)


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
