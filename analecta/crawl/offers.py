"""Links on their way to the frontier: which may be followed, to whom they belong, what is turned away and why."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from analecta.crawl.exchange import Exchange
from analecta.frontier.policy import PROBE_PRIORITY, SEED_PRIORITY, Bounds, Policy
from analecta.frontier.queues import Frontier
from analecta.frontier.traps import DEMOTED, Traps, refusal
from analecta.model import Candidate, Found, Lease, Page, Tally, Target
from analecta.settings import Topic
from analecta.urls import canonical, partition_of, url_id

_SITEMAP_PRIORITY = 0.05  # a URL of which nothing is known but that it exists


class Value(msgspec.Struct, frozen=True):
    """What the links of one page are worth."""

    priority: float
    astray: int
    topic: int
    on_topic: bool


class Offers:
    """Takes in what was found, from our own pages and from other partitions."""

    def __init__(
        self,
        *,
        frontier: Frontier,
        exchange: Exchange,
        policy: Policy,
        bounds: Bounds,
        traps: Traps,
        tally: Tally,
        topics: Sequence[str],
        partition: tuple[int, int],
        follow_nofollow: bool = False,
        look_ahead: Callable[[str], None] | None = None,
    ) -> None:
        self.frontier = frontier
        self.exchange = exchange
        self.policy = policy
        self.bounds = bounds
        self.traps = traps
        self.tally = tally
        self.topics = topics
        self.me, self.partitions = partition
        self.follow_nofollow = follow_nofollow
        self.look_ahead = look_ahead
        self._owner: dict[str, int] = {}
        self._https: set[str] = set()

    def plant(self, topics: Sequence[Topic]) -> None:
        """Queue the seeds of our own hosts; those that were queued before are known already."""
        seeds = [
            Candidate(target, SEED_PRIORITY, self.topics.index(topic.name), 0, 0, Found.SEED)
            for topic in topics
            for url in topic.seeds
            if (target := canonical(url)) is not None and self._owner_of(target.host) == self.me
        ]
        self.offer(seeds)

    def sitemaps(self, targets: Iterable[Target], parent: int, hops: int) -> None:
        """Queue sitemaps, to be read for their links."""
        self.offer([Candidate(t, _SITEMAP_PRIORITY, -1, 0, parent, Found.MAP, hops=hops) for t in targets])

    def sitemap_pages(self, targets: Iterable[Target], lease: Lease) -> None:
        """Queue the pages that a sitemap names: worth a little, for nothing is known of them."""
        found = (lease.topic, lease.depth + 1, lease.id, Found.SITEMAP)
        self.offer([Candidate(target, _SITEMAP_PRIORITY, *found) for target in targets])

    def probe(self, lease: Lease) -> None:
        """Ask the host for a page that it cannot have."""
        origin = lease.url[: lease.url.index("/", 8)]
        target = canonical(f"{origin}/no-such-page-{url_id('://' + lease.host) & 0xFFFFFFFF:08x}.html")
        if target is not None:
            self.offer([Candidate(target, PROBE_PRIORITY, -1, lease.depth, lease.id, Found.PROBE)])

    def follow(self, pages: Sequence[tuple[Lease, Page, Value]]) -> None:
        """Offer the links of a batch of pages that are new, and raise those that wait with a lower priority."""
        found: list[tuple[Lease, Page, Value, int]] = []
        ids: list[int] = []
        for lease, page, value in pages:
            keep: Sequence[int] = range(len(page.links))
            if page.nofollow or self.policy.shuns_any or any(link.nofollow for link in page.links):
                keep = self._allowed(lease, page)
            found += [(lease, page, value, i) for i in keep]
            ids += [page.links[i].target.id for i in keep]
        fresh = self.frontier.fresh(ids)
        self._route([self._candidate(*found[k]) for k in fresh])
        for _, page, value in pages:
            if value.on_topic:
                self.frontier.raise_priority((link.target for link in page.links if not link.nofollow), value.priority)

    def _candidate(self, lease: Lease, page: Page, value: Value, i: int) -> Candidate:
        link = page.links[i]
        # The words around a link cost ten times the link: only where it may be fetched.
        context = "" if self.bounds.refusal(link.target, lease.depth + 1) else page.around(i)[:300]
        return Candidate(
            link.target,
            value.priority,
            value.topic,
            lease.depth + 1,
            lease.id,
            astray=value.astray,
            anchor=link.anchor[:200],
            context=context,
        )

    def _allowed(self, lease: Lease, page: Page) -> Sequence[int]:
        """Positions of links that may be followed; the others are written down as refused, with the reason."""
        keep: list[int] = []
        refused: list[Candidate] = []
        for i, link in enumerate(page.links):
            if (link.nofollow or page.nofollow) and not self.follow_nofollow:
                reason = "nofollow"
            elif self.policy.shuns(link.anchor):
                reason = "shunned"
            else:
                keep.append(i)
                continue
            refused.append(
                Candidate(link.target, 0.0, lease.topic, lease.depth + 1, lease.id, anchor=link.anchor, refused=reason)
            )
        self._route(self.frontier.unwelcome(refused))
        return keep

    def offer(self, candidates: Sequence[Candidate]) -> None:
        """Take in candidates from anywhere: those never seen before go to whom they belong."""
        refused = [candidate for candidate in candidates if candidate.refused]
        if refused:
            self._route(self.frontier.unwelcome(refused))
            candidates = [candidate for candidate in candidates if not candidate.refused]
        fresh = self.frontier.fresh([candidate.target.id for candidate in candidates])
        self._route([candidates[i] for i in fresh])

    def _route(self, candidates: Sequence[Candidate]) -> None:
        if self.partitions == 1:
            self.admit(candidates)
            return
        by_owner: dict[int, list[Candidate]] = {}
        for candidate in candidates:
            by_owner.setdefault(self._owner_of(candidate.target.host), []).append(candidate)
        self.admit(by_owner.pop(self.me, []))
        for owner, letters in by_owner.items():
            self.exchange.post(owner, letters)

    def admit(self, candidates: Iterable[Candidate]) -> None:
        """Queue candidates for our own hosts; what scope and traps turn away is refused with the reason."""
        welcome, refused = [], []
        for candidate in candidates:
            reason = candidate.refused or self._refusal(candidate)
            if reason:
                refused.append((candidate, reason))
                self.tally.refused += 1
                self.tally.reasons[reason] = self.tally.reasons.get(reason, 0) + 1
                continue
            candidate.target = self._secure(candidate.target)
            candidate.priority *= self.traps.factor(candidate.target.url)
            welcome.append(candidate)
            if self.look_ahead is not None and candidate.priority >= 0.1:
                self.look_ahead(candidate.target.host)
        if refused:
            self.frontier.refuse(refused)
        if welcome:
            self.frontier.push(welcome)

    def _refusal(self, candidate: Candidate) -> str:
        return self.bounds.refusal(candidate.target, candidate.depth) or refusal(candidate.target.url)

    def _secure(self, target: Target) -> Target:
        """The https form of a URL, if its host is known to speak it: both forms are one page."""
        if target.url.startswith("https"):
            if len(self._https) > 200_000:
                self._https.clear()
            self._https.add(target.host)
        elif target.host in self._https:
            return Target("https" + target.url[4:], target.id, target.host)
        return target

    def _owner_of(self, host: str) -> int:
        owner = self._owner.get(host)
        if owner is None:
            if len(self._owner) > 100_000:
                self._owner.clear()
            owner = self._owner[host] = partition_of(host, self.partitions)
        return owner

    def without_traps(self, leases: list[Lease], now: float) -> list[Lease]:
        """Those that are still worth asking for; the others go back to the queue with the priority they deserve."""
        good = []
        for lease in leases:
            if lease.priority > DEMOTED and self.traps.factor(lease.url) < 1.0 and lease.found == Found.LINK:
                self.frontier.close(lease, now, lambda host: host.dropped(now))
                lease.priority *= DEMOTED
                self.frontier.ledger.reprioritise([lease.id], lease.priority)
                self.frontier.requeue(lease, "trap", asked=False)
            else:
                good.append(lease)
        return good
