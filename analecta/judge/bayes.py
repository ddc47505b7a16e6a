"""The judge of Panorama (P3, P4): Naive Bayes over stems, weighted by the paper's equation 1.

Each topic stands against all that is not of it: the other topics' examples, examples of OTHERS, and stock pages, which
weigh together `negatives` times as much as the topic's own (P3). The log odds of a page are a sum over its words, so
long pages come out as 0 or 1 with nothing between; here the sum is divided by the length of the page's vector, which
keeps the sign, and calibrated like every judge's score. Words that the examples did not have lengthen it too.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from analecta.errors import UsageError
from analecta.judge.calibration import confidence, cross_validated, line
from analecta.judge.features import Features, FeatureSpace, augmented, page_frequency, plain_idf, unit
from analecta.judge.model_files import load_model, save_model
from analecta.judge.training_set import PAGES, material
from analecta.judge.tree import Tree
from analecta.model import Example, Page, Verdict
from analecta.text.tokens import Words, words

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_ARRAYS = ("idf_", "odds_", "middle_", "slope_", "known_")
_ALONE = 0.2  # see calibration.py; words of a single example outweigh all others in its own score
_SPACE = ("hashes", "features", "pairs")


class NaiveBayes:
    """Judges pages by the odds that their words are those of a topic."""

    needs: frozenset[str] = frozenset()

    def __init__(
        self,
        threshold: float = 0.5,
        overlap: int = 1,
        negatives: float = 2.0,
        smoothing: float = 1.0,
        features: int = 20_000,
        stock: int = PAGES,
        outside: float = 0.5,
    ) -> None:
        """Keep the settings: at most so many `features`, the most frequent; `smoothing` is what no word is below."""
        self.threshold = threshold
        self.overlap = overlap
        self.negatives = negatives
        self.smoothing = smoothing
        self.features = features
        self.stock = stock
        self.outside = outside

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Learn how often each topic has each stem; examples of topic -1 are of none of them."""
        given = material(examples, len(topics), self.stock)
        self.topics_, self.features_ = list(topics), Features()
        found = self.features_.learn(given.examples)
        often = page_frequency(found)
        self.features_.keep(np.sort(np.lexsort((np.arange(len(often)), -often))[: min(self.features, found.shape[1])]))
        found, others = self.features_.count_examples(given.examples)
        self.idf_ = plain_idf(len(given.examples), page_frequency(found))
        self.odds_ = np.zeros((len(self.idf_), len(topics)))
        self.middle_, self.slope_ = np.zeros(len(topics)), np.zeros(len(topics))
        self.known_ = np.zeros(len(topics), np.bool_)
        self._prepare()
        plain, vectors = augmented(found, self.idf_), self._vectors(found, others)
        for topic in range(len(topics)):
            yes = given.labels == topic
            if yes.any() and not yes.all():
                self._learn(topic, plain, vectors, yes, given.stock, given.weights)
        return self

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """The likeliest topic of each page and how likely."""
        return self.judge_words(words([page.text for page in pages]))

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        """The same for words already cut."""
        vectors = self._vectors(*self.features_.count(batch))
        sure = confidence(vectors @ self.odds_, self.middle_, self.slope_)
        sure[:, ~self.known_] = 0.0
        sure[np.diff(vectors.indptr) == 0] = 0.0
        return self._tree.verdicts(sure, self.threshold, self.overlap)

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """The words that speak for the likeliest topic, and how much of the score each makes."""
        vector = self._vectors(*self.features_.count(words([page.text])))
        if not self.known_.any() or not vector.nnz:
            return []
        sure = confidence(vector @ self.odds_, self.middle_, self.slope_)[0]
        made = vector.data * self.odds_[vector.indices, np.where(self.known_, sure, -1).argmax()]
        named = zip((self.features_.names[i] for i in vector.indices.tolist()), made.tolist(), strict=True)
        return sorted(((name, w) for name, w in named if w > 0), key=lambda pair: (-pair[1], pair[0]))

    def save(self, folder: Path) -> str:
        """Write what was learnt; gives the name to load it by."""
        settings = {k: v for k, v in vars(self).items() if not k.startswith("_") and not k.endswith("_")}
        space = self.features_.spaces[0]
        facts = {"judge": "bayes", "settings": settings, "topics": self.topics_, "names": space.names}
        return save_model(folder, facts, {name: getattr(self, name) for name in _ARRAYS} | space.arrays())

    @classmethod
    def load(cls, folder: Path, name: str) -> Self:
        """The judge that was saved under this name."""
        facts, arrays = load_model(folder, name, "bayes")
        try:
            judge = cls(**facts["settings"])
            judge.topics_, judge.features_ = facts["topics"], Features()
            space = judge.features_.spaces[0]
            judge.features_.spaces = [
                FeatureSpace.restore("terms", space.window, facts["names"], {key: arrays[key] for key in _SPACE})
            ]
            for key in _ARRAYS:
                setattr(judge, key, arrays[key])
            return judge._prepare()
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"model {name} is not whole: learn it anew") from error

    def _prepare(self) -> Self:
        self._tree = Tree(self.topics_, flat=True)
        self._other_word = self.outside * float((self.idf_**2).mean()) if len(self.idf_) else 0.0
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
        theirs = theirs * (self.negatives * ours.sum() / max(theirs.sum(), 1e-12))
        inside, outside = plain.T @ ours, plain.T @ theirs
        met = inside + outside > 0  # in cross-validation some are not, as on pages to come
        inside, outside = inside + self.smoothing, outside + self.smoothing
        return np.where(met, np.log(inside / inside.sum()) - np.log(outside / outside.sum()), 0.0)

    def _vectors(self, found: csr_matrix, others: Floats) -> csr_matrix:
        return unit(augmented(found, self.idf_), self._other_word * others)
