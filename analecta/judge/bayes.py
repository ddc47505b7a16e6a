"""The judge of Panorama (P3, P4): Naive Bayes over stems, weighted by the paper's equation 1.

Each topic stands against all that is not of it: the other topics' examples, examples of OTHERS, and stock pages, which
weigh together `negatives` times as much as the topic's own (P3). The log odds of a page are a sum over its words, so
long pages come out as 0 or 1 with nothing between; here the sum is divided by the length of the page's vector, which
keeps the sign, and calibrated like every judge's score. Words that the examples did not have lengthen it too.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec
import numpy as np
from scipy.sparse import csr_matrix

from analecta.arrays import Array, Bools, Floats
from analecta.judge.base import TrainedJudge, best_verdicts, strongest
from analecta.judge.calibration import confidence, cross_validated, line
from analecta.judge.features import Features, augmented, page_frequency, plain_idf, unit
from analecta.judge.training_set import PAGES, material
from analecta.model import Example, Page, Verdict
from analecta.text.tokens import Words, words

_ALONE = 0.2  # see calibration.py; words of a single example outweigh all others in its own score


class BayesOptions(msgspec.Struct, frozen=True):
    """At most so many `features`, the most frequent; `smoothing` is what no word is below."""

    threshold: float = 0.5
    overlap: int = 1
    negatives: float = 2.0
    smoothing: float = 1.0
    features: int = 20_000
    stock: int = PAGES
    outside: float = 0.5


class NaiveBayes(TrainedJudge[BayesOptions]):
    """Judges pages by the odds that their words are those of a topic."""

    kind = "bayes"
    options_type = BayesOptions
    saved_arrays = ("idf_", "odds_", "middle_", "slope_", "known_")

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Learn how often each topic has each stem; examples of topic -1 are of none of them."""
        given = material(examples, len(topics), self.options.stock)
        self.topics_, self.features_ = list(topics), Features()
        found = self.features_.learn(given.examples)
        often = page_frequency(found)
        self.features_.keep(np.sort(np.lexsort((np.arange(len(often)), -often))[: self.options.features]))
        found, others = self.features_.count_examples(given.examples)
        self.idf_ = plain_idf(len(given.examples), page_frequency(found))
        self.odds_ = np.zeros((len(self.idf_), len(topics)))
        self.middle_, self.slope_ = np.zeros(len(topics)), np.zeros(len(topics))
        self.known_ = np.zeros(len(topics), np.bool_)
        self.prepare()
        plain, vectors = augmented(found, self.idf_), self._vectors(found, others)
        for topic in range(len(topics)):
            yes = given.labels == topic
            if yes.any() and not yes.all():
                self._learn(topic, plain, vectors, yes, given.stock, given.weights)
        return self

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        vectors = self._vectors(*self.features_.count(batch))
        sure = confidence(vectors @ self.odds_, self.middle_, self.slope_)
        sure[:, ~self.known_] = 0.0
        sure[np.diff(vectors.indptr) == 0] = 0.0
        return best_verdicts(sure, sure, self.options.threshold, self.options.overlap)

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """The words that speak for the likeliest topic, and how much of the score each makes."""
        vector = self._vectors(*self.features_.count(words([page.text])))
        if not self.known_.any() or not vector.nnz:
            return []
        sure = confidence(vector @ self.odds_, self.middle_, self.slope_)[0]
        made = vector.data * self.odds_[vector.indices, np.where(self.known_, sure, -1).argmax()]
        return strongest((self.features_.names[i] for i in vector.indices.tolist()), made.tolist())

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        facts, arrays = super().state()
        return facts | {"names": self.features_.names}, arrays | self.features_.spaces[0].arrays()

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        self.features_ = Features()
        self.features_.spaces[0].restore(facts["names"], arrays)
        return super().restore(facts, arrays)

    def prepare(self) -> Self:
        self._other_word = self.options.outside * float((self.idf_**2).mean()) if len(self.idf_) else 0.0
        return self

    def _learn(
        self, topic: int, plain: csr_matrix, vectors: csr_matrix, yes: Bools, stock: Bools, weights: Floats
    ) -> None:
        odds = self._odds(plain, yes, weights)
        unseen = cross_validated(yes, lambda some: vectors @ self._odds(plain, yes, weights * some))
        self.odds_[:, topic] = odds
        self.middle_[topic], self.slope_[topic] = line(yes, stock, vectors @ odds, unseen, _ALONE)
        self.known_[topic] = True

    def _odds(self, plain: csr_matrix, yes: Bools, weights: Floats) -> Floats:
        """log Pr(stem | topic) / Pr(stem | not the topic) of each stem."""
        ours, theirs = weights * yes, weights * ~yes
        theirs = theirs * (self.options.negatives * ours.sum() / max(theirs.sum(), 1e-12))
        inside, outside = plain.T @ ours, plain.T @ theirs
        met = inside + outside > 0  # in cross-validation some are not, as on pages to come
        inside, outside = inside + self.options.smoothing, outside + self.options.smoothing
        return np.where(met, np.log(inside / inside.sum()) - np.log(outside / outside.sum()), 0.0)

    def _vectors(self, found: csr_matrix, others: Floats) -> csr_matrix:
        return unit(augmented(found, self.idf_), self._other_word * others)
