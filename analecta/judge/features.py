"""What a learner sees of a page: counts of features, in which spaces, with which weights (B6)."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.sparse import csr_matrix, hstack

from analecta.arrays import Array, Bools, Floats, Ints, UInt64s
from analecta.model import Example
from analecta.text.stems import Lexicon, learn_stems
from analecta.text.tokens import BUCKETS, Vocabulary, Words, counts, tally, words


def rows(batch: Words) -> csr_matrix:
    """How often each bucket's words occur on each page: pages x buckets, sparse, float32; its data may be replaced.

    Two words may share a bucket. Those of a few thousand pages seldom do where it matters: on a real web the order of
    a crawl came out as good as with a dictionary of stems (docs/decisions.md).
    """
    bags = batch.bags
    return csr_matrix((bags.counts, bags.buckets, bags.starts), shape=(len(batch), BUCKETS))


# --- weighting -------------------------------------------------------------------------------------------------------
# From counts to weights: the tf-idf forms of the papers, and which features are worth keeping (B3, P4).


def page_frequency(counts: csr_matrix) -> Floats:
    """On how many pages each feature is."""
    return np.bincount(counts.indices, minlength=counts.shape[1]).astype(np.float64)


def plain_idf(pages: float, frequency: Floats | Ints) -> Floats:
    """ln(|C| / df), as the papers have it: 0 for what is on every page."""
    return np.log(np.maximum(pages / np.maximum(frequency, 1), 1))


def smooth_idf(pages: float, frequency: Floats | Ints) -> Floats:
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


def most_telling(counts: csr_matrix, inside: Bools, weights: Floats, candidates: int = 5000, kept: int = 2000) -> Ints:
    """The best features of a topic: of its `candidates` most frequent ones those with most mutual information."""
    often = counts.T @ (weights * inside)
    frequent = np.lexsort((np.arange(len(often)), -often))[:candidates]
    frequent = frequent[often[frequent] > 0]
    told = mutual_information(counts, inside, weights)[frequent]
    best = np.lexsort((frequent, -told))[:kept]
    return np.sort(frequent[best[told[best] > 0]])


def _with(matrix: csr_matrix, data: Floats) -> csr_matrix:
    return csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


# --- features --------------------------------------------------------------------------------------------------------
# What a learner sees of a page: counts of features, in one of four spaces or several side by side (B6).
#
# `terms` are the stems of the page's words, `pairs` two stems near each other in whatever order, `anchors` the stems
# of what links to the page say, `neighbours` the stems of the pages that link to it.


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


class FeatureSpace:
    """One way to see a page as features. Learn from examples, keep some features, then count those on any page."""

    def __init__(self, kind: str, window: int = WINDOW) -> None:
        self.kind = kind
        self.window = window
        self.names: list[str] = []
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
            self._know_pairs((low * max(len(stems), 1) + high).astype(np.uint64))
        self.names = [self.names[i] for i in columns.tolist()]
        self._know(*self._lexicon.words_of(stems.astype(np.int64)))

    def count(self, batch: Words) -> csr_matrix:
        """How often each feature is on each page."""
        if self.kind != "pairs":
            return counts(batch, self._vocabulary)
        pages, keys = _near(batch, self._vocabulary, self.window)
        at, features = self._pair_vocabulary.find(keys * _ODD)
        return tally(pages[at], features, len(batch), len(self._pairs))

    def arrays(self) -> dict[str, Array]:
        """What must be saved, besides the names."""
        return {"hashes": self._hashes, "features": self._features, "pairs": self._pairs}

    def restore(self, names: list[str], arrays: Mapping[str, Array], prefix: str = "") -> None:
        """Take over what was saved."""
        self.names = names
        self._know(arrays[f"{prefix}hashes"], arrays[f"{prefix}features"])
        self._know_pairs(arrays[f"{prefix}pairs"])

    def _know(self, hashes: UInt64s, features: Ints) -> None:
        self._hashes, self._features = hashes, features
        self._vocabulary = Vocabulary(hashes, features)
        self._width = np.uint64(max(self._vocabulary.size, 1))

    def _know_pairs(self, pairs: UInt64s) -> None:
        self._pairs, self._pair_vocabulary = pairs, Vocabulary(pairs * _ODD)

    def _learn_pairs(self, batch: Words, lexicon: Lexicon) -> None:
        """Know the pairs that were met more than once: the others are legion, and chance."""
        _, keys = _near(batch, self._vocabulary, self.window)
        found, often = np.unique(keys, return_counts=True)
        self._know_pairs(found[often > 1])
        low, high = np.divmod(self._pairs, self._width)
        self.names = [
            f"{lexicon.names[a]} {lexicon.names[b]}" for a, b in zip(low.tolist(), high.tolist(), strict=True)
        ]


class Features:
    """Several spaces side by side, their features numbered through."""

    def __init__(self, kinds: Sequence[str] = ("terms",), window: int = WINDOW) -> None:
        self.spaces = [FeatureSpace(kind, window) for kind in kinds]

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


def _beside(found: list[csr_matrix], spaces: list[FeatureSpace]) -> csr_matrix:
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
