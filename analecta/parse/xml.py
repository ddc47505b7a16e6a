"""XML of documents as a stream of events, read within bounds (F31).

A DOCTYPE is refused, so no entity is expanded and nothing fetched. Names go without their namespace prefix: no two
names that a reader asks for differ only in that. A handler is found by one look into a dict, whatever the prefix.
"""

from collections.abc import Callable, Iterable, Mapping
from xml.parsers import expat

from analecta.parse.documents.document import ReadingStopped

MAX_DEPTH = 500
MAX_LEAVES = 200  # values read of a file of metadata
_MAX_LEAF = 2000  # characters

Start = Callable[[dict[str, str]], None]
End = Callable[[], None]


class _Handlers(dict[str, Callable[..., None] | None]):
    """Handlers by full name, found by local name the first time."""

    def __init__(self, by_local: Mapping[str, Callable[..., None]]) -> None:
        super().__init__()
        self.by_local = by_local

    def __missing__(self, name: str) -> Callable[..., None] | None:
        handler = self.by_local.get(name.rpartition(":")[2])
        if len(self) < 10_000:
            self[name] = handler
        return handler


def read_xml(
    chunks: Iterable[bytes],
    starts: Mapping[str, Start],
    ends: Mapping[str, End] | None = None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Call the handler of each element as it opens and closes, and `text` for all text; raises Stopped."""
    opening, closing = _Handlers(starts), _Handlers(ends or {})
    depth = 0

    def opened(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise ReadingStopped(f"XML nested more than {MAX_DEPTH} deep")
        if (handler := opening[name]) is not None:
            handler(attributes)

    def closed(name: str) -> None:
        nonlocal depth
        depth -= 1
        if (handler := closing[name]) is not None:
            handler()

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    parser.CharacterDataHandler = text
    try:
        for chunk in chunks:
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as wrong:  # the last two: an encoding that nobody knows
        raise ReadingStopped(f"broken XML: {wrong}") from wrong


def _refuse(*_: object) -> None:
    raise ReadingStopped("DOCTYPE refused")


def attribute(attributes: dict[str, str], name: str) -> str:
    """An attribute's value by its local name, or ""."""
    for full, value in attributes.items():
        if full.rpartition(":")[2] == name:
            return value
    return ""


def read_leaves(chunks: Iterable[bytes]) -> dict[str, str]:
    """The text of the elements of a file of metadata, by local name; the first of each name."""
    found: dict[str, str] = {}
    parts: list[str] = []
    wanted = ("title", "creator", "initial-creator", "date", "modified", "created", "creation-date", "language")

    def begin(_: dict[str, str]) -> None:
        parts.clear()

    def keep(name: str) -> End:
        def end() -> None:
            found.setdefault(name, "".join(parts)[:_MAX_LEAF].strip())

        return end

    def text(data: str) -> None:
        if len(parts) < MAX_LEAVES:
            parts.append(data)

    read_xml(chunks, dict.fromkeys(wanted, begin), {name: keep(name) for name in wanted}, text)
    return found
