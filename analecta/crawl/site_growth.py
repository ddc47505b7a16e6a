"""Communities of sites grow while they are crawled (C2-C5): the coordinator's side.

It says which sites are crawled now. The partitions fetch their pages (crawl/site_order.py) and report which of them
are done; then the links of those are read from the shards, and it is seen where to go on. Nothing is kept here that is
not in the library: at the next start the same sites are told in the same order.
"""

import time
from collections import Counter
from collections.abc import Iterable, Sequence

from analecta.communities.growth import Communities
from analecta.crawl.control import EngineStatus
from analecta.frontier.policy import Scope
from analecta.settings.schema import Settings
from analecta.store.library import LibraryFolder
from analecta.store.library_db import add_crawled, crawled_sites
from analecta.store.site_rules import add_moved, front, moved_to, seed_sites, sites_of
from analecta.store.sites import SiteGraph
from analecta.urls import canonical


class SiteGrowth:
    """Leads a crawl from site to site."""

    def __init__(self, library: LibraryFolder, settings: Settings) -> None:
        self.library, self.rules = library, settings.communities
        self.now: dict[str, int | None] = {}  # sites being crawled; letters that were sent when one seemed done
        self._new = 0  # sites that were taken in since the communities were last looked at anew
        self.sites = sites_of(library, settings.sites)
        self.graph = SiteGraph(self.sites)
        self._bounds = Scope(settings.scope.hosts)
        known = crawled_sites(library)
        rules, seeds = self.rules, seed_sites(settings.topics, self.sites)
        # Its clock does not count what the partitions take of the processor meanwhile.
        clock = time.thread_time
        self.found = Communities(seeds, rules.wt, rules.metric, rules.enough, rules.everywhere, clock)
        self._tell(dict.fromkeys(map(self.sites.of, known)))
        more = [self.sites.of(site) for site, most in known.items() if most and not 0 < rules.pages <= most]
        self._next = [site for site in dict.fromkeys(more) if self._in_scope(site)]
        self._name()

    def step(self, statuses: Sequence[EngineStatus]) -> None:
        """Take in the sites that all partitions are done with, and name others in their place."""
        if self.now and (done := self._done(statuses)):
            self._take_in(done)
            self._name()

    def waits(self, statuses: Iterable[EngineStatus]) -> bool:
        """Whether sites are being crawled though nothing is queued: they are about to be done."""
        return bool(self.now) and not any(status.queued for status in statuses)

    def _done(self, statuses: Sequence[EngineStatus]) -> list[str]:
        """Sites of which no partition has anything left, nor link batches under way that may bring something."""
        sent, received = sum(status.sent for status in statuses), sum(status.received for status in statuses)
        said = Counter(site for status in statuses for site in status.done)
        done = []
        for site, mark in self.now.items():
            if said[site] < len(statuses):
                self.now[site] = None
            elif mark is None and len(statuses) > 1:
                self.now[site] = sent
            elif mark is None or received >= mark:
                done.append(site)
        return done

    def _take_in(self, done: Sequence[str]) -> None:
        moves = self._moved(done)
        if moves:
            self.found.moved(moves)
        stay = [site for site in done if site not in moves]
        add_crawled(self.library, stay, self.rules.pages)
        self._tell(stay)
        self._new += len(done)
        for site in done:
            del self.now[site]

    def _moved(self, done: Sequence[str]) -> dict[str, str]:
        """Those of some sites without links that turn out to have moved, and where to: that is gone to instead."""
        with self.library.snapshot() as snapshot:
            self.graph.refresh(snapshot)
            silent = [site for site in done if not self.graph.out(snapshot, site)]
            leads = {site: to for site in silent if (to := moved_to(snapshot, self.sites, site))}
        often = Counter(leads.values())
        moves = {site: to for site, to in leads.items() if often[to] == 1}  # names that expired all lead to one place
        for site, to in moves.items():
            self.sites.move(site, to)
        if moves:
            add_moved(self.library, moves)
        return moves

    def _tell(self, sites: Iterable[str]) -> None:
        """Let the communities know the links of sites that were crawled."""
        with self.library.snapshot() as snapshot:
            self.graph.refresh(snapshot)
            for site in sites:
                self.found.crawled(site, self.graph.out(snapshot, site))

    def _name(self) -> None:
        while (room := self.rules.at_once - len(self.now)) > 0 and (self._next or self._more()):
            named, self._next = self._next[:room], self._next[room:]
            self.now |= dict.fromkeys(filter(self._in_scope, named))

    def _more(self) -> bool:
        """See where to go on: for many sites at a time, since all that wait are weighed.

        Where none waits all is looked at anew, but not before half of what was named is known. To look after each site
        would cost several times as much, and might merge communities of which too little is known.
        """
        if self.found.claims.ripe.keys() <= self.found.asked:
            if self._new < len(self.now):
                return False
            self._new = 0
        self._next = self.found.next(None if self.rules.only else self.rules.at_once)
        return bool(self._next)

    def _in_scope(self, site: str) -> bool:
        target = canonical(front(site))
        wanted = not self.rules.only or site in self.rules.only
        return wanted and target is not None and not self._bounds.refusal(target, 0)
