"""Documents that are no HTML become pages too: one reader a format (B2), each within bounds (F31, F32)."""

import re
from functools import partial
from itertools import islice

import msgspec

from analecta.model import Page, Response, UrlRef
from analecta.parse import sniff
from analecta.parse.directives import apply
from analecta.parse.documents.archives import Reader, read_gzip, read_tar, read_zip
from analecta.parse.documents.document import MAX_FOUND, Document, DocumentLink, ReadingStopped, plain, title_of
from analecta.parse.documents.epub import read_epub, read_html, read_text
from analecta.parse.documents.legacy_office import read_doc, read_ppt
from analecta.parse.documents.ooxml import read_docx, read_pptx, read_xlsx
from analecta.parse.documents.opendocument import read_opendocument
from analecta.parse.documents.pdf import read_pdf, read_postscript
from analecta.parse.documents.rtf import read_rtf
from analecta.parse.html import AROUND, MAX_TITLE
from analecta.parse.links import gather
from analecta.parse.page_sandbox import flatten
from analecta.parse.text import URL
from analecta.text.language import language_of
from analecta.urls import Joiner

# --- Document to Page: the one place where what a reader has found becomes a page like any other ---------------------


_NEAR = 400  # characters from where a link was noted in which its anchor is looked for
_LINE = re.compile(r"\S[^\n]{1,400}")


def read(reader: Reader, body: bytes) -> Document:
    """What a reader makes of a body; why it made no more of it stands in `limits`."""
    document = Document()
    try:
        reader(body, document)
    except ReadingStopped as stop:
        document.limits = str(stop)
    except MemoryError:
        document.limits = "parse-limited: out of memory"
    except Exception as wrong:  # a fault of ours must cost this document, not three tries of it
        document.limits = f"parse-crashed: {type(wrong).__name__}: {wrong}"[:300]
    return document


def parse_document(answer: Response, target: UrlRef, joiner: Joiner, mime: str, reader: Reader) -> Page:
    """The page that a document makes; without text if it has none, is broken, locked or too much."""
    document = read(reader, answer.body)
    text = plain(document.text)
    if not text.strip():
        text, document.limits = "", document.limits or "no text"
    page = Page(target.url, target.id, target.host, mime, text=text, limits=document.limits)
    if answer.truncated and page.limits:
        why = "larger than may be fetched" if answer.truncated == "length" else f"cut off ({answer.truncated})"
        page.limits = f"{why}; {page.limits}"
    page.headings = document.headings
    page.title = document.title or _first_title(document, text)
    page.author, page.date = document.author[:MAX_TITLE], document.date
    page.lang = language_of(text, document.lang, answer.headers.get("content-language", "")) if text else ""
    page.main_text = lambda: text
    apply(page, answer)
    _read_links(page, document, target, joiner)
    return page


def _first_title(document: Document, text: str) -> str:
    """The first heading or line that will do."""
    lines = (found[0] for found in islice(_LINE.finditer(text), 3))
    return next(filter(None, map(title_of, (*document.headings[:1], *lines))), "")


def _read_links(page: Page, document: Document, target: UrlRef, joiner: Joiner) -> None:
    """The links that were noted, then the URLs that stand in the text."""
    text = page.text
    found = document.links + [DocumentLink(m[0], "", m.start()) for m in islice(URL.finditer(text), MAX_FOUND)]
    page.links, kept, cut = gather(
        [link.url for link in found], found, target.id, joiner.base(target.url), lambda link: plain(link.anchor)
    )
    page.link_context = lambda i: _around(text, kept[i])
    if cut:
        page.limits = "; ".join(filter(None, (page.limits, "links-cut")))


def _around(text: str, link: DocumentLink) -> str:
    """The words before and after a link; its own place is known nearly, so its words are looked for there."""
    words = plain(link.anchor)
    at = text.find(words, max(0, link.at - _NEAR), link.at + len(words) + _NEAR) if words else link.at
    start = at if at >= 0 else link.at
    end = start + (len(words) or len(link.url))
    left = text[max(0, start - AROUND) : start]
    right = text[end : end + AROUND]
    if len(left) == AROUND:
        left = left.partition(" ")[2]
    if len(right) == AROUND:
        right = right.rpartition(" ")[0]
    return " ".join(f"{left}{text[start:end]}{right}".split())


# --- what the child runs ---------------------------------------------------------------------------------------------


_SINGLE: dict[str, Reader] = {
    sniff.PDF: read_pdf,
    sniff.DOCX: read_docx,
    sniff.DOC: read_doc,
    sniff.PPTX: read_pptx,
    sniff.PPT: read_ppt,
    sniff.XLSX: read_xlsx,
    sniff.ODT: read_opendocument,
    sniff.ODP: read_opendocument,
    sniff.ODS: read_opendocument,
    sniff.EPUB: read_epub,
    sniff.RTF: read_rtf,
    sniff.POSTSCRIPT: read_postscript,
}
_INSIDE = {**_SINGLE, sniff.HTML: read_html, sniff.XHTML: read_html, sniff.TEXT: read_text}
READERS: dict[str, Reader] = {
    **_SINGLE,
    sniff.ZIP: partial(read_zip, _INSIDE),
    sniff.TAR: partial(read_tar, _INSIDE),
    sniff.GZIP: partial(read_gzip, _INSIDE),
}
_joiner = Joiner(size=10_000)


def parse_in_child(answer: Response, target: UrlRef, mime: str) -> msgspec.Struct:
    """The page that a document makes, for the parent."""
    return flatten(parse_document(answer, target, _joiner, mime, READERS[mime]))
