"""The order of what was found: a weighted sum of how well the words fit, how sure the judge is, and authority (B17)."""

from typing import Literal

import msgspec
import numpy as np

from analecta.errors import BadUse
from analecta.search.scores import Floats, Numbers, Standing

Sort = Literal["relevance", "confidence", "authority", "date"]


class Weights(msgspec.Struct, frozen=True):
    """What each part counts. All are from 0 to 1: the words against the page that they fit best."""

    text: float = 0.8  # a page is asked for by its words; the rest parts pages that fit alike
    confidence: float = 0.1
    authority: float = 0.1


class Hits(msgspec.Struct, frozen=True):
    """What was found, by place in the Standing, in no order that counts; `bm25` as the index gives it."""

    places: Numbers
    bm25: Floats

    def known(self) -> "Hits":
        """Those that the Standing knows: an index may be ahead of it for a moment."""
        there = self.places >= 0
        return Hits(self.places[there], self.bm25[there])


class Placed(msgspec.Struct, frozen=True):
    """A page and what put it where it is."""

    place: int
    score: float
    text: float
    confidence: float
    authority: float


def read_weights(said: str) -> Weights:
    """Weights as a person writes them: text=1,authority=0.5; those left out are as they were."""
    found: dict[str, float] = {}
    for pair in filter(None, said.replace(" ", "").split(",")):
        name, _, value = pair.partition("=")
        if name not in Weights.__struct_fields__:
            raise BadUse(f"there is no weight {name!r}: they are {', '.join(Weights.__struct_fields__)}")
        found[name] = _weight(pair, value)
    weights = Weights(**found)
    if not sum(msgspec.structs.astuple(weights)):
        raise BadUse("one weight at least must be more than 0")
    return weights


def _weight(pair: str, value: str) -> float:
    try:
        weight = float(value)
    except ValueError:
        weight = -1.0
    if not 0 <= weight <= 1000:
        raise BadUse(f"{pair!r} is no weight: write text=0.8,confidence=0.1 with numbers from 0 to 1000")
    return weight


class Ranked(msgspec.Struct, frozen=True):
    """Pages in order, each column for one thing that is known of them."""

    places: Numbers
    score: Floats
    text: Floats
    confidence: Floats
    authority: Floats

    def __len__(self) -> int:
        return len(self.places)

    def rows(self, begin: int, end: int) -> list[Placed]:
        """Some of them, one by one."""
        columns = (self.places, self.score, self.text, self.confidence, self.authority)
        return [Placed(*row) for row in zip(*(column[begin:end].tolist() for column in columns), strict=True)]

    def by(self, value: Floats | Numbers) -> "Ranked":
        """Those with the greatest value first; equals stay in the order that they have."""
        order = np.argsort(-value, kind="stable")
        return Ranked(*(column[order] for column in msgspec.structs.astuple(self)))


def ranked(hits: Hits, stand: Standing, confidence: Floats, weights: Weights) -> Ranked:
    """All of them, best first; equals by id, so that the order is the same every time."""
    text, sure, authority = parts(hits, stand, confidence)
    score = weights.text * text + weights.confidence * sure + weights.authority * authority
    order = np.lexsort((stand.ids[hits.places], -np.round(score, 6)))  # the last digits depend on the index's pieces
    return Ranked(hits.places[order], score[order], text[order], sure[order], authority[order])


def parts(hits: Hits, stand: Standing, confidence: Floats) -> tuple[Floats, Floats, Floats]:
    """The three parts of the score, each from 0 to 1."""
    best = float(hits.bm25.max()) if len(hits.bm25) else 0.0
    text = hits.bm25 / best if best > 0 else np.zeros(len(hits.bm25))
    return text, confidence[hits.places], stand.authority[hits.places]


def rivals(found: Ranked, hits: Hits, stand: Standing, confidence: Floats, weights: Weights, wanted: int) -> Numbers:
    """The pages that fit the words no better than all of these, and could yet come among the first `wanted`.

    By confidence and authority alone they must make up for what they lack: hardly ever are these many.
    """
    best, least = (float(hits.bm25.max()), float(hits.bm25.min())) if len(hits.bm25) else (0.0, 0.0)
    needed = float(found.score[wanted - 1]) if len(found) >= wanted else 0.0
    lacking = needed - weights.text * (least / best if best > 0 else 0.0)
    worth = weights.confidence * confidence + weights.authority * stand.authority
    return np.setdiff1d(np.flatnonzero(worth >= lacking - 1e-6), hits.places)


def joined(first: Hits, second: Hits) -> Hits:
    """All of both."""
    return Hits(np.concatenate([first.places, second.places]), np.concatenate([first.bm25, second.bm25]))
