"""Links on their way to the frontier: which may be followed, to whom they belong, what is turned away and why."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from analecta.crawl.processes.exchange import Exchange
from analecta.crawl.site_order import SitePolicy
from analecta.frontier.frontier import Frontier
from analecta.frontier.policy import PROBE_PRIORITY, SEED_PRIORITY, Bounds, Entries, Focus, Value
from analecta.frontier.traps import Suspicion, Traps
from analecta.frontier.url_forms import Leads, is_trusted, leads_of, refusal
from analecta.judge.link_judge import LinkJudge, Seen
from analecta.model import OTHERS, Candidate, Found, Lease, Page, Tally, Target
from analecta.settings.schema import Others, Topic
from analecta.text.tokens import Int32s
from analecta.urls import canonical, partition_of, url_id

START_PRIORITY = 100.0  # pages to begin at come after the examples, and before all that is found
_SITEMAP_PRIORITY = 0.05  # a URL of which nothing is known but that it exists
_LIFTED = 0.5  # priority of a URL that was demoted and is no longer
_MOST_EXPLORED = 10_000
_MOST_DEMOTED = 256  # in one pick, so that it is over soon
_MUCH = 0.6  # by how much less a demoted URL must be worth now to be sent further back
_MAY_BE_TRAPS = frozenset((Found.LINK, Found.REDIRECT, Found.SITEMAP))
_NONE = np.zeros(0, np.int32)


class Open(msgspec.Struct, frozen=True):
    """A page whose links may be followed, with what was said of it, and the buckets of its words, if counted."""

    lease: Lease
    page: Page
    value: Value
    score: float
    buckets: Int32s = _NONE


class Offers:
    """Takes in what was found, from our own pages and from other partitions."""

    def __init__(
        self,
        *,
        frontier: Frontier,
        exchange: Exchange,
        focus: Focus,
        bounds: Bounds,
        traps: Traps,
        tally: Tally,
        topics: Sequence[str],
        partition: tuple[int, int],
        links: LinkJudge | None = None,
        entries: Entries | None = None,
        sites: SitePolicy | None = None,
        follow_nofollow: bool = False,
        look_ahead: Callable[[str], None] | None = None,
    ) -> None:
        """With a judge of `links` each link has a worth of its own; without, that of the page it is on.

        `entries` holds the crawl to one entry a site; with `sites` it goes from site to site.
        """
        self.frontier = frontier
        self.exchange = exchange
        self.focus = focus
        self.policy = focus.harvest
        self.bounds = bounds
        self.traps = traps
        self.tally = tally
        self.topics = topics
        self.me, self.partitions = partition
        self.follow_nofollow = follow_nofollow
        self.look_ahead = look_ahead
        self.links = links
        self.entries = entries
        self.sites = sites
        self.leads: dict[int, Leads] = {}  # of the last pages followed
        self._explored: set[int] = set()  # those of them that are tried now
        self._explored_at = 0  # pages taken in when the last was chosen
        self._untried: deque[Target] = deque(maxlen=1000)  # demoted, though none of their own kind was tried
        self._owner: dict[str, int] = {}
        self._https: set[str] = set()

    def plant(self, topics: Sequence[Topic], others: Others = Others()) -> None:
        """Queue the seeds of our own hosts, and where else to begin."""
        numbers = {topic.name: self.topics.index(topic.name) for topic in topics}
        given = [(url, numbers[topic.name]) for topic in topics for url in topic.seeds]
        given += [(url, OTHERS) for url in others.seeds]
        self.offer(self._planted(given, SEED_PRIORITY, Found.SEED))
        starts = [(url, numbers[topic.name]) for topic in topics for url in topic.starts]
        self.offer(self._planted(starts, START_PRIORITY, Found.LINK))

    def _planted(self, given: Sequence[tuple[str, int]], priority: float, found: Found) -> list[Candidate]:
        return [
            Candidate(target, priority, topic, 0, 0, found)
            for url, topic in given
            if (target := canonical(url)) is not None and self._owner_of(target.host) == self.me
        ]

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

    def go_to(self, sites: Sequence[str]) -> None:
        """Crawl these sites now, from their front pages on."""
        if self.sites is not None:
            fronts = [(url, OTHERS) for url in self.sites.name(sites)]
            self.offer(self._planted(fronts, 1.0, Found.LINK))
            self.sites.begin()

    def follow(self, pages: Sequence[Open]) -> None:
        """Offer the links of a batch of pages that are new; those that wait may come to be worth more."""
        followed: list[tuple[Open, Sequence[int]]] = []
        for p in pages:
            keep: Sequence[int] = range(len(p.page.links))
            if p.page.nofollow or self.policy.shuns_any or any(link.nofollow for link in p.page.links):
                keep = self._allowed(p.lease, p.page)
            followed.append((p, keep))
        found = [(p, i) for p, keep in followed for i in keep]
        new = self.frontier.fresh([p.page.links[i].target.id for p, i in found])
        fresh = [self._candidate(*found[k]) for k in new]
        self._note_leads(pages, [found[k] for k in new])
        if self.links is not None:
            self._learn(self.links, followed, fresh)
        self._route(fresh)
        if self.links is None:
            for p in pages:
                if p.value.on_topic:
                    self._raise(p)
        elif self.links.due():
            self.frontier.rescore(self.links.refresh())

    def _note_leads(self, pages: Sequence[Open], fresh: Sequence[tuple[Open, int]]) -> None:
        """Remember where the new links of these pages lead."""
        links: dict[int, list[Target]] = defaultdict(list)
        for p, i in fresh:
            links[p.lease.id].append(p.page.links[i].target)
        self.leads = {
            p.lease.id: leads_of(p.page, links[p.lease.id], self.traps.domain_of) for p in pages if p.lease.id in links
        }

    def _raise(self, found: Open) -> None:
        """A good page links to what waits already: that may be worth more now."""
        good = (link.target for link in found.page.links if not link.nofollow)
        for factor, targets in self.focus.by_factor(found.page.host, found.lease.depth + 1, good).items():
            self.frontier.raise_priority(targets, found.value.priority * factor)

    def _candidate(self, found: Open, i: int) -> Candidate:
        lease, page, value = found.lease, found.page, found.value
        link = page.links[i]
        # The words around a link cost ten times the link: only where it may be fetched.
        context = "" if self.bounds.refusal(link.target, lease.depth + 1) else page.around(i)[:300]
        return Candidate(
            link.target,
            value.priority * self.focus.leaving(page.host, link.target.host),
            value.topic,
            lease.depth + 1,
            lease.id,
            astray=value.astray,
            anchor=link.anchor[:200],
            context=context,
        )

    # --- what links are worth ----------------------------------------------------------------------------------

    def _learn(
        self, judge: LinkJudge, followed: Sequence[tuple[Open, Sequence[int]]], fresh: Sequence[Candidate]
    ) -> None:
        """Let the judge of links see pages with the words around their links, and value those that are new."""
        known = {candidate.target.id: candidate.context for candidate in fresh}
        seen = []
        for p, keep in followed:
            targets = [p.page.links[i].target.id for i in keep]
            contexts: dict[int, str] = {}
            for i in judge.wanted(targets, known):
                text = known.pop(targets[i], None)
                contexts[i] = p.page.around(keep[i])[:300] if text is None else text
            seen.append(Seen(p.lease.id, p.score, p.buckets, targets, contexts))
        judge.see(seen)
        worths = judge.worth([candidate.target.id for candidate in fresh])
        for candidate, worth in zip(fresh, worths, strict=True):
            candidate.priority = worth

    def judged(self, scores: Mapping[int, float]) -> None:
        """A new model has judged the pages again: what waits is worth something else now."""
        if self.links is not None:
            self.links.score(scores)
            self.valued(self.links.refresh())

    def valued(self, worth: dict[int, float]) -> None:
        """What waits is worth this now; the ledger is told, for a start after a kill."""
        self.frontier.rescore(worth)
        self.frontier.ledger.set_priorities(self.frontier.priorities())

    def recall(self, id: int, score: float, buckets: Int32s, links: Sequence[int]) -> None:
        """Take up again a page that was seen before the last stop."""
        if self.links is not None:
            self.links.see([Seen(id, score, buckets, links, {})])

    def recall_contexts(self, contexts: Sequence[tuple[int, str]]) -> None:
        """Take up again the words around links."""
        if self.links is not None and contexts:
            self.links.hear([id for id, _ in contexts], [text for _, text in contexts])

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
            candidate.priority *= self._factor(candidate)
            if candidate.found in _MAY_BE_TRAPS and candidate.priority <= 1.0:
                self._suspect(candidate)
            welcome.append(candidate)
            if self.look_ahead is not None and candidate.priority >= 0.1:
                self.look_ahead(candidate.target.host)
        if refused:
            self.frontier.refuse(refused)
            if self.links is not None:
                self.links.lost(*(candidate.target.id for candidate, _ in refused))
        if self.sites is not None:
            welcome = self.sites.sorted_out(welcome)
        if welcome:
            self.frontier.push(welcome)

    def _factor(self, candidate: Candidate) -> float:
        """What the priority of a candidate is multiplied with here, where its host belongs."""
        factor = 1.0
        if candidate.priority <= 1.0:  # no seed
            factor *= self.focus.outside(candidate.target.host, candidate.depth)
        if self.entries is not None:
            factor *= self.entries.factor(candidate)
        return factor

    def _refusal(self, candidate: Candidate) -> str:
        url = candidate.target.url
        if reason := self.bounds.refusal(candidate.target, candidate.depth):
            return reason
        reason = refusal(url)
        return "" if reason and is_trusted(url, self.traps.trusted) else reason

    def _suspect(self, candidate: Candidate) -> None:
        """Demote a candidate that looks like a trap."""
        target = candidate.target
        if found := self.traps.admission(target.url, target.host):
            candidate.demoted, candidate.priority = found.reason, found.priority(candidate.priority)
            self._remember(target, found)

    def _remember(self, target: Target, found: Suspicion) -> None:
        if found.untried:
            self._untried.append(target)

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

    def pick(self, room: int, now: float, floor: float) -> list[Lease]:
        """Up to `room` URLs to fetch now; those that have meanwhile turned out to be of a trap are demoted instead."""
        self.look_again()
        leases: list[Lease] = []
        demoted = 0
        while len(leases) < room and demoted < _MOST_DEMOTED:
            popped = self.frontier.pop(room - len(leases), now, floor)
            if not popped:
                break
            good = self.without_traps(popped, now)
            demoted += len(popped) - len(good)
            leases += good
        return leases

    def without_traps(self, leases: list[Lease], now: float) -> list[Lease]:
        """Those that are still worth asking for; the others wait behind every other URL."""
        good = []
        for lease in leases:
            suspicion = None
            if lease.priority <= 1.0 and lease.found in _MAY_BE_TRAPS and lease.id not in self._explored:
                suspicion = self.traps.suspicion(lease.url, lease.host)
            priority = suspicion.priority(lease.priority) if suspicion else 0.0
            if suspicion is None or (lease.priority < 0 and priority > lease.priority - _MUCH):
                good.append(lease)
                continue
            self._remember(Target(lease.url, lease.id, lease.host), suspicion)
            self.frontier.demote(lease, now, priority, suspicion.reason)
        return good

    def look_again(self) -> None:
        """Lift what is cleared now; where little was wasted, try a URL whose kind was demoted untried."""
        cleared, self.traps.cleared = set(self.traps.cleared), []
        for host in cleared:
            waiting = self.frontier.ledger.demoted(host)
            lifted = [target for target in waiting if not self.traps.suspicion(target.url, host)]
            self.frontier.promote(lifted, _LIFTED)
        if self._untried and self.traps.total > self._explored_at and not self.traps.wasteful():
            self._explored_at = self.traps.total  # one for a page that was taken in: a crawl in order is the same again
            target = self._untried.popleft()
            found = self.traps.suspicion(target.url, target.host)
            if found is None or found.untried:
                if len(self._explored) > _MOST_EXPLORED:
                    self._explored.clear()
                self._explored.add(target.id)
                self.frontier.promote([target], _LIFTED)
