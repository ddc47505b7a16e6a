"""The judge of the adaptive recipe: a topic is the words its pages have more of than other pages do (Rocchio).

A topic's profile is the mean of its examples less a part of the mean of what is not the topic: other topics'
examples, pages the crawl met far away (examples of topic -1), and made-up everyday pages while there are no others.
It is learnt in milliseconds, so that a crawl can afford to learn again every few pages at first, when it matters:
ten examples say little about which of their words are usual on this web. Learnt again after each 16 pages, a crawl
found 0.65 of the pages it should in the time in which it found 0.60 when learning each 60 (docs/decisions.md).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from analecta.errors import BadUse
from analecta.judge.buckets import SIZE, buckets, rows
from analecta.judge.calibrate import Line, confidence
from analecta.judge.examples import Material, material
from analecta.judge.others import PAGES
from analecta.judge.saved import load_model, save_model
from analecta.model import Example, Page, Verdict
from analecta.terms import Words, stop_words, words

Floats = npt.NDArray[np.float64]
_NEVER = Line(1e3, 1.0)  # for a topic without examples
_ENOUGH = 5  # pages met far away: made-up ones are not needed any more
_MOST = 2000  # examples that are learnt from at once


class Profile:
    """Judges pages by how much their words are those of a topic rather than those of other pages."""

    def __init__(self, away: float = 0.6, terms: int = 4000, overlap: int = 1, threshold: float = 0.5) -> None:
        """`away`: how much what is not the topic counts; `terms`: words a profile keeps, the heaviest."""
        self.away = away
        self.terms = terms
        self.overlap = overlap
        self.threshold = threshold
        self.needs: frozenset[str] = frozenset()
        self._known: dict[str, tuple[npt.NDArray[Any], npt.NDArray[Any]]] = {}

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Learn a profile of each topic."""
        enough = sum(example.topic < 0 for example in examples) >= _ENOUGH
        given = material(examples, len(topics), 0 if enough else PAGES, _MOST)
        self.topics_ = list(topics)
        self.examples_ = len(examples)
        self.buckets_ = np.zeros(0, np.int64)
        self.idf_ = np.zeros(0, np.float32)
        self.weights_ = np.zeros((0, len(topics)), np.float32)
        self.lines_ = np.tile(np.array(_NEVER, np.float64), (len(topics), 1))
        if not given.examples or not topics:
            return self._prepare()
        counted = self._counted([example.text for example in given.examples])
        idf = _idf(counted, ~given.stock)
        known = np.flatnonzero(idf)  # some 30,000 of 262,144: what follows is for these alone
        units = _units(counted, idf)[:, known]
        self.buckets_, self.idf_ = known, idf[known]
        self.weights_ = np.zeros((len(known), len(topics)), np.float32)
        for topic in range(len(topics)):
            if (given.labels == topic).any():
                self.weights_[:, topic], self.lines_[topic] = self._learn(units, given, topic)
        return self._prepare()

    def _counted(self, texts: Sequence[str]) -> csr_matrix:
        """The words of texts; those of the last training, which are mostly the same, are not counted again."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        made = rows(words(new)) if new else None
        known = {text: self._known[text] for text in texts if text in self._known}
        for i, text in enumerate(new):
            assert made is not None
            part = slice(made.indptr[i], made.indptr[i + 1])
            known[text] = made.indices[part], made.data[part]
        self._known = known
        pointers = np.cumsum([0, *(len(known[text][0]) for text in texts)])
        columns = np.concatenate([known[text][0] for text in texts])
        return csr_matrix(
            (np.concatenate([known[text][1] for text in texts]), columns, pointers), shape=(len(texts), SIZE)
        )

    def _learn(self, units: csr_matrix, given: Material, topic: int) -> tuple[npt.NDArray[np.float32], Line]:
        """The profile of one topic, and the line between yes and no."""
        yes = given.labels == topic
        real = ~yes & ~given.stock
        other = real if real.sum() >= _ENOUGH else ~yes
        off = _unit(_sum(units, np.where(other, given.weights, 0.0))) * self.away
        total = _sum(units, np.where(yes, given.weights, 0.0))
        if not total.any():
            return np.zeros(units.shape[1], np.float32), _NEVER
        whole = _unit(total) - off
        trained = np.asarray(units @ whole, np.float64)
        profile = whole.astype(np.float32)
        if np.count_nonzero(profile) > self.terms:
            least = np.partition(np.abs(profile), -self.terms)[-self.terms]
            profile[np.abs(profile) < least] = 0
        return profile, _line(trained, yes & (given.weights >= 1), other)

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """The topics of each page, best first."""
        return self.judge_words(words([page.text for page in pages]))

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        """The same for words already cut."""
        if not len(self.buckets_):
            return [Verdict()] * len(batch)
        sure = confidence(_units(rows(batch), self._idf) @ self._profiles, self.lines_[:, 0], self.lines_[:, 1])
        sure[np.diff(batch.starts) == 0] = 0.0
        order = np.argsort(-sure, axis=1, kind="stable")[:, : max(self.overlap, 1)]
        ranked = np.take_along_axis(sure, order, axis=1)
        return [self._verdict(*row) for row in zip(order.tolist(), ranked.tolist(), strict=True)]

    def _verdict(self, topics: list[int], ranked: list[float]) -> Verdict:
        if ranked[0] < self.threshold:
            return Verdict(-1, ranked[0])
        return Verdict(
            topics[0], ranked[0], tuple((t, c) for t, c in zip(topics, ranked, strict=True) if c >= self.threshold)
        )

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """The words that speak for the page's best topic, and how much each does."""
        batch = words([page.text])
        if not len(self.buckets_) or not len(batch.hashes):
            return []
        unit = _units(rows(batch), self._idf)
        best = int(np.argmax(confidence(unit @ self._profiles, self.lines_[:, 0], self.lines_[:, 1])[0]))
        made = dict(zip(unit.indices.tolist(), (unit.data * self._profiles[unit.indices, best]).tolist(), strict=True))
        named = dict(zip(buckets(batch.hashes).tolist(), batch.strings(), strict=True))
        stop = stop_words("en")
        told = [(word, made.get(bucket, 0.0)) for bucket, word in named.items() if word not in stop]
        return sorted(((w, v) for w, v in told if v > 0), key=lambda pair: (-pair[1], pair[0]))[:30]

    def save(self, folder: Path) -> str:
        """Write what was learnt; gives the name to load it by."""
        names = ("away", "terms", "overlap", "threshold")
        facts = {
            "judge": "profile",
            "settings": {name: getattr(self, name) for name in names},
            "topics": self.topics_,
            "examples": self.examples_,
        }
        arrays: dict[str, npt.NDArray[Any]] = {
            "buckets": self.buckets_.astype(np.int32),
            "idf": self.idf_,
            "weights": self.weights_,
            "lines": self.lines_,
        }
        return save_model(folder, facts, arrays)

    @classmethod
    def load(cls, folder: Path, name: str) -> Self:
        """The judge that was saved under this name."""
        facts, arrays = load_model(folder, name, "profile")
        try:
            judge = cls(**facts["settings"])
            judge.topics_, judge.examples_ = facts["topics"], facts["examples"]
            judge.buckets_, judge.idf_ = arrays["buckets"].astype(np.int64), arrays["idf"]
            judge.weights_, judge.lines_ = arrays["weights"], arrays["lines"]
            return judge._prepare()
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise BadUse(f"model {name} is not whole: learn it anew") from error

    def _prepare(self) -> Self:
        self._idf = np.zeros(SIZE, np.float32)
        self._idf[self.buckets_] = self.idf_
        self._profiles = np.zeros((SIZE, len(self.topics_)), np.float32)
        self._profiles[self.buckets_] = self.weights_
        return self


