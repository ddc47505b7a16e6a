"""The words around links: what such words have led to so far, and how good the pages are that use them.

The words of all links are the rows of one sparse matrix, so that a crawl can work everything out anew in a few
milliseconds, many times. Only words that stand around a link have a column: some 30,000 of 2^18 buckets.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from analecta.judge.buckets import SIZE
from analecta.text.tokens import words

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Columns = npt.NDArray[np.int32]

_USUAL = 0.1  # words that stand around more than this share of all links tell nothing: "the", "more", "page"
_FEW = 30  # links; a word that stands around fewer is not usual yet
_LED, _SQUARE, _USED, _TOLD = range(4)  # what is known of a word, times how telling it is


class Around:
    """Keeps the words around links, link after link, each link by the slot of its target."""

    def __init__(self, use: Callable[[Numbers], Floats]) -> None:
        """`use` tells of buckets how good the pages are that use such words."""
        self.kept: dict[int, int] = {}  # how many links to a slot
        self._use = use
        self._of: list[int] = []  # the slot of each link
        self._words: list[Columns] = []  # the words of links, in pieces; the last piece is of those heard last
        self._lengths: list[Numbers] = []  # how many words each link has, in the same pieces
        self._column = np.full(SIZE, -1, np.int32)  # by bucket
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

    def _name(self, used: Columns) -> None:
        """Give columns to words that are new: they have led nowhere yet."""
        new = np.unique(used[self._column[used] < 0]).astype(np.int64)
        if not len(new):
            return
        self._column[new] = np.arange(len(self._buckets), len(self._buckets) + len(new))
        self._buckets = np.concatenate([self._buckets, new])
        known = np.zeros((len(new), 4), np.float32)
        known[:, _SQUARE], known[:, _USED], known[:, _TOLD] = np.log1p(len(self._of)) ** 2, self._use(new), 1
        self._known = np.concatenate([self._known, known])

    def forget(self, new: Numbers) -> None:
        """Slots are numbered anew; links to those that are now -1 are dropped."""
        of = new[self._of] if self._of else np.zeros(0, np.int64)
        if self._words:
            lengths = np.concatenate(self._lengths)
            self._words = [np.concatenate(self._words)[np.repeat(of >= 0, lengths)]]
            self._lengths = [lengths[of >= 0]]
        self._of = of[of >= 0].tolist()
        self.kept = {int(new[slot]): kept for slot, kept in self.kept.items() if new[slot] >= 0}

    def learn(self, better: Floats, fetched: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
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

    def last(self) -> tuple[Floats, Floats, Numbers]:
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
