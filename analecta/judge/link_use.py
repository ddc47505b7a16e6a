"""Who uses which words: how much likelier a page is good that uses a word."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from analecta.judge.buckets import SIZE
from analecta.text.tokens import Int32s

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


class Use:
    """Counts the pages that use each word, and how good they are; what is old counts less."""

    def __init__(self, half_life: float) -> None:
        """After `half_life` pages one counts half."""
        self.half_life = half_life
        self._pages: list[Int32s] = []  # the different buckets of each page
        # Instead of all that is old becoming less with every page, what is new counts for more.
        self._weight = 1.0
        self._met = np.zeros(SIZE)
        self._good = np.zeros(SIZE)
        self._met_in_all = self._good_in_all = 0.0

    def see(self, pages: Sequence[Int32s], scores: Sequence[float]) -> None:
        """Take in the different buckets of the words of pages."""
        self._pages += pages
        used = np.concatenate([np.zeros(0, np.int32), *pages])
        lengths = [len(page) for page in pages]
        met, good = self._weights(np.array(scores))
        np.add.at(self._met, used, np.repeat(met, lengths))
        np.add.at(self._good, used, np.repeat(good, lengths))

    def _weights(self, scores: Floats) -> tuple[Floats, Floats]:
        """How much further pages count, and how much for the good."""
        met = self._weight * 2 ** (np.arange(1, len(scores) + 1) / self.half_life)
        self._met_in_all += met.sum()
        self._good_in_all += (met * scores).sum()
        self._weight = float(met[-1]) if len(met) else self._weight
        return met, met * scores

    def score(self, scores: Floats, forget: int = 0) -> None:
        """All pages were judged anew; the first `forget` of them are gone."""
        del self._pages[:forget]
        self._met_in_all, self._good_in_all, self._weight = 0.0, 0.0, 1.0
        used = np.concatenate([np.zeros(0, np.int32), *self._pages])
        pointers = np.cumsum([0, *(len(page) for page in self._pages)], dtype=np.int32)
        rows = csr_matrix((np.ones(len(used), np.float32), used, pointers), shape=(len(self._pages), SIZE))
        weights = np.stack(self._weights(scores[forget:]), axis=1).astype(np.float32)
        self._met, self._good = (rows.T @ weights).astype(np.float64).T.copy()

    @property
    def mean(self) -> float:
        """How good an average page is."""
        return float(np.clip(self._good_in_all / max(self._met_in_all, 1e-9), 0.02, 0.98))

    def odds(self, words: Numbers) -> Floats:
        """The log odds that a page which uses a word is good, against any page; less sure of words that few use."""
        met, good, mean = self._met[words] / self._weight, self._good[words] / self._weight, self.mean
        odds = np.log((good + 0.5 * mean) / (met - good + 0.5 * (1 - mean))) - np.log(mean / (1 - mean))
        return np.asarray(odds * met / (met + 2), np.float64)
