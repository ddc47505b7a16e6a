"""XML read within bounds (F31), as events or as a small tree: a DOCTYPE is refused, so no entity is expanded."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

MAX_DEPTH = 500
TREE_DEPTH = 200

Start = Callable[[str, dict[str, str]], None]
End = Callable[[str], None]
Text = Callable[[str], None]


class XmlError(Exception):
    """Why XML is not read any further; `wrong` is what the parser itself says, if it says anything."""

    def __init__(self, why: str, wrong: object = "") -> None:
        super().__init__(why)
        self.wrong = wrong


class DoctypeRefused(XmlError):
    """It has a DOCTYPE."""


class XmlTooDeep(XmlError):
    """It is nested beyond the bound, in this line."""

    def __init__(self, most: int, line: int) -> None:
        super().__init__(f"XML nested more than {most} deep")
        self.most, self.line = most, line


def read_events(
    chunks: Iterable[bytes],
    start: Start,
    end: End,
    text: Text | None = None,
    parser: Any = None,
    max_depth: int = MAX_DEPTH,
    max_token: int = 0,
) -> None:
    """Call `start` and `end` with the name of each element, prefix included, and `text` for all text.

    `parser`: one of expat that was told what the encoding is, or to look up namespaces. `max_token`: bytes of one tag
    or comment, which expat reads from its beginning again with each chunk; 0 for any number.
    """
    parser = parser or expat.ParserCreate()
    depth = fed = 0

    def opened(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > max_depth:
            raise XmlTooDeep(max_depth, parser.CurrentLineNumber)
        start(name, attributes)

    def closed(name: str) -> None:
        nonlocal depth
        depth -= 1
        end(name)

    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    parser.CharacterDataHandler = text
    try:
        for chunk in chunks:
            parser.Parse(chunk, False)
            fed += len(chunk)
            if max_token and fed - parser.CurrentByteIndex > max_token:
                raise XmlError(f"a tag or comment of more than {max_token} bytes")
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as wrong:  # the last two: an encoding that nobody knows
        raise XmlError(f"broken XML: {wrong}", wrong) from wrong


def _refuse(*_: object) -> None:
    raise DoctypeRefused("DOCTYPE refused")


@dataclass(slots=True)
class Tag:
    """An element: its name without the namespace, which stands beside it, and what is in it."""

    name: str
    space: str
    attributes: dict[str, str]
    line: int
    inner: list["Tag | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What is written in it, without what its children hold."""
        return "".join(part for part in self.inner if isinstance(part, str))

    @property
    def whole_text(self) -> str:
        """The same with what its children hold."""
        return "".join(part for part in self.parts() if isinstance(part, str))

    @property
    def children(self) -> list["Tag"]:
        """The elements in it."""
        return [part for part in self.inner if isinstance(part, Tag)]

    def all(self, name: str, spaces: frozenset[str]) -> list["Tag"]:
        """The children of a name, of one of these namespaces."""
        return [tag for tag in self.children if tag.name == name and tag.space in spaces]

    def parts(self) -> Iterator["Tag | str"]:
        """All that is in it, in the order of the file, however deep."""
        todo = self.inner[::-1]
        while todo:
            part = todo.pop()
            yield part
            if isinstance(part, Tag):
                todo += part.inner[::-1]


def read_tree(data: bytes, max_depth: int = TREE_DEPTH) -> Tag:
    """The root of an XML file."""
    parser = expat.ParserCreate(namespace_separator=" ")
    top = Tag("", "", {}, 0)
    open_tags = [top]

    def start(name: str, attributes: dict[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        tag = Tag(local, space, attributes, parser.CurrentLineNumber)
        open_tags[-1].inner.append(tag)
        open_tags.append(tag)

    def end(_name: str) -> None:
        open_tags.pop()

    def text(words: str) -> None:
        open_tags[-1].inner.append(words)

    read_events([data], start, end, text, parser, max_depth)
    return top.children[0]
