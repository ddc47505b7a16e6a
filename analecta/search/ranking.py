"""The order of what was found (B17): scores of pages, the weighted sum, and the best of many."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import tantivy
from tantivy import Query

from analecta.analyse.hits import hubs_and_authorities, link_graph
from analecta.arrays import Floats, Ints
from analecta.errors import UsageError
from analecta.model import NO_TOPIC
from analecta.search.index import schema
from analecta.store.snapshot import Snapshot
from analecta.views.collections import scaled

# --- scores ----------------------------------------------------------------------------------------------------------
# What is thought of the pages of an index: how surely each is on its topics, and how much its topic's hubs link to it.
#
# This changes with every crawl, for nearly all pages, and is therefore kept beside the index and not inside it.

NAME = "standing.npz"
ScoreRow = tuple[int, int, int, float, Sequence[tuple[int, float]]]  # id, digest, first topic, confidence, all topics


class PageScores(msgspec.Struct, frozen=True):
    """Page i has ids[i], ascending; its digest tells whether it has changed; pair j: page pages[j] is on topics[j]."""

    ids: Ints
    digests: Ints
    first: Ints  # the topic that comes first; OTHERS where it is on none
    confidence: Floats  # for it, or for the nearest
    authority: Floats  # 0 to 1, against the best of that topic
    pages: Ints
    topics: Ints
    sure: Floats

    def places(self, ids: Sequence[int]) -> Ints:
        """Where these pages are; -1 for those that are not here."""
        wanted = np.array(ids, np.int64)
        if not len(self.ids):
            return np.full(len(wanted), -1, np.int64)
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return np.where(self.ids[at] == wanted, at, -1)

    def confidence_for(self, topics: Sequence[int]) -> Floats:
        """How sure it is that each page is on one of these topics; 0 where that was never said."""
        found = np.zeros(len(self.ids))
        pairs = np.isin(self.topics, topics)
        np.maximum.at(found, self.pages[pairs], self.sure[pairs])
        return found

    def save(self, path: Path) -> None:
        """Write it; whole or not at all."""
        part = path.with_name(f".{path.name}.part")
        with part.open("wb") as out:
            np.savez(out, **msgspec.structs.asdict(self))
        part.replace(path)


def load(path: Path) -> PageScores:
    """What `save` wrote; OSError, KeyError or ValueError where it is not whole."""
    with np.load(path, allow_pickle=False) as kept:
        return PageScores(*(kept[name] for name in PageScores.__struct_fields__))


def page_scores(rows: Iterable[ScoreRow], snapshot: Snapshot) -> PageScores:
    """The scores of these pages, with the authorities that the library's links give them."""
    pages, topics, sure = array("q"), array("q"), array("d")  # eight bytes a number: there may be millions

    def alone() -> Iterator[tuple[int, int, int, float]]:
        for n, (id, digest, first, confidence, on) in enumerate(rows):
            for topic, how_sure in on:
                pages.append(n)
                topics.append(topic)
                sure.append(how_sure)
            yield id, digest, first, confidence

    found = np.fromiter(alone(), [("ids", "i8"), ("digests", "i8"), ("first", "i8"), ("confidence", "f8")])
    order = np.argsort(found["ids"], kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ids, digests, first, confidence = (found[name][order] for name in ("ids", "digests", "first", "confidence"))
    authority = _authorities(snapshot, ids, first)
    return PageScores(ids, digests, first, confidence, authority, place[pages], np.array(topics), np.array(sure))


def _authorities(snapshot: Snapshot, ids: Ints, first: Ints) -> Floats:
    """Of each page among those of its first topic, as in collections; pages on no topic have none."""
    graph, found = link_graph(*snapshot.link_arrays()), np.zeros(len(ids))
    for topic in np.unique(first[first != NO_TOPIC]):
        own = ids[first == topic].tolist()
        authority = scaled(hubs_and_authorities(graph, own, within_hosts=True)[1], own)
        found[first == topic] = [authority.get(id, 0.0) for id in own]
    return found


# --- ranking ---------------------------------------------------------------------------------------------------------
# The order of what was found: a weighted sum of how well the words fit, how sure the judge is, and authority (B17).

Sort = Literal["relevance", "confidence", "authority", "date"]


class Weights(msgspec.Struct, frozen=True):
    """What each part counts. All are from 0 to 1: the words against the page that they fit best."""

    text: float = 0.8  # a page is asked for by its words; the rest parts pages that fit alike
    confidence: float = 0.1
    authority: float = 0.1


class RankedPage(msgspec.Struct, frozen=True):
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
            raise UsageError(f"there is no weight {name!r}: they are {', '.join(Weights.__struct_fields__)}")
        found[name] = _weight(pair, value)
    weights = Weights(**found)
    if not sum(msgspec.structs.astuple(weights)):
        raise UsageError("one weight at least must be more than 0")
    return weights


def _weight(pair: str, value: str) -> float:
    try:
        weight = float(value)
    except ValueError:
        weight = -1.0
    if not 0 <= weight <= 1000:
        raise UsageError(f"{pair!r} is no weight: write text=0.8,confidence=0.1 with numbers from 0 to 1000")
    return weight


class RankedColumns(msgspec.Struct, frozen=True):
    """Pages in order, each column for one thing that is known of them."""

    places: Ints
    score: Floats
    text: Floats
    confidence: Floats
    authority: Floats

    def __len__(self) -> int:
        return len(self.places)

    def rows(self, begin: int, end: int) -> list[RankedPage]:
        """Some of them, one by one."""
        columns = (column[begin:end].tolist() for column in msgspec.structs.astuple(self))
        return [RankedPage(*row) for row in zip(*columns, strict=True)]

    def at(self, order: Ints) -> "RankedColumns":
        """Those at these places, in this order."""
        return RankedColumns(*(column[order] for column in msgspec.structs.astuple(self)))


# --- The best of all pages that a query finds, without a look at all of them -----------------------------------------

# Pages that are taken by their words alone. With 1,000 of them every second question in common words needs a second
# search, for up to 8,000 rivals; with 4,000 one in eight does, for a few (measured on 100,000 pages).
_FIRST = 4000

Made = Callable[[Query | None], Query]  # a query; of some pages only, where these are given


class Ranker:
    """Ranks pages of an index by what is thought of them and by how their words fit."""

    def __init__(self, searcher: tantivy.Searcher, stand: PageScores, confidence: Floats, weights: Weights) -> None:
        self.searcher, self.stand, self.confidence, self.weights = searcher, stand, confidence, weights

    def pages(self, made: Made, sort: Sort, top: int) -> RankedColumns:
        """What was found in order; by relevance only the best `top` and some more, but those are the best of all."""
        if sort != "relevance":
            query = made(None)
            found = self._ranked(*self._hits(query, self.searcher.num_docs))
            value = self._days(query)[found.places] if sort == "date" else getattr(found, sort)
            return found.at(np.argsort(-value, kind="stable"))  # equals stay in the order that they have
        places, bm25 = self._hits(made(None), _FIRST)
        found = self._ranked(places, bm25)
        if len(places) < _FIRST or not len(more := self._rivals(found, top)):
            return found
        among = Query.term_set_query(schema(), "id", self.stand.ids[more].tolist())
        others, theirs = self._hits(made(among), len(more))
        return self._ranked(np.concatenate([places, others]), np.concatenate([bm25, theirs]))

    def _ranked(self, places: Ints, bm25: Floats) -> RankedColumns:
        """All of them, best first; equals by id, so that the order is the same every time."""
        best = float(bm25.max(initial=0.0))
        text = bm25 / best if best > 0 else np.zeros(len(bm25))
        sure, authority, weights = self.confidence[places], self.stand.authority[places], self.weights
        score = weights.text * text + weights.confidence * sure + weights.authority * authority
        rounded = np.round(score, 6)  # the last digits depend on the index's pieces
        return RankedColumns(places, score, text, sure, authority).at(np.lexsort((self.stand.ids[places], -rounded)))

    def _rivals(self, found: RankedColumns, wanted: int) -> Ints:
        """The pages that fit the words no better than all of these, and could yet come among the first `wanted`.

        By confidence and authority alone they must make up for what they lack: hardly ever are these many.
        """
        needed = float(found.score[wanted - 1]) if len(found) >= wanted else 0.0
        lacking = needed - self.weights.text * float(found.text.min())
        worth = self.weights.confidence * self.confidence + self.weights.authority * self.stand.authority
        return np.setdiff1d(np.flatnonzero(worth >= lacking - 1e-6), found.places)

    def _hits(self, query: Query, size: int) -> tuple[Ints, Floats]:
        """The places of the best for the words, in no order that counts, and their scores as the index gives them."""
        best = self.searcher.search(query, max(size, 1), count=False).hits
        places = self.stand.places(self._values("id", [address for _, address in best]))
        known = places >= 0  # an index may be ahead of what is thought of its pages for a moment
        return places[known], np.array([score or 0.0 for score, _ in best], np.float64)[known]

    def _days(self, query: Query) -> Ints:
        """When each page is of, by place; 0 for those that do not say."""
        found = self.searcher.search(query, max(self.searcher.num_docs, 1), count=False).hits
        addresses = [address for _, address in found]
        places, days = self.stand.places(self._values("id", addresses)), np.array(self._values("day", addresses))
        by_place = np.zeros(len(self.stand.ids), np.int64)
        by_place[places[places >= 0]] = days[places >= 0]
        return by_place

    def _values(self, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        return [int(value or 0) for value in self.searcher.fast_field_values(field, addresses)] if addresses else []
