"""What a question means to the index: topics by name, words in the fields that count, filters."""

from collections.abc import Callable, Sequence
from urllib.parse import unquote

import msgspec
import tantivy
from tantivy import Occur, Query

from analecta.errors import UsageError, suggest
from analecta.model import BELOW, NO_TOPIC
from analecta.search.index import LONGEST, day_of, host_of, language, schema, stems, written
from analecta.search.query import All, Either, Node, Not, Only, Phrase, QueryWord, leaves
from analecta.store.snapshot import named_topics

# --- topics ----------------------------------------------------------------------------------------------------------
# Which topics a name stands for in a question: itself and those below; and when asked vaguely, those close to it.
#
# "none" stands for no topic, where no topic is called so.

NONE = "none"


def first_on(names: Sequence[str], topic: str) -> list[int]:
    """The topics of which one must be a page's first; BadUse where there is no such topic."""
    found = named_topics(names, topic)
    if not found and topic.casefold() == NONE:
        return [NO_TOPIC]
    if not found:
        raise UsageError(f"the library has no topic {topic!r}{suggest(topic, _known(names)) if names else ' yet'}")
    return found


def _known(names: Sequence[str]) -> list[str]:
    """All that may be said for a topic: names, and those above them."""
    places = (name.split(BELOW) for name in names)
    return list(dict.fromkeys(BELOW.join(parts[:end]) for parts in places for end in range(1, len(parts) + 1)))


def also_on(names: Sequence[str], topic: str) -> list[int]:
    """The topics of which, asked vaguely, one may be any of a page's: those that were nearly the first.

    The one right above is among them: of a page that stopped there the judge could not say which way to go on.
    """
    above = topic.casefold().rpartition(BELOW)[0]
    return [*first_on(names, topic), *(n for n, name in enumerate(names) if above and name.casefold() == above)]


# --- What a question means to the index: each word in the fields that count, filters that choose but do not rank -----

# What a word is worth in each field, against one in the text. A page has most of its score from its best field.
WORTH = {"title": 3.0, "headings": 1.5, "anchors": 1.5, "text": 1.0}
_ADDRESS = 0.5
_OTHERS = 0.3  # of the scores of the other fields
_TOGETHER = 1.0  # words that stand together as in the question, on top
_COMMON = 30_000  # pages: where the texts of more have every word, their order there tells little and costs most

Part = tuple[Occur, Query]


class QueryCompiler:
    """Turns questions into queries.

    `topics` are the names of all; `key_of` gives the key of a community that is named, `often` the number of pages
    that have a word, as written, in their texts. Without `ranking` the same pages are found, in no order: for counting.
    Phrases are dear, for the places of all their words must be read: with `among` that is done only for these pages,
    and no others may be asked for.
    """

    def __init__(
        self,
        topics: Sequence[str],
        vague: bool,
        key_of: Callable[[str], str],
        often: Callable[[str], int],
        ranking: bool = True,
        among: Query | None = None,
    ) -> None:
        self.topics, self.vague, self.key_of = topics, vague, key_of
        self.often, self.ranking, self.among = often, ranking, among

    def query(self, node: Node) -> Query:
        """The query of a question."""
        match node:
            case QueryWord():
                return self._word(QueryWord(_readable(node), node.place))
            case Phrase():
                return self._phrase(_readable(node), node.place)
            case Only():
                return _silent(self._only(node))
            case Not():
                return _both([(Occur.MustNot, self.query(node.part))])
            case Either(parts):
                return Query.boolean_query([(Occur.Should, self.query(part)) for part in parts])
            case All(parts):
                return self._all(parts)

    def _all(self, parts: Sequence[Node]) -> Query:
        """All of these; stop words beside others need not be there, and words in their order are better."""
        wanted: list[Part] = []
        said = [part.text for part in parts if isinstance(part, QueryWord) and not part.place]
        idle = [part for part in parts if isinstance(part, QueryWord) and not _says(part)]
        telling = any(part not in idle and not isinstance(part, Not | Only) for part in parts)
        for part in parts:
            if isinstance(part, Not):
                wanted.append((Occur.MustNot, self.query(part.part)))
            elif part not in idle or not telling:
                wanted.append((Occur.Must, self.query(part)))
        words = written(" ".join(said))
        if self.ranking and len(said) > 1 and len(words) > 1:
            wanted += [(Occur.Should, query) for query in self._in_order(words)]
        return _both(wanted)

    def _only(self, node: Only) -> Query:
        value = node.value
        match node.field:
            case "topic":
                return self.topic(value)
            case "community":
                return self.community(value)
            case "site":
                return _term("site", host_of(value))
            case "lang":
                return _term("lang", language(value))
            case "type":
                return _term("type", value.lower().removeprefix("."))
            case "after":
                return _days(day_of(value), None)
            case "before":
                return _days(None, day_of(value))
        raise AssertionError(node.field)

    def topic(self, name: str) -> Query:
        """The pages whose first topic is this one, and asked vaguely those of which any topic is close to it."""
        chosen = [("first", first_on(self.topics, name))]
        chosen += [("topic", also_on(self.topics, name))] if self.vague else []
        sets = [Query.term_set_query(schema(), field, numbers) for field, numbers in chosen]
        return Query.boolean_query([(Occur.Should, one) for one in sets])

    def community(self, name: str) -> Query:
        """The pages of a community."""
        return _term("community", self.key_of(name))

    def _word(self, word: QueryWord) -> Query:
        """A word in any of its forms, in any field; one that the index cuts into several is a phrase."""
        cut = written(word.text)
        if len(cut) != 1 or not stems(word.text):
            return self._phrase(word.text, word.place)
        if word.place == "url":
            return _term("address", cut[0], "position")
        (stem,) = stems(word.text)
        if word.place:
            return _term(word.place, stem, "freq")
        fields = [Query.boost_query(_term(field, stem, "freq"), worth) for field, worth in WORTH.items()]
        fields.append(Query.boost_query(_term("address", cut[0], "position"), _ADDRESS))
        return Query.disjunction_max_query(fields, _OTHERS)

    def _phrase(self, text: str, place: str) -> Query:
        """Words in a row, as written."""
        words = written(text)
        if not words:  # it is *
            return Query.all_query()
        fields = {"": ("title_written", "text_written"), "url": ("address",), "title": ("title_written",)}[place]
        found = [self._row(field, words) for field in fields]
        return found[0] if len(found) == 1 else Query.disjunction_max_query(found, _OTHERS)

    def _in_order(self, words: list[str]) -> list[Query]:
        fields = ["title_written"]
        if min(map(self.often, words)) <= _COMMON:
            fields.append("text_written")
        return [Query.boost_query(self._row(field, words), _TOGETHER) for field in fields]

    def _row(self, field: str, words: list[str]) -> Query:
        if len(words) == 1:
            return _term(field, words[0], "position")
        row = Query.phrase_query(schema(), field, [*words])
        return filtered(row, self.among) if self.among else row


