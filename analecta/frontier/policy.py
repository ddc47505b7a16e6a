"""What links are worth, and which may be followed at all."""

from collections.abc import Callable, Sequence

import msgspec

from analecta.model import Lease, Target, Verdict
from analecta.text.patterns import Patterns
from analecta.urls import canonical, is_below

SEED_PRIORITY = 1e6  # seeds come before everything else
PROBE_PRIORITY = 1e3
_LEAST_DEEP = 0.5  # what depth-first gives the links of a seed on topic: more than any off topic

# The worth of a page's links, and how far astray they are: (verdict, lease of the page, decay) -> (priority, astray).
Worth = Callable[[Verdict, Lease, float], tuple[float, int]]


def best_first(verdict: Verdict, lease: Lease, decay: float) -> tuple[float, int]:
    """As much as the page is on topic; through off-topic pages the better of page and path, less by `decay` a page."""
    if verdict.topic >= 0:
        return verdict.confidence, 0
    return decay * max(verdict.confidence, min(lease.priority, 1.0)), lease.astray + 1


def by_page(verdict: Verdict, lease: Lease, _: float) -> tuple[float, int]:
    """As much as the page is on topic, whatever the path to it (P5: Pr(+|parent))."""
    return verdict.confidence, 0 if verdict.topic >= 0 else lease.astray + 1


def breadth_first(verdict: Verdict, lease: Lease, _: float) -> tuple[float, int]:
    """The nearer to the seeds the better, whatever the page says."""
    return 1.0 / (2 + lease.depth), 0 if verdict.topic >= 0 else lease.astray + 1


def depth_first(verdict: Verdict, lease: Lease, decay: float) -> tuple[float, int]:
    """The deeper the sooner, on paths that are on topic; through off-topic pages behind all of those (B10)."""
    if verdict.topic >= 0:
        return 1.0 - 1.0 / (2 + lease.depth), 0
    return decay * min(max(lease.priority, 0.0), _LEAST_DEEP), lease.astray + 1


# "learned": a judge of links values each one; this is what they are worth until it has learnt something.
WORTHS: dict[str, Worth] = {
    "best-first": best_first,
    "by-page": by_page,
    "breadth-first": breadth_first,
    "depth-first": depth_first,
    "learned": best_first,
}


class Value(msgspec.Struct, frozen=True):
    """What the links of one page are worth, how far from the topic they are, and which topic their path is on."""

    priority: float
    astray: int
    topic: int
    on_topic: bool


class Policy:
    """Says what the links of a judged page are worth."""

    def __init__(
        self, worth: Worth, cutoff: int = -1, decay: float = 0.5, never: Sequence[str] = (), sharp: bool = False
    ) -> None:
        """With `sharp` focus a page is on topic only if on that of the path to it; else any topic will do (B10)."""
        self.worth = worth
        self.cutoff = cutoff
        self.decay = decay
        self.sharp = sharp
        self._never = Patterns(never)

    def value(self, verdict: Verdict, lease: Lease) -> Value:
        """Of the links of a page that was come by with `lease`."""
        on_topic = verdict.topic >= 0 and not (self.sharp and lease.topic not in (-1, verdict.topic))
        priority, astray = self.worth(verdict if on_topic else Verdict(-1, verdict.confidence), lease, self.decay)
        return Value(priority, astray, verdict.topic if on_topic else lease.topic, on_topic)

    def gives_up(self, value: Value) -> bool:
        """Whether the path has crossed too many pages off topic (S6)."""
        return 0 <= self.cutoff < value.astray

    @property
    def shuns_any(self) -> bool:
        """Whether there are anchor texts that are never followed."""
        return bool(self._never)

    def shuns(self, anchor: str) -> bool:
        """Whether a link with this anchor text is never to be followed (S11)."""
        return self._never.found_in(anchor)


class Bounds:
    """Which URLs are in scope."""

    def __init__(self, hosts: Sequence[str] = (), exclude: Sequence[str] = (), depth: int = 0) -> None:
        targets = [canonical(f"http://{host}/") for host in hosts]
        self.hosts = frozenset(target.host for target in targets if target is not None)
        self.depth = depth
        self.said = sorted(self.hosts), list(exclude), depth
        self._exclude = Patterns(exclude)

    def refusal(self, target: Target, depth: int) -> str:
        """Why a URL is out of scope; "" where it is in."""
        if self.hosts and not self._has(target.host):
            return "scope-host"
        if self.depth and depth > self.depth:
            return "scope-depth"
        if self._exclude.found_in(target.url):
            return "scope-exclude"
        return ""

    def _has(self, host: str) -> bool:
        """Whether a host is one of those that were named, or below one."""
        return host in self.hosts or is_below(host.partition(":")[0], self.hosts)


class Course(msgspec.Struct, frozen=True, array_like=True):
    """How the whole crawl stands, as far as the worth of links depends on it (crawl/phases.py)."""

    learning: bool = False
    retired: tuple[int, ...] = ()  # topics that are full
    cutoff: int | None = None  # where it was moved to; None = as set
