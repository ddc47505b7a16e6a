"""The baselines of the paper (C6): global clustering by a minimum spanning tree, and the measures to compare by."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Quality(msgspec.Struct, frozen=True):
    """Means of precision, recall and f-value (equations 6 to 8)."""

    precision: float
    recall: float
    f: float
    clusters: int


def spanning_clusters(src: Numbers, dst: Numbers, weight: Floats, sites: int, wt: float = 0.0, k: int = 0) -> Numbers:
    """The cluster of each site: the tree of heaviest links, cut at links below wt, or at the lightest to have k.

    A tree is the same whichever way its links point, so of two directions the heavier one counts.
    """
    low, high = np.minimum(src, dst), np.maximum(src, dst)
    order = np.argsort(-weight, kind="stable")
    _, first = np.unique((low * sites + high)[order], return_index=True)
    kept = order[first]
    graph = coo_array((1 / weight[kept], (low[kept], high[kept])), shape=(sites, sites)).tocsr()
    tree = minimum_spanning_tree(graph).tocoo()
    if k:
        stay = np.argsort(tree.data, kind="stable")[: max(sites - k, 0)]
    else:
        stay = np.flatnonzero(tree.data <= 1 / wt * (1 + 1e-12))
    cut = coo_array((tree.data[stay], (tree.coords[0][stay], tree.coords[1][stay])), shape=(sites, sites))
    return np.asarray(connected_components(cut, directed=False)[1], np.int64)


def quality(true: Sequence[Collection[Hashable]], found: Sequence[Collection[Hashable]]) -> Quality:
    """Precision, recall and f-value of the found cluster that overlaps most with each true one (equations 2 to 8)."""
    owner = {site: place for place, cluster in enumerate(found) for site in cluster}
    rows = [_overlap(cluster, owner, found) for cluster in true]
    precision, recall, f = np.mean(rows or [(0.0, 0.0, 0.0)], axis=0).tolist()
    return Quality(precision, recall, f, len(found))


def _overlap(
    true: Collection[Hashable], owner: Mapping[Hashable, int], found: Sequence[Collection[Hashable]]
) -> tuple[float, float, float]:
    best = Counter(owner[site] for site in true if site in owner).most_common(1)
    if not best:
        return 0.0, 0.0, 0.0
    place, common = best[0]
    precision, recall = common / len(found[place]), common / len(true)
    return precision, recall, 2 * precision * recall / (precision + recall)
