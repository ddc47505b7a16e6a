"""The order of what was found (B17): scores of pages, the weighted sum, and the best of many."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
import tantivy
from tantivy import Query

from analecta.analyse.hits import hubs_and_authorities, link_graph
from analecta.errors import UsageError
from analecta.model import NO_TOPIC
from analecta.search.index import schema
from analecta.store.snapshot import Snapshot
from analecta.views.collections import scaled

# --- scores ----------------------------------------------------------------------------------------------------------
# What is thought of the pages of an index: how surely each is on its topics, and how much its topic's hubs link to it.
#
# This changes with every crawl, for nearly all pages, and is therefore kept beside the index and not inside it.

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
NAME = "standing.npz"


class PageScores(msgspec.Struct, frozen=True):
    """Page i has ids[i], ascending; its digest tells whether it has changed; pair j: page pages[j] is on topics[j]."""

    ids: Numbers
    digests: Numbers
    first: Numbers  # the topic that comes first; OTHERS where it is on none
    confidence: Floats  # for it, or for the nearest
    authority: Floats  # 0 to 1, against the best of that topic
    pages: Numbers
    topics: Numbers
    sure: Floats

    def places(self, ids: Sequence[int]) -> Numbers:
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


class RowCollector:
    """Takes pages one by one; eight bytes a number."""

    def __init__(self) -> None:
        self._columns: dict[str, array[Any]] = {
            name: array("d" if name in ("confidence", "sure") else "q") for name in _GATHERED
        }

    def add(self, id: int, digest: int, topic: int, confidence: float, topics: Sequence[tuple[int, float]]) -> None:
        """Take one page."""
        here = self._columns
        for number, sure in topics:
            here["pages"].append(len(here["ids"]))
            here["topics"].append(number)
            here["sure"].append(sure)
        for name, value in zip(_GATHERED, (id, digest, topic, confidence), strict=False):
            here[name].append(value)

    def standing(self, snapshot: Snapshot) -> PageScores:
        """All pages in order, with the authorities that the library's links give them."""
        found = {name: np.array(values) for name, values in self._columns.items()}
        order = np.argsort(found["ids"], kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        ids, first = found["ids"][order], found["first"][order]
        return PageScores(
            ids, found["digests"][order], first, found["confidence"][order], _authorities(snapshot, ids, first),
            place[found["pages"]], found["topics"], found["sure"],
        )  # fmt: skip


_GATHERED = ("ids", "digests", "first", "confidence", "pages", "topics", "sure")


def _authorities(snapshot: Snapshot, ids: Numbers, first: Numbers) -> Floats:
    """Of each page among those of its first topic, as in collections; pages on no topic have none."""
    own: dict[int, list[int]] = defaultdict(list)
    for id, topic in zip(ids.tolist(), first.tolist(), strict=True):
        if topic != NO_TOPIC:
            own[topic].append(id)
    graph = link_graph(*snapshot.link_arrays())
    found: dict[int, float] = {}
    for pages in own.values():
        found |= scaled(hubs_and_authorities(graph, pages, within_hosts=True)[1], pages)
    return np.array([found.get(id, 0.0) for id in ids.tolist()])


# --- ranking ---------------------------------------------------------------------------------------------------------
# The order of what was found: a weighted sum of how well the words fit, how sure the judge is, and authority (B17).

Sort = Literal["relevance", "confidence", "authority", "date"]


class Weights(msgspec.Struct, frozen=True):
    """What each part counts. All are from 0 to 1: the words against the page that they fit best."""

    text: float = 0.8  # a page is asked for by its words; the rest parts pages that fit alike
    confidence: float = 0.1
    authority: float = 0.1


class IndexHits(msgspec.Struct, frozen=True):
    """What was found, by place in the Standing, in no order that counts; `bm25` as the index gives it."""

    places: Numbers
    bm25: Floats

    def known(self) -> "IndexHits":
        """Those that the Standing knows: an index may be ahead of it for a moment."""
        there = self.places >= 0
        return IndexHits(self.places[there], self.bm25[there])


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

    places: Numbers
    score: Floats
    text: Floats
    confidence: Floats
    authority: Floats

    def __len__(self) -> int:
        return len(self.places)

    def rows(self, begin: int, end: int) -> list[RankedPage]:
        """Some of them, one by one."""
        columns = (self.places, self.score, self.text, self.confidence, self.authority)
        return [RankedPage(*row) for row in zip(*(column[begin:end].tolist() for column in columns), strict=True)]

    def by(self, value: Floats | Numbers) -> "RankedColumns":
        """Those with the greatest value first; equals stay in the order that they have."""
        order = np.argsort(-value, kind="stable")
        return RankedColumns(*(column[order] for column in msgspec.structs.astuple(self)))


def ranked(hits: IndexHits, stand: PageScores, confidence: Floats, weights: Weights) -> RankedColumns:
    """All of them, best first; equals by id, so that the order is the same every time."""
    text, sure, authority = parts(hits, stand, confidence)
    score = weights.text * text + weights.confidence * sure + weights.authority * authority
    order = np.lexsort((stand.ids[hits.places], -np.round(score, 6)))  # the last digits depend on the index's pieces
    return RankedColumns(hits.places[order], score[order], text[order], sure[order], authority[order])


def parts(hits: IndexHits, stand: PageScores, confidence: Floats) -> tuple[Floats, Floats, Floats]:
    """The three parts of the score, each from 0 to 1."""
    best = float(hits.bm25.max()) if len(hits.bm25) else 0.0
    text = hits.bm25 / best if best > 0 else np.zeros(len(hits.bm25))
    return text, confidence[hits.places], stand.authority[hits.places]


def rivals(
    found: RankedColumns, hits: IndexHits, stand: PageScores, confidence: Floats, weights: Weights, wanted: int
) -> Numbers:
    """The pages that fit the words no better than all of these, and could yet come among the first `wanted`.

    By confidence and authority alone they must make up for what they lack: hardly ever are these many.
    """
    best, least = (float(hits.bm25.max()), float(hits.bm25.min())) if len(hits.bm25) else (0.0, 0.0)
    needed = float(found.score[wanted - 1]) if len(found) >= wanted else 0.0
    lacking = needed - weights.text * (least / best if best > 0 else 0.0)
    worth = weights.confidence * confidence + weights.authority * stand.authority
    return np.setdiff1d(np.flatnonzero(worth >= lacking - 1e-6), hits.places)


def joined(first: IndexHits, second: IndexHits) -> IndexHits:
    """All of both."""
    return IndexHits(np.concatenate([first.places, second.places]), np.concatenate([first.bm25, second.bm25]))


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
            return self._all(made(None), sort)
        hits = self._hits(made(None), _FIRST)
        found = self._ranked(hits)
        if len(hits.places) < _FIRST:
            return found
        more = rivals(found, hits, self.stand, self.confidence, self.weights, top)
        if not len(more):
            return found
        among = Query.term_set_query(schema(), "id", self.stand.ids[more].tolist())
        return self._ranked(joined(hits, self._hits(made(among), len(more))))

    def _all(self, query: Query, sort: Sort) -> RankedColumns:
        found = self._ranked(self._hits(query, self.searcher.num_docs))
        return found.by(self._days(query)[found.places] if sort == "date" else getattr(found, sort))

    def _ranked(self, hits: IndexHits) -> RankedColumns:
        return ranked(hits, self.stand, self.confidence, self.weights)

    def _hits(self, query: Query, size: int) -> IndexHits:
        """The best for the words."""
        best = self.searcher.search(query, max(size, 1), count=False).hits
        places = self.stand.places(self._values("id", [address for _, address in best]))
        return IndexHits(places, np.array([score or 0.0 for score, _ in best], np.float64)).known()

    def _days(self, query: Query) -> Numbers:
        """When each page is of, by place; 0 for those that do not say."""
        found = self.searcher.search(query, max(self.searcher.num_docs, 1), count=False).hits
        addresses = [address for _, address in found]
        places, days = self.stand.places(self._values("id", addresses)), np.array(self._values("day", addresses))
        by_place = np.zeros(len(self.stand.ids), np.int64)
        by_place[places[places >= 0]] = days[places >= 0]
        return by_place

    def _values(self, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        return [int(value or 0) for value in self.searcher.fast_field_values(field, addresses)] if addresses else []
