"""Pages as directions in a space of stems (P7): tf-idf over the stems that are neither rare nor everywhere.

Texts are asked for by number, a batch at a time, so that a hundred thousand pages need not be in memory at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, vstack

from analecta.text.stems import learn_stems
from analecta.text.tokens import Ints, Vocabulary, counts, words

Floats = npt.NDArray[np.float32]
Read = Callable[[Ints], list[str]]  # the texts of these pages

RAREST, COMMONEST = 0.01, 0.8  # share of the pages that have a stem
_SAMPLE = 4000  # pages from which stems are learnt: one on a hundredth of all pages is on some 40 of these
_BATCH = 500
_LONGEST = 10_000  # characters of a page that are read, as in Panorama: what a page is about it says first


@dataclass(frozen=True)
class Space:
    """Page i is `rows[i]`, of length 1, or empty where it has no word of the vocabulary; column j is a stem.

    A stem is shown as `names[j]`, the commonest of its words; `idf[j]` is its weight.
    """

    rows: csr_matrix  # float32
    names: list[str]
    idf: Floats


def space(read: Read, pages: int, basis: npt.NDArray[np.bool_] | None = None) -> Space:
    """The space of these pages; which stems count, and for how much, is learnt from those of `basis` (all of them)."""
    own = np.flatnonzero(np.ones(pages, bool) if basis is None else basis)
    names, vocabulary = _likely(read, own)
    if not names:
        return Space(csr_matrix((pages, 1), dtype=np.float32), [""], np.zeros(1, np.float32))
    table = _table(read, pages, vocabulary)
    on = np.bincount(table[own].indices, minlength=table.shape[1])
    kept = np.flatnonzero((on >= _fewest(len(own))) & (on <= max(COMMONEST * len(own), 2)))
    idf = np.log(len(own) / np.maximum(on[kept], 1)).astype(np.float32)
    return Space(_weighed(table[:, kept], idf), [names[i] for i in kept.tolist()], idf)


def _fewest(pages: int) -> int:
    """Pages that a stem must be on: what is on one page alone says nothing of what pages have in common."""
    return max(int(np.ceil(RAREST * pages)), 2)


def _likely(read: Read, own: Ints) -> tuple[list[str], Vocabulary]:
    """Stems that may be common enough, as a sample shows it; half of what is asked for, to be on the safe side."""
    sample = own[np.linspace(0, len(own) - 1, min(len(own), _SAMPLE)).astype(np.int64)] if len(own) else own
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


def _weighed(table: csr_matrix, idf: Floats) -> csr_matrix:
    """Rows of length 1. Counts are damped: a word a hundred times on a page is no hundred reasons."""
    weights = (1 + np.log(table.data)) * idf[table.indices]
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    length = np.sqrt(np.bincount(row, weights=np.square(weights), minlength=table.shape[0]))
    data = (weights / np.where(length > 0, length, 1)[row]).astype(np.float32)
    return csr_matrix((data, table.indices, table.indptr), shape=table.shape)