def marked(node: Node) -> tuple[set[str], set[str]]:
    """The stems, and the words as written, to be marked in what is shown; stop words where there is no other."""
    by_stem, as_written, idle = set[str](), set[str](), set[str]()
    for leaf in leaves(node):
        if isinstance(leaf, Phrase):
            as_written.update(written(leaf.text))
        elif isinstance(leaf, QueryWord):
            by_stem.update(stems(leaf.text))
            idle.update(() if _says(leaf) else written(leaf.text))
    return by_stem, as_written or (set() if by_stem else idle)


def filtered(query: Query, *filters: Query, on_topic: bool = False) -> Query:
    """Only what these let through, ranked as before; `on_topic` leaves out pages on no topic."""
    parts = [(Occur.Must, query), *((Occur.Must, _silent(one)) for one in filters)]
    parts += [(Occur.MustNot, _term("first", NO_TOPIC))] if on_topic else []
    return _both(parts) if len(parts) > 1 else query


def meant(node: Node) -> Node:
    """The question without signs and emoji, which no page is found by; BadUse where nothing is left of it."""
    if (found := _worded(node)) is None:
        raise UsageError(
            f"no word to look for is in {str(node)!r}: say one of letters or digits, less than {LONGEST} of them"
        )
    return found


def _worded(node: Node) -> Node | None:
    match node:
        case QueryWord(text) | Phrase(text):
            return node if text == "*" or written(text) else None
        case Not(part):
            left = _worded(part)
            return Not(left) if left else None
        case All(parts) | Either(parts):
            some = tuple(left for part in parts if (left := _worded(part)))
            return msgspec.structs.replace(node, parts=some) if len(some) > 1 else next(iter(some), None)
    return node


def _readable(said: QueryWord | Phrase) -> str:
    """Its text; of an address without escapes, as in the index."""
    text = unquote(said.text)
    return text if said.place == "url" and written(text) else said.text


def _says(word: QueryWord) -> bool:
    """Whether it is more than a stop word or a sign."""
    return bool(stems(word.text))


def _term(field: str, value: str | int, option: str = "basic") -> Query:
    return Query.term_query(schema(), field, value, option)


def _days(begin: int | None, end: int | None) -> Query:
    """From a day on, or up to the one before another; days are numbers, and no other lies between."""
    return Query.range_query(schema(), "day", tantivy.FieldType.Integer, begin, end and end - 1)


def _silent(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)


def _both(parts: Sequence[Part]) -> Query:
    """All of these; where there are only things that must not be, all pages but those."""
    wanted = [*parts] if any(occur == Occur.Must for occur, _ in parts) else [_EVERY, *parts]
    return Query.boolean_query(wanted)


_EVERY = (Occur.Must, _silent(Query.all_query()))


def loosened(node: Node) -> Node:
    """The same question, of whose words some are enough, but no stop word; its filters and what must not be stand."""
    if not isinstance(node, All):
        return node
    said = [part for part in node.parts if not isinstance(part, Only | Not)]
    words = tuple(part for part in said if not isinstance(part, QueryWord) or _says(part)) or tuple(said)
    rest = tuple(part for part in node.parts if isinstance(part, Only | Not))
    return All((Either(words), *rest)) if words else node
