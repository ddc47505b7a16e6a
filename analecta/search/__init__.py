"""Questions put to a library (B17, C7): what was understood, what was found, counted and ranked, and why."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import msgspec
import tantivy

from analecta.communities.view import Community, CommunityIndex, CommunityList
from analecta.model import NO_TOPIC
from analecta.search import ranking
from analecta.search.communities import FOLDER, SHOWN, CommunityMatch, CommunityMatcher, key
from analecta.search.compile import NONE, QueryCompiler, filtered, first_on, loosened, marked, meant
from analecta.search.index import WORDS, reopen, schema
from analecta.search.query import Node, Only, leaves, parse
from analecta.search.ranking import PageScores, RankedPage, Ranker, Sort, Weights
from analecta.search.snippets import Snippet, snippet
from analecta.search.update import folder_of, in_step, sync
from analecta.settings.load import load
from analecta.store.library import LibraryFolder
from analecta.store.rows import PageSummary
from analecta.store.site_rules import sites_of

# --- What was found, counted: in all, and by topic, community, host, year, type and language -------------------------

FACETS = 10  # values of each that are told
# Each piece of the index counts its own commonest values; so many more are asked for that sums and ties come out right.
_COUNTED, _IN_A_PIECE = 1000, 10_000
_FIELDS = ("topic", "community", "host", "year", "type", "lang")

Facets = dict[str, list[tuple[str, int]]]
ValueNames = Mapping[str, Mapping[str, str]]  # of a field's values, where those are not words themselves


class Counted(msgspec.Struct, frozen=True):
    """How many pages there are, of each community by its key, and for each way of sorting them the commonest values.

    `left_out` are pages on no topic, where these do not count.
    """

    total: int
    communities: dict[str, int]
    facets: Facets
    left_out: int = 0


def counted(searcher: tantivy.Searcher, query: tantivy.Query, names: ValueNames, most: int, every: bool) -> Counted:
    """Count what a query finds, with `every` also pages on no topic.

    `names` are those of topics and communities, and `most` 0 leaves the values out.
    """
    terms = {"size": _COUNTED, "segment_size": _IN_A_PIECE}
    fields = [name for name in _FIELDS if names.get(name, most) and (most or name == "community")]
    asked: dict[str, Any] = {name: {"terms": {"field": name, **terms}} for name in fields}
    found, left_out = _asked(searcher, query, {"total": {"value_count": {"field": "id"}}, **asked}, every)
    values = {name: [_value(bucket) for bucket in found[name]["buckets"]] for name in fields}
    facets = {name: _commonest(values.get(name, []), names.get(name))[:most] for name in _FIELDS if most}
    return Counted(int(found["total"]["value"]), dict(values.get("community", [])), facets, left_out)


def _asked(searcher: tantivy.Searcher, query: tantivy.Query, asked: dict[str, Any], every: bool) -> tuple[Any, int]:
    """What is asked of all pages, or only of those on topics, and how many others there are: one search for both."""
    if every:
        return searcher.aggregate(query, asked), 0
    parts = {"range": {"field": "first", "ranges": [{"to": 0}, {"from": 0}]}, "aggs": asked}
    none, on = searcher.aggregate(query, {"parts": parts})["parts"]["buckets"]
    return on, int(none["doc_count"])


def _value(bucket: Mapping[str, Any]) -> tuple[str, int]:
    """A value and how many pages have it; numbers come as 3.0."""
    key = bucket["key"]
    return key if isinstance(key, str) else str(int(key)), int(bucket["doc_count"])


def _commonest(values: Sequence[tuple[str, int]], names: Mapping[str, str] | None) -> list[tuple[str, int]]:
    """The commonest first, equals by name; without what has no name."""
    pairs = [(value if names is None else names.get(value, ""), n) for value, n in values]
    return sorted((pair for pair in pairs if pair[0]), key=lambda pair: (-pair[1], pair[0]))


# --- Questions put to a library (B17, C7): what was understood, what was found, in which order and why ---------------


class SearchRequest(msgspec.Struct, frozen=True):
    """A question: its words, and how the answer is to be."""

    query: str
    topic: str = ""
    vague: bool = False  # also pages that are only close to the topic
    top: int = 10
    sort: Sort = "relevance"
    weights: Weights = Weights()
    facets: bool = True
    community: str = ""  # only pages of this one: its number, name or a site of it
    inside: bool = False  # only pages of the communities that fit the question, and so many of each as `top` says
    every: bool = False  # also pages on no topic


class SearchHit(msgspec.Struct, frozen=True):
    """A page that was found, with what put it where it is; `title` and `snippet` have the question's words marked."""

    rank: int
    placed: RankedPage
    page: PageSummary
    community: Community | None
    title: Snippet
    snippet: Snippet


