"""PowerPoint's .pptx to Document: slides in the order they are shown, their titles as headings."""

from analecta.parse.documents.document import Document, TextMark
from analecta.parse.documents.elements import ElementReader, read_elements
from analecta.parse.documents.ooxml import Relation, main_part, read_properties, relation_of, relations
from analecta.parse.documents.zip import ZipFile

MAX_SLIDES = 2000


def read_pptx(body: bytes, document: Document) -> None:
    """Read a PowerPoint presentation."""
    packed = ZipFile(body)
    main = main_part(packed, "ppt/presentation.xml")
    read_properties(packed, document)
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
