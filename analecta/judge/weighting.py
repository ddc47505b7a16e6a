"""From counts to weights: the tf-idf forms of the papers, and which features are worth keeping (B3, P4)."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def page_frequency(counts: csr_matrix) -> Floats:
    """On how many pages each feature is."""
    return np.bincount(counts.indices, minlength=counts.shape[1]).astype(np.float64)


def plain_idf(pages: float, frequency: Floats) -> Floats:
    """ln(|C| / df), as the papers have it: 0 for what is on every page."""
    return np.log(np.maximum(pages / np.maximum(frequency, 1), 1))


def smooth_idf(pages: float, frequency: Floats) -> Floats:
    """ln(1 + |C| / df): alike, but what all examples share, the best words of a single topic, still counts."""
    return np.log1p(pages / np.maximum(frequency, 1))


def augmented(counts: csr_matrix, idf: Floats) -> csr_matrix:
    """(0.5 + 0.5 tf / max tf) x idf, equation 1 of Panorama (P4)."""
    lengths = np.diff(counts.indptr)
    most = np.zeros(counts.shape[0])
    some = np.flatnonzero(lengths)
    if len(some):
        most[some] = np.maximum.reduceat(counts.data, counts.indptr[some])
    tf = 0.5 + 0.5 * counts.data / np.repeat(most, lengths)
    return _with(counts, tf * idf[counts.indices])


def tf_idf(counts: csr_matrix, idf: Floats, damp: bool = True) -> csr_matrix:
    """tf x idf as BINGO! has it; damped, a word a hundred times on a page is no hundred reasons."""
    tf = 1 + np.log(counts.data) if damp else counts.data
    return _with(counts, tf * idf[counts.indices])


def unit(weights: csr_matrix, besides: Floats | float = 0.0) -> csr_matrix:
    """Rows of length 1; `besides` is the square of what lengthens a row but is in no column."""
    lengths = np.diff(weights.indptr)
    rows = np.repeat(np.arange(weights.shape[0]), lengths)
    square = np.bincount(rows, weights=weights.data**2, minlength=weights.shape[0]) + besides
    return _with(weights, weights.data / np.sqrt(np.where(square > 0, square, 1))[rows])


def mutual_information(present: csr_matrix, inside: Bools, weights: Floats) -> Floats:
    """P(X and V) log(P(X and V) / (P(X) P(V))) of each feature X with the pages `inside` topic V (B3, equation 1)."""
    ones = _with(present, np.ones_like(present.data))
    total = max(weights.sum(), 1e-12)
    both = ones.T @ (weights * inside) / total
    feature, topic = ones.T @ weights / total, (weights * inside).sum() / total
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(both > 0, both * np.log(both / (feature * topic)), 0.0)


def most_telling(
    counts: csr_matrix, inside: Bools, weights: Floats, candidates: int = 5000, kept: int = 2000
) -> npt.NDArray[np.int64]:
    """The best features of a topic: of its `candidates` most frequent ones those with most mutual information."""
    often = counts.T @ (weights * inside)
    frequent = np.lexsort((np.arange(len(often)), -often))[:candidates]
    frequent = frequent[often[frequent] > 0]
    told = mutual_information(counts, inside, weights)[frequent]
    best = np.lexsort((frequent, -told))[:kept]
    return np.sort(frequent[best[told[best] > 0]])


def _with(matrix: csr_matrix, data: Floats) -> csr_matrix:
    return csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)
