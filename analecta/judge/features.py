"""What a learner sees of a page: counts of features, in one of four spaces or several side by side (B6).

`terms` are the stems of the page's words, `pairs` two stems near each other in whatever order, `anchors` the stems
of what links to the page say, `neighbours` the stems of the pages that link to it.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, hstack

from analecta.model import Example
from analecta.text.stems import Lexicon, learn_stems
from analecta.text.tokens import Ints, UInt64s, Vocabulary, Words, counts, tally, words

SPACES = ("terms", "pairs", "anchors", "neighbours")
WINDOW = 4  # words between which two stems make a pair
# Links say these of any page, so as words about the page they are worth nothing.
ANCHOR_STOP = frozenset(
    "click here home homepage page pages next previous prev back forward top bottom up down more read see view go link "
    "links website web site sites url www http https html htm com org net index main menu contents contact about help "
    "search login logout sign register print email mail edit download continue skip start end first last full text "
    "version pdf article info information details learn show hide open close image photo picture enlarge source "
    "original official external permalink reply comment comments share tweet subscribe rss feed english privacy terms "
    "sitemap faq news new".split()
)
_ODD = np.uint64(0x9E3779B97F4A7C15)  # spreads the numbers of pairs over the look-up table, none onto another's place

Floats = npt.NDArray[np.float64]


class Space:
    """One way to see a page as features. Learn from examples, keep some features, then count those on any page."""

    def __init__(self, kind: str, window: int = WINDOW) -> None:
        self.kind = kind
        self.window = window
        self.names: list[str] = []
        self._hashes: UInt64s = np.zeros(0, np.uint64)
        self._features: Ints = np.zeros(0, np.int64)
        self._pairs: UInt64s = np.zeros(0, np.uint64)

    def learn(self, examples: Sequence[Example]) -> csr_matrix:
        """The counts of all features that the examples have; these are known from now on."""
        batch = words([_text(example, self.kind) for example in examples])
        lexicon = learn_stems(batch, ANCHOR_STOP if self.kind == "anchors" else ())
        self._lexicon, self.names = lexicon, lexicon.names
        self._know(lexicon.hashes, lexicon.features)
        if self.kind == "pairs":
            self._learn_pairs(batch, lexicon)
        return self.count(batch)

    def keep(self, columns: Ints) -> None:
        """Forget all but these features; of those that stay, the forms that no example had are known too."""
        stems = columns
        if self.kind == "pairs":
            kept = self._pairs[columns]
            stems, inverse = np.unique(np.concatenate(np.divmod(kept, self._width)), return_inverse=True)
            low, high = inverse[: len(kept)], inverse[len(kept) :]
            self._pairs = (low * max(len(stems), 1) + high).astype(np.uint64)
        self.names = [self.names[i] for i in columns.tolist()]
        self._know(*self._lexicon.words_of(stems.astype(np.int64)))

    def count(self, batch: Words) -> csr_matrix:
        """How often each feature is on each page."""
        if self.kind != "pairs":
            return counts(batch, self._vocabulary)
        pages, keys = _near(batch, self._vocabulary, self.window)
        at, features = self._pair_vocabulary.find(keys * _ODD)
        return tally(pages[at], features, len(batch), len(self._pairs))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What must be saved, besides the names."""
        return {"hashes": self._hashes, "features": self._features, "pairs": self._pairs}

    @classmethod
    def restore(cls, kind: str, window: int, names: list[str], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """As it was saved."""
        space = cls(kind, window)
        space.names, space._pairs = names, arrays["pairs"]
        space._know(arrays["hashes"], arrays["features"])
        return space

    def _know(self, hashes: UInt64s, features: Ints) -> None:
        self._hashes, self._features = hashes, features
        self.__dict__.pop("_vocabulary", None)
        self.__dict__.pop("_pair_vocabulary", None)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._hashes, self._features)

    @cached_property
    def _pair_vocabulary(self) -> Vocabulary:
        return Vocabulary(self._pairs * _ODD)

    @property
    def _width(self) -> np.uint64:
        return np.uint64(max(self._vocabulary.size, 1))

    def _learn_pairs(self, batch: Words, lexicon: Lexicon) -> None:
        """Know the pairs that were met more than once: the others are legion, and chance."""
        _, keys = _near(batch, self._vocabulary, self.window)
        found, often = np.unique(keys, return_counts=True)
        self._pairs = found[often > 1]
        low, high = np.divmod(self._pairs, self._width)
        self.names = [
            f"{lexicon.names[a]} {lexicon.names[b]}" for a, b in zip(low.tolist(), high.tolist(), strict=True)
        ]
        self.__dict__.pop("_pair_vocabulary", None)


