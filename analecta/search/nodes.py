"""What questions are made of. `str` of a part is how a person would write it."""

import re
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

WORD = re.compile(r'[^\s()"]+')


class Word(msgspec.Struct, frozen=True):
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


Leaf: TypeAlias = Word | Phrase | Only
Node: TypeAlias = Leaf | Not | All | Either


def leaves(node: Node) -> Iterator[Leaf]:
    """The words, phrases and filters that a question asks for; not what must not be there."""
    match node:
        case All(parts) | Either(parts):
            for part in parts:
                yield from leaves(part)
        case Word() | Phrase() | Only():
            yield node


def _with(field: str, text: str) -> str:
    return f"{field}:{text}" if field else text


def _grouped(node: Node) -> str:
    return f"({node})" if isinstance(node, All | Either) else str(node)
