"""Links on their way to the frontier: which may be followed, to whom they belong, what is turned away and why."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import msgspec

from analecta.crawl.ingest import KeptPage
from analecta.crawl.page_judge import Revaluation
from analecta.crawl.processes.exchange import LinkExchange
from analecta.crawl.requests import Fetch
from analecta.crawl.site_order import SiteOrder
from analecta.frontier.frontier import Frontier
from analecta.frontier.mirrors import sighting
from analecta.frontier.policy import EXAMPLE_PRIORITY, PROBE_PRIORITY, Focus, LinkValue, Scope, SiteEntries
from analecta.frontier.traps import Hashes, PageYield, Traps
from analecta.frontier.url_forms import NewLinks, is_kin, is_trusted, kind_of, leads_of, refusal
from analecta.judge.link_judge import JudgedLinks, LinkJudge
from analecta.model import NO_TOPIC, Candidate, FoundBy, Lease, Link, Page, Tally, UrlRef, UrlState
from analecta.settings.schema import NegativeSettings, Topic
from analecta.urls import canonical, partition_of, url_id

START_PRIORITY = 100.0  # pages to begin at come after the examples, and before all that is found
_LIFTED = 0.5  # priority of a URL that was demoted and is no longer
_MOST_EXPLORED = 10_000
_MOST_HOSTS = 200_000  # of which something is remembered, each time that something is
_MOST_DEMOTED = 256  # in one pick, so that it is over soon
_MUCH = 0.6  # by how much less a demoted URL must be worth now to be sent further back
_SUSPECT = 3  # duplicates from one host that make us ask it for a page it cannot have
_MAY_BE_TRAPS = frozenset((FoundBy.LINK, FoundBy.REDIRECT, FoundBy.SITEMAP))


class _Followed(NamedTuple):
    """A page whose links are followed: what they are worth, and which of them, by their positions."""

    kept: KeptPage
    value: LinkValue
    links: Sequence[int]


class LinkRules(msgspec.Struct):
    """Which links are followed, and what they are worth."""

    focus: Focus
    scope: Scope
    traps: Traps
    judge: LinkJudge | None = None  # values each link by itself; without, links are worth what their page is
    entries: SiteEntries | None = None  # holds the crawl to one entry a site
    sites: SiteOrder | None = None  # with it, the crawl goes from site to site
    count_links: Callable[[list[tuple[Lease, list[Link]]]], None] | None = None  # between sites
    follow_nofollow: bool = False
    look_ahead: Callable[[str], None] | None = None  # told of hosts that will soon be asked


class LinkDiscovery:
    """Takes in what was found, from our own pages and from other partitions."""

    def __init__(
        self,
        frontier: Frontier,
        exchange: LinkExchange,
        rules: LinkRules,
        tally: Tally,
        topics: Sequence[str],
        partition: tuple[int, int] = (0, 1),
    ) -> None:
        """For the partition of this number, of so many."""
        self.frontier, self.exchange, self.rules = frontier, exchange, rules
        self.focus, self.policy, self.bounds, self.traps = rules.focus, rules.focus.harvest, rules.scope, rules.traps
        self.links, self.sites = rules.judge, rules.sites
        self.tally, self.topics = tally, topics
        self.me, self.partitions = partition
        self._alike: Counter[str] = Counter()  # duplicates by host
        self._explored: set[int] = set()  # those of them that are tried now
        self._explored_at = 0  # pages taken in when the last was chosen
        self._untried: deque[UrlRef] = deque(maxlen=1000)  # demoted, though none of their own kind was tried
        self._owner_of = lru_cache(_MOST_HOSTS)(partial(partition_of, partitions=self.partitions))
        self._https: set[str] = set()

    def plant(self, topics: Sequence[Topic], others: NegativeSettings = NegativeSettings()) -> None:
        """Queue the seeds of our own hosts, and where else to begin."""
        numbers = {topic.name: self.topics.index(topic.name) for topic in topics}
        given = [(url, numbers[topic.name]) for topic in topics for url in topic.seeds]
        given += [(url, NO_TOPIC) for url in others.seeds]
        self.add(self._planted(given, EXAMPLE_PRIORITY, FoundBy.SEED))
        starts = [(url, numbers[topic.name]) for topic in topics for url in topic.starts]
        self.add(self._planted(starts, START_PRIORITY, FoundBy.LINK))

    def _planted(self, given: Sequence[tuple[str, int]], priority: float, found: FoundBy) -> list[Candidate]:
        return [
            Candidate(target, priority, topic, 0, 0, found)
            for url, topic in given
            if (target := canonical(url)) is not None and self._owner_of(target.host) == self.me
        ]

    def probe(self, lease: Lease) -> None:
        """Ask the host for a page that it cannot have."""
        origin = lease.url[: lease.url.index("/", 8)]
        target = canonical(f"{origin}/no-such-page-{url_id('://' + lease.host) & 0xFFFFFFFF:08x}.html")
        if target is not None:
            self.add([Candidate(target, PROBE_PRIORITY, -1, lease.depth, lease.id, FoundBy.PROBE)])

    def go_to(self, sites: Sequence[str]) -> None:
        """Crawl these sites now, from their front pages on."""
        if self.sites is not None:
            fronts = [(url, NO_TOPIC) for url in self.sites.name(sites)]
            self.add(self._planted(fronts, 1.0, FoundBy.LINK))
            self.sites.begin()

    def follow(self, kept: Sequence[KeptPage]) -> None:
        """Offer the new links of a batch of pages; traps and hosts are told what the pages mean for them."""
        if not kept:
            return
        if self.rules.count_links is not None:
            self.rules.count_links([(p.lease, p.page.links) for p in kept if p.counts])
        # What is read late was noted when it was kept unread.
        outcomes = [(p.lease.id, self._note(p, p.words)) for p in kept if p.words is not None]
        followed = [_Followed(p, p.value, self._positions(p.lease, p.page)) for p in kept if p.value is not None]
        leads = self._follow(followed)
        for id, outcome in outcomes:
            if led := leads.get(id):
                outcome = msgspec.structs.replace(outcome, leads_out=led.out, leads_off=led.off, fertile=led.fertile)
            self.traps.note(outcome)

    def sites_done(self) -> list[str]:
        """Of the sites to be crawled now those of which nothing is left here."""
        return self.sites.done() if self.sites is not None else []

    def took(self, batch: Sequence[Fetch]) -> None:
        """These fetches are over: sites of which nothing is left are done."""
        if self.sites is not None:
            self.sites.took(fetch.lease for fetch in batch)

    def _follow(self, pages: Sequence["_Followed"]) -> dict[int, NewLinks]:
        """Those links that are new; what waits may come to be worth more. Gives where new links of each page lead."""
        found = [(p, i) for p in pages for i in p.links]
        new = self.frontier.fresh([p.kept.page.links[i].target.id for p, i in found])
        fresh = [self._candidate(*found[k]) for k in new]
        leads = self._leads(pages, [found[k] for k in new])
        if self.links is not None:
            self._learn(self.links, pages, fresh)
        self._route(fresh)
        if self.links is None:
            for p in pages:
                if p.value.on_topic:
                    self._raise(p.kept.lease, p.kept.page, p.value)
        elif self.links.due():
            self.frontier.rescore(self.links.refresh())
        return leads

    def _positions(self, lease: Lease, page: Page) -> Sequence[int]:
        """Positions of links that may be followed; the others are written down as refused, with the reason."""
        if not (page.nofollow or self.policy.never or any(link.nofollow for link in page.links)):
            return range(len(page.links))
        keep: list[int] = []
        refused: list[Candidate] = []
        for i, link in enumerate(page.links):
            if (link.nofollow or page.nofollow) and not self.rules.follow_nofollow:
                reason = "nofollow"
            elif self.policy.never.found_in(link.anchor):
                reason = "shunned"
            else:
                keep.append(i)
                continue
            refused.append(
                Candidate(link.target, 0.0, lease.topic, lease.depth + 1, lease.id, anchor=link.anchor, refused=reason)
            )
        self._route(self.frontier.unwelcome(refused))
        return keep

    def _leads(self, pages: Sequence["_Followed"], fresh: Sequence[tuple["_Followed", int]]) -> dict[int, NewLinks]:
        """Where the new links of these pages lead."""
        links: dict[int, list[UrlRef]] = defaultdict(list)
        for p, i in fresh:
            links[p.kept.lease.id].append(p.kept.page.links[i].target)
        known = {p.kept.lease.id: p.kept.page for p in pages}
        return {id: leads_of(known[id], targets, self.traps.domain_of) for id, targets in links.items()}

    def _note(self, p: KeptPage, words: Hashes) -> PageYield:
        """What a page means for URLs like it; a host that gives copies is probed, one that is full is given up."""
        url, host = p.lease.url, p.lease.host
        breeds = repeats = False
        if p.parent_url:
            breeds = is_kin(url, p.parent_url)
            repeats = self.traps.repeats(url, words) and (breeds or kind_of(url) == kind_of(p.parent_url))
        if not p.is_fake:
            self.traps.compare(sighting(url, host, p.page.simhash))
        if p.is_copy:
            if len(self._alike) > _MOST_HOSTS:
                self._alike.clear()  # who is probed again was asked for that page before: it is not asked twice
            self._alike[host] += 1
            if self._alike[host] == _SUSPECT:
                self.probe(p.lease)
        if p.fills_host:
            self.frontier.give_up(host, UrlState.REFUSED, "host-full")
        mirrors = bool(p.twin) and p.twin_host != host
        return PageYield(url, host, p.verdict.topic >= 0, p.is_copy, repeats, mirrors, breeds)

    def _raise(self, lease: Lease, page: Page, value: LinkValue) -> None:
        """A good page links to what waits already: that may be worth more now."""
        good = (link.target for link in page.links if not link.nofollow)
        for factor, targets in self.focus.by_factor(page.host, lease.depth + 1, good).items():
            self.frontier.raise_priority(targets, value.priority * factor)

    def _candidate(self, found: "_Followed", i: int) -> Candidate:
        lease, page, value = found.kept.lease, found.kept.page, found.value
        link = page.links[i]
        # The words around a link cost ten times the link: only where it may be fetched.
        context = "" if self.bounds.refusal(link.target, lease.depth + 1) else page.link_context(i)[:300]
        return Candidate(
            link.target,
            value.priority * self.focus.leaving(page.host, link.target.host),
            value.topic,
            lease.depth + 1,
            lease.id,
            off_topic_steps=value.off_topic_steps,
            anchor=link.anchor[:200],
            context=context,
        )

    # --- what links are worth ----------------------------------------------------------------------------------

    def _learn(self, judge: LinkJudge, followed: Sequence["_Followed"], fresh: Sequence[Candidate]) -> None:
        """Let the judge of links see pages with the words around their links, and value those that are new."""
        known = {candidate.target.id: candidate.context for candidate in fresh}
        seen = []
        for p in followed:
            page, bag = p.kept.page, p.kept.bag
            assert bag is not None  # a judge of links has the words counted (crawl/build.py)
            targets = [page.links[i].target.id for i in p.links]
            contexts: dict[int, str] = {}
            for i in judge.wanted(targets, known):
                text = known.pop(targets[i], None)
                contexts[i] = page.link_context(p.links[i])[:300] if text is None else text
            seen.append(JudgedLinks(p.kept.lease.id, p.kept.score, bag[0], targets, contexts))
        judge.see(seen)
        worths = judge.worth([candidate.target.id for candidate in fresh])
        for candidate, worth in zip(fresh, worths, strict=True):
            candidate.priority = worth

    def reprioritise(self, found: Revaluation) -> None:
        """What waits is worth something else now; the ledger is told, for a start after a kill."""
        worth = found.waiting
        if self.links is not None and found.scores is not None:
            self.links.score(found.scores)
            worth = self.links.refresh()
        elif found.cold:
            self.frontier.rescore_cold(found.cold)
        self.frontier.rescore(worth)
        self.frontier.ledger.set_priorities(self.frontier.priorities())

    def recall(self, seen: Sequence[JudgedLinks], contexts: Sequence[tuple[int, str]]) -> None:
        """Take up again pages that were seen before the last stop, and the words around links."""
        if self.links is not None:
            for page in seen:
                self.links.see([page])
            if contexts:
                self.links.hear([id for id, _ in contexts], [text for _, text in contexts])

    def add(self, candidates: Sequence[Candidate]) -> None:
        """Take in candidates from anywhere: those never seen before go to whom they belong."""
        refused = [candidate for candidate in candidates if candidate.refused]
        if refused:
            self._route(self.frontier.unwelcome(refused))
            candidates = [candidate for candidate in candidates if not candidate.refused]
        fresh = self.frontier.fresh([candidate.target.id for candidate in candidates])
        self._route([candidates[i] for i in fresh])

    def forget(self, lost: Sequence[int]) -> None:
        """These URLs came to nothing."""
        if self.links is not None:
            self.links.lost(*lost)

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
            if candidate.priority > 0:  # a redirect of a demoted URL keeps its priority below 0
                candidate.priority *= self._factor(candidate)
            if candidate.found_by in _MAY_BE_TRAPS and candidate.priority <= 1.0:
                self._suspect(candidate)
            welcome.append(candidate)
            if self.rules.look_ahead is not None and candidate.priority >= 0.1:
                self.rules.look_ahead(candidate.target.host)
        if refused:
            self.frontier.refuse(refused)
            self.forget([candidate.target.id for candidate, _ in refused])
        if self.sites is not None:
            welcome = self.sites.sorted_out(welcome)
        if welcome:
            self.frontier.push(welcome)

    def _factor(self, candidate: Candidate) -> float:
        """What the priority of a candidate is multiplied with here, where its host belongs."""
        factor = 1.0
        if candidate.priority <= 1.0:  # no seed
            factor *= self.focus.outside(candidate.target.host, candidate.depth)
        if self.rules.entries is not None:
            factor *= self.rules.entries.factor(candidate)
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
            if found.untried:
                self._untried.append(target)

    def _secure(self, target: UrlRef) -> UrlRef:
        """The https form of a URL, if its host is known to speak it: both forms are one page."""
        if target.url.startswith("https"):
            if len(self._https) > _MOST_HOSTS:
                self._https.clear()
            self._https.add(target.host)
        elif target.host in self._https:
            return UrlRef("https" + target.url[4:], target.id, target.host)
        return target

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
            if lease.priority <= 1.0 and lease.found_by in _MAY_BE_TRAPS and lease.id not in self._explored:
                suspicion = self.traps.suspicion(lease.url, lease.host)
            priority = suspicion.priority(lease.priority) if suspicion else 0.0
            if suspicion is None or (lease.priority < 0 and priority > lease.priority - _MUCH):
                good.append(lease)
                continue
            if suspicion.untried:
                self._untried.append(UrlRef(lease.url, lease.id, lease.host))
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
