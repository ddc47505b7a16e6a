"""Which pages of which sites are fetched, where a crawl goes from site to site (C3, C8).

The coordinator names the sites that are to be crawled now (crawl/site_growth.py). Of these the front page comes first,
then others by a rank that is a policy, up to a limit; what belongs to other sites waits until they are named.
"""

from collections.abc import Callable, Iterable, Sequence
from math import inf

import msgspec

from analecta.frontier.frontier import Frontier
from analecta.frontier.policy import EXAMPLE_PRIORITY
from analecta.model import Candidate, FoundBy, Lease
from analecta.store.partition import Shard
from analecta.store.site_rules import Sites, front, fronts
from analecta.store.sites import WAITS, SiteUrls

_ON_THE_WAY = 16  # URLs of a site that are let go at a time: what is found meanwhile may be better
_TRIES = 3  # URLs of a site that are asked for at most, for each page that may be taken
_AT_ONCE = frozenset((FoundBy.MAP, FoundBy.PROBE))  # these do not wait, nor do seeds

Rank = Callable[[Candidate], float]

RANKS: dict[str, Rank] = {
    "breadth": lambda candidate: -float(candidate.depth),  # the nearer to the front page the better
    "worth": lambda candidate: candidate.priority,  # as the judge of links, or the page that links to it, has it
    "short": lambda candidate: -float(candidate.target.url.count("/")),  # the higher in the site the better
}


class OpenSite(msgspec.Struct):
    """A site that is being crawled here."""

    fronts: frozenset[int]
    units: list[int]
    on_the_way: set[int]
    pages: int
    asked: int
    waits: bool = True  # whether there may be URLs to let go


class SiteOrder:
    """Holds back and lets go the URLs of one partition."""

    def __init__(
        self,
        shard: Shard,
        frontier: Frontier,
        urls: SiteUrls,
        sites: Sites,
        limit: int = 0,
        rank: Rank = RANKS["breadth"],
    ) -> None:
        """`limit`: pages of a site; 0 = all."""
        self.shard, self.frontier, self.urls, self.sites = shard, frontier, urls, sites
        self.limit, self.rank = limit, rank
        self.going: dict[str, OpenSite] = {}
        self._units: dict[str, list[int]] = {}
        for n, name in urls.units.names():
            self._units.setdefault(sites.of(name), []).append(n)

    # --- in ------------------------------------------------------------------------------------------------------

    def sorted_out(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those of new candidates that need not wait; the others are written down, and let go if it is their turn."""
        seeds = [candidate for candidate in candidates if _seed(candidate)]
        at_once = [*seeds, *(candidate for candidate in candidates if candidate.found_by in _AT_ONCE)]
        waiting = [one for one in candidates if one.found_by not in _AT_ONCE and not _seed(one)]
        self.urls.add(map(self._row, seeds), let_go=True)
        for seed in seeds:
            if going := self.going.get(self._site(seed)):
                going.on_the_way.add(seed.target.id)
        if waiting:
            self.frontier.refuse([(candidate, WAITS) for candidate in waiting])
            self.urls.add(map(self._row, waiting))
            for site in dict.fromkeys(map(self._site, waiting)):
                self._go_on(site, more=True)
        return at_once

    def wait(self, candidates: Iterable[Candidate]) -> None:
        """These wait for their sites again."""
        self.urls.add(map(self._row, candidates))

    def _row(self, candidate: Candidate) -> tuple[str, float, int]:
        target = candidate.target
        unit = self.sites.unit(target.url, target.host)
        site = self.sites.of(unit)
        known = self._units.setdefault(site, [])
        if (n := self.urls.units.number(unit)) not in known:
            known.append(n)
            if going := self.going.get(site):
                going.units = known
        return unit, inf if target.id in fronts(site) else self.rank(candidate), target.id

    def _site(self, candidate: Candidate) -> str:
        return self.sites.site(candidate.target)

    # --- out -----------------------------------------------------------------------------------------------------

    def name(self, sites: Iterable[str]) -> list[str]:
        """These sites are to be crawled now and no others; the addresses of the front pages of those that are new."""
        wanted = dict.fromkeys(sites)
        self.going = {site: going for site, going in self.going.items() if site in wanted}
        new = [site for site in wanted if site not in self.going]
        for site in new:
            units = self._units.setdefault(site, [])
            self.going[site] = OpenSite(fronts(site), units, *self.urls.standing(units))
        return [front(site) for site in new]

    def begin(self) -> None:
        """Let go what may go of all sites that were named."""
        for site in self.going:
            self._go_on(site)

    def took(self, leases: Iterable[Lease]) -> None:
        """These fetches are over: others may take their place."""
        for site in dict.fromkeys(self.sites.of(self.sites.unit(lease.url, lease.host)) for lease in leases):
            if going := self.going.get(site):
                self._look(going)
                self._go_on(site)

    def done(self) -> list[str]:
        """Those of the sites of which nothing is left to fetch here."""
        if not len(self.frontier):  # a host that was given up, a queue that was cut: its URLs are over too
            for going in self.going.values():
                self._look(going)
        for site, going in self.going.items():
            if not going.on_the_way and going.waits:
                self._go_on(site)
        return [site for site, going in self.going.items() if not going.on_the_way]

    def _look(self, going: OpenSite) -> None:
        for id, page in self.urls.over(going.on_the_way):
            going.on_the_way.discard(id)
            going.pages += page

    def _go_on(self, site: str, more: bool = False) -> None:
        """Let URLs of a site go, as many as there is room for: at first the front page alone."""
        going = self.going.get(site)
        if going is None:
            return
        going.waits = going.waits or more
        room = _ON_THE_WAY - len(going.on_the_way)
        if self.limit:
            room = min(room, self.limit - going.pages - len(going.on_the_way), _TRIES * self.limit - going.asked)
        if room <= 0 or not going.waits or going.fronts & going.on_the_way:
            return
        ids = self.urls.best(going.units, room if going.pages else 1)
        going.waits = len(ids) > 0
        for lease in self.shard.leases_of(ids) if ids else ():
            lease.tries = 1  # of which none was made: it goes back unasked
            self.frontier.requeue(lease, "", asked=False)
            going.on_the_way.add(lease.id)
        going.asked += len(ids)


def _seed(candidate: Candidate) -> bool:
    """Whether it is a seed, or where one leads: it is learnt from."""
    redirected = candidate.found_by == FoundBy.REDIRECT and candidate.priority >= EXAMPLE_PRIORITY
    return redirected or candidate.found_by == FoundBy.SEED
