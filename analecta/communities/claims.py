"""Links between sites, and which site belongs to which seed, while sites are being crawled (C2-C4, C6)."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from math import inf

# --- Links between sites as they become known, site after site, and how alike two linked sites are (C2, C6) ----------
# Sites are numbers. Of a site that was crawled all links to other sites are known; of the others only who links to
# them.


class SiteLinks:
    """Who links to whom how often, as far as sites have been crawled."""

    def __init__(self) -> None:
        self.out: dict[int, dict[int, int]] = {}
        self.total: dict[int, int] = {}
        self.linkers: dict[int, list[int]] = {}

    def add(self, site: int, links: Mapping[int, int]) -> None:
        """A site was crawled; what it says of itself, and no links at all, are left out."""
        self.out[site] = found = {other: n for other, n in links.items() if n > 0 and other != site}
        self.total[site] = sum(found.values())
        for other in found:
            self.linkers.setdefault(other, []).append(site)

    def redirect(self, site: int, to: int) -> list[int]:
        """Links to a site that was not crawled lead to another from now on; the sites that have such."""
        changed = self.linkers.pop(site, [])
        known = set(self.linkers.get(to, ()))
        for linker in changed:
            n = self.out[linker].pop(site)
            if linker == to:  # what it says of itself is left out
                self.total[linker] -= n
                continue
            self.out[linker][to] = self.out[linker].get(to, 0) + n
            if linker not in known:
                self.linkers.setdefault(to, []).append(linker)
        return changed

    def share(self, site: int, other: int) -> float:
        """Equation 1: the share of a site's links to other sites that lead to this one."""
        n = self.out.get(site, {}).get(other, 0)
        return n / self.total[site] if n else 0.0

    def at_home(self, site: int, home: set[int], besides: Set[int]) -> float:
        """The share of a site's links that lead to a set of sites, those to others besides not counted; 1 for none."""
        row = self.out[site]
        total = self.total[site] - sum(map(row.__getitem__, besides & row.keys()))
        return sum(map(row.__getitem__, home.intersection(row))) / total if total else 1.0


def _both(links: SiteLinks, site: int, other: int) -> float:
    """The mean of both directions."""
    return (links.share(site, other) + links.share(other, site)) / 2


def _cocitation(links: SiteLinks, site: int, other: int) -> float:
    """How many sites link to both, as a cosine."""
    return _cosine(set(links.linkers.get(site, ())), set(links.linkers.get(other, ())))


def _coupling(links: SiteLinks, site: int, other: int) -> float:
    """How many sites both link to, as a cosine."""
    return _cosine(set(links.out.get(site, ())), set(links.out.get(other, ())))


def _cosine(one: set[int], other: set[int]) -> float:
    return len(one & other) / (len(one) * len(other)) ** 0.5 if one and other else 0.0


Metric = Callable[[SiteLinks, int, int], float]
OUT_LINK = "outLink"
METRICS: dict[str, Metric] = {
    OUT_LINK: SiteLinks.share,
    "both": _both,
    "co-citation": _cocitation,
    "coupling": _coupling,
}


def strong_links(links: SiteLinks, metric: str, wt: float, site: int) -> dict[int, float]:
    """The sites that a site links to, where the metric has them alike enough."""
    if metric == OUT_LINK:  # the same as below, and much faster
        least, total = wt * links.total[site], links.total[site]
        return {other: n / total for other, n in links.out[site].items() if n >= least}
    weigh = METRICS[metric]
    return {other: w for other in links.out[site] if (w := weigh(links, site, other)) >= wt}


# --- Prim's algorithm from many seeds at once, while sites are being crawled (C3, C4) --------------------------------
# From each seed a tree grows along the heaviest links. A site that two seeds claim goes to the one whose way to it has
# the heavier weakest link: a claim is only ever replaced by a better one, so the order in which sites arrive matters
# little. A site that was crawled belongs to the tree only if a part of its own links, a quarter in a large tree, lead
# into it: else one stray link of a small site would bring in a foreign community. Links to what is everywhere do not
# count. One that links to nobody belongs, and one that gets a good part of the links of a seed itself: a person has
# vouched for that one.

