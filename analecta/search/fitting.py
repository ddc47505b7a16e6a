"""Which communities a question is about (C7): those that have its words in names, sites, links to them and titles."""

from collections.abc import Mapping, Sequence

import msgspec
import tantivy
from tantivy import Occur, Query

from analecta.communities.view import Community, Found, find
from analecta.errors import BadUse
from analecta.search.communities import WORTH, key, schema, stored, whole
from analecta.search.index import stems
from analecta.search.nodes import Node, Only, leaves

SHOWN = 3  # communities that are shown with the pages
_ASKED = 50  # that are looked at, for some have none of the pages found
_CLOSE = 0.3  # of the score of the best: what fits so much less is only confusing
_OTHERS = 0.3  # of the scores of the fields that fit less, as with pages

_ALONE = "a site alone is asked for with site:HOST"

Why = list[tuple[str, list[str]]]  # words of the question, each with the fields that have it


class Fit(msgspec.Struct, frozen=True):
    """A community, how well it fits a question and why, and how many of the pages found are of it."""

    community: Community
    score: float
    why: Why = []
    found: int = 0


class Fitting:
    """The communities of an index."""

    def __init__(self, searcher: tantivy.Searcher, parts: dict[str, str]) -> None:
        """`parts` are sites that are part of others, and of which."""
        self.searcher, self.parts = searcher, parts
        self.communities = stored(searcher)
        self.names = {key(one): one.name for one in self.communities}

    def check(self) -> None:
        """BadUse where there are none."""
        if not self.communities:
            raise BadUse(f"the library has no communities of two sites or more: {_ALONE}")

    def wanted(self, said: str) -> Community:
        """The community with this number, name or site; BadUse where there is none."""
        self.check()
        if said.isdecimal() and int(said) not in {one.number for one in self.communities}:
            raise BadUse(f"there is no community {said} of two sites or more: {_ALONE}")
        return find(Found(self.communities, [], {}, 0, 0, parts=self.parts), said)

    def fitting(self, node: Node, only: str = "") -> list[Fit]:
        """Those that fit a question, best first; `only` is one that was asked for, and stays whatever it says."""
        asked = [(Occur.Should, _anywhere(stem)) for text in said(node) for stem in stems(text)]
        hits = self.searcher.search(Query.boolean_query(asked), _ASKED, count=False).hits if asked else []
        found = [Fit(whole(self.searcher, place), round(score or 0.0, 4)) for score, place in hits]
        if only:
            one = self.wanted(only)
            return [fit for fit in found if fit.community == one] or [Fit(one, 0.0)]
        close = [fit for fit in found if fit.score >= _CLOSE * found[0].score]
        return sorted(close, key=lambda fit: (-fit.score, fit.community.number))

    def explained(self, node: Node, fits: Sequence[Fit]) -> list[Fit]:
        """The same with the reasons: which words of the question are where."""
        numbers = [fit.community.number for fit in fits]
        there = {(text, field): self._with(text, field, numbers) for text in said(node) for field in WORTH}
        return [msgspec.structs.replace(fit, why=_why(there, fit.community.number)) for fit in fits]

    def _with(self, text: str, field: str, numbers: Sequence[int]) -> set[int]:
        """The numbers of those that have a word, or all words of a phrase, in a field."""
        parts = [(Occur.Must, _term(field, stem)) for stem in stems(text)]
        if not parts or not numbers:
            return set()
        among = (Occur.Must, Query.term_set_query(schema(), "number", list(numbers)))
        hits = self.searcher.search(Query.boolean_query([*parts, among]), len(numbers), count=False).hits
        return {whole(self.searcher, place).number for _, place in hits}


def said(node: Node) -> list[str]:
    """The words and phrases that a question asks for; what must not be there, and addresses, tell of no community."""
    found = (leaf.text for leaf in leaves(node) if not isinstance(leaf, Only) and leaf.place != "url")
    return list(dict.fromkeys(found))


def _anywhere(stem: str) -> Query:
    fields = [Query.boost_query(_term(field, stem), worth) for field, worth in WORTH.items()]
    return Query.disjunction_max_query(fields, _OTHERS)


def _term(field: str, stem: str) -> Query:
    return Query.term_query(schema(), field, stem, "freq")


def _why(there: Mapping[tuple[str, str], set[int]], number: int) -> Why:
    """For each word that it has, the fields that have it."""
    found: dict[str, list[str]] = {}
    for (text, field), numbers in there.items():
        if number in numbers:
            found.setdefault(text, []).append(field)
    return list(found.items())
