"""PDF to Document, by pdfium; PostScript, by Ghostscript."""

import ctypes
import re
import shutil
import time
from collections.abc import Callable
from itertools import groupby
from typing import Any

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from analecta.parse.directives import date_of
from analecta.parse.documents.document import Document, ReadingStopped, tidy, title_of
from analecta.parse.html import MAX_HEADINGS
from analecta.parse.sandbox import ProgramLimits, run
from analecta.parse.text import MAX_TEXT

MAX_PAGES = 2000
MAX_SECONDS = 10.0  # of CPU; then what has been read is kept, before the child is killed
MAX_LINKS = 200  # annotations looked at on one page: a table of contents has 100
MAX_ANCHOR = 300
_MAX_URI = 4000
_TITLE_LINES = 40  # of the first page

# A word broken at the end of a line: pdfium has marked the hyphen (U+0002 or U+FFFE), or the next line goes on in
# lower case. "well-\nknown" loses its hyphen, too: far more words are broken than have one of their own there.
# The pattern begins with the hyphen, which is rare: 10 times faster than one that begins with a letter.
_BROKEN = re.compile(r"[-\x02\ufffe\xad\u2010](?<=[^\W\d_]{2}.)(?: ?\r?\n(?=[^\W\d_A-Z])|(?<=[\x02\ufffe])(?:\r?\n)?)")
_URL_BEFORE = re.compile(r"(?:https?://|www\.|doi)\S*$")
_STAMP = re.compile(r"arXiv:", re.IGNORECASE)

_WIDE = ctypes.POINTER(ctypes.c_ushort)


def read_pdf(
    body: bytes, document: Document, seconds: float = MAX_SECONDS, now: Callable[[], float] = time.process_time
) -> None:
    """Read a PDF; a page that is broken is left out."""
    until = now() + seconds
    pdf = _opened(body)
    try:
        _read_properties(pdf, document)
        count = pdfium.FPDF_GetPageCount(pdf)
        for number in range(min(count, MAX_PAGES)):
            if now() > until:
                raise ReadingStopped(f"parse-limited: only the first {number} of {count} pages, after {seconds:g} s")
            _read_page(pdf, number, document)
        if not document.text.strip():
            raise ReadingStopped("scanned: no text" if count else "broken PDF: no pages")
        if count > MAX_PAGES:
            raise ReadingStopped(f"parse-limited: only the first {MAX_PAGES} of {count} pages")
    finally:
        pdfium.FPDF_CloseDocument(pdf)


def _opened(body: bytes) -> Any:
    pdf = pdfium.FPDF_LoadMemDocument64(body, len(body), None)
    if not pdf:
        wrong = pdfium.FPDF_GetLastError()
        locked = wrong in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        raise ReadingStopped("encrypted" if locked else "broken PDF: cannot be opened")
    return pdf


def _read_properties(pdf: Any, document: Document) -> None:
    def property(name: bytes) -> str:
        return _string(lambda buffer, size: pdfium.FPDF_GetMetaText(pdf, name, buffer, size))

    document.title = title_of(property(b"Title"))
    document.author = tidy(property(b"Author"))
    document.date = date_of(property(b"CreationDate")) or date_of(property(b"ModDate"))
    document.lang = _string(lambda buffer, size: pdfium.FPDFCatalog_GetLanguage(pdf, ctypes.cast(buffer, _WIDE), size))
    bookmark = pdfium.FPDFBookmark_GetFirstChild(pdf, None)
    for _ in range(MAX_HEADINGS):  # those of the first level; an outline may be a loop
        if not bookmark:
            break
        document.heading(_string(lambda buffer, size: pdfium.FPDFBookmark_GetTitle(bookmark, buffer, size)))  # noqa: B023
        bookmark = pdfium.FPDFBookmark_GetNextSibling(pdf, bookmark)


def _string(ask: Callable[[Any, int], int], most: int = 4096) -> str:
    """What a function of pdfium writes into a buffer: UTF-16 with a NUL behind."""
    buffer = ctypes.create_string_buffer(most)
    size = ask(buffer, most)
    return buffer.raw[: max(size - 2, 0)].decode("utf-16-le", "replace") if size <= most else ""


def _read_page(pdf: Any, number: int, document: Document) -> None:
    page = pdfium.FPDF_LoadPage(pdf, number)
    if not page:
        document.limits = document.limits or f"broken PDF: page {number + 1}"
        return
    text = pdfium.FPDFText_LoadPage(page)
    try:
        raw = _text(text)
        if number == 0 and not document.title:
            document.title = _largest(text, raw)
        words = mended(raw)
        _read_links(pdf, page, text, words, document)
        document.add(words)
        document.end_line()
    finally:
        pdfium.FPDFText_ClosePage(text)
        pdfium.FPDF_ClosePage(page)


def _text(text: Any) -> str:
    size = pdfium.FPDFText_CountChars(text)
    if size <= 0:
        return ""
    buffer = ctypes.create_string_buffer(2 * size + 2)
    written = pdfium.FPDFText_GetText(text, 0, size, ctypes.cast(buffer, _WIDE))
    return buffer.raw[: max(2 * written - 2, 0)].decode("utf-16-le", "replace")


