"""Clusters of pages (P7, B19): pages as vectors, the directions that matter, k-means, and how many there are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
from scipy.sparse import csr_matrix, vstack

from analecta.arrays import Bools, Float32s, Floats, Ints
from analecta.text.stems import learn_stems
from analecta.text.tokens import Vocabulary, counts, words

# --- Pages as directions in a space of stems (P7): tf-idf over the stems that are neither rare nor everywhere --------
# Texts are asked for by number, a batch at a time, so that a hundred thousand pages need not be in memory at once.

Read = Callable[[Ints], list[str]]  # the texts of these pages

RAREST, COMMONEST = 0.01, 0.8  # share of the pages that have a stem
_STEM_SAMPLE = 4000  # pages from which stems are learnt: one on a hundredth of all pages is on some 40 of these
_BATCH = 500
_LONGEST = 10_000  # characters of a page that are read, as in Panorama: what a page is about it says first


@dataclass(frozen=True)
class WordSpace:
    """Page i is `rows[i]`, of length 1, or empty where it has no word of the vocabulary; column j is a stem.

    A stem is shown as `names[j]`, the commonest of its words; `idf[j]` is its weight.
    """

    rows: csr_matrix  # float32
    names: list[str]
    idf: Float32s


def space(read: Read, pages: int, basis: Bools | None = None) -> WordSpace:
    """The space of these pages; which stems count, and for how much, is learnt from those of `basis` (all of them)."""
    own = np.flatnonzero(np.ones(pages, bool) if basis is None else basis)
    names, vocabulary = _likely(read, own)
    if not names:
        return WordSpace(csr_matrix((pages, 1), dtype=np.float32), [""], np.zeros(1, np.float32))
    table = _table(read, pages, vocabulary)
    on = np.bincount(table[own].indices, minlength=table.shape[1])
    kept = np.flatnonzero((on >= _fewest(len(own))) & (on <= max(COMMONEST * len(own), 2)))
    idf = np.log(len(own) / np.maximum(on[kept], 1)).astype(np.float32)
    return WordSpace(weighed(table[:, kept], idf).astype(np.float32), [names[i] for i in kept.tolist()], idf)


def _fewest(pages: int) -> int:
    """Pages that a stem must be on: what is on one page alone says nothing of what pages have in common."""
    return max(int(np.ceil(RAREST * pages)), 2)


def _likely(read: Read, own: Ints) -> tuple[list[str], Vocabulary]:
    """Stems that may be common enough, as a sample shows it; half of what is asked for, to be on the safe side."""
    sample = own[np.linspace(0, len(own) - 1, min(len(own), _STEM_SAMPLE)).astype(np.int64)] if len(own) else own
    batch = words(_texts(read, sample))
    lexicon = learn_stems(batch)
    if not lexicon.stems:
        return [], Vocabulary([])
    found = counts(batch, Vocabulary(lexicon.hashes, lexicon.features))
    on = np.bincount(found.indices, minlength=len(lexicon.stems))
    likely = np.flatnonzero(on >= max(_fewest(len(sample)) / 2, 2 if len(sample) == len(own) else 1))
    hashes, features = lexicon.words_of(likely)
    return [lexicon.names[i] for i in likely.tolist()], Vocabulary(hashes, features)


def _table(read: Read, pages: int, vocabulary: Vocabulary) -> csr_matrix:
    """How often each stem is on each page."""
    width = max(vocabulary.size, 1)
    parts = [csr_matrix((0, width), dtype=np.float32)]
    for start in range(0, pages, _BATCH):
        batch = words(_texts(read, np.arange(start, min(start + _BATCH, pages))))
        parts.append(counts(batch, vocabulary).astype(np.float32))
    return vstack(parts, format="csr")


def _texts(read: Read, numbers: Ints) -> list[str]:
    return [text[:_LONGEST] for text in read(numbers)]


def weighed(table: csr_matrix, idf: npt.NDArray[np.floating[Any]]) -> csr_matrix:
    """Rows of length 1. Counts are damped: a word a hundred times on a page is no hundred reasons."""
    weights = (1 + np.log(table.data)) * idf[table.indices]
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    length = np.sqrt(np.bincount(row, weights=np.square(weights), minlength=table.shape[0]))
    return csr_matrix((weights / np.where(length > 0, length, 1)[row], table.indices, table.indptr), table.shape)


def _sampled(rows: csr_matrix | Float32s, most: int, rng: np.random.Generator) -> Any:
    """So many of the rows drawn at random, or all where there are no more."""
    pages = rows.shape[0]
    return rows[np.sort(rng.choice(pages, most, replace=False))] if pages > most else rows


# --- The few directions in which pages differ most (latent semantic analysis) ----------------------------------------
# In thousands of stems all pages are nearly at right angles, a page is nearest to a centre because it is part of it,
# and k-means stays where it starts. In 16 directions it finds on real pages (Biology of Wikipedia for Schools, 7
# clusters) what the subject tree has with NMI 0.66 instead of 0.51, and two starts agree with NMI 0.9 instead of 0.5.

DIRECTIONS = 16
_DIRECTION_SAMPLE = 5000  # pages from which directions are learnt


def directions(rows: csr_matrix, rng: np.random.Generator, most: int = DIRECTIONS) -> Float32s | None:
    """So many directions, each a column of weights of stems; None where pages or stems are hardly more than that."""
    sample = _sampled(rows, _DIRECTION_SAMPLE, rng)
    if min(sample.shape) <= most + 1:
        return None
    first = rng.standard_normal(min(sample.shape))  # given, so that the same seed gives the same
    # Named in full, scipy imports it only now: most commands that know clusters cluster nothing.
    return np.ascontiguousarray(scipy.sparse.linalg.svds(sample.astype(np.float64), most, v0=first)[2].T, np.float32)


def condensed(rows: csr_matrix, across: Float32s | None) -> Float32s:
    """The pages in these directions (as they are, where there are none), each of length 1."""
    dense = rows.toarray() if across is None else rows @ across
    length = np.sqrt(np.square(dense, dtype=np.float64).sum(axis=1))
    return np.asarray(dense / np.where(length > 0, length, 1)[:, None], np.float32)


# --- Spherical k-means (P7): pages that point the same way, whatever their length, are together ----------------------
# A page is a row of length 1, a centre the direction of the sum of its pages, and likeness their cosine. First centres
# are chosen far apart (k-means++), the best of several starts on a sample is kept, and then all pages settle around
# it.

STARTS = 16
_ROUNDS = 50  # on the sample; most starts settle in 10 to 20
_SAMPLE = 5000
_LAST_ROUNDS = 20  # on all pages: the centres are nearly right by then


@dataclass(frozen=True)
class Clusters:
    """Page i is in cluster `of[i]`, with cosine `near[i]` to its centre; centres are rows of length 1."""

    of: Ints
    near: Float32s
    centres: Float32s

    @property
    def mean(self) -> float:
        """How near pages are to their centres, which is what k-means makes as large as it can."""
        return float(self.near.mean(dtype=np.float64)) if len(self.near) else 0.0


def kmeans(rows: Float32s, k: int, rng: np.random.Generator, starts: int = STARTS) -> Clusters:
    """k clusters of these pages, or as many as there are pages where those are fewer; none is empty."""
    k = min(k, len(rows))
    sample = _sampled(rows, _SAMPLE, rng)
    tried = [_settled(sample, _far_apart(sample, k, rng), _ROUNDS) for _ in range(starts)]
    best = max(tried, key=lambda found: found.mean)  # the first of equals
    return best if sample is rows else _settled(rows, best.centres, _LAST_ROUNDS)


def nearest(rows: Float32s, centres: Float32s) -> tuple[Ints, Float32s]:
    """Of each page the cluster whose centre is nearest, and the cosine to it."""
    likeness = rows @ centres.T
    of = likeness.argmax(axis=1)
    return of, likeness[np.arange(len(of)), of]


def _settled(rows: Float32s, centres: Float32s, rounds: int) -> Clusters:
    """Move pages to the nearest centre and centres to their pages until nothing changes."""
    of, near = _filled(*nearest(rows, centres), len(centres))
    for _ in range(rounds):
        centres, before = _centres(rows, of, len(centres)), of
        of, near = _filled(*nearest(rows, centres), len(centres))
        if np.array_equal(of, before):
            break
    return Clusters(of, near, centres)


def _centres(rows: Float32s, of: Ints, k: int) -> Float32s:
    """The direction of the sum of each cluster's pages, column by column: so there is no loop over pages."""
    sums = np.stack([np.bincount(of, weights=column, minlength=k) for column in rows.T], axis=1)
    length = np.sqrt(np.square(sums).sum(axis=1))
    return np.asarray(sums / np.where(length > 0, length, 1)[:, None], np.float32)


