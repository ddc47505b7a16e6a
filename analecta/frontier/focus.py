"""What links are worth as the crawl stands: in its phase (B10), with topics that are full (S7), by S16's options."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

import msgspec

from analecta.frontier.policy import SEED_PRIORITY, Course, Policy, Value
from analecta.frontier.traps import DEMOTED
from analecta.model import OTHERS, Candidate, Found, Lease, Target, Verdict

_STAYS = 0.5  # worth of a link that stays on its site, where those that leave it come first


class Near:
    """What lies near the seeds: their own domains (none: all domains), not too many links away (0: any number)."""

    def __init__(self, domains: Iterable[str] = (), depth: int = 0, domain_of: Callable[[str], str] = str) -> None:
        self.domains = frozenset(domains)
        self.depth = depth
        self.domain_of = domain_of

    def holds(self, host: str, depth: int) -> bool:
        """Whether a URL is near."""
        if self.depth and depth > self.depth:
            return False
        return not self.domains or self.domain_of(host) in self.domains


class Focus:
    """Values the links of pages; `course` is the coordinator's last word."""

    def __init__(
        self,
        harvest: Policy,
        learning: Policy | None = None,
        near: Near | None = None,
        *,
        follow_duplicates: bool = True,
        off_site_first: bool = False,
        one_entry: bool = False,
        domain_of: Callable[[str], str] = str,
    ) -> None:
        """While the crawl learns, the policy `learning` rules, and what is not `near` waits behind everything else."""
        self.harvest = harvest
        self.learning = learning or harvest
        self.near = near or Near()
        self.follow_duplicates = follow_duplicates
        self.off_site_first = off_site_first
        self.one_entry = one_entry
        self.domain_of = domain_of
        self.course = Course()
        self._cutoff = harvest.cutoff  # as set

    def turn(self, course: Course) -> None:
        """Take another course."""
        self.course = course
        self.harvest.cutoff = self._cutoff if course.cutoff is None else course.cutoff

    @property
    def policy(self) -> Policy:
        """The one that rules now."""
        return self.learning if self.course.learning else self.harvest

    # --- pages ---------------------------------------------------------------------------------------------------

    def open(self, verdict: Verdict) -> Verdict:
        """What a page is but for the topics that are full: those take no more part (S7)."""
        if verdict.topic not in self.course.retired:
            return verdict
        left = tuple((topic, sure) for topic, sure in verdict.topics if topic not in self.course.retired)
        return Verdict(*left[0], left) if left else Verdict(-1, 0.0)

    def value(self, verdict: Verdict, lease: Lease, twin: bool = False) -> Value | None:
        """Of the links of a page, a `twin` of another perhaps; None where they are not followed."""
        value = self._value(verdict, lease, twin)
        given_up = self.policy.gives_up(value) or (twin and not self.follow_duplicates)
        return None if given_up else value

    def value_again(self, verdict: Verdict, lease: Lease, twin: bool = False) -> float:
        """The same for links that wait already: those of a path given up go to the back, not away."""
        value = self._value(verdict, lease, twin)
        return value.priority * (DEMOTED if self.policy.gives_up(value) else 1.0)

    def _value(self, verdict: Verdict, lease: Lease, twin: bool) -> Value:
        if is_off_topic(lease):
            return Value(0.0, lease.astray + 1, OTHERS, False)
        if lease.priority >= SEED_PRIORITY:  # an example is on topic because a person says so, but not how much
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

    def outside(self, host: str, depth: int) -> float:
        """The factor for a URL: while the crawl learns, what is not near the seeds waits (B10)."""
        return DEMOTED if self.course.learning and not self.near.holds(host, depth) else 1.0

    def by_factor(self, host: str, depth: int, targets: Iterable[Target]) -> Mapping[float, Iterable[Target]]:
        """What a page on `host` links to, by the factor to the worth of those links."""
        if not self.choosy:
            return {1.0: targets}
        groups: dict[float, list[Target]] = defaultdict(list)
        for target in targets:
            if target.host == host or not self.one_entry:  # a further link from elsewhere lets nothing in
                groups[self.leaving(host, target.host) * self.outside(target.host, depth)].append(target)
        return groups


class Entries:
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
        return DEMOTED if candidate.found == Found.LINK and host_of(self._url_of(candidate.parent)) != host else 1.0


def is_off_topic(lease: Lease) -> bool:
    """Whether a person says of a page that it is of none of the topics."""
    return lease.priority >= SEED_PRIORITY and lease.topic == OTHERS


def host_of(url: str | None) -> str:
    """The host of a canonical URL; "" where there is none."""
    return url.split("/", 3)[2] if url else ""
