"""The language of questions: words, "phrases", AND, OR, NOT, - and +, brackets, and fields such as site: or after:.

    question   = either
    either     = together ("OR" together)*
    together   = one (["AND"] one)*
    one        = ("NOT" | "-" | "+") one | "(" either ")" | [field ":"] (word | phrase)

Words that stand side by side are all wanted. +word is the word exactly as written. `str` of what was understood is a
question again, and is understood alike.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import TypeAlias

import msgspec

from analecta.errors import UsageError
from analecta.search.index import day_of, host_of

# --- What questions are made of. `str` of a part is how a person would write it --------------------------------------

WORD = re.compile(r'[^\s()"]+')


class QueryWord(msgspec.Struct, frozen=True):
    """A word, in any of its forms; `place` is the field it must be in."""

    text: str
    place: str = ""

    def __str__(self) -> str:
        return _with(self.place, self.text)


class Phrase(msgspec.Struct, frozen=True):
    """Words one after the other, exactly as written."""

    text: str
    place: str = ""

    def __str__(self) -> str:
        return _with(self.place, f'"{self.text}"')


class Only(msgspec.Struct, frozen=True):
    """Only pages of this site, topic, language and so on."""

    field: str
    value: str

    def __str__(self) -> str:
        return _with(self.field, self.value if WORD.fullmatch(self.value) else f'"{self.value}"')


class Not(msgspec.Struct, frozen=True):
    """Pages that are not so."""

    part: "Node"

    def __str__(self) -> str:
        return f"-{_grouped(self.part)}"


class All(msgspec.Struct, frozen=True):
    """Everything of this is wanted."""

    parts: "tuple[Node, ...]"

    def __str__(self) -> str:
        return " ".join(map(_grouped, self.parts))


class Either(msgspec.Struct, frozen=True):
    """One of these is enough."""

    parts: "tuple[Node, ...]"

    def __str__(self) -> str:
        return " OR ".join(map(_grouped, self.parts))


Leaf: TypeAlias = QueryWord | Phrase | Only
Node: TypeAlias = Leaf | Not | All | Either


def leaves(node: Node) -> Iterator[Leaf]:
    """The words, phrases and filters that a question asks for; not what must not be there."""
    match node:
        case All(parts) | Either(parts):
            for part in parts:
                yield from leaves(part)
        case QueryWord() | Phrase() | Only():
            yield node


def _with(field: str, text: str) -> str:
    return f"{field}:{text}" if field else text


def _grouped(node: Node) -> str:
    return f"({node})" if isinstance(node, All | Either) else str(node)


# --- query -----------------------------------------------------------------------------------------------------------

PLACES = ("title", "url")  # fields that words are looked for in
FILTERS = ("site", "topic", "community", "lang", "type", "after", "before")  # fields that only choose pages
FIELDS = (*PLACES, *FILTERS)
DEEPEST = 20  # brackets and signs within one another
LONGEST = 2000  # characters of a question

_SPACE = re.compile(r"\s*")
_FIELD = re.compile(r"([A-Za-z]+):(?=[^\s:)])")
_BARE = re.compile(r"([A-Za-z]+):(?=[\s)]|$)")  # a field that nothing stands right after
_PHRASE = re.compile(r'"([^"]*)"')


def parse(text: str) -> Node:
    """Understand a question; UsageError that says where it makes no sense."""
    if len(text) > LONGEST:
        raise _problem(LONGEST - 1, f"a question has at most {LONGEST:,} characters")
    return _QueryReader(text).question()


def unknown_field(text: str) -> str:
    """The foo of foo:bar; "" where it is a field, or nothing like one, as in std::sort, 12:30 and http://…."""
    found = _FIELD.match(text)
    return "" if found is None or found[1].lower() in FIELDS or text[found.end()] == "/" else found[1]


def _problem(at: int, text: str) -> UsageError:
    """Why a question was not understood, and at which of its characters."""
    return UsageError(f"{text} (at character {at + 1} of the question)")


