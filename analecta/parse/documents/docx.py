"""Word's .docx to Document: paragraphs, headings by style, notes, and links by relation or by field."""

import re

from analecta.parse.documents.document import Document, TextMark
from analecta.parse.documents.elements import ElementReader, attribute, read_elements
from analecta.parse.documents.ooxml import Relation, main_part, read_properties, relation_of, relations
from analecta.parse.documents.zip import ZipFile

FIELD_LINK = re.compile(r"""\s*HYPERLINK\s++(?:\\[a-z]\s++)*+["“]?\s*(https?://[^\s"”]+)""", re.IGNORECASE)
_HEADING = re.compile(r"(?:heading|title|überschrift|titre)\s*[1-3]?$", re.IGNORECASE)
_MAX_FIELD = 5000  # characters of a field's code


def read_docx(body: bytes, document: Document) -> None:
    """Read a Word document."""
    packed = ZipFile(body)
    main = main_part(packed, "word/document.xml")
    read_properties(packed, document)
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
        starts = {
            "p": self._paragraph, "pStyle": self._style, "t": self.begin_text, "tab": self._tab, "br": self.line_break,
            "cr": self.line_break, "noBreakHyphen": self._hyphen, "hyperlink": self._hyperlink,
            "fldSimple": self._simple_field, "fldChar": self._field, "instrText": self._code,
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

    def _hyphen(self, _: dict[str, str]) -> None:
        self.document.add("-")

    def _hyperlink(self, attributes: dict[str, str]) -> None:
        self.anchors.append((self.document.here, relation_of(attributes, self.links)))

    def _simple_field(self, attributes: dict[str, str]) -> None:
        found = FIELD_LINK.match(attribute(attributes, "instr"))
        self.anchors.append((self.document.here, found[1] if found else ""))

    def _field(self, attributes: dict[str, str]) -> None:
        """A field is a code, then what it shows, between three marks; fields nest."""
        kind = attribute(attributes, "fldCharType")
        if kind == "begin":
            self.fields.append((self.document.here, []))
        elif kind == "separate" and self.fields:
            self.fields[-1] = (self.document.here, self.fields[-1][1])
        elif kind == "end" and self.fields:
            mark, code = self.fields.pop()
            if found := FIELD_LINK.match("".join(code)):
                self.document.link(found[1], self.document.since(mark), mark.at)