class SearchResult(msgspec.Struct, frozen=True):
    """The answer; inside communities the pages of the first come first, and so on."""

    understood: str  # the question as it was understood
    total: int
    some: bool  # no page had all of the words: these have some of them
    communities: list[CommunityMatch]  # those that fit best, and have some of the pages
    hits: list[SearchHit]
    facets: Facets
    left_out: int = 0  # pages on no topic that have all of the words, where these were not asked for
    missing: list[str] = []  # where no page had all: the parts of the question that no page has


_FoundPages = tuple[Counted, list[CommunityMatch], list[SearchHit]]


class SearchIndex:
    """The index of a library, open; what is written to it later is not seen."""

    def __init__(self, library: LibraryFolder) -> None:
        self.library = library
        folder = folder_of(library)
        self.stand: PageScores = ranking.load(folder / ranking.NAME)
        self.searcher: tantivy.Searcher = reopen(folder / WORDS).searcher()
        sites = sites_of(library, load(library.settings_path).sites)
        self.fitting = CommunityMatcher(reopen(folder / FOLDER).searcher(), sites.whole)
        self.homes = CommunityIndex(sites, CommunityList(self.fitting.communities))
        self.names = library.topic_names()
        self.some_off = bool((self.stand.first == NO_TOPIC).any())  # pages on no topic

    def find(self, asked: SearchRequest) -> SearchResult:
        """Answer a question; BadUse where it makes no sense."""
        node = meant(parse(asked.query))
        if asked.inside:
            self.fitting.check()
        if not self.some_off or self._wants_none(node, asked):
            asked = msgspec.structs.replace(asked, every=True)
        fits = self.fitting.fitting(node, asked.community)
        found = self._answer(node, asked, fits)
        if found.total:
            return found
        missing = [str(leaf) for leaf in leaves(node) if not self._total(leaf, asked)]
        more = self._answer(loosened(node), asked, fits)
        changed = {"understood": str(node), "left_out": found.left_out, "missing": missing}
        return msgspec.structs.replace(more, some=more.total > 0, **changed)

    def _answer(self, node: Node, asked: SearchRequest, fits: Sequence[CommunityMatch]) -> SearchResult:
        found = self._inside if asked.inside else self._anywhere
        count, held, hits = found(node, asked, fits)
        why = self.fitting.explained(node, held)
        return SearchResult(str(node), count.total, False, why, hits, count.facets, count.left_out)

    def _wants_none(self, node: Node, asked: SearchRequest) -> bool:
        """Whether pages on no topic are asked for by name."""
        topics = [leaf.value for leaf in leaves(node) if isinstance(leaf, Only) and leaf.field == "topic"]
        return any(NO_TOPIC in first_on(self.names, topic) for topic in (asked.topic, *topics) if topic)

    def _total(self, node: Node, asked: SearchRequest) -> int:
        """How many pages a question finds."""
        return counted(self.searcher, self._query(node, asked, ranking=False), {}, 0, asked.every).total

    def _anywhere(self, node: Node, asked: SearchRequest, fits: Sequence[CommunityMatch]) -> _FoundPages:
        """From all pages. To count and to rank are two searches, which need not wait for one another."""
        made = partial(self._query, node, asked)
        with ThreadPoolExecutor(1) as beside:
            counting = beside.submit(self._counted, made(ranking=False), asked)
            hits = self._hits(made, node, asked)
            count = counting.result()
        return count, _held(fits, count), hits

    def _inside(self, node: Node, asked: SearchRequest, fits: Sequence[CommunityMatch]) -> _FoundPages:
        """From the communities that fit: the pages of each by themselves."""
        every = partial(self._query, node, asked)
        held = _held(fits, self._counted(every(_keys(fits), ranking=False), asked))
        count = self._counted(every(_keys(held), ranking=False), asked)
        return count, held, [hit for fit in held for hit in self._hits(partial(every, _keys([fit])), node, asked)]

    def _query(
        self,
        node: Node,
        asked: SearchRequest,
        communities: Sequence[str] | None = None,
        ranking: bool = True,
        among: tantivy.Query | None = None,
    ) -> tantivy.Query:
        meaning = QueryCompiler(self.names, asked.vague, self._key, self._often, ranking, among)
        chosen = [meaning.topic(asked.topic)] if asked.topic else []
        chosen += [meaning.community(asked.community)] if asked.community else []
        if communities is not None:
            chosen.append(tantivy.Query.term_set_query(schema(), "community", list(communities)))
        on_topic = ranking and not asked.every  # when they are counted, pages on no topic are counted apart
        return filtered(meaning.query(node), *chosen, *([among] if among else []), on_topic=on_topic)

    def _often(self, word: str) -> int:
        return int(self.searcher.doc_freq("text_written", word))

    def _key(self, said: str) -> str:
        return key(self.fitting.wanted(said))

    def _counted(self, query: tantivy.Query, asked: SearchRequest) -> Counted:
        topics = {str(number): name for number, name in [(NO_TOPIC, NONE), *enumerate(self.names)]}
        names = {"topic": topics, "community": self.fitting.names}
        return counted(self.searcher, query, names, FACETS if asked.facets else 0, asked.every)

    def _hits(self, made: Callable[..., tantivy.Query], node: Node, asked: SearchRequest) -> list[SearchHit]:
        """The best that may be shown at this moment, which may be fewer than when the index was made."""
        stand = self.stand
        sure = stand.confidence_for(first_on(self.names, asked.topic)) if asked.topic else stand.confidence
        best = Ranker(self.searcher, stand, sure, asked.weights)
        found = best.pages(lambda among: made(among=among), asked.sort, asked.top)
        words, hits = marked(node), list[SearchHit]()
        with self.library.snapshot() as snapshot:
            for begin in range(0, len(found), asked.top):
                some = found.rows(begin, begin + asked.top)
                pages = snapshot.pages([int(stand.ids[one.place]) for one in some], asked.every)
                there = [(one, pages[id]) for one in some if (id := int(stand.ids[one.place])) in pages]
                hits += [self._hit(len(hits) + n, one, *page, words) for n, (one, page) in enumerate(there, 1)]
                if len(hits) >= asked.top:
                    break
        return hits[: asked.top]

    def _hit(
        self, rank: int, placed: RankedPage, page: PageSummary, text: str, words: tuple[set[str], set[str]]
    ) -> SearchHit:
        title, shown = (snippet(said, *words) for said in (page.title or page.url, text))
        return SearchHit(rank, placed, page, self.homes.of(page.url, page.host), title, shown)


def _held(fits: Sequence[CommunityMatch], count: Counted) -> list[CommunityMatch]:
    """The best of the communities that have any of the pages."""
    there = ((fit, count.communities.get(key(fit.community), 0)) for fit in fits)
    return [msgspec.structs.replace(fit, found=found) for fit, found in there if found][:SHOWN]


def _keys(fits: Sequence[CommunityMatch]) -> list[str]:
    return [key(fit.community) for fit in fits]


def opened(library: LibraryFolder, doing: Callable[[str], None] = lambda what: None) -> SearchIndex:
    """A library to ask, its index in step; made anew where it turns out not to be readable."""
    in_step(library, doing=doing)
    try:
        return SearchIndex(library)
    except (ValueError, OSError, KeyError):
        sync(library, rebuild=True, doing=doing)
        return SearchIndex(library)
