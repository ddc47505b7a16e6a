"""The judge of the adaptive recipe: a topic is the words its pages have more of than other pages do (Rocchio).

A topic's profile is the mean of its examples less a part of the mean of what is not the topic: other topics'
examples, and pages that the crawl has met; made-up everyday pages while there are no others.

Pages that a person gave as what is not meant (OTHERS) often look right: together they count as much as all else that
is not the topic. With 4 such pages of a neighbouring subject, and 200 pages met, 0.23 of that subject's pages are taken
for the topic instead of 0.40, and 0.88 of the topic's own instead of 0.90 (8 examples; 8 pairs of subjects, on which
this was also chosen among seven ways, so expect less elsewhere).

Pages met come without a topic (MET): the examples alone say which of them are of the topic and which are not. Each
example is compared with the others; what is nearer to all of them than a middling example is to the others joins
them for less weight, and the worse half is what is not the topic. Every training starts again from the examples, so
that an error of the last one does not grow (docs/decisions.md has figures).

Below "Science" lies "Science / Biology": its examples show the topic above too, which says by its own where its line
is, and a page of both is of the one below. Else what is left to a topic after a split would be all that its subtopics
are not.

It is learned in milliseconds, so that a crawl can afford to learn again every few pages at first, when it matters:
ten examples say little about which of their words are usual on this web.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import msgspec
import numpy as np
from scipy.sparse import csr_matrix

from analecta.arrays import Array, Bools, Float32s, Floats, Ints
from analecta.judge.base import TrainedJudge, best_verdicts, strongest
from analecta.judge.calibration import ScoreLine, confidence
from analecta.judge.training_set import PAGES, TrainingSet, material
from analecta.model import BELOW, NO_TOPIC, UNLABELLED, Example, Page, Verdict
from analecta.text.tokens import BUCKETS, Words, buckets, stop_words, words

_NEVER = ScoreLine(1e3, 1.0)  # for a topic without examples
_ENOUGH = 5  # pages that are not the topic: made-up ones are not needed any more
_STEEP = 5.0  # confidence is 0.01 where most other pages are, 0.7 at the weaker third of the examples
_NEARLY = 0.85  # of the way from most other pages to the weaker third of the examples lies the line
_FEWEST = 3  # examples that can vouch for other pages
_ALONE = 0.1  # of the way to those that cannot; of real pages 7 in 10 taken then are right, and 2 in 10 are found
_SOME = 0.01  # score of a page that has a word or two of theirs; one that has none has 0
_AT_ONCE = 64  # texts cut into words: a thousand would take twice the time, out of the processor's cache
_MOST = 2000  # examples that are learned from at once
_TELLING = 20.0  # times as much as another page that is not the topic one counts at most that a person gave as such
_TIMES = 3  # as much as so many times the examples the pages that join them may count, before their trust


class TopicWeights(NamedTuple):
    """How much each page counts for a topic and against it; which are off it, which on it, and which its very own."""

    counts: Floats
    against: Floats
    other: Bools
    own: Bools
    first: Bools


class ProfileOptions(msgspec.Struct, frozen=True):
    """`away`: how much what is not the topic counts; `terms`: words a profile keeps, the heaviest.

    Of the pages met not more than `share` join the examples of a topic, nor more than `joining`, and count
    `trust` each against 1 of theirs.
    """

    away: float = 0.6
    terms: int = 4000
    overlap: int = 1
    threshold: float = 0.5
    share: float = 0.3
    trust: float = 0.3
    joining: int = 100


class Profile(TrainedJudge[ProfileOptions]):
    """Judges pages by how much their words are those of a topic rather than those of other pages."""

    kind = "profile"
    options_type = ProfileOptions
    saved_facts = ("topics", "examples")
    saved_arrays = ("buckets", "idf", "weights", "lines")

    def __init__(self, options: ProfileOptions | None = None) -> None:
        super().__init__(options)
        self._known: dict[str, tuple[Array, Array]] = {}

    @property
    def needs(self) -> frozenset[str]:
        """Pages met, of which nobody said what they are."""
        return frozenset({"met"})

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Learn a profile of each topic."""
        enough = sum(example.topic < 0 for example in examples) >= 2 * _ENOUGH
        given = material(examples, len(topics), 0 if enough else PAGES, _MOST)
        self.topics_ = list(topics)
        self.examples_ = len(examples)
        self.buckets_ = np.zeros(0, np.int32)
        self.idf_ = np.zeros(0, np.float32)
        self.weights_ = np.zeros((0, len(topics)), np.float32)
        self._below = _below(topics)
        self.lines_ = np.tile(np.array(_NEVER, np.float64), (len(topics), 1))
        if not given.examples or not topics:
            return self.prepare()
        used, counted = self._counted([example.text for example in given.examples])
        self.buckets_ = used.astype(np.int32)
        self.idf_ = _idf(counted, ~given.stock)
        units = _units(counted, self.idf_)
        taught = [topic for topic in range(len(topics)) if (given.labels == topic).any()]
        parts = self._parts(given, taught, self._likeness(units, given, len(topics)))
        self.weights_ = np.zeros((len(self.buckets_), len(topics)), np.float32)
        self.weights_[:, taught], self.lines_[taught] = self._learn(units, given, parts)
        return self.prepare()

    def _counted(self, texts: Sequence[str]) -> tuple[Ints, csr_matrix]:
        """The buckets that texts use, and how often each does; what was counted last time is not counted again."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        known = {text: self._known[text] for text in texts if text in self._known}
        for start in range(0, len(new), _AT_ONCE):
            part = new[start : start + _AT_ONCE]
            known |= zip(part, words(part).bags.apart(), strict=True)
        self._known = known
        pointers = np.cumsum([0, *(len(known[text][0]) for text in texts)])
        columns = np.concatenate([known[text][0] for text in texts])
        used = np.flatnonzero(np.bincount(columns, minlength=BUCKETS))  # some 30,000 of 262,144: the rest costs nothing
        place = np.zeros(BUCKETS, np.int32)
        place[used] = np.arange(len(used))
        counts = np.concatenate([known[text][1] for text in texts])
        return used, csr_matrix((counts, place[columns], pointers), shape=(len(texts), len(used)))

    def _likeness(self, units: csr_matrix, given: TrainingSet, topics: int) -> Floats:
        """How much nearer each page is to the examples of each topic than a middling example is to the others."""
        usual = _sum(units, np.where(given.stock, 0.0, 1.0))
        off = units @ (usual / np.float32(np.linalg.norm(usual) or 1) * self.options.away)
        like = np.full((units.shape[0], topics), -np.inf)
        own = np.stack([self._shown(given.labels, topic) for topic in range(topics)], axis=1)
        examples = np.flatnonzero(own.any(axis=1))
        few, weights = units[examples], np.where(own, given.weights[:, None], 0.0)[examples]
        totals = _sum(few, weights)
        sizes = _sizes(totals)
        near, far = few @ totals, units @ _scaled(totals, sizes)
        for topic in np.flatnonzero(sizes):
            mine = np.flatnonzero(own[examples, topic])
            weight = weights[mine, topic]
            alone = _without_themselves(near[mine, topic], sizes[topic], weight) - off[examples[mine]]
            middling = np.median(alone[weight >= weight.max()]) if len(alone) >= _FEWEST else 1.0
            like[:, topic] = far[:, topic] - off - middling
        return like

    def _parts(self, given: TrainingSet, topics: Sequence[int], likeness: Floats) -> list[TopicWeights]:
        """What counts for each topic and what against it."""
        met = np.flatnonzero(given.labels == UNLABELLED)
        shown = ~given.stock & (given.labels == NO_TOPIC)
        parts = []
        for topic in topics:
            yes = self._shown(given.labels, topic)
            joins, worse = self._parted(met, likeness, topic)
            other = ~yes & ~given.stock & (given.labels >= NO_TOPIC)
            other[worse] = True
            if other.sum() < _ENOUGH and not shown.any():
                other |= given.stock
            counts = np.where(yes, given.weights, 0.0)
            counts[joins] = self.options.trust * min(1.0, _TIMES * yes.sum() / max(len(joins), 1))
            own = yes & (given.weights >= given.weights[yes].max())
            against = _against(np.where(other, given.weights, 0.0), shown)
            parts.append(TopicWeights(counts, against, other, own, own & (given.labels == topic)))
        return parts

    def _learn(self, units: csr_matrix, given: TrainingSet, parts: Sequence[TopicWeights]) -> tuple[Float32s, Floats]:
        """The profiles of topics, and the lines between yes and no; all at once, for that is much faster."""
        if not parts:
            return np.zeros((units.shape[1], 0), np.float32), np.zeros((0, len(_NEVER)))
        totals = _sum(units, np.stack([part.counts for part in parts], axis=1))
        aways = _sum(units, np.stack([part.against for part in parts], axis=1))
        sizes, against = _sizes(totals), _sizes(aways)
        towards, offs = _scaled(totals, sizes), _scaled(aways, against) * np.float32(self.options.away)
        profiles = towards - offs
        seen = np.asarray(units @ profiles, np.float64)
        trained = seen.copy()
        examples = np.flatnonzero(given.labels >= 0)
        few = units[examples]
        near, far = few @ totals, few @ offs
        shown = np.flatnonzero(~given.stock & (given.labels == NO_TOPIC))
        more = units[shown]
        lines = np.tile(np.array(_NEVER, np.float64), (len(parts), 1))
        for i, part in enumerate(parts):
            if not sizes[i]:  # examples without words
                profiles[:, i] = 0
                continue
            own = np.flatnonzero(part.own[examples])
            alone = _without_themselves(near[own, i], sizes[i], part.counts[examples[own]])
            trained[examples[own], i] = alone - far[own, i]
            if len(shown) > 1:
                alike = _without_themselves(more @ aways[:, i], against[i], part.against[shown])
                trained[shown, i] = more @ towards[:, i] - self.options.away * alike
            weight = np.abs(profiles[:, i])
            if np.count_nonzero(weight) > self.options.terms:
                profiles[weight < np.partition(weight, -self.options.terms)[-self.options.terms], i] = 0
            lines[i] = _line(trained[:, i], seen[:, i], part.first, part.other)
        return profiles, lines

    def _shown(self, labels: Ints, topic: int) -> Bools:
        """Which examples show a topic: its own and those of the topics below it; none where it has none of its own."""
        return np.asarray(self._below[topic][np.maximum(labels, 0)] & (labels >= 0) & (labels == topic).any())

    def _parted(self, met: Ints, likeness: Floats, topic: int) -> tuple[Ints, Ints]:
        """Of pages met those that join the examples of a topic, and those that stand for what it is not.

        The latter are of the worse half, and less like the examples than like the page that is the least so: the
        worse half of a crawl that finds little else is on topic too.
        """
        like = likeness[:, topic]
        ranked = met[np.argsort(-like[met], kind="stable")]
        best = ranked[: min(self.options.joining, int(self.options.share * len(ranked)))]
        worse = ranked[len(ranked) // 2 :]
        rivals = np.where(self._below[topic] | self._below[:, topic], -np.inf, likeness[best])
        joins = best[(like[best] >= 0) & (like[best] >= rivals.max(axis=1))]
        return joins, worse[like[worse] < like[worse].min(initial=0.0) / 2]

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        if not len(self.buckets_):
            return [Verdict()] * len(batch)
        sure = self._sure(self._units(batch))
        sure[np.diff(batch.starts) == 0] = 0.0
        return best_verdicts(sure, sure, self.options.threshold, self.options.overlap)

    def _units(self, batch: Words) -> csr_matrix:
        """Page vectors over the buckets that are known, and one more for all others, which count nothing."""
        bags = batch.bags
        shape = len(batch), len(self._idf)
        return _units(csr_matrix((bags.counts, self._place[bags.buckets], bags.starts), shape=shape), self._idf)

    def _sure(self, units: csr_matrix) -> Floats:
        """How sure it is of each topic; of a page that is also of a topic below, that one takes it over."""
        sure = confidence(units @ self._profiles, self.lines_[:, 0], self.lines_[:, 1])
        for topic in np.argsort(-self._below.sum(axis=1), kind="stable").tolist():  # from the top down
            below = np.flatnonzero(self._below[topic])
            below = below[below != topic]
            if not len(below):
                break
            best = below[sure[:, below].argmax(axis=1)]
            page = np.flatnonzero(sure[np.arange(len(sure)), best] >= self.options.threshold)
            sure[page, best[page]] = np.maximum(sure[page, best[page]], sure[page, topic])
            sure[page, topic] = 0.0
        return sure

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """The words that speak for the page's best topic, and how much each does."""
        batch = words([page.text])
        if not len(self.buckets_) or not len(batch.hashes):
            return []
        unit = self._units(batch)
        best = int(np.argmax(self._sure(unit)[0]))
        value = unit.data * self._profiles[unit.indices, best]
        made = dict(zip(batch.bags.buckets.tolist(), value.tolist(), strict=True))
        named = dict(zip(buckets(batch.hashes).tolist(), batch.strings(), strict=True))
        stop = stop_words("en")
        told = {word: made.get(bucket, 0.0) for bucket, word in named.items() if word not in stop}
        return strongest(told, told.values())[:30]

    def prepare(self) -> Self:
        self._below = _below(self.topics_)
        known = len(self.buckets_)
        self._place = np.full(BUCKETS, known, np.int32)
        self._place[self.buckets_] = np.arange(known)
        self._idf = np.append(self.idf_, np.float32(0))
        self._profiles = np.concatenate([self.weights_, np.zeros((1, len(self.topics_)), np.float32)])
        return self


