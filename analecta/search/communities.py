"""The index of communities, and those that fit a question."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import msgspec
import tantivy
from tantivy import Occur, Query

from analecta.communities.view import Community, CommunityList, find
from analecta.errors import UsageError
from analecta.search.index import apart, reopen, stems
from analecta.search.query import Node, Only, leaves

FOLDER = "communities"
# What a word is worth in each field: what it is called, its sites, links to its pages, titles of its pages.
WORTH = {"name": 4.0, "sites": 3.0, "links": 1.5, "titles": 1.0}
_MOST = 10_000  # different texts of links, and of titles, that are kept of a community, those met first
_MEMORY = 32_000_000  # bytes


@cache
def schema() -> tantivy.Schema:
    """The fields of a community."""
    builder = tantivy.SchemaBuilder()
    for name in WORTH:
        builder.add_text_field(name, tokenizer_name="stems", index_option="freq")
    builder.add_integer_field("number", indexed=True)
    builder.add_bytes_field("whole", stored=True)
    return builder.build()


def key(community: Community | None) -> str:
    """What its pages have in the index: its first seed, for names and numbers change as a library grows."""
    return community.seeds[0] if community else ""


class CommunityWords:
    """What pages are called, gathered for their communities."""

    def __init__(self) -> None:
        self._titles: dict[str, dict[str, None]] = defaultdict(dict)
        self._links: dict[str, dict[str, None]] = defaultdict(dict)

    def add(self, community: str, title: str, links: Iterable[str]) -> None:
        """Take a page of this community."""
        for kept, texts in ((self._titles[community], (title,)), (self._links[community], links)):
            if len(kept) < _MOST:
                kept.update(dict.fromkeys(texts))

    def document(self, one: Community) -> tantivy.Document:
        """A community as it goes into the index."""
        sites = [member.site for member in one.members]
        texts = {"name": [one.name], "sites": sites, "links": self._links[key(one)], "titles": self._titles[key(one)]}
        made = tantivy.Document()
        for field, said in texts.items():
            made.add_text(field, apart("\n".join(said)))
        made.add_integer("number", one.number)
        made.add_bytes("whole", msgspec.msgpack.encode(one))
        return made


def rewrite(folder: Path, communities: Sequence[Community], said: CommunityWords) -> None:
    """Put these in the place of what is there, at once."""
    writer = reopen(folder / FOLDER).writer(_MEMORY, 1)
    writer.delete_all_documents()
    for one in communities:
        writer.add_document(said.document(one))
    writer.commit()
    writer.wait_merging_threads()


def stored(searcher: tantivy.Searcher) -> list[Community]:
    """All communities, by their numbers."""
    found = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs)).hits
    return sorted((whole(searcher, address) for _, address in found), key=lambda one: one.number)


def whole(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Community:
    """One of them, by where it is."""
    (packed,) = searcher.doc(address)["whole"]
    return msgspec.msgpack.decode(bytes(packed), type=Community)


# --- fitting ---------------------------------------------------------------------------------------------------------
# Which communities a question is about (C7): those that have its words in names, sites, links to them and titles.

SHOWN = 3  # communities that are shown with the pages
_ASKED = 50  # that are looked at, for some have none of the pages found
_CLOSE = 0.3  # of the score of the best: what fits so much less is only confusing
_OTHERS = 0.3  # of the scores of the fields that fit less, as with pages

_ALONE = "a site alone is asked for with site:HOST"

Why = list[tuple[str, list[str]]]  # words of the question, each with the fields that have it


class CommunityMatch(msgspec.Struct, frozen=True):
    """A community, how well it fits a question and why, and how many of the pages found are of it."""

    community: Community
    score: float
    why: Why = []
    found: int = 0


class CommunityMatcher:
    """The communities of an index."""

    def __init__(self, searcher: tantivy.Searcher, parts: dict[str, str]) -> None:
        """`parts` are sites that are part of others, and of which."""
        self.searcher, self.parts = searcher, parts
        self.communities = stored(searcher)
        self.names = {key(one): one.name for one in self.communities}

    def check(self) -> None:
        """BadUse where there are none."""
        if not self.communities:
            raise UsageError(f"the library has no communities of two sites or more: {_ALONE}")

    def wanted(self, said: str) -> Community:
        """The community with this number, name or site; BadUse where there is none."""
        self.check()
        if said.isdecimal() and int(said) not in {one.number for one in self.communities}:
            raise UsageError(f"there is no community {said} of two sites or more: {_ALONE}")
        return find(CommunityList(self.communities, parts=self.parts), said)

    def fitting(self, node: Node, only: str = "") -> list[CommunityMatch]:
        """Those that fit a question, best first; `only` is one that was asked for, and stays whatever it says."""
        asked = [(Occur.Should, _anywhere(stem)) for text in said(node) for stem in stems(text)]
        hits = self.searcher.search(Query.boolean_query(asked), _ASKED, count=False).hits if asked else []
        found = [CommunityMatch(whole(self.searcher, place), round(score or 0.0, 4)) for score, place in hits]
        if only:
            one = self.wanted(only)
            return [fit for fit in found if fit.community == one] or [CommunityMatch(one, 0.0)]
        close = [fit for fit in found if fit.score >= _CLOSE * found[0].score]
        return sorted(close, key=lambda fit: (-fit.score, fit.community.number))

    def explained(self, node: Node, fits: Sequence[CommunityMatch]) -> list[CommunityMatch]:
        """The same with the reasons: which words of the question are where."""
        numbers = [fit.community.number for fit in fits]
        why: dict[int, dict[str, list[str]]] = {number: {} for number in numbers}
        for text, field in product(said(node), WORTH):
            for number in self._with(text, field, numbers):
                why[number].setdefault(text, []).append(field)
        return [msgspec.structs.replace(fit, why=[*why[fit.community.number].items()]) for fit in fits]

    def _with(self, text: str, field: str, numbers: Sequence[int]) -> list[int]:
        """The numbers of those that have a word, or all words of a phrase, in a field."""
        parts = [(Occur.Must, _term(field, stem)) for stem in stems(text)]
        if not parts or not numbers:
            return []
        among = (Occur.Must, Query.term_set_query(schema(), "number", list(numbers)))
        hits = self.searcher.search(Query.boolean_query([*parts, among]), len(numbers), count=False).hits
        return [whole(self.searcher, place).number for _, place in hits]


def said(node: Node) -> list[str]:
    """The words and phrases that a question asks for; what must not be there, and addresses, tell of no community."""
    found = (leaf.text for leaf in leaves(node) if not isinstance(leaf, Only) and leaf.place != "url")
    return list(dict.fromkeys(found))


def _anywhere(stem: str) -> Query:
    fields = [Query.boost_query(_term(field, stem), worth) for field, worth in WORTH.items()]
    return Query.disjunction_max_query(fields, _OTHERS)


def _term(field: str, stem: str) -> Query:
    return Query.term_query(schema(), field, stem, "freq")
