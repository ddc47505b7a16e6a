"""The few directions in which pages differ most (latent semantic analysis).

In thousands of stems all pages are nearly at right angles, a page is nearest to a centre because it is part of it, and
k-means stays where it starts. In 16 directions it finds on real pages (Biology of Wikipedia for Schools, 7 clusters)
what the subject tree has with NMI 0.66 instead of 0.51, and two starts agree with NMI 0.9 instead of 0.5.
"""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

Floats = npt.NDArray[np.float32]

DIRECTIONS = 16
_SAMPLE = 5000  # pages from which directions are learnt


def directions(rows: csr_matrix, rng: np.random.Generator, most: int = DIRECTIONS) -> Floats | None:
    """So many directions, each a column of weights of stems; None where pages or stems are hardly more than that."""
    pages = rows.shape[0]
    sample = rows[np.sort(rng.choice(pages, _SAMPLE, replace=False))] if pages > _SAMPLE else rows
    if min(sample.shape) <= most + 1:
        return None
    first = rng.standard_normal(min(sample.shape))  # given, so that the same seed gives the same
    return np.ascontiguousarray(svds(sample.astype(np.float64), most, v0=first)[2].T, np.float32)


def condensed(rows: csr_matrix, across: Floats | None) -> Floats:
    """The pages in these directions (as they are, where there are none), each of length 1."""
    dense = rows.toarray() if across is None else rows @ across
    length = np.sqrt(np.square(dense, dtype=np.float64).sum(axis=1))
    return np.asarray(dense / np.where(length > 0, length, 1)[:, None], np.float32)