def _below(topics: Sequence[str]) -> Bools:
    """For each topic, which lie below it or are it."""
    above = [name + BELOW for name in topics]
    return np.array([[(name + BELOW).startswith(one) for name in topics] for one in above], np.bool_).reshape(
        len(topics), len(topics)
    )


def _against(weights: Floats, shown: Bools) -> Floats:
    """How much each page counts as what is not the topic: those that a person gave together as much as all others."""
    given = weights[shown].sum()
    more = weights[~shown].sum() / given if given else 1.0
    return np.where(shown, weights * min(max(more, 1.0), _TELLING), weights)


def _without_themselves(near: Float32s, size: float, weights: Floats) -> Floats:
    """How near pages are to the mean of what was summed up, each without its own part in the sum.

    `near` is how near they are to the sum, in which each has its weight, and `size` the square of its length.
    """
    near = near.astype(np.float64)
    rest = np.sqrt(np.maximum(size - 2 * weights * near + weights**2, 1e-12))
    return np.asarray((near - weights) / rest, np.float64)


def _line(trained: Floats, seen: Floats, own: Bools, other: Bools) -> ScoreLine:
    """A page is on topic that is nearly as near to the examples as the weaker of them are to one another.

    How fast confidence falls beyond that depends on how far away most other pages are. A single example does not say
    how near others may be, nor do such as are unlike each other: then a page must come a part of the way to what they
    are to themselves (`seen`), and share some words with them.
    """
    low = float(np.median(trained[other])) if other.any() else 0.0
    high = _quantile(trained[own], 0.3) if own.any() else float(trained.max())
    least = -np.inf
    if own.sum() == 1:
        high, least = max(high, low + _ALONE * (float(np.median(seen[own])) - low)), _SOME
    return ScoreLine(max(low + _NEARLY * (high - low), least), _STEEP / max(high - low, 1e-6))


