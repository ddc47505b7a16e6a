"""What links are worth, and which may be followed at all."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

import msgspec

from analecta.frontier.traps import DEMOTED
from analecta.model import NO_TOPIC, Candidate, FoundBy, Lease, UrlRef, Verdict
from analecta.text.patterns import Patterns
from analecta.urls import canonical, is_below

EXAMPLE_PRIORITY = 1e6  # seeds come before everything else
PROBE_PRIORITY = 1e3
_LEAST_DEEP = 0.5  # what depth-first gives the links of a seed on topic: more than any off topic

# The priority of a page's links: (verdict, lease of the page, decay) -> priority.
Worth = Callable[[Verdict, Lease, float], float]


def best_first(verdict: Verdict, lease: Lease, decay: float) -> float:
    """As much as the page is on topic; through off-topic pages the better of page and path, less by `decay` a page."""
    if verdict.topic >= 0:
        return verdict.confidence
    return decay * max(verdict.confidence, min(lease.priority, 1.0))


def by_page(verdict: Verdict, _lease: Lease, _decay: float) -> float:
    """As much as the page is on topic, whatever the path to it (P5: Pr(+|parent))."""
    return verdict.confidence


def breadth_first(_verdict: Verdict, lease: Lease, _decay: float) -> float:
    """The nearer to the seeds the better, whatever the page says."""
    return 1.0 / (2 + lease.depth)


def depth_first(verdict: Verdict, lease: Lease, decay: float) -> float:
    """The deeper the sooner, on paths that are on topic; through off-topic pages behind all of those (B10)."""
    if verdict.topic >= 0:
        return 1.0 - 1.0 / (2 + lease.depth)
    return decay * min(max(lease.priority, 0.0), _LEAST_DEEP)


# "learned": a judge of links values each one; this is what they are worth until it has learnt something.
PRIORITIES: dict[str, Worth] = {
    "best-first": best_first,
    "by-page": by_page,
    "breadth-first": breadth_first,
    "depth-first": depth_first,
    "learned": best_first,
}


class LinkValue(msgspec.Struct, frozen=True):
    """What the links of one page are worth, how far from the topic they are, and which topic their path is on."""

    priority: float
    off_topic_steps: int
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
        self.never = Patterns(never)  # anchor texts of links that are never followed (S11)

    def value(self, verdict: Verdict, lease: Lease) -> LinkValue:
        """Of the links of a page that was come by with `lease`."""
        on_topic = verdict.topic >= 0 and not (self.sharp and lease.topic not in (-1, verdict.topic))
        if on_topic:
            return LinkValue(self.worth(verdict, lease, self.decay), 0, verdict.topic, True)
        priority = self.worth(Verdict(-1, verdict.confidence), lease, self.decay)
        return LinkValue(priority, lease.off_topic_steps + 1, lease.topic, False)

    def gives_up(self, value: LinkValue) -> bool:
        """Whether the path has crossed too many pages off topic (S6)."""
        return 0 <= self.cutoff < value.off_topic_steps


class Scope:
    """Which URLs are in scope."""

    def __init__(self, hosts: Sequence[str] = (), exclude: Sequence[str] = (), depth: int = 0) -> None:
        targets = [canonical(f"http://{host}/") for host in hosts]
        self.hosts = frozenset(target.host for target in targets if target is not None)
        self.depth = depth
        self.said = sorted(self.hosts), list(exclude), depth
        self._exclude = Patterns(exclude)

    def refusal(self, target: UrlRef, depth: int) -> str:
        """Why a URL is out of scope; "" where it is in."""
        if self.hosts and target.host not in self.hosts and not is_below(target.host.partition(":")[0], self.hosts):
            return "scope-host"
        if self.depth and depth > self.depth:
            return "scope-depth"
        if self._exclude.found_in(target.url):
            return "scope-exclude"
        return ""


class CrawlPhase(msgspec.Struct, frozen=True, array_like=True):
    """How the whole crawl stands, as far as the worth of links depends on it (crawl/phases.py)."""

    learning: bool = False
    retired: tuple[int, ...] = ()  # topics that are full
    cutoff: int | None = None  # where it was moved to; None = as set


# --- focus -----------------------------------------------------------------------------------------------------------
# What links are worth as the crawl stands: in its phase (B10), with topics that are full (S7), by S16's options.


_STAYS = 0.5  # worth of a link that stays on its site, where those that leave it come first


@dataclass(eq=False)
class Focus:
    """Values the links of pages; `course` is the coordinator's last word.

    While the crawl learns, the policy `learning` rules, and what is not near the seeds waits behind everything else.
    """

    harvest: Policy
    learning: Policy | None = None
    _: KW_ONLY
    near_domains: Collection[str] = ()  # of the seeds; none: all domains are near
    near_depth: int = 0  # links from a seed; 0: any number
    follow_duplicates: bool = True
    off_site_first: bool = False
    one_entry: bool = False
    domain_of: Callable[[str], str] = str

    def __post_init__(self) -> None:
        self.course = CrawlPhase()
        self._cutoff = self.harvest.cutoff  # as set

    def turn(self, course: CrawlPhase) -> None:
        """Take another course."""
        self.course = course
        self.harvest.cutoff = self._cutoff if course.cutoff is None else course.cutoff

    @property
    def policy(self) -> Policy:
        """The one that rules now."""
        return self.learning if self.learning and self.course.learning else self.harvest

    # --- pages ---------------------------------------------------------------------------------------------------

    def open(self, verdict: Verdict) -> Verdict:
        """What a page is but for the topics that are full: those take no more part (S7)."""
        if verdict.topic not in self.course.retired:
            return verdict
        left = tuple((topic, sure) for topic, sure in verdict.topics if topic not in self.course.retired)
        return Verdict(*left[0], left) if left else Verdict(-1, 0.0)

    def value(self, verdict: Verdict, lease: Lease, twin: bool = False) -> LinkValue | None:
        """Of the links of a page, a `twin` of another perhaps; None where they are not followed."""
        value = self._value(verdict, lease, twin)
        given_up = self.policy.gives_up(value) or (twin and not self.follow_duplicates)
        return None if given_up else value

    def value_again(self, verdict: Verdict, lease: Lease, twin: bool = False) -> float:
        """The same for links that wait already: those of a path given up go to the back, not away."""
        value = self._value(verdict, lease, twin)
        return value.priority * (DEMOTED if self.policy.gives_up(value) else 1.0)

    def _value(self, verdict: Verdict, lease: Lease, twin: bool) -> LinkValue:
        if is_off_topic(lease):
            return LinkValue(0.0, lease.off_topic_steps + 1, NO_TOPIC, False)
        if lease.priority >= EXAMPLE_PRIORITY:  # an example is on topic because a person says so, but not how much
            verdict = Verdict(lease.topic, verdict.confidence, ((lease.topic, verdict.confidence),))
        value = self.policy.value(self.open(verdict), lease)
        return msgspec.structs.replace(value, priority=value.priority * self.policy.decay) if twin else value

    # --- links ---------------------------------------------------------------------------------------------------

    @property
    def choosy(self) -> bool:
        """Whether links of one page may have different worths."""
        return self.off_site_first or self.one_entry or self.course.learning

    def leaving(self, host: str, to: str) -> float:
        """The factor for a link between hosts: those that leave the site come first, if so asked (S16)."""
        return _STAYS if self.off_site_first and self.domain_of(host) == self.domain_of(to) else 1.0

    def is_near(self, host: str, depth: int) -> bool:
        """Whether a URL is near the seeds: of their own domains, and not too many links away."""
        if self.near_depth and depth > self.near_depth:
            return False
        return not self.near_domains or self.domain_of(host) in self.near_domains

    def outside(self, host: str, depth: int) -> float:
        """The factor for a URL: while the crawl learns, what is not near the seeds waits (B10)."""
        return DEMOTED if self.course.learning and not self.is_near(host, depth) else 1.0

    def by_factor(self, host: str, depth: int, targets: Iterable[UrlRef]) -> Mapping[float, Iterable[UrlRef]]:
        """What a page on `host` links to, by the factor to the worth of those links."""
        if not self.choosy:
            return {1.0: targets}
        groups: dict[float, list[UrlRef]] = defaultdict(list)
        for target in targets:
            if target.host == host or not self.one_entry:  # a further link from elsewhere lets nothing in
                groups[self.leaving(host, target.host) * self.outside(target.host, depth)].append(target)
        return groups


class SiteEntries:
    """One entry a site (S16): of the links from elsewhere to a host the first counts, the others wait behind."""

    def __init__(self, entered: Iterable[str], url_of: Callable[[int], str | None]) -> None:
        """`entered` are hosts that have been asked or queued before; `url_of` knows the pages of this partition."""
        self._entered = set(entered)
        self._url_of = url_of

    def factor(self, candidate: Candidate) -> float:
        """What to multiply the priority of a candidate with; its host counts as entered from now on."""
        host = candidate.target.host
        if host not in self._entered:
            self._entered.add(host)
            return 1.0
        from_elsewhere = candidate.found_by == FoundBy.LINK and host_of(self._url_of(candidate.parent)) != host
        return DEMOTED if from_elsewhere else 1.0


def is_off_topic(lease: Lease) -> bool:
    """Whether a person says of a page that it is of none of the topics."""
    return lease.priority >= EXAMPLE_PRIORITY and lease.topic == NO_TOPIC


def host_of(url: str | None) -> str:
    """The host of a canonical URL; "" where there is none."""
    return url.split("/", 3)[2] if url else ""
