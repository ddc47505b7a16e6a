"""Which communities are one, where each site belongs in the end, and which sites everybody links to (C5)."""

import heapq
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from itertools import chain

import msgspec
import numpy as np
from scipy.sparse import coo_array

from analecta.arrays import Ints
from analecta.communities.claims import SiteLinks

Pair = tuple[int, int]
OUTSIDE = -1  # stands for all sites that belong nowhere yet
ENOUGH = 0.15  # of the links of the smaller one
CHANCE = 0.5  # of what would be between them by chance


class Merge(msgspec.Struct, frozen=True):
    """Two communities that became one, and why; the second went into the first."""

    into: int
    other: int
    reason: str


def merged(between: Mapping[Pair, int], enough: float = ENOUGH) -> list[Merge]:
    """What merges, given how many links lead from each community to each (also to itself, and outside)."""
    near, volume = _neighbours(between)
    every = sum(volume.values())
    heap = [
        _entry(a, b, n, volume)
        for a, others in near.items()
        for b, n in others.items()
        if a < b and n >= enough * min(volume[a], volume[b])
    ]
    heapq.heapify(heap)
    done = list[Merge]()
    while heap:
        _, a, b, links, smaller = heapq.heappop(heap)
        if near.get(a, {}).get(b) != links or min(volume[a], volume[b]) != smaller:
            continue  # one of them has merged since
        if links * every < CHANCE * volume[a] * volume[b]:
            continue
        share = f"{links / smaller:.0%}".replace("%", " %")
        done.append(Merge(a, b, f"{links:,} links between them, {share} of all links of the smaller one"))
        _unite(a, b, near, volume)
        for other, n in near[a].items():
            if n >= enough * min(volume[a], volume[other]):
                heapq.heappush(heap, _entry(min(a, other), max(a, other), n, volume))
    return done


def roots(merges: list[Merge]) -> dict[int, int]:
    """Into which community each of those that merged went in the end."""
    to = dict[int, int]()
    for merge in reversed(merges):
        to[merge.other] = to.get(merge.into, merge.into)
    return to


def _neighbours(between: Mapping[Pair, int]) -> tuple[dict[int, dict[int, int]], dict[int, int]]:
    """Links between each two in either direction, and all links of each: those within have two ends in it."""
    near, volume = dict[int, dict[int, int]](), dict[int, int]()
    for (a, b), n in between.items():
        volume[a] = volume.get(a, 0) + n
        volume[b] = volume.get(b, 0) + n
        if a != b and b != OUTSIDE:
            for one, other in ((a, b), (b, a)):
                row = near.setdefault(one, {})
                row[other] = row.get(other, 0) + n
    return near, volume


def _entry(a: int, b: int, links: int, volume: Mapping[int, int]) -> tuple[float, int, int, int, int]:
    smaller = min(volume[a], volume[b])
    return -links / smaller, a, b, links, smaller


def _unite(a: int, b: int, near: dict[int, dict[int, int]], volume: dict[int, int]) -> None:
    """Let b go into a."""
    volume[a] += volume.pop(b)
    for other, n in near.pop(b).items():
        near[other].pop(b)
        if other != a:
            near[a][other] = near[other][a] = near[a].get(other, 0) + n


# --- settling --------------------------------------------------------------------------------------------------------
# Who belongs where once many trees have grown: trees that link enough merge, sites go where most of their links go.
#
# A tree is as good as its single links. So each site is asked again: it goes to the community with which it shares
# most links in both directions beyond what chance would give (the gain in modularity, Newman 2004; without chance the
# largest community takes all). All from what is known now: in which order it came does not matter.

_ROUNDS = 6  # most settle in two or three


class SiteBonds:
    """The links among sites that belong somewhere; `sites` are their numbers, src and dst places among these."""

    def __init__(self, links: SiteLinks, owners: Mapping[int, int]) -> None:
        self.sites = sorted(owners)
        rows = [links.out[site] for site in self.sites]
        place = np.full(max(chain(self.sites, *rows), default=-1) + 1, -1, np.int64)
        place[self.sites] = np.arange(len(self.sites))
        src = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        dst = place[np.fromiter(chain.from_iterable(rows), np.int64, len(src))]
        count = np.fromiter(chain.from_iterable(row.values() for row in rows), np.int64, len(src))
        total = np.array([links.total[site] for site in self.sites], np.float64)
        inside = dst >= 0
        self.outside = np.bincount(src[~inside], count[~inside], len(self.sites))  # links to sites that do not
        self.src, self.dst, self.count = src[inside], dst[inside], count[inside]
        self.share = self.count / np.maximum(total, 1)[self.src]

    def between(self, of: Ints) -> dict[tuple[int, int], int]:
        """How many links lead from each community to each, and outside."""
        if not len(of):
            return {}
        counted = coo_array((self.count, (of[self.src], of[self.dst])), shape=(int(of.max()) + 1,) * 2)
        counted.sum_duplicates()
        pairs = zip(*(axis.tolist() for axis in counted.coords), strict=True)
        outside = enumerate(np.bincount(of, self.outside).astype(np.int64).tolist())
        return dict(zip(pairs, counted.data.tolist(), strict=True)) | {(one, OUTSIDE): n for one, n in outside if n}

    def moved(self, of: Ints, fixed: Ints) -> Ints:
        """Each site but the fixed ones where its bonds are strongest; of equals it stays, or takes the first."""
        if not len(self.src):
            return of
        sites, others = np.concatenate([self.src, self.dst]), np.concatenate([self.dst, self.src])
        shape = len(of), int(of.max()) + 1
        sums = coo_array((np.concatenate([self.share, self.share]), (sites, of[others])), shape=shape).tocsr()
        row = np.repeat(np.arange(len(of)), np.diff(sums.indptr))
        here = sums.indices == of[row]
        alone = np.bincount(sites, np.concatenate([self.share, self.share]), len(of))
        whole = np.bincount(of, alone, shape[1])
        chance = alone[row] * (whole[sums.indices] - np.where(here, alone[row], 0)) / whole.sum()
        gain = sums.data - chance
        own = -alone * (whole[of] - alone) / whole.sum()
        own[row[here]] = gain[here]
        most = own.copy()
        np.maximum.at(most, row, gain)
        better = (gain >= most[row]) & (most > own + 1e-9)[row]
        found = of.copy()
        found[row[better][::-1]] = sums.indices[better][::-1]  # the first of equals is written last
        found[fixed] = of[fixed]
        return found