def mended(raw: str) -> str:
    """A page's text with plain line ends, and words that were broken at them whole again."""

    def join(found: re.Match[str]) -> str:
        in_url = _URL_BEFORE.search(raw, max(0, found.start() - 100), found.start())
        return found[0] if in_url else ""

    return _BROKEN.sub(join, raw).replace("\r\n", "\n").replace(" \n", "\n")


def _read_links(pdf: Any, page: Any, text: Any, words: str, document: Document) -> None:
    """Annotations with a URI; their anchor is the text below the rectangle."""
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    rectangle = pdfium.FS_RECTF()
    for _ in range(MAX_LINKS):
        if not pdfium.FPDFLink_Enumerate(page, position, link):
            return
        action = pdfium.FPDFLink_GetAction(link)
        if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
            continue
        buffer = ctypes.create_string_buffer(_MAX_URI)
        size = pdfium.FPDFAction_GetURIPath(pdf, action, buffer, _MAX_URI)
        if not 1 < size <= _MAX_URI:
            continue
        anchor = ""
        if pdfium.FPDFLink_GetAnnotRect(link, rectangle):
            anchor = _within(text, rectangle)
        at = words.find(anchor) if anchor else 0
        document.link(buffer.raw[: size - 1].decode("utf-8", "replace"), anchor, document.length + max(at, 0))


def _within(text: Any, box: Any) -> str:
    """The words inside of a rectangle."""
    buffer = ctypes.create_string_buffer(2 * MAX_ANCHOR + 2)
    size = pdfium.FPDFText_GetBoundedText(
        text, box.left, box.top, box.right, box.bottom, ctypes.cast(buffer, _WIDE), MAX_ANCHOR
    )
    return tidy(buffer.raw[: 2 * max(size, 0)].decode("utf-16-le", "replace").partition("\0")[0])


def _largest(text: Any, raw: str) -> str:
    """The lines of the largest type on a page, which on a first page are the title."""
    sizes: list[tuple[float, str]] = []
    at = 0
    for line in raw.split("\n")[:_TITLE_LINES]:
        words = line.strip()
        if len(words) > 1 and not _STAMP.match(words):
            first = at + len(line) - len(line.lstrip())
            sizes.append((_size(text, first), words))
        at += len(line) + 1
    # Neighbouring lines of one size belong together.
    by_size = groupby(sizes, key=lambda pair: round(pair[0]))
    runs = [(size, " ".join(words for _, words in lines)) for size, lines in by_size]
    for _, words in sorted(runs, key=lambda run: -run[0]):
        if 8 <= len(words) <= 300 and (title := title_of(mended(words))):
            return title
    return ""


def _size(text: Any, index: int) -> float:
    """How high the type of a character is; 0 for type that does not stand upright, as stamps in the margin."""
    at = pdfium.FPDFText_GetCharIndexFromTextIndex(text, index)
    box = pdfium.FS_RECTF()
    if at < 0 or pdfium.FPDFText_GetCharAngle(text, at) > 0.1 or not pdfium.FPDFText_GetLooseCharBox(text, at, box):
        return 0.0
    return float(box.top - box.bottom)


# --- postscript ------------------------------------------------------------------------------------------------------
# PostScript to Document, where Ghostscript is installed: it runs apart from everything else (parse/sandbox.py).


LIMITS = ProgramLimits(output=4 * MAX_TEXT)
# SAFER without any permission to open files; what a document prints goes to stderr, which nobody reads. No file of
# the working folder counts as one of Ghostscript's own (-P-).
OPTIONS = (
    *("-q", "-P-", "-dSAFER", "-dBATCH", "-dNOPAUSE"),
    *("-sDEVICE=txtwrite", "-sstdout=%stderr", "-sOutputFile=%stdout", "-"),
)
_COMMENT = re.compile(rb"^%%(Title|For|CreationDate):[ \t]*\(?([^\r\n)]{1,500})", re.MULTILINE)
_HEAD = 4096
_ISO = re.compile(r"\s*\d{4}-?\d\d")


def read_postscript(body: bytes, document: Document) -> None:
    """Read a PostScript file; without Ghostscript it stays what it is."""
    _read_comments(body[:_HEAD], document)
    program = shutil.which("gs")
    if program is None:
        raise ReadingStopped("PostScript: Ghostscript (gs) is not installed")
    done = run([program, *OPTIONS], body, LIMITS)
    text = done.output.decode("utf-8", "replace")
    for line in mended(text).splitlines():
        document.add(" ".join(line.split()))
        document.end_line()
    if done.stopped == "time":
        raise ReadingStopped(f"parse-limited: Ghostscript stopped after {LIMITS.seconds} s")
    if done.stopped == "output":
        raise ReadingStopped("text-cut")
    if done.status:
        raise ReadingStopped(f"broken PostScript: Ghostscript ended with {done.status}")
    if not text.strip():
        raise ReadingStopped("scanned: no text")


def _read_comments(head: bytes, document: Document) -> None:
    found = {name: value.decode("latin-1") for name, value in _COMMENT.findall(head)}
    document.title = title_of(found.get(b"Title", ""))
    document.author = tidy(found.get(b"For", ""))
    date = found.get(b"CreationDate", "")
    year = re.search(r"\b(19|20)\d\d\b", date)
    document.date = date_of(date) if _ISO.match(date.removeprefix("D:")) else year[0] if year else ""
