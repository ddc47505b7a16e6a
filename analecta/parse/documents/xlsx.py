"""Excel's .xlsx to Document: the words in its cells, the names of its sheets as headings; numbers are no words."""

from analecta.parse.documents.document import Document
from analecta.parse.documents.ooxml import main_part, read_properties, relations
from analecta.parse.documents.zip import Packed
from analecta.parse.xml import attribute, read_xml


def read_xlsx(body: bytes, document: Document) -> None:
    """Read a workbook; a text that stands in many cells is there once, as in the file."""
    packed = Packed(body)
    main = main_part(packed, "xl/workbook.xml")
    read_properties(packed, document)

    def sheet(attributes: dict[str, str]) -> None:
        name = attribute(attributes, "name")
        document.heading(name)
        document.add(name)
        document.end_line()

    read_xml(packed.chunks(main), {"sheet": sheet})
    parts = relations(packed, main).values()
    for strings in [part.target for part in parts if part.kind == "sharedStrings" and part.target in packed]:
        _read_strings(packed, strings, document)
    for name in [part.target for part in parts if part.kind == "worksheet"]:
        for link in relations(packed, name).values():
            document.link(link.target)


def _read_strings(packed: Packed, name: str, document: Document) -> None:
    in_text = False

    def begin(_: dict[str, str]) -> None:
        nonlocal in_text
        in_text = True

    def end() -> None:
        nonlocal in_text
        in_text = False

    def data(text: str) -> None:
        if in_text:
            document.add(text)

    read_xml(packed.chunks(name), {"t": begin}, {"t": end, "si": document.end_line}, data)
