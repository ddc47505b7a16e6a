"""How well two ways to sort the same pages agree: clusters against known classes, or against other clusters.

Both are arrays with a number for each page; which numbers does not matter.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def crossed(one: npt.ArrayLike, other: npt.ArrayLike) -> Floats:
    """How many pages are in cluster i of the one and in cluster j of the other."""
    rows, columns = (np.unique(np.asarray(of), return_inverse=True) for of in (one, other))
    shape = len(rows[0]), len(columns[0])
    return np.bincount(rows[1] * shape[1] + columns[1], minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def purity(clusters: npt.ArrayLike, classes: npt.ArrayLike) -> float:
    """The share of pages that are of the commonest class of their cluster; 1 is best, and easy with many clusters."""
    table = crossed(clusters, classes)
    return float(table.max(axis=1, initial=0.0).sum() / max(table.sum(), 1))


def impurity(clusters: npt.ArrayLike, classes: npt.ArrayLike) -> float:
    """What is still unknown of a page's class when its cluster is known: 0 is nothing, 1 is all (entropies)."""
    table = crossed(clusters, classes)
    whole = entropy(table.sum(axis=0))
    return (entropy(table.ravel()) - entropy(table.sum(axis=1))) / whole if whole > 0 else 0.0


def nmi(clusters: npt.ArrayLike, classes: npt.ArrayLike) -> float:
    """Normalised mutual information, by the mean of both entropies: 1 where they agree, 0 where they are unrelated."""
    table = crossed(clusters, classes)
    one, other, both = entropy(table.sum(axis=1)), entropy(table.sum(axis=0)), entropy(table.ravel())
    return max(2 * (one + other - both) / (one + other), 0.0) if one + other > 0 else 1.0


def entropy(counts: Floats) -> float:
    """Entropy of the shares, in bits."""
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(shares * np.log2(shares)).sum()) + 0.0
