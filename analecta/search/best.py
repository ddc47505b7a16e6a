"""The best of all pages that a query finds, without a look at all of them."""

from collections.abc import Callable

import numpy as np
import tantivy
from tantivy import Query

from analecta.search.index import schema
from analecta.search.ranking import Hits, Ranked, Sort, Weights, joined, ranked, rivals
from analecta.search.scores import Floats, Numbers, Standing

# Pages that are taken by their words alone. With 1,000 of them every second question in common words needs a second
# search, for up to 8,000 rivals; with 4,000 one in eight does, for a few (measured on 100,000 pages).
_FIRST = 4000

Made = Callable[[Query | None], Query]  # a query; of some pages only, where these are given


class Best:
    """Ranks pages of an index by what is thought of them and by how their words fit."""

    def __init__(self, searcher: tantivy.Searcher, stand: Standing, confidence: Floats, weights: Weights) -> None:
        self.searcher, self.stand, self.confidence, self.weights = searcher, stand, confidence, weights

    def pages(self, made: Made, sort: Sort, top: int) -> Ranked:
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

    def _all(self, query: Query, sort: Sort) -> Ranked:
        found = self._ranked(self._hits(query, self.searcher.num_docs))
        return found.by(self._days(query)[found.places] if sort == "date" else getattr(found, sort))

    def _ranked(self, hits: Hits) -> Ranked:
        return ranked(hits, self.stand, self.confidence, self.weights)

    def _hits(self, query: Query, size: int) -> Hits:
        """The best for the words."""
        best = self.searcher.search(query, max(size, 1), count=False).hits
        places = self.stand.places(self._values("id", [address for _, address in best]))
        return Hits(places, np.array([score or 0.0 for score, _ in best], np.float64)).known()

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
