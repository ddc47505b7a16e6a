"""Word's, PowerPoint's and Excel's files, .docx, .pptx and .xlsx, to Document: XML parts in a zip file."""

import posixpath
import re
from typing import NamedTuple

from analecta.parse.documents.document import Document, ReadingStopped, TextMark, field_link
from analecta.parse.documents.elements import ElementReader, Start, attribute, read_elements, read_metadata
from analecta.parse.documents.zip import ZipFile


class Relation(NamedTuple):
    """Where a relation leads: the name of a part, or a URL."""

    kind: str
    target: str


def relations(packed: ZipFile, part: str = "") -> dict[str, Relation]:
    """The relations of a part, or of the whole package, by id."""
    folder, name = posixpath.split(part)
    found: dict[str, Relation] = {}

    def relation(attributes: dict[str, str]) -> None:
        target = attributes.get("Target", "")
        if attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        found[attributes.get("Id", "")] = Relation(attributes.get("Type", "").rpartition("/")[2], target)

    read_elements(_or_nothing(packed, posixpath.join(folder, "_rels", f"{name}.rels")), {"Relationship": relation})
    return found


def _opened(body: bytes, usual: str, document: Document) -> tuple[ZipFile, str]:
    """The parts of a file, and which is the main one; title, author, date and language are noted.

    Every known program calls the main part as `usual`, but need not.
    """
    packed, main = ZipFile(body), usual
    if usual not in packed:
        targets = (relation.target for relation in relations(packed).values() if relation.kind == "officeDocument")
        main = next(filter(packed.__contains__, targets), "")
    if not main:
        raise ReadingStopped("broken: the main part is missing")
    read_metadata(_or_nothing(packed, "docProps/core.xml"), document, dates=("modified", "created"))
    return packed, main


def relation_of(attributes: dict[str, str], relations: dict[str, Relation]) -> str:
    """Where the r:id of an element leads, or ""."""
    found = relations.get(attribute(attributes, "id"))
    return found.target if found else ""


def _or_nothing(packed: ZipFile, name: str) -> list[bytes]:
    """The bytes of a part that may be missing."""
    return list(packed.chunks(name)) if name in packed else [b"<none/>"]


# --- Word's .docx: paragraphs, headings by style, notes, and links by relation or by field ---------------------------


_HEADING = re.compile(r"(?:heading|title|überschrift|titre)\s*[1-3]?$", re.IGNORECASE)
_MAX_FIELD = 5000  # characters of a field's code


def read_docx(body: bytes, document: Document) -> None:
    """Read a Word document."""
    packed, main = _opened(body, "word/document.xml", document)
    links = relations(packed, main)
    parts = {relation.kind: relation.target for relation in links.values()}
    headings = _heading_styles(packed, parts.get("styles", ""))
    _DocxPart(document, links, headings).read(packed, main)
    for kind in ("footnotes", "endnotes"):
        if (notes := parts.get(kind, "")) in packed:
            _DocxPart(document, relations(packed, notes), headings).read(packed, notes)


def _heading_styles(packed: ZipFile, part: str) -> set[str]:
    """The ids of the styles that make headings: ids are in the writer's language, names are always English."""
    found = {"Title", "Heading1", "Heading2", "Heading3"}
    style = ""

    def begin(attributes: dict[str, str]) -> None:
        nonlocal style
        style = attribute(attributes, "styleId")

    def name(attributes: dict[str, str]) -> None:
        if _HEADING.match(attribute(attributes, "val")):
            found.add(style)

    if part in packed:
        read_elements(packed.chunks(part), {"style": begin, "name": name})
    return found


