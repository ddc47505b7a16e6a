"""Spherical k-means (P7): pages that point the same way, whatever their length, are together.

A page is a row of length 1, a centre the direction of the sum of its pages, and likeness their cosine. First centres
are chosen far apart (k-means++), the best of several starts on a sample is kept, and then all pages settle around it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analecta.text.tokens import Ints

Floats = npt.NDArray[np.float32]

STARTS = 16
_ROUNDS = 50  # on the sample; most starts settle in 10 to 20
_SAMPLE = 5000
_LAST_ROUNDS = 20  # on all pages: the centres are nearly right by then


@dataclass(frozen=True)
class Clusters:
    """Page i is in cluster `of[i]`, with cosine `near[i]` to its centre; centres are rows of length 1."""

    of: Ints
    near: Floats
    centres: Floats

    @property
    def mean(self) -> float:
        """How near pages are to their centres, which is what k-means makes as large as it can."""
        return float(self.near.mean(dtype=np.float64)) if len(self.near) else 0.0


def kmeans(rows: Floats, k: int, rng: np.random.Generator, starts: int = STARTS) -> Clusters:
    """k clusters of these pages, or as many as there are pages where those are fewer; none is empty."""
    k = min(k, len(rows))
    sample = rows[np.sort(rng.choice(len(rows), _SAMPLE, replace=False))] if len(rows) > _SAMPLE else rows
    tried = [_settled(sample, _far_apart(sample, k, rng), _ROUNDS) for _ in range(starts)]
    best = max(tried, key=lambda found: found.mean)  # the first of equals
    return best if sample is rows else _settled(rows, best.centres, _LAST_ROUNDS)


def nearest(rows: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """Of each page the cluster whose centre is nearest, and the cosine to it."""
    likeness = rows @ centres.T
    of = likeness.argmax(axis=1)
    return of, likeness[np.arange(len(of)), of]


def _settled(rows: Floats, centres: Floats, rounds: int) -> Clusters:
    """Move pages to the nearest centre and centres to their pages until nothing changes."""
    of, near = _filled(*nearest(rows, centres), len(centres))
    for _ in range(rounds):
        centres, before = _centres(rows, of, len(centres)), of
        of, near = _filled(*nearest(rows, centres), len(centres))
        if np.array_equal(of, before):
            break
    return Clusters(of, near, centres)


def _centres(rows: Floats, of: Ints, k: int) -> Floats:
    """The direction of the sum of each cluster's pages, column by column: so there is no loop over pages."""
    sums = np.stack([np.bincount(of, weights=column, minlength=k) for column in rows.T], axis=1)
    length = np.sqrt(np.square(sums).sum(axis=1))
    return np.asarray(sums / np.where(length > 0, length, 1)[:, None], np.float32)


def _filled(of: Ints, near: Floats, k: int) -> tuple[Ints, Floats]:
    """Give each empty cluster the page that is farthest from its own centre, if its cluster can spare it."""
    size = np.bincount(of, minlength=k)
    for empty in np.flatnonzero(size == 0).tolist():
        page = int(np.where(size[of] > 1, near, np.inf).argmin())
        size[of[page]] -= 1
        of[page], size[empty], near[page] = empty, 1, 1.0
    return of, near


def _far_apart(rows: Floats, k: int, rng: np.random.Generator) -> Floats:
    """k-means++: each next centre is a page drawn with a chance that grows with its distance from those before."""
    chosen = [int(rng.integers(len(rows)))]
    far = np.ones(len(rows))
    while len(chosen) < k:
        far = np.minimum(far, np.maximum(1 - rows @ rows[chosen[-1]], 0))
        far[chosen] = 0
        # Where all pages are alike, any that is left will do.
        chance = far if far.sum() > 0 else np.isin(np.arange(len(rows)), chosen, invert=True).astype(np.float64)
        chosen.append(int(rng.choice(len(rows), p=chance / chance.sum())))
    return rows[chosen]
