"""The words around links, and how good the pages are that use them: what both have led to so far."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import csr_matrix

from analecta.arrays import Bools, Floats, Int32s, Ints
from analecta.text.tokens import BUCKETS, words

_USUAL = 0.1  # words that stand around more than this share of all links tell nothing: "the", "more", "page"
_FEW = 30  # links; a word that stands around fewer is not usual yet
_LED, _SQUARE, _USED, _TOLD = range(4)  # what is known of a word, times how telling it is


class LinkContexts:
    """Keeps the words around links, link after link, each link by the slot of its target."""

    def __init__(self, use: Callable[[Ints], Floats]) -> None:
        """`use` tells of buckets how good the pages are that use such words."""
        self.kept: dict[int, int] = {}  # how many links to a slot
        self._use = use
        self._of: list[int] = []  # the slot of each link
        self._words: list[Int32s] = []  # the words of links, in pieces; the last piece is of those heard last
        self._lengths: list[Ints] = []  # how many words each link has, in the same pieces
        self._column = np.full(BUCKETS, -1, np.int32)  # by bucket
        self._buckets = np.zeros(0, np.int64)  # by column
        self._known = np.zeros((0, 4), np.float32)  # by column

    def hear(self, slots: Sequence[int], texts: Sequence[str]) -> None:
        """Take in the words around links to slots."""
        used, _, starts = words(texts).bags
        self._name(used)
        self._words.append(self._column[used])
        self._lengths.append(np.diff(starts))
        self._of += slots
        for slot in slots:
            self.kept[slot] = self.kept.get(slot, 0) + 1

    def _name(self, used: Int32s) -> None:
        """Give columns to words that are new: they have led nowhere yet."""
        new = np.unique(used[self._column[used] < 0]).astype(np.int64)
        if not len(new):
            return
        self._column[new] = np.arange(len(self._buckets), len(self._buckets) + len(new))
        self._buckets = np.concatenate([self._buckets, new])
        known = np.zeros((len(new), 4), np.float32)
        known[:, _SQUARE], known[:, _USED], known[:, _TOLD] = np.log1p(len(self._of)) ** 2, self._use(new), 1
        self._known = np.concatenate([self._known, known])

    def forget(self, new: Ints) -> None:
        """Slots are numbered anew; links to those that are now -1 are dropped."""
        of = new[self._of] if self._of else np.zeros(0, np.int64)
        if self._words:
            lengths = np.concatenate(self._lengths)
            self._words = [np.concatenate(self._words)[np.repeat(of >= 0, lengths)]]
            self._lengths = [lengths[of >= 0]]
        self._of = of[of >= 0].tolist()
        self.kept = {int(new[slot]): kept for slot, kept in self.kept.items() if new[slot] >= 0}

    def learn(self, better: Floats, fetched: Bools) -> tuple[Floats, Floats]:
        """Work out anew what words tell, and with it for each slot what those around its links led to and their use.

        `better`: by slot, how much better than the average a page is.
        """
        size = len(better)
        if not self._of:
            return np.zeros(size), np.zeros(size)
        self._words, self._lengths = [np.concatenate(self._words)], [np.concatenate(self._lengths)]
        links = self._matrix(0)
        of = np.array(self._of, np.int64)
        kept = np.maximum(np.bincount(of, minlength=size), 1)
        taught = fetched[of] / kept[of]  # a target with many links is still one lesson
        sums = links.T @ np.stack([taught, taught * better[of], np.ones(len(of))], axis=1).astype(np.float32)
        lessons, led, often = sums.astype(np.float64).T
        telling = np.where(often < max(_USUAL * len(of), _FEW), np.log1p(len(of) / np.maximum(often, 1)), 0)
        told = telling > 0
        known = [led / (lessons + 1) * telling, telling**2, self._use(self._buckets) * told, told]
        self._known = np.stack(known, axis=1).astype(np.float32)
        by_led, by_use = self._tell(links)
        return (
            np.bincount(of, weights=by_led, minlength=size) / kept,
            np.bincount(of, weights=by_use, minlength=size) / kept,
        )

    def last(self) -> tuple[Floats, Floats, Ints]:
        """Of each link heard last: what its words led to, how good the pages are that use them, how many they are."""
        return *self._tell(self._matrix(-1)), self._lengths[-1]

    def _matrix(self, piece: int) -> csr_matrix:
        """The links of a piece x columns."""
        columns, lengths = self._words[piece], self._lengths[piece]
        pointers = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        ones = np.ones(len(columns), np.float32)
        return csr_matrix((ones, columns, pointers), shape=(len(lengths), len(self._buckets)))

    def _tell(self, links: csr_matrix) -> tuple[Floats, Floats]:
        """Of each link, by its words: what they led to (the telling ones more), and the mean of their use."""
        sums = (links @ self._known).astype(np.float64)
        length = np.sqrt(sums[:, _SQUARE])
        by_led = sums[:, _LED] / np.where(length > 0, length, 1)
        return by_led, sums[:, _USED] / np.maximum(sums[:, _TOLD], 1)


# --- Who uses which words: how much likelier a page is good that uses a word -----------------------------------------


_HALF_LIFE = 4000.0  # pages after which one counts half


class WordUse:
    """Counts the pages that use each word, and how good they are; what is old counts less."""

    def __init__(self) -> None:
        self._pages: list[Int32s] = []  # the different buckets of each page
        # Instead of all that is old becoming less with every page, what is new counts for more.
        self._weight = 1.0
        self._met = np.zeros(BUCKETS)
        self._good = np.zeros(BUCKETS)
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
        met = self._weight * 2 ** (np.arange(1, len(scores) + 1) / _HALF_LIFE)
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
        rows = csr_matrix((np.ones(len(used), np.float32), used, pointers), shape=(len(self._pages), BUCKETS))
        weights = np.stack(self._weights(scores[forget:]), axis=1).astype(np.float32)
        self._met, self._good = (rows.T @ weights).astype(np.float64).T.copy()

    @property
    def mean(self) -> float:
        """How good an average page is."""
        return float(np.clip(self._good_in_all / max(self._met_in_all, 1e-9), 0.02, 0.98))

    def odds(self, words: Ints) -> Floats:
        """The log odds that a page which uses a word is good, against any page; less sure of words that few use."""
        met, good, mean = self._met[words] / self._weight, self._good[words] / self._weight, self.mean
        odds = np.log((good + 0.5 * mean) / (met - good + 0.5 * (1 - mean))) - np.log(mean / (1 - mean))
        return np.asarray(odds * met / (met + 2), np.float64)
