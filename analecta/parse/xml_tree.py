"""XML as a small tree, read within bounds (F31): a DOCTYPE is refused, so no entity is expanded and nothing fetched."""

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from analecta.errors import UsageError

MAX_DEPTH = 200


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
        return "".join(part if isinstance(part, str) else part.whole_text for part in self.inner)

    def all(self, name: str, spaces: frozenset[str]) -> list["Tag"]:
        """The children of a name, of one of these namespaces."""
        tags = (part for part in self.inner if isinstance(part, Tag))
        return [tag for tag in tags if tag.name == name and tag.space in spaces]


def read_xml(data: bytes, path: Path | str) -> Tag:
    """The root of an XML file."""
    builder = _TreeBuilder(path)
    try:
        builder.parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:  # the last two: an encoding that nobody knows
        raise UsageError(f"{path} is not valid XML: {error}") from error
    return builder.root


class _TreeBuilder:
    """Grows the tree as the parser goes on."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self.open: list[Tag] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data

    def _refuse(self, *_: object) -> None:
        raise UsageError(f"{self.path} has a DOCTYPE, which may hide entities: it is not read")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open) >= MAX_DEPTH:
            raise UsageError(f"{self.path}, line {self.parser.CurrentLineNumber}: nested more than {MAX_DEPTH} deep")
        space, _, local = name.rpartition(" ")
        tag = Tag(local, space, attributes, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].inner.append(tag)
        else:
            self.root = tag
        self.open.append(tag)

    def _end(self, _name: str) -> None:
        self.open.pop()

    def _data(self, text: str) -> None:
        self.open[-1].inner.append(text)