class _QueryReader:
    """Goes through a question from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def question(self) -> Node:
        if not self.text.strip():
            raise _problem(0, "say what to look for")
        found = self._either()
        if self._peek() == ")":
            raise _problem(self.at, "this bracket was never opened")
        return found

    def _either(self) -> Node:
        parts = [self._together()]
        while self._takes("OR"):
            parts.append(self._together())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _together(self) -> Node:
        parts = [self._one()]
        while self._takes("AND") or (self._peek() not in ("", ")") and not self._sees("OR")):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _one(self) -> Node:
        began = self._here()
        self.depth += 1
        if self.depth > DEEPEST:
            raise _problem(began, f"more than {DEEPEST} brackets or signs within one another are too many")
        found = self._signed(began)
        self.depth -= 1
        return found

    def _signed(self, began: int) -> Node:
        sign = self._peek()
        if sign == "(":
            return self._bracket(began)
        if self._takes("NOT") or (sign == "-" and self._sign()):
            inner = self._one()
            return inner.part if isinstance(inner, Not) else Not(inner)
        if sign == "+" and self._sign():
            inner = self._one()
            return Phrase(inner.text, inner.place) if isinstance(inner, QueryWord) else inner
        if not sign or sign == ")" or self._sees("OR") or self._sees("AND"):
            raise _problem(min(began, len(self.text)), "something to look for is missing here")
        return self._term(began)

    def _bracket(self, began: int) -> Node:
        self.at += 1
        if self._peek() == ")":
            raise _problem(self.at, "there is nothing between these brackets")
        found = self._either()
        if self._peek() != ")":
            raise _problem(began, "this bracket is never closed")
        self.at += 1
        return found

    def _term(self, began: int) -> Node:
        field = _FIELD.match(self.text, self.at)
        bare = _BARE.match(self.text, self.at)
        if bare and bare[1].lower() in FIELDS:
            raise _problem(began, f"a word comes right after {bare[0]}, without a blank")
        if field is None:
            return self._value("", began)
        name = field[1].lower()
        if name in FIELDS:
            self.at = field.end()
            if self.text[self.at] == "(":
                raise _problem(self.at, f"a word or a phrase comes after {name}:, no bracket")
            return self._value(name, began)
        if near := get_close_matches(name, FIELDS, 1, 0.75):
            raise _problem(began, f"there is no field {name!r}; did you mean {near[0]}:?")
        return self._value("", began)  # as in http://… or 12:30

    def _value(self, field: str, began: int) -> Node:
        quoted = self.text[self.at] == '"'
        found = (_PHRASE if quoted else WORD).match(self.text, self.at)
        if found is None:
            raise _problem(self.at, "this quotation mark has no second one")
        self.at = found.end()
        value = found[1] if quoted else found[0]
        if field in FILTERS:
            return _only(field, value, began)
        return Phrase(value, field) if quoted else QueryWord(value, field)

    def _sign(self) -> bool:
        """Take a sign that stands directly before something."""
        after = self.text[self.at + 1 : self.at + 2]
        if not after or after.isspace() or after == ")":
            return False
        self.at += 1
        return True

    def _here(self) -> int:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        return self.at

    def _peek(self) -> str:
        self._here()
        return self.text[self.at : self.at + 1]

    def _sees(self, word: str) -> bool:
        found = WORD.match(self.text, self._here())
        return found is not None and found[0] == word

    def _takes(self, word: str) -> bool:
        seen = self._sees(word)
        self.at += len(word) if seen else 0
        return seen


def _only(field: str, value: str, began: int) -> Only:
    if not value.strip():
        raise _problem(began, f"say which after {field}:")
    if field in ("after", "before") and not day_of(value):
        raise _problem(began, f"{field}: wants a date, 2024-05-31 or 2024-05 or 2024")
    if field == "site" and not host_of(value):
        raise _problem(began, "site: wants a host, such as example.org")
    return Only(field, value)