def _line(trained: Floats, own: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> Line:
    """The line between yes and no lies midway between most other pages and the weaker of the person's examples.

    Platt's sigmoid (judge/calibrate.py) is steeper. Here the crawl learns from confidences which links were worth
    following, and is led better by ones that tell a fair page from a bad one.
    """
    low = float(np.median(trained[other])) if other.any() else 0.0
    high = float(np.quantile(trained[own], 0.3)) if own.any() else float(trained.max())
    return Line((low + high) / 2, 2 / max(high - low, 1e-6))


def _idf(counted: csr_matrix, real: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """How telling a word is: log((1 + N / df) / 2), which is 0 for words that all pages use; and for words
    that only made-up pages have."""
    seen = counted[np.flatnonzero(real)]
    met = np.bincount(seen.indices, minlength=SIZE)
    df = np.bincount(counted.indices, minlength=SIZE)
    return np.where(met > 0, np.log((1 + counted.shape[0] / np.maximum(df, 1)) / 2), 0).astype(np.float32)


def _units(counted: csr_matrix, idf: npt.NDArray[np.float32]) -> csr_matrix:
    """Page vectors of length 1: (1 + log tf) x idf."""
    value = (1 + np.log(counted.data)) * idf[counted.indices]
    page = np.repeat(np.arange(counted.shape[0]), np.diff(counted.indptr))
    square = np.bincount(page, weights=value**2, minlength=counted.shape[0])
    value = (value / np.sqrt(np.where(square > 0, square, 1))[page]).astype(np.float32)
    return csr_matrix((value, counted.indices, counted.indptr), shape=counted.shape)


def _sum(units: csr_matrix, weights: Floats) -> Floats:
    return np.asarray(units.T @ weights, np.float64).ravel()


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
