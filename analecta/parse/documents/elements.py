"""The XML of documents: handlers by the name of the element, whatever its prefix.

No two names that a reader asks for differ only in their prefix. A handler is found by one look into a dict.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from analecta.parse.directives import date_of
from analecta.parse.documents.document import Document, ReadingStopped, TextMark, tidy, title_of
from analecta.parse.xml import XmlError, read_events

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


def read_elements(
    chunks: Iterable[bytes],
    starts: Mapping[str, Start],
    ends: Mapping[str, End] | None = None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Call the handler of each element as it opens and closes, and `text` for all text; raises ReadingStopped."""
    opening, closing = _Handlers(starts), _Handlers(ends or {})

    def opened(name: str, attributes: dict[str, str]) -> None:
        if (handler := opening[name]) is not None:
            handler(attributes)

    def closed(name: str) -> None:
        if (handler := closing[name]) is not None:
            handler()

    try:
        read_events(chunks, opened, closed, text)
    except XmlError as error:
        raise ReadingStopped(str(error)) from error


class ElementReader:
    """Handlers that texts, slides and sheets have in common; each format adds its own."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.in_text = False
        self.skipped = 0  # elements open of those that are passed over
        self.anchors: list[tuple[TextMark, str]] = []

    def data(self, text: str) -> None:
        if self.in_text:
            self.document.add(text)

    def begin_text(self, _: dict[str, str]) -> None:
        self.in_text = not self.skipped

    def end_text(self) -> None:
        self.in_text = False

    def line_break(self, _: dict[str, str]) -> None:
        self.document.end_line()

    def skip(self, _: dict[str, str]) -> None:
        self.skipped += 1

    def end_skip(self) -> None:
        self.skipped -= 1

    def begin_anchor(self, url: str) -> None:
        self.anchors.append((self.document.here, url))

    def end_anchor(self) -> None:
        mark, url = self.anchors.pop()
        self.document.link(url, self.document.since(mark), mark.at)


def attribute(attributes: dict[str, str], name: str) -> str:
    """An attribute's value by its local name, or ""."""
    return next((value for full, value in attributes.items() if full.rpartition(":")[2] == name), "")


def read_metadata(
    chunks: Iterable[bytes],
    document: Document,
    authors: Sequence[str] = ("creator",),
    dates: Sequence[str] = ("date",),
) -> None:
    """Title, author, date and language, as a file of metadata says; of elements with one local name the first."""
    found: dict[str, str] = {}
    parts: list[str] = []
    wanted = ("title", "creator", "initial-creator", "date", "modified", "created", "creation-date", "language")

    def keep(name: str) -> End:
        def end() -> None:
            found.setdefault(name, "".join(parts)[:_MAX_LEAF].strip())

        return end

    def text(data: str) -> None:
        if len(parts) < MAX_LEAVES:
            parts.append(data)

    begins: dict[str, Start] = dict.fromkeys(wanted, lambda _: parts.clear())
    read_elements(chunks, begins, {name: keep(name) for name in wanted}, text)
    document.title = title_of(found.get("title", ""))
    document.author = tidy(next(filter(None, map(found.get, authors)), ""))
    document.date = date_of(next(filter(None, map(found.get, dates)), ""))
    document.lang = found.get("language", "")