Claim = tuple[float, int]  # the weakest link on the way, and which seed's: of equals the first one's
Strong = Callable[[int], Mapping[int, float]]  # the links of a site that are heavy enough, with their weights
AT_HOME = 0.25  # of a site's links, where the tree is large
AT_FIRST, A_SITE = 0.04, 0.005  # at first, and more with each site of the tree
YOUNG = 8  # sites
OF_A_SEED = 0.1  # of its links, to a friend that belongs with it in any case
_NONE = (0.0, 0)


class _TreeSites:
    """The sites of a tree, or of several that are one community, and those that their seeds link to."""

    def __init__(self) -> None:
        self.members: set[int] = set()
        self.friends: set[int] = set()
        self.trees = 0

    @property
    def known(self) -> set[int]:
        """Those to whom a site that belongs here may link; a young tree also knows the friends of its seed."""
        return self.members if len(self.members) >= YOUNG * self.trees else self.members | self.friends


class Claims:
    """Which seed has which site, and which sites should be crawled for whom."""

    def __init__(
        self,
        links: SiteLinks,
        seeds: Sequence[int],
        strong: Strong,
        everywhere: Mapping[int, object],
        one: Mapping[int, int],
    ) -> None:
        self.links, self.strong, self.everywhere = links, strong, everywhere
        self.one = one  # trees that are known to be parts of one community
        self.home = defaultdict[int, _TreeSites](_TreeSites)
        self.order = {seed: -place for place, seed in enumerate(seeds)}  # of equal claims the first seed's wins
        self.best: dict[int, Claim] = {seed: (inf, place) for seed, place in self.order.items()}
        self.through: dict[int, int] = {}
        self.ripe: dict[int, Claim] = {seed: (inf, place) for seed, place in self.order.items()}
        known = [seed for seed in seeds if seed in links.out]
        for seed in known:
            self._plant(seed)
            self.ripe.pop(seed)
        self.grow(known)

    def crawled(self, site: int) -> None:
        """The links of a site have become known."""
        self.ripe.pop(site, None)
        if site in self.order:
            self._plant(site)
            self.grow((site,))
            return
        if site in self.everywhere:
            return
        for other in self.links.linkers.get(site, ()):
            weight = self.strong(other).get(site) if other in self.best else None
            if weight:
                weakest, place = self.best[other]
                claim = (min(weakest, weight), place)
                if claim > self.best.get(site, _NONE):
                    self._claim(other, site, claim)
        if site in self.best:
            self.grow((site,))

    def _plant(self, seed: int) -> None:
        home = self._home(self.order[seed])
        home.trees += 1
        home.members.add(seed)
        home.friends.update(other for other in self.strong(seed) if other not in self.everywhere)

    def _home(self, place: int) -> "_TreeSites":
        return self.home[self.one.get(-place, -place)]

    def _at_home(self, site: int, home: "_TreeSites") -> bool:
        """Whether enough of a site's links lead into a tree."""
        share = self.links.at_home(site, home.known, self.everywhere.keys())
        return share >= min(AT_HOME, AT_FIRST + len(home.members) * A_SITE)

    def grow(self, sites: Iterable[int]) -> None:
        """Follow the links of these sites and of those that are reached in this way, the best claims first."""
        out, best, ripe = self.links.out, self.best, self.ripe
        todo = [(-weakest, -place, site) for site in sites for weakest, place in (best[site],)]
        heapq.heapify(todo)
        while todo:
            weakest, place, site = heapq.heappop(todo)
            if best[site] != (-weakest, -place) or site in self.everywhere:
                continue
            for other, weight in self.strong(site).items():  # most are held by a better claim: that is seen at once
                claim = (weight if weight < -weakest else -weakest, -place)
                if claim > (best if other in out else ripe).get(other, _NONE) and self._claim(site, other, claim):
                    heapq.heappush(todo, (-claim[0], place, other))

    def _claim(self, site: int, other: int, claim: Claim) -> bool:
        """Claim a site through another, better than it was; whether that changes anything for its own links."""
        if other in self.everywhere:
            return False
        if other not in self.links.out:
            self.ripe[other] = claim
            return False
        home = self._home(claim[1])
        if not (site in self.order and self.links.share(site, other) >= OF_A_SEED) and not self._at_home(other, home):
            return False
        home.members.add(other)
        self.best[other], self.through[other] = claim, site
        return True

    def owners(self) -> dict[int, int]:
        """The place of the seed of each site that was crawled and belongs somewhere."""
        return {s: -place for s, (_, place) in self.best.items() if s in self.links.out and s not in self.everywhere}