def _idf(counted: csr_matrix, real: Bools) -> Float32s:
    """How telling a word is: log(1 + N / df); 0 for words that only made-up pages have."""
    df = np.bincount(counted.indices, minlength=counted.shape[1])
    met = np.bincount(counted.indices, weights=np.repeat(real, np.diff(counted.indptr)), minlength=counted.shape[1])
    return np.where(met > 0, np.log1p(counted.shape[0] / np.maximum(df, 1)), 0).astype(np.float32)


def _units(counted: csr_matrix, idf: Float32s) -> csr_matrix:
    """Page vectors of length 1: (1 + log tf) x idf."""
    value = (1 + np.log(counted.data)) * idf[counted.indices]
    page = np.repeat(np.arange(counted.shape[0]), np.diff(counted.indptr))
    square = np.bincount(page, weights=value * value, minlength=counted.shape[0])
    counted.data = value * (1 / np.sqrt(np.where(square > 0, square, 1))).astype(np.float32)[page]
    return counted


def _quantile(values: Floats, share: float) -> float:
    """As numpy's, which takes ten times as long for a few numbers."""
    return float(np.interp(share * (len(values) - 1), np.arange(len(values)), np.sort(values)))


def _sum(units: csr_matrix, weights: Floats) -> Float32s:
    """The weighted sum of pages; with several columns of weights, as many columns."""
    return np.asarray(units.T @ weights.astype(np.float32), np.float32)


def _sizes(columns: Float32s) -> Float32s:
    """The square of the length of each column."""
    return np.array([column @ column for column in np.ascontiguousarray(columns.T)], np.float32)


def _scaled(columns: Float32s, sizes: Float32s) -> Float32s:
    """The columns brought to length 1."""
    return np.asarray(columns / np.sqrt(np.where(sizes > 0, sizes, 1)), np.float32)