def _filled(of: Ints, near: Float32s, k: int) -> tuple[Ints, Float32s]:
    """Give each empty cluster the page that is farthest from its own centre, if its cluster can spare it."""
    size = np.bincount(of, minlength=k)
    for empty in np.flatnonzero(size == 0).tolist():
        page = int(np.where(size[of] > 1, near, np.inf).argmin())
        size[of[page]] -= 1
        of[page], size[empty], near[page] = empty, 1, 1.0
    return of, near


def _far_apart(rows: Float32s, k: int, rng: np.random.Generator) -> Float32s:
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


# --- How well two ways to sort the same pages agree: clusters against known classes, or against other clusters -------
# Both are arrays with a number for each page; which numbers does not matter.


def crossed(one: npt.ArrayLike, other: npt.ArrayLike) -> Floats:
    """How many pages are in cluster i of the one and in cluster j of the other."""
    rows, columns = (np.unique(np.asarray(of), return_inverse=True) for of in (one, other))
    shape = len(rows[0]), len(columns[0])
    return np.bincount(rows[1] * shape[1] + columns[1], minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def impurity(clusters: npt.ArrayLike, classes: npt.ArrayLike) -> float:
    """What is still unknown of a page's class when its cluster is known: 0 is nothing, 1 is all (entropies)."""
    table = crossed(clusters, classes)
    whole = entropy(table.sum(axis=0))
    return (entropy(table.ravel()) - entropy(table.sum(axis=1))) / whole if whole > 0 else 0.0


def entropy(counts: Floats) -> float:
    """Entropy of the shares, in bits."""
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(shares * np.log2(shares)).sum()) + 0.0


# --- How many clusters there are (B19): as many as other pages of the same kind would show as well -------------------
# BINGO! takes the number at which an entropy-based impurity of the clusters is least. Ours measures it between two
# clusterings: pages are split in halves, each half is clustered for itself, and all pages are sorted by the centres of
# both. Impurity is what is unknown of a page's cluster by the one when that by the other is known: 0 where both halves
# show the same, 1 where they agree no more than by chance. Clusters that are there are found in both halves;
# too many cut through what belongs together, and each half cuts elsewhere.

TRIED = tuple(range(2, 13))
SPLITS = 12  # the number found for one real topic still went from 5 to 9 with the seed; with 6 splits it went down to 3
_NUMBER_SAMPLE = 2000  # pages
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
    sample = _sampled(rows, _NUMBER_SAMPLE, rng)
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