class Features:
    """Several spaces side by side, their features numbered through."""

    def __init__(self, kinds: Sequence[str] = ("terms",), window: int = WINDOW) -> None:
        self.spaces = [Space(kind, window) for kind in kinds]

    @property
    def names(self) -> list[str]:
        """What to call each feature before people."""
        return [
            name if space.kind in ("terms", "pairs") else f"{name} ({space.kind})"
            for space in self.spaces
            for name in space.names
        ]

    def learn(self, examples: Sequence[Example]) -> csr_matrix:
        """The counts of all features of the examples."""
        return _beside([space.learn(examples) for space in self.spaces], self.spaces)

    def count_examples(self, examples: Sequence[Example]) -> tuple[csr_matrix, Floats]:
        """The same as `count`, of examples."""
        return self.count(*(words([_text(e, kind) for e in examples]) for kind in ("terms", "anchors", "neighbours")))

    def keep(self, columns: Ints) -> None:
        """Forget all but these features, given in ascending order."""
        low = 0
        for space in self.spaces:
            high = low + len(space.names)
            space.keep(columns[(columns >= low) & (columns < high)] - low)
            low = high

    def count(
        self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None
    ) -> tuple[csr_matrix, Floats]:
        """How often each feature is on each page, and how many words are none; what is not given has neither."""
        given = {"anchors": anchors, "neighbours": neighbours}
        found, others = [], np.zeros(len(batch))
        for space in self.spaces:
            source = given.get(space.kind, batch)
            one = space.count(source) if source is not None else csr_matrix((len(batch), max(len(space.names), 1)))
            if source is not None and space.kind != "pairs":
                others += np.diff(source.starts) - row_sums(one)
            found.append(one)
        return _beside(found, self.spaces), others


def row_sums(counts: csr_matrix) -> Floats:
    """The sum of each row."""
    running = np.concatenate([[0.0], np.cumsum(counts.data)])
    return np.asarray(running[counts.indptr[1:]] - running[counts.indptr[:-1]], np.float64)


def _beside(found: list[csr_matrix], spaces: list[Space]) -> csr_matrix:
    if len(found) == 1:
        return found[0]
    cut = [one[:, : len(space.names)] for one, space in zip(found, spaces, strict=True)]
    return csr_matrix(hstack(cut, "csr"))


def _text(example: Example, kind: str) -> str:
    return {"anchors": example.anchors, "neighbours": example.neighbours}.get(kind, example.text)


def _near(batch: Words, vocabulary: Vocabulary, window: int) -> tuple[Ints, UInt64s]:
    """Page and number of every two known stems that differ and stand at most `window` words from each other."""
    at, features = vocabulary.find(batch.hashes)
    pages = batch.pages[at]
    on, keys = [pages[:0]], [features[:0].astype(np.uint64)]
    for k in range(1, window + 1):
        a, b = features[:-k], features[k:]
        near = (at[k:] - at[:-k] <= window) & (pages[k:] == pages[:-k]) & (a != b)
        low, high = np.minimum(a, b)[near], np.maximum(a, b)[near]
        on.append(pages[k:][near])
        keys.append((low * max(vocabulary.size, 1) + high).astype(np.uint64))
    return np.concatenate(on), np.concatenate(keys)
