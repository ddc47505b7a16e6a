"""The judge of collection synthesis (S3-S9): a topic is its heaviest words, a page goes to the nearest topic.

The paper has 26 topics side by side, and each is told apart by the words of the others. A person often has one
topic and a few pages, and then two of its formulas fail; the recipe `synthesis` does without our remedies:

- idf = log(N/df) is 0 for a word that all examples share, which are the best words of a single topic.
  Here it is log(1 + N/df), which ranks alike and never is 0.
- A page vector of length 1 over the words of one topic alone is near that topic whatever else the page says.
  Here the page's other words lengthen the vector before it is brought to length 1: each counts as `outside`
  of an average dictionary word, divided by the number of topics, as their words come to do the same work.

Also a word's count on a page is damped, 1 + log(tf): a word a hundred times on a page is no hundred reasons.

Confidence is the correlation, bent so that `correlation`, the paper's line between nuggets and other pages (S6), is
at 0.5 as with every judge.

One topic from 10 examples, average precision on two real webs: the paper's formulas 0.24 and 0.58, with the idf
0.31 and 0.70, damped 0.36 and 0.75, all three 0.52 and 0.82. `outside` was chosen on these same webs, so expect less.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from analecta.errors import UsageError
from analecta.judge.model_files import load_model, save_model
from analecta.model import Example, Page, Verdict
from analecta.text.tokens import Vocabulary, Words, counts, likely_language, stop_words, words

Floats = npt.NDArray[np.float64]

FEW = 7  # the paper's number of hits a topic: fewer examples weigh as if there were as many
_ARRAYS = ("weights_", "frequency_", "idf_", "seen_frequency_")


class Centroid:
    """Judges pages by their correlation with the centroids of the topics."""

    needs: frozenset[str] = frozenset()

    def __init__(
        self,
        terms: int = 20,
        min_shared: int = 4,
        correlation: float = 0.3,
        threshold: float = 0.5,
        overlap: int = 1,
        live_idf: bool = False,
        every: int = 1000,
        min_examples: int = 1,
        smooth: bool = True,
        damp: bool = True,
        outside: float = 0.15,
    ) -> None:
        """Keep the settings: `overlap` topics a page may have, `every` so many pages a live idf is renewed."""
        self.terms = terms
        self.min_shared = min_shared
        self.correlation = correlation
        self.threshold = threshold
        self.overlap = overlap
        self.live_idf = live_idf
        self.every = every
        self.min_examples = min_examples
        self.smooth = smooth
        self.damp = damp
        self.outside = outside

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Learn the centroid of each topic from its example pages."""
        bags = _bags(examples)
        heaviest = [
            self._heaviest([bag for bag, e in zip(bags, examples, strict=True) if e.topic == i])
            for i in range(len(topics))
        ]
        self.topics_ = list(topics)
        self.dictionary_ = sorted(set().union(*heaviest))
        self.weights_ = np.array([[c.get(t, 0.0) for c in heaviest] for t in self.dictionary_]).reshape(
            len(self.dictionary_), len(topics)
        )
        frequency = Counter(term for bag in bags for term in bag)
        self.pages_ = len(examples)
        self.frequency_ = np.array([frequency[t] for t in self.dictionary_], np.int64)
        self.idf_ = self._idf(self.pages_, self.frequency_)
        self.seen_, self.seen_frequency_ = 0, np.zeros_like(self.frequency_)
        return self._prepare()

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """The nearest topic of each page and how near, which is told for OTHERS too."""
        return self.judge_words(words([page.text for page in pages]))

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        """The same for words already cut."""
        found, lengths = counts(batch, self._vocabulary), np.diff(batch.starts)
        if not self.live_idf:
            return self._verdicts(found, lengths)
        verdicts: list[Verdict] = []
        while len(verdicts) < len(batch):  # renewed after the same page, however pages come in batches
            i = len(verdicts)
            j = min(len(batch), i + self.every - self.seen_ % self.every)
            verdicts += self._verdicts(found[i:j], lengths[i:j])
            self._see(found[i:j])
        return verdicts

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """The words that make the correlation with the nearest topic, and how much of it each makes."""
        batch = words([page.text])
        found = counts(batch, self._vocabulary)
        correlations, unit = self._correlate(found, np.diff(batch.starts))
        if not correlations.any():
            return []
        made = unit.data * self._unit[unit.indices, int(correlations[0].argmax())]
        named = zip((self.dictionary_[i] for i in unit.indices), made.tolist(), strict=True)
        return sorted(((t, w) for t, w in named if w > 0), key=lambda pair: (-pair[1], pair[0]))

    def save(self, folder: Path) -> str:
        """Write what was learnt and seen; gives the name to load it by."""
        facts = {name: getattr(self, name) for name in ("topics_", "dictionary_", "pages_", "seen_")}
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        return save_model(folder, {"judge": "centroid", "settings": self._settings()} | facts, arrays)

    @classmethod
    def load(cls, folder: Path, name: str) -> Self:
        """The judge that was saved under this name."""
        facts, arrays = load_model(folder, name, "centroid")
        try:
            judge = cls(**facts["settings"])
            judge.topics_, judge.dictionary_ = facts["topics_"], facts["dictionary_"]
            judge.pages_, judge.seen_ = facts["pages_"], facts["seen_"]
            for key in _ARRAYS:
                setattr(judge, key, arrays[key])
            return judge._prepare()
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"model {name} is not whole: learn it anew") from error

    def _settings(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if not k.startswith("_") and not k.endswith("_")}

    def _heaviest(self, bags: Sequence[Counter[str]]) -> dict[str, float]:
        """The heaviest terms of a topic with their weights (S4); equal weights in the order of the alphabet."""
        if len(bags) < self.min_examples:
            return {}
        total: Counter[str] = Counter()
        for bag in bags:
            total.update(bag)
        pages = Counter(term for bag in bags for term in bag)
        weight = {term: total[term] * pages[term] / max(FEW, len(bags)) for term in total}
        return dict(sorted(weight.items(), key=lambda pair: (-pair[1], pair[0]))[: self.terms])

    def _prepare(self) -> Self:
        """Work out from what was learnt what judging needs; centroids move along with a live idf (S8)."""
        self._vocabulary = Vocabulary(words([" ".join(self.dictionary_)]).hashes)
        self._member = (self.weights_ > 0).astype(np.float64)
        self._needed = np.minimum(self.min_shared, np.maximum(self._member.sum(axis=0), 1))
        first = self._idf(self.pages_, self.frequency_)
        moved = np.divide(self.idf_, first, out=np.ones_like(first), where=first > 0)
        weights = self.weights_ * moved[:, None]
        length = np.sqrt((weights**2).sum(axis=0))
        self._unit = weights / np.where(length > 0, length, 1)
        mean = float((self.idf_**2).mean()) if len(self.idf_) else 0.0
        self._other_word = self.outside * mean / max(len(self.topics_), 1)
        return self

    def _idf(self, pages: int, frequency: npt.NDArray[np.int64]) -> Floats:
        ratio = pages / np.maximum(frequency, 1)
        return np.asarray(np.log1p(ratio) if self.smooth else np.log(np.maximum(ratio, 1)), np.float64)

    def _see(self, found: csr_matrix) -> None:
        self.seen_ += found.shape[0]
        self.seen_frequency_ += np.bincount(found.indices, minlength=len(self.dictionary_))
        if self.seen_ % self.every == 0:
            self.idf_ = self._idf(self.pages_ + self.seen_, self.frequency_ + self.seen_frequency_)
            self._prepare()

    def _correlate(self, found: csr_matrix, lengths: npt.NDArray[np.int64]) -> tuple[Floats, csr_matrix]:
        """Pages x topics correlations (S5), and the page vectors over the dictionary."""
        tf = found.data
        rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        other = lengths - np.bincount(rows, weights=tf, minlength=found.shape[0])
        value = (1 + np.log(tf) if self.damp else tf) * self.idf_[found.indices]
        square = np.bincount(rows, weights=value**2, minlength=found.shape[0]) + self._other_word * other
        value = value / np.sqrt(np.where(square > 0, square, 1))[rows]
        shape = (found.shape[0], len(self.dictionary_))
        unit = csr_matrix((value, found.indices, found.indptr), shape=shape)
        present = csr_matrix((np.ones_like(value), found.indices, found.indptr), shape=shape)
        enough = present @ self._member >= self._needed
        return np.where(enough, unit @ self._unit, 0.0), unit

    def _verdicts(self, found: csr_matrix, lengths: npt.NDArray[np.int64]) -> list[Verdict]:
        if not self.dictionary_:
            return [Verdict()] * found.shape[0]
        correlations, _ = self._correlate(found, lengths)
        order = np.argsort(-correlations, axis=1, kind="stable")[:, : max(self.overlap, 1)]
        ranked = self._confidence(np.take_along_axis(correlations, order, axis=1))
        return [self._verdict(*row) for row in zip(order.tolist(), ranked.tolist(), strict=True)]

    def _confidence(self, correlation: Floats) -> Floats:
        """0 to 0.5 below the line, 0.5 to 1 above."""
        at = self.correlation
        below = 0.5 * correlation / at if at > 0 else np.zeros_like(correlation)
        above = 0.5 + 0.5 * (correlation - at) / (1 - at) if at < 1 else np.full_like(correlation, 0.5)
        return np.where((correlation >= at) & (correlation > 0), np.minimum(above, 1.0), below)

    def _verdict(self, topics: list[int], ranked: list[float]) -> Verdict:
        best = ranked[0]
        if best < self.threshold or best == 0:
            return Verdict(-1, best)
        near = tuple((t, c) for t, c in zip(topics, ranked, strict=True) if c >= self.threshold and c > 0)
        return Verdict(topics[0], best, near)


def _bags(examples: Sequence[Example]) -> list[Counter[str]]:
    """The words of each example with their counts, without stop words (S3)."""
    batch = words([example.text for example in examples])
    strings = batch.strings()
    bags = []
    for begin, end in zip(batch.starts.tolist(), batch.starts.tolist()[1:], strict=False):
        found = strings[begin:end]
        stop = stop_words("en") | stop_words(likely_language(found))
        bags.append(Counter(word for word in found if word not in stop))
    return bags
