"""What Word's, PowerPoint's and Excel's files have in common; and Excel's to Document."""

import posixpath
from typing import NamedTuple

from analecta.parse.directives import date_of
from analecta.parse.documents.document import Document, ReadingStopped, tidy, title_of
from analecta.parse.documents.elements import ElementReader, attribute, read_elements, read_leaves
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


def main_part(packed: ZipFile, usual: str) -> str:
    """The part that the package is about; every known program calls it as `usual`, but need not."""
    if usual in packed:
        return usual
    for relation in relations(packed).values():
        if relation.kind == "officeDocument" and relation.target in packed:
            return relation.target
    raise ReadingStopped("broken: the main part is missing")


def read_properties(packed: ZipFile, document: Document) -> None:
    """Title, author, date and language, as the properties say."""
    found = read_leaves(_or_nothing(packed, "docProps/core.xml"))
    document.title = title_of(found.get("title", ""))
    document.author = tidy(found.get("creator", ""))
    document.date = date_of(found.get("modified", "") or found.get("created", ""))
    document.lang = found.get("language", "")


def relation_of(attributes: dict[str, str], relations: dict[str, Relation]) -> str:
    """Where the r:id of an element leads, or ""."""
    found = relations.get(attribute(attributes, "id"))
    return found.target if found else ""


def _or_nothing(packed: ZipFile, name: str) -> list[bytes]:
    """The bytes of a part that may be missing."""
    return list(packed.chunks(name)) if name in packed else [b"<none/>"]


# --- xlsx ------------------------------------------------------------------------------------------------------------
# Excel's .xlsx to Document: the words in its cells, the names of its sheets as headings; numbers are no words.


def read_xlsx(body: bytes, document: Document) -> None:
    """Read a workbook; a text that stands in many cells is there once, as in the file."""
    packed = ZipFile(body)
    main = main_part(packed, "xl/workbook.xml")
    read_properties(packed, document)

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