def settle(
    links: SiteLinks, owners: Mapping[int, int], seeds: Mapping[int, int], enough: float
) -> tuple[dict[int, int], list[Merge]]:
    """The community of each site, named by the place of its first seed; and which of them merged."""
    bonds = SiteBonds(links, owners)
    of = np.array([owners[site] for site in bonds.sites], np.int64)
    fixed = np.flatnonzero(np.isin(bonds.sites, list(seeds)))
    of = _stable(bonds, of, fixed)
    merges = list[Merge]()
    while fresh := merged(bonds.between(of), enough):
        merges += fresh
        to = np.arange(int(of.max()) + 1)
        for other, into in roots(fresh).items():
            to[other] = into
        of = _stable(bonds, to[of], fixed)
    return dict(zip(bonds.sites, of.tolist(), strict=True)), merges


def _stable(bonds: SiteBonds, of: Ints, fixed: Ints) -> Ints:
    """Move sites until none wants to, or they only change places."""
    for _ in range(_ROUNDS):
        before, of = of, bonds.moved(of, fixed)
        if np.array_equal(before, of):
            break
    return of


# --- Sites that everybody links to: share buttons, networks that serve files, licences, makers of software -----------
# Such a site says nothing about who belongs together. What tells it from the centre of a community, to which also many
# link, is that it does not link back, and to no community in particular; and that those who link to it are either a
# great part of all, or of many communities. A site that is still to be crawled is not judged: it may link back. They
# like to link to one another, which does not make them a community.

FEWEST = 10  # sites that link to it; below, nothing can be said
OF_MANY = 0.05  # of all sites crawled, where they are of many communities
BACK = 0.05  # it links back to fewer than this share of them
AT_HOME, NEIGHBOURS = 0.25, 3  # of its links, to one community, and how many sites of that
OF_ALL = 0.15  # of all sites crawled, where they are of few communities
COMMUNITIES = 4.0  # which it is spread over as if evenly (the inverse of Simpson's index)
FEW, OF_FEW = 3, 0.75  # where there are so few communities or some more, over so great a part of them
LARGEST = 0.5  # of the sites that link to it, the most that may be of one community


def everywhere(
    links: SiteLinks, sites: Iterable[int], of: Mapping[int, int], communities: int, known: Container[int]
) -> dict[int, str]:
    """Those of some sites that everybody links to, with the figures that say so.

    `of` has the community of each site that has one, `communities` is how many there are; `known` are other sites that
    everybody links to.
    """
    wide = {site: why for site in sites if (why := _wide(links, site, of, communities))}

    def elsewhere(site: int) -> int | None:
        return None if site in wide or site in known else of.get(site)

    while at_home := [site for site in wide if _at_home(links.out.get(site, {}), elsewhere)]:
        for site in at_home:  # the others may be at home with it
            del wide[site]
    return wide


def _wide(links: SiteLinks, site: int, of: Mapping[int, int], communities: int) -> str:
    """The figures of a site that many link to without an answer, in words; "" for all others."""
    linkers = links.linkers.get(site, ())
    if len(linkers) < max(FEWEST, OF_MANY * len(links.out)):
        return ""
    own = links.out.get(site, {})
    back = sum(other in own for other in linkers)
    if back >= BACK * len(linkers):
        return ""
    counted = Counter(found for other in linkers if (found := of.get(other)) is not None)
    if len(linkers) < OF_ALL * len(links.out) and not _spread(counted, communities):
        return ""
    linked = f"{len(linkers):,} of {len(links.out):,} sites of {len(counted):,} communities link to it"
    return f"{linked}; it links back to {back:,}"


def _at_home(own: Mapping[int, int], community: Callable[[int], int | None]) -> bool:
    """Whether a good part of its links lead into one community, to several sites: then it is at home there."""
    links, sites = Counter[int](), Counter[int]()
    for other, n in own.items():
        found = community(other)
        if found is not None:
            links[found] += n
            sites[found] += 1
    least = AT_HOME * sum(own.values())
    return any(n >= least and sites[one] >= NEIGHBOURS for one, n in links.items())


def _spread(counted: Mapping[int, int], communities: int) -> bool:
    """Whether sites of many communities link to it, and not mostly those of one."""
    total = sum(counted.values())
    if not total or max(counted.values()) > LARGEST * total:
        return False
    return total**2 / sum(n * n for n in counted.values()) >= min(COMMUNITIES, OF_FEW * max(communities, FEW))
