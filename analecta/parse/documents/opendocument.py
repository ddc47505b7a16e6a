"""OpenDocument (.odt, .odp, .ods) to Document: paragraphs, headings and links stand in content.xml."""

from analecta.parse.documents.document import Document, ReadingStopped, TextMark
from analecta.parse.documents.elements import ElementReader, Start, attribute, read_elements, read_metadata
from analecta.parse.documents.zip import ZipFile

_MAX_SPACES = 100


def read_opendocument(body: bytes, document: Document) -> None:
    """Read a text, a presentation or a spreadsheet."""
    packed = ZipFile(body)
    if "content.xml" not in packed:
        raise ReadingStopped("broken: content.xml is missing")
    if "meta.xml" in packed:
        read_metadata(packed.chunks("meta.xml"), document, ("initial-creator", "creator"), ("date", "creation-date"))
    _Content(document).read(packed)


class _Content(ElementReader):
    """Text counts inside paragraphs and headings only: elsewhere it is white space between tags."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.open: list[TextMark] = []
        self.frames: list[tuple[TextMark, bool]] = []

    def read(self, packed: ZipFile) -> None:
        starts: dict[str, Start] = {
            "p": self._paragraph, "h": self._paragraph, "a": lambda a: self.begin_anchor(attribute(a, "href")),
            "s": self._spaces, "tab": lambda _: self.data("\t"), "line-break": self.line_break, "frame": self._frame,
            "tracked-changes": self.skip, "annotation": self.skip,
        }  # fmt: skip
        ends = {
            "p": self._end_paragraph, "h": self._end_heading, "a": self.end_anchor, "frame": self._end_frame,
            "tracked-changes": self.end_skip, "annotation": self.end_skip,
        }  # fmt: skip
        try:
            read_elements(packed.chunks("content.xml"), starts, ends, self.data)
        except ReadingStopped as stop:
            encrypted = b"encryption-data" in packed.read("META-INF/manifest.xml")
            raise ReadingStopped("encrypted") if encrypted else stop from None

    def data(self, text: str) -> None:
        if self.open and not self.skipped:
            self.document.add(text.replace("\n", " "))

    def _paragraph(self, _: dict[str, str]) -> None:
        self.open.append(self.document.here)

    def _end_paragraph(self) -> None:
        self.open.pop()
        self.document.end_line()

    def _end_heading(self) -> None:
        self.document.heading(self.document.since(self.open[-1]))
        self._end_paragraph()

    def _spaces(self, attributes: dict[str, str]) -> None:
        count = attribute(attributes, "c")
        self.data(" " * min(int(count) if count.isdecimal() and len(count) < 5 else 1, _MAX_SPACES))

    def _frame(self, attributes: dict[str, str]) -> None:
        """On a slide, the frame of class "title" holds its heading."""
        self.frames.append((self.document.here, attribute(attributes, "class") == "title"))

    def _end_frame(self) -> None:
        mark, is_title = self.frames.pop()
        if is_title:
            self.document.heading(self.document.since(mark))
