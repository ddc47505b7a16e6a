"""Phrases: two or three words that stand together more often than chance would have it.

A phrase neither begins nor ends with a stop word; between them one may stand ("Bank of England"). The forms of a word
count as one word, as in "bird nest" and "bird nests".
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analecta.analyse.prose import Bools, Prose
from analecta.text.tokens import Ints

Floats = npt.NDArray[np.float64]

_FEWEST = 4  # times that a phrase must be there
_SURE = 10.83  # chi-squared at one in a thousand


@dataclass(frozen=True)
class Phrases:
    """Places of phrases: place i is of phrase `of[i]`, spans the words `first[i]` to `last[i]`."""

    of: Ints
    first: Ints
    last: Ints


def find_phrases(prose: Prose) -> Phrases:
    """The phrases of these texts, of two words and of three."""
    places, together = np.arange(len(prose.forms)), prose.together()
    run, begin = prose.forms, places  # what stands at the places where a run of one word begins
    found: list[tuple[Ints, Ints, Ints]] = []
    for length in (2, 3):
        on = together[begin + length - 2]
        before, begin = run[on], begin[on]
        next_ = prose.forms[begin + length - 1]
        run = _numbered(before * (int(prose.forms.max(initial=0)) + 1) + next_)
        whole = prose.telling[begin] & prose.telling[begin + length - 1]
        sure = whole & _significant(run, _times(before), _times(prose.forms)[begin + length - 1], len(places))
        found.append((run[sure], begin[sure], begin[sure] + length - 1))
    (two, *_), (three, *_) = found
    of = _numbered(np.concatenate([two, three + int(two.max(initial=0)) + 1]))
    return Phrases(of, *(np.concatenate([one[i] for one in found]) for i in (1, 2)))


def _significant(run: Ints, before: Ints, after: Ints, words: int) -> Bools:
    """Whether a run is there more often than its first part and its last word would meet by chance (Dunning's G²)."""
    both = _times(run).astype(np.float64)
    first, last, total = (np.asarray(n, np.float64) for n in (before, after, words))
    cells = (both, first - both, last - both, total - first - last + both)
    expected = (first * last, first * (total - last), last * (total - first), (total - first) * (total - last))
    with np.errstate(divide="ignore", invalid="ignore"):
        g = sum(np.where(n > 0, 2 * n * np.log(n * total / e), 0.0) for n, e in zip(cells, expected, strict=True))
    return np.asarray((both >= _FEWEST) & (both * total > first * last) & (g > _SURE))


def _numbered(keys: Ints) -> Ints:
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _times(keys: Ints) -> Ints:
    """How often each key is there."""
    return np.bincount(keys)[keys] if len(keys) else keys