class _DocxPart(ElementReader):
    """Reads one part; text is what stands in <w:t>, so that deleted words and field codes are none."""

    def __init__(self, document: Document, links: dict[str, Relation], headings: set[str]) -> None:
        super().__init__(document)
        self.links = links
        self.headings = headings
        self.paragraphs: list[tuple[TextMark, list[str]]] = []  # text boxes put paragraphs into paragraphs
        self.fields: list[tuple[TextMark, list[str]]] = []
        self.in_code = False

    def read(self, packed: ZipFile, name: str) -> None:
        starts: dict[str, Start] = {
            "p": self._paragraph, "pStyle": self._style, "t": self.begin_text, "tab": self._tab, "br": self.line_break,
            "cr": self.line_break, "noBreakHyphen": lambda _: self.document.add("-"),
            "hyperlink": lambda a: self.begin_anchor(relation_of(a, self.links)),
            "fldSimple": lambda a: self.begin_anchor(field_link(attribute(a, "instr"))),
            "fldChar": self._field, "instrText": self._code,
            "Fallback": self.skip,  # the same text box again, for older programs
        }  # fmt: skip
        ends = {
            "p": self._end_paragraph, "t": self.end_text, "instrText": self.end_text, "hyperlink": self.end_anchor,
            "fldSimple": self.end_anchor, "Fallback": self.end_skip,
        }  # fmt: skip
        read_elements(packed.chunks(name), starts, ends, self.data)

    def data(self, text: str) -> None:
        if self.in_text:
            self.document.add(text)
        elif self.in_code and self.fields and len(self.fields[-1][1]) < 20:
            self.fields[-1][1].append(text[:_MAX_FIELD])

    def _paragraph(self, _: dict[str, str]) -> None:
        self.paragraphs.append((self.document.here, []))

    def _style(self, attributes: dict[str, str]) -> None:
        if self.paragraphs and attribute(attributes, "val") in self.headings:
            self.paragraphs[-1][1].append("heading")

    def _end_paragraph(self) -> None:
        mark, style = self.paragraphs.pop()
        if style:
            self.document.heading(self.document.since(mark))
        self.document.end_line()

    def _code(self, _: dict[str, str]) -> None:
        self.in_code = not self.skipped

    def end_text(self) -> None:
        self.in_text = self.in_code = False

    def _tab(self, attributes: dict[str, str]) -> None:
        if not attributes:  # with attributes it is a tab stop, not a tab
            self.document.add("\t")

    def _field(self, attributes: dict[str, str]) -> None:
        """A field is a code, then what it shows, between three marks; fields nest."""
        kind = attribute(attributes, "fldCharType")
        if kind == "begin":
            self.fields.append((self.document.here, []))
        elif kind == "separate" and self.fields:
            self.fields[-1] = (self.document.here, self.fields[-1][1])
        elif kind == "end" and self.fields:
            mark, code = self.fields.pop()
            if url := field_link("".join(code)):
                self.document.link(url, self.document.since(mark), mark.at)


# --- PowerPoint's .pptx: slides in the order they are shown, their titles as headings --------------------------------


MAX_SLIDES = 2000


def read_pptx(body: bytes, document: Document) -> None:
    """Read a PowerPoint presentation."""
    packed, main = _opened(body, "ppt/presentation.xml", document)
    parts = relations(packed, main)
    slides: list[str] = []

    def slide(attributes: dict[str, str]) -> None:
        # Two attributes have the local name "id"; the relation's has a prefix.
        for name, value in attributes.items():
            if name.endswith(":id") and value in parts and len(slides) < MAX_SLIDES:
                slides.append(parts[value].target)

    read_elements(packed.chunks(main), {"sldId": slide})
    for name in slides:
        if name in packed:
            _Slide(document, relations(packed, name)).read(packed, name)


class _Slide(ElementReader):
    """Reads one slide: a shape is a title if its placeholder says so."""

    def __init__(self, document: Document, links: dict[str, Relation]) -> None:
        super().__init__(document)
        self.links = links
        self.shape: TextMark = document.here
        self.run: TextMark = document.here
        self.is_title = False
        self.url = ""

    def read(self, packed: ZipFile, name: str) -> None:
        starts = {
            "sp": self._shape, "ph": self._placeholder, "t": self.begin_text, "br": self.line_break, "r": self._run,
            "hlinkClick": self._link,
        }  # fmt: skip
        ends = {"sp": self._end_shape, "t": self.end_text, "p": self.document.end_line, "r": self._end_run}
        read_elements(packed.chunks(name), starts, ends, self.data)

    def _shape(self, _: dict[str, str]) -> None:
        self.shape, self.is_title = self.document.here, False

    def _placeholder(self, attributes: dict[str, str]) -> None:
        self.is_title = attributes.get("type") in ("title", "ctrTitle")

    def _end_shape(self) -> None:
        if self.is_title:
            self.document.heading(self.document.since(self.shape))
        self.is_title = False

    def _run(self, _: dict[str, str]) -> None:
        self.run, self.url = self.document.here, ""

    def _link(self, attributes: dict[str, str]) -> None:
        self.url = relation_of(attributes, self.links)

    def _end_run(self) -> None:
        if self.url:
            self.document.link(self.url, self.document.since(self.run), self.run.at)
        self.url = ""


# --- Excel's .xlsx: the words in its cells, the names of its sheets as headings; numbers are no words ----------------


def read_xlsx(body: bytes, document: Document) -> None:
    """Read a workbook; a text that stands in many cells is there once, as in the file."""
    packed, main = _opened(body, "xl/workbook.xml", document)

    def sheet(attributes: dict[str, str]) -> None:
        name = attribute(attributes, "name")
        document.heading(name)
        document.add(name)
        document.end_line()

    read_elements(packed.chunks(main), {"sheet": sheet})
    parts = relations(packed, main).values()
    for strings in [part.target for part in parts if part.kind == "sharedStrings" and part.target in packed]:
        cells = ElementReader(document)
        ends = {"t": cells.end_text, "si": document.end_line}
        read_elements(packed.chunks(strings), {"t": cells.begin_text}, ends, cells.data)
    for name in [part.target for part in parts if part.kind == "worksheet"]:
        for link in relations(packed, name).values():
            document.link(link.target)
