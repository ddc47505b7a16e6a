"""Who belongs where once many trees have grown: trees that link enough merge, sites go where most of their links go.

A tree is as good as its single links. So each site is asked again: it goes to the community with which it shares most
links in both directions beyond what chance would give (the gain in modularity, Newman 2004; without chance the largest
community takes all). All from what is known now: in which order it came does not matter.
"""

from collections.abc import Mapping
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from analecta.communities.merging import OUTSIDE, Merge, merged, roots
from analecta.communities.site_links import SiteLinks

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_ROUNDS = 6  # most settle in two or three


class Bonds:
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

    def between(self, of: Numbers) -> dict[tuple[int, int], int]:
        """How many links lead from each community to each, and outside."""
        if not len(of):
            return {}
        counted = coo_array((self.count, (of[self.src], of[self.dst])), shape=(int(of.max()) + 1,) * 2)
        counted.sum_duplicates()
        pairs = zip(*(axis.tolist() for axis in counted.coords), strict=True)
        outside = enumerate(np.bincount(of, self.outside).astype(np.int64).tolist())
        return dict(zip(pairs, counted.data.tolist(), strict=True)) | {(one, OUTSIDE): n for one, n in outside if n}

    def moved(self, of: Numbers, fixed: Numbers) -> Numbers:
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
    bonds = Bonds(links, owners)
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


def _stable(bonds: Bonds, of: Numbers, fixed: Numbers) -> Numbers:
    """Move sites until none wants to, or they only change places."""
    for _ in range(_ROUNDS):
        before, of = of, bonds.moved(of, fixed)
        if np.array_equal(before, of):
            break
    return of
