"""Questions put to a library (B17): what was understood, what was found, in which order and why."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec
import numpy as np
import tantivy

from analecta.errors import BadUse
from analecta.publish.search import standing
from analecta.publish.search.facets import MOST as FACETS
from analecta.publish.search.facets import Counted, Facets, counted
from analecta.publish.search.index import reopen, schema
from analecta.publish.search.keeping import in_step, sync
from analecta.publish.search.kept import folder_of
from analecta.publish.search.meaning import Meaning, check, filtered, marked
from analecta.publish.search.query import Node, Problem, parse
from analecta.publish.search.ranking import Hits, Placed, Sort, Weights, by, by_day, joined, ranked, rivals
from analecta.publish.search.rows import Row, rows
from analecta.publish.search.snippets import Snippet, snippet
from analecta.publish.search.standing import Floats, Standing
from analecta.publish.search.topics import also_on, first_on
from analecta.store.library import Library

_FIRST = 1000  # hits that are taken from the index by their words alone
_Told = Callable[[str], None]


class Asked(msgspec.Struct, frozen=True):
    """A question: its words, and how the answer is to be."""

    query: str
    topic: str = ""
    vague: bool = False  # also pages that are only close to the topic
    top: int = 10
    sort: Sort = "relevance"
    weights: Weights = Weights()
    facets: bool = True


class Hit(msgspec.Struct, frozen=True):
    """A page that was found, with what put it where it is; `title` and `snippet` have the question's words marked."""

    rank: int
    placed: Placed
    page: Row
    title: Snippet
    snippet: Snippet


class Found(msgspec.Struct, frozen=True):
    """The answer."""

    understood: str  # the question as it was understood
    total: int
    some: bool  # no page had all of the words: these have some of them
    hits: list[Hit]
    facets: Facets


class Search:
    """The index of a library, open; what is written to it later is not seen."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.stand: Standing = standing.load(folder_of(library) / standing.NAME)
        self.searcher: tantivy.Searcher = reopen(folder_of(library)).searcher()
        self.names = library.topic_names()

    def find(self, asked: Asked) -> Found:
        """Answer a question; BadUse where it makes no sense."""
        node = parse(asked.query)
        if isinstance(node, Problem):
            raise BadUse(str(node))
        check(node)
        some = False
        count = self._counted(node, asked, some)
        if not count.total:
            count = self._counted(node, asked, some=True)
            some = count.total > 0
        found = self._placed(self._query(node, asked, some), asked, count.total)
        with self.library.shards() as shards:
            hits = self._shown(shards, found, node, asked.top)
        return Found(str(node), count.total, some, hits, count.facets)

    def _query(self, node: Node, asked: Asked, some: bool, ranking: bool = True) -> tantivy.Query:
        also = partial(also_on, self.names, vague=asked.vague)
        meaning = Meaning(partial(first_on, self.names), also, ranking)
        chosen = [meaning.topic(asked.topic)] if asked.topic else []
        return filtered(meaning.query(node, some), *chosen)

    def _counted(self, node: Node, asked: Asked, some: bool) -> Counted:
        query = self._query(node, asked, some, ranking=False)
        return counted(self.searcher, query, self.names, FACETS if asked.facets else 0)

    def _placed(self, query: tantivy.Query, asked: Asked, total: int) -> list[Placed]:
        """What was found in order; by relevance only the best, but those are the best of all."""
        sure, weights = self._confidence(asked), asked.weights
        hits = self._hits(query, total if asked.sort != "relevance" else min(total, _FIRST))
        found = ranked(hits, self.stand, sure, weights)
        if asked.sort == "date":
            return by_day(found, self._days(query, total))
        if len(hits.places) < total and asked.sort == "relevance":
            more = rivals(found, hits, self.stand, sure, weights, asked.top)
            if len(more):
                chosen = tantivy.Query.term_set_query(schema(), "id", self.stand.ids[more].tolist())
                hits = joined(hits, self._hits(filtered(query, chosen), len(more)))
                found = ranked(hits, self.stand, sure, weights)
        return by(asked.sort, found)

    def _hits(self, query: tantivy.Query, size: int) -> Hits:
        """The best for the words."""
        best = self.searcher.search(query, max(size, 1), count=False).hits
        places = self.stand.places(self._values("id", [address for _, address in best]))
        return Hits(places, np.array([score or 0.0 for score, _ in best], np.float64)).known()

    def _days(self, query: tantivy.Query, total: int) -> dict[int, int]:
        """When each page is of, by place."""
        addresses = [address for _, address in self.searcher.search(query, max(total, 1), count=False).hits]
        places = self.stand.places(self._values("id", addresses)).tolist()
        return dict(zip(places, self._values("day", addresses), strict=True))

    def _values(self, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        return [int(value or 0) for value in self.searcher.fast_field_values(field, addresses)] if addresses else []

    def _confidence(self, asked: Asked) -> Floats:
        """Of each page: for the topic that was asked for, or for its own."""
        if not asked.topic:
            return self.stand.confidence
        return self.stand.confidence_for(first_on(self.names, asked.topic))

    def _shown(self, shards: Sequence[sqlite3.Connection], found: Sequence[Placed], node: Node, top: int) -> list[Hit]:
        """The first of them that may be shown at this moment, which may be fewer than when the index was made."""
        stems, words = marked(node)
        hits: list[Hit] = []
        for begin in range(0, len(found), top):
            some = found[begin : begin + top]
            ids = [int(self.stand.ids[one.place]) for one in some]
            pages = rows(shards, ids)
            for one, id in zip(some, ids, strict=True):
                if id in pages and len(hits) < top:
                    page, text = pages[id]
                    title = snippet(page.title or page.url, stems, words)
                    hits.append(Hit(len(hits) + 1, one, page, title, snippet(text, stems, words)))
            if len(hits) == top:
                break
        return hits


def opened(library: Library, communities: Mapping[str, str] | None = None, doing: _Told = lambda what: None) -> Search:
    """A library to ask, its index in step; made anew where it turns out not to be readable."""
    in_step(library, communities, doing=doing)
    try:
        return Search(library)
    except (ValueError, OSError, KeyError):
        sync(library, communities, rebuild=True, doing=doing)
        return Search(library)
