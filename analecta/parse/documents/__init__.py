"""Documents that are no HTML become pages too: one reader a format (B2), each within bounds (F31, F32)."""

from analecta.model import Answer, Page, Target
from analecta.parse.documents.archives import Bundles
from analecta.parse.documents.docx import read_docx
from analecta.parse.documents.epub import read_epub
from analecta.parse.documents.legacy_office import read_doc
from analecta.parse.documents.opendocument import read_opendocument
from analecta.parse.documents.page import Reader, parse_document
from analecta.parse.documents.pdf import read_pdf
from analecta.parse.documents.postscript import read_postscript
from analecta.parse.documents.ppt import read_ppt
from analecta.parse.documents.pptx import read_pptx
from analecta.parse.documents.rtf import read_rtf
from analecta.parse.documents.webpage import read_html, read_text
from analecta.parse.documents.xlsx import read_xlsx
from analecta.parse.sniff import (
    DOC,
    DOCX,
    EPUB,
    GZIP,
    HTML,
    ODP,
    ODS,
    ODT,
    PDF,
    POSTSCRIPT,
    PPT,
    PPTX,
    RTF,
    TAR,
    TEXT,
    XHTML,
    XLSX,
    ZIP,
)
from analecta.urls import Joiner

__all__ = ["DOCUMENTS", "READERS", "parse"]

_SINGLE: dict[str, Reader] = {
    PDF: read_pdf,
    DOCX: read_docx,
    DOC: read_doc,
    PPTX: read_pptx,
    PPT: read_ppt,
    XLSX: read_xlsx,
    ODT: read_opendocument,
    ODP: read_opendocument,
    ODS: read_opendocument,
    EPUB: read_epub,
    RTF: read_rtf,
    POSTSCRIPT: read_postscript,
}
_bundles = Bundles({**_SINGLE, HTML: read_html, XHTML: read_html, TEXT: read_text})

READERS: dict[str, Reader] = {
    **_SINGLE,
    ZIP: _bundles.read_zip,
    TAR: _bundles.read_tar,
    GZIP: _bundles.read_gzip,
}

DOCUMENTS = frozenset(READERS)  # the types whose pages come from a child only


def parse(answer: Answer, target: Target, joiner: Joiner, mime: str) -> Page:
    """The page that a document of a known type makes."""
    return parse_document(answer, target, joiner, mime, READERS[mime])
