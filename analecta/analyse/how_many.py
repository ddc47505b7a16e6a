"""How many clusters there are (B19): as many as other pages of the same kind would show as well.

BINGO! takes the number at which an entropy-based impurity of the clusters is least. Ours measures it between two
clusterings: pages are split in halves, each half is clustered for itself, and all pages are sorted by the centres of
both. Impurity is what is unknown of a page's cluster by the one when that by the other is known: 0 where both halves
show the same, 1 where they agree no more than by chance. Clusters that are there are found in both halves;
too many cut through what belongs together, and each half cuts elsewhere.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix

from analecta.analyse.agreement import impurity
from analecta.analyse.clustering import kmeans, nearest
from analecta.analyse.latent import condensed, directions
from analecta.text.tokens import Ints

TRIED = tuple(range(2, 13))
SPLITS = 12  # the number found for one real topic still went from 5 to 9 with the seed; with 6 splits it went down to 3
_SAMPLE = 2000  # pages
_STARTS = 8
_NOTHING = 0.7  # above it both halves have hardly anything in common (pages of one topic of the pocket web: 0.85)
_PLAIN = 0.1  # below it clusters are plainly there
_ALIKE = 0.03  # a difference that says nothing among plain clusters
_FEWEST_PAGES = 8  # for each cluster


def impurities(
    rows: csr_matrix, rng: np.random.Generator, tried: Sequence[int] = TRIED, splits: int = SPLITS
) -> dict[int, float]:
    """The impurity at each number of clusters, as the mean over several splits; the same splits for all numbers."""
    tried = [k for k in tried if k * _FEWEST_PAGES <= rows.shape[0]]
    sample = rows[np.sort(rng.choice(rows.shape[0], _SAMPLE, replace=False))] if rows.shape[0] > _SAMPLE else rows
    found = [_of_split(sample, rng, tried) for _ in range(splits)]
    return {k: round(float(np.mean(values)), 4) for k, values in zip(tried, zip(*found, strict=True), strict=True)}


def best_number(found: dict[int, float]) -> int:
    """How many clusters there are, by impurity; 1 where nothing splits.

    Where clusters are plainly there, it is the largest number that is as pure as the purest. Else two clusters are
    nearly always the purest and tell a person least, so it is the purest number from 3 on.
    """
    least = min(found.values(), default=1.0)
    if least > _NOTHING:
        return 1
    if least <= _PLAIN or max(found) < 3:
        return max(k for k, value in found.items() if value <= least + _ALIKE)
    return min((k for k in found if k > 2), key=lambda k: (found[k], k))


def _of_split(rows: csr_matrix, rng: np.random.Generator, tried: Sequence[int]) -> list[float]:
    order = rng.permutation(rows.shape[0])
    half = len(order) // 2
    parts = [np.sort(order[:half]), np.sort(order[half:])]
    # Each half has directions of its own: with those of all pages they would know of each other.
    seen = [condensed(rows, directions(rows[part], rng)) for part in parts]
    found = []
    for k in tried:
        one, other = (
            nearest(all_, kmeans(all_[part], k, rng, _STARTS).centres)[0]
            for all_, part in zip(seen, parts, strict=True)
        )
        found.append(_both(one, other) / max(_both(one, rng.permutation(other)), 1e-9))
    return found


def _both(one: Ints, other: Ints) -> float:
    return (impurity(one, other) + impurity(other, one)) / 2
