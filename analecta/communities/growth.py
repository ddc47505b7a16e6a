"""Communities of sites, found while sites are being crawled: what to crawl next, and who belongs together (C2-C5).

    found = Communities(["a.example", "b.example"])
    while sites := found.next():
        for site in sites:
            found.crawled(site, links of the site to others, counted)
    found.clusters()

Trees grow from the seeds (`claims`), sites that everybody links to are left out (`everywhere`), and trees that link
enough to one another are one community (`merging`, `settling`).
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import msgspec

from analecta.communities.claims import METRICS, OUT_LINK, Claims, SiteLinks, strong_links
from analecta.communities.merging import ENOUGH, FEWEST, Merge, everywhere, roots, settle
from analecta.errors import UsageError
from analecta.urls import is_below

WT = 0.01
LISTED = "it is one of communities.everywhere in the settings"
_ROUNDS = 3  # of leaving out sites that are everywhere and merging without them
_AGAIN = 3.0  # settle anew when so many times as many sites were crawled; at first, as there are seeds


class SiteCluster(msgspec.Struct, frozen=True):
    """A community: its seeds (the first one names it), and in words why each site is a member, and what merged."""

    seeds: list[str]
    members: dict[str, str]
    merged: list[str]

    @property
    def sites(self) -> list[str]:
        """The names of its members."""
        return list(self.members)


class Communities:
    """Grows communities from seed sites."""

    def __init__(
        self,
        seeds: Iterable[str],
        wt: float = WT,
        metric: str = OUT_LINK,
        enough: float = ENOUGH,
        everywhere: Iterable[str] = (),
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`everywhere` are hosts that are known to belong to no community, as those below them."""
        if metric not in METRICS:
            raise UsageError(f"there is no metric {metric!r}; there are {', '.join(METRICS)}")
        if not 0 < wt <= 1:
            raise UsageError(f"wt is a share above 0 and up to 1, not {wt}")
        self.wt, self.metric, self.enough, self.clock = wt, metric, enough, clock
        self.names: list[str] = []
        self.numbers: dict[str, int] = {}
        self.links = SiteLinks()
        self._hosts = frozenset(everywhere)
        self._listed: set[int] = set()
        self.left_out: dict[int, str] = {}  # sites that are everywhere, with the reason
        self._begin(map(self._number, seeds))
        self.asked: set[int] = set()
        self.seconds = 0.0  # spent here and not on crawling
        self._heavy: dict[int, dict[int, float]] = {}
        self._one: dict[int, int] = {}  # where trees that merged went
        self.claims = self._claims()
        self._of: dict[int, int] = {}
        self._count = 0  # communities
        self._merges: list[Merge] = []
        self._settled_at = 0

    def crawled(self, site: str, out_links: Mapping[str, int]) -> None:
        """All links of a site to others have become known; a site that cannot be crawled has none."""
        began, number = self.clock(), self._number(site)
        if number not in self.links.out:
            links: Counter[int] = Counter()
            for other, n in out_links.items():
                links[self._number(other)] += n  # two names may stand for one site that has moved
            self.links.add(number, links)
            self._leave_out(number)
            self.claims.crawled(number)
            if len(self.links.out) >= max(_AGAIN * (self._settled_at or len(self.seeds)), FEWEST):
                self._settle(1)
        self.seconds += self.clock() - began

    def moved(self, to: Mapping[str, str]) -> None:
        """Sites that were to be crawled are found at others: whatever leads to one leads there."""
        began, now = self.clock(), dict[int, int]()
        for site, other in to.items():
            old = self._number(site)
            now[old] = self.numbers[site] = self._number(other)
            for linker in self.links.redirect(old, now[old]):
                self._heavy.pop(linker, None)
        if now.keys() & self.places.keys():
            self._begin(now.get(seed, seed) for seed in self.seeds)
            self._one = {}
        self.claims = self._claims()
        self._settled_at = min(self._settled_at, len(self.links.out) - 1)
        self.seconds += self.clock() - began

    def next(self, most: int | None = None) -> list[str]:
        """Sites to crawl now, at most so many, the heaviest claim of each seed first; each is named once."""
        began = self.clock()
        waiting = self._waiting()
        if not waiting and self._settled_at < len(self.links.out):
            self._settle()
            waiting = self._waiting()
        self.asked.update(waiting[:most])
        self.seconds += self.clock() - began
        return [self.names[site] for site in waiting[:most]]

    def clusters(self) -> list[SiteCluster]:
        """The communities as they stand, in the order of their first seeds."""
        began = self.clock()
        if self._settled_at < len(self.links.out):
            self._settle()
        members: dict[int, list[int]] = {}
        for site, community in self._of.items():
            members.setdefault(community, []).append(site)
        to = roots(self._merges)
        joined: dict[int, list[str]] = {}
        for merge in self._merges:
            joined.setdefault(to.get(merge.into, merge.into), []).append(self._joined(merge))
        found = [self._cluster(sites, joined.get(place, [])) for place, sites in sorted(members.items())]
        self.seconds += self.clock() - began
        return found

    def everywhere(self) -> dict[str, str]:
        """Sites that everybody links to, each with the reason: they belong to no community."""
        return {self.names[site]: why for site, why in sorted(self.left_out.items())}

    def _begin(self, seeds: Iterable[int]) -> None:
        """Take these as seeds: what a person begins with is not everywhere."""
        self.seeds = list(dict.fromkeys(seeds))
        self.places = {seed: place for place, seed in enumerate(self.seeds)}
        for seed in self.seeds:
            self._listed.discard(seed)
            self.left_out.pop(seed, None)

    def _number(self, site: str) -> int:
        number = self.numbers.setdefault(site, len(self.names))
        if number == len(self.names):
            self.names.append(site)
            if is_below(site, self._hosts):
                self._listed.add(number)
                self.left_out[number] = LISTED
        return number

    def _claims(self, metric: str = OUT_LINK) -> Claims:
        strong = self._strong if metric == OUT_LINK else partial(strong_links, self.links, metric, self.wt)
        return Claims(self.links, self.seeds, strong, self.left_out, self._one)

    def _strong(self, site: int) -> dict[int, float]:
        """Links that are heavy enough; those of a site change only where one it links to has moved."""
        found = self._heavy.get(site)
        if found is None:
            found = self._heavy[site] = strong_links(self.links, OUT_LINK, self.wt, site)
        return found

    def _waiting(self) -> list[int]:
        """Sites to crawl that were not named yet: one of each seed, then another of each, the heaviest first."""
        turns: dict[int, int] = {}
        order = []
        ripe = ((site, claim) for site, claim in self.claims.ripe.items() if site not in self.asked)
        for weight, place, site in sorted((-weight, -place, site) for site, (weight, place) in ripe):
            turns[place] = turns.get(place, -1) + 1
            order.append((turns[place], weight, place, site))
        return [entry[-1] for entry in sorted(order)]

    def _leave_out(self, site: int) -> None:
        """Judge a site that was crawled, and now and then those that it links to, by how many link to them."""
        due = []
        for other in (site, *self.links.out[site]):
            n = len(self.links.linkers.get(other, ()))
            if n >= FEWEST and (n & (n - 1) == 0 or n == FEWEST or other == site):
                due.append(other)
        self.left_out |= self._judged(due)

    def _judged(self, sites: Iterable[int]) -> dict[int, str]:
        """Those of some sites that everybody links to, with the reasons; who is still to be crawled may link back."""
        waits, crawled = self.claims.ripe, self.links.out
        known = (site for site in sites if site not in self.places and (site in crawled or site not in waits))
        return everywhere(self.links, known, self._of, self._count, self.left_out)

    def _settle(self, rounds: int = _ROUNDS) -> None:
        """Grow, merge, and see which sites are everywhere, anew until all agree: whatever came first."""
        for _ in range(rounds):
            before = self._one, set(self.left_out)
            self.claims = self._claims()
            claims = self.claims if self.metric == OUT_LINK else self._claims(self.metric)
            self._of, self._merges = settle(self.links, claims.owners(), self.places, self.enough)
            self._one = roots(self._merges)
            self._count = len(set(self._of.values()))
            many = (site for site, linkers in self.links.linkers.items() if len(linkers) >= FEWEST)
            self.left_out.clear()
            self.left_out |= dict.fromkeys(self._listed, LISTED)
            self.left_out |= self._judged(many)
            if before == (self._one, set(self.left_out)):
                break
        self._settled_at = len(self.links.out)

    def _cluster(self, sites: list[int], merged: list[str]) -> SiteCluster:
        seeds = [self.names[site] for site in sorted(self.places.keys() & sites, key=self.places.__getitem__)]
        inside = set(sites)
        return SiteCluster(seeds, {self.names[site]: self._reason(site, inside) for site in sorted(sites)}, merged)

    def _reason(self, site: int, inside: set[int]) -> str:
        """Why a site is a member: the link along which its tree grew, if that is from inside; else the heaviest."""
        if site in self.places:
            return "a seed"
        through, links = self.claims.through.get(site), self.links
        if through not in inside:
            own = [other for other in links.linkers.get(site, ()) if other in inside]
            through = max(own, key=lambda other: links.share(other, site), default=None)
        if through is None:
            row = links.out[site]
            inward = sum(map(row.__getitem__, inside & row.keys()))
            return f"{inward:,} of its {links.total[site]:,} links lead to sites of this community"
        led = f"{links.out[through][site]:,} of {links.total[through]:,} links"
        return f"{led} of {self.names[through]} lead here"

    def _joined(self, merge: Merge) -> str:
        into, other = (self.names[self.seeds[place]] for place in (merge.into, merge.other))
        return f"{other} and {into} grew together: {merge.reason}"
