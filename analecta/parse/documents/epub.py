"""HTML and text as Documents, and EPUB, whose chapters are such pages."""

import posixpath
from urllib.parse import unquote

from analecta.model import Page, Response, UrlRef
from analecta.parse.charset import decode
from analecta.parse.documents.document import Document, ReadingStopped, title_of
from analecta.parse.documents.elements import read_elements, read_metadata
from analecta.parse.documents.zip import ZipFile
from analecta.parse.html import parse_html
from analecta.urls import Joiner

# --- HTML and plain text inside of something else (a book, an archive) to Document -----------------------------------


# What relative links are joined to: they lead to other parts of the book or archive, so they are no links.
_INSIDE = UrlRef("http://inside.invalid/", 1, "inside.invalid")


def read_html(body: bytes, document: Document) -> None:
    """Read a page, with its title."""
    page = _page(body)
    document.title, document.lang = title_of(page.title), page.lang
    document.author, document.date = page.author, page.date
    _take(page, document)


def read_text(body: bytes, document: Document) -> None:
    """Read plain text."""
    document.add(decode(body)[0])


def _page(body: bytes) -> Page:
    return parse_html(Response(_INSIDE.url, 200, b"", {}, b"", body), _INSIDE, Joiner(size=0))


def _take(page: Page, document: Document) -> None:
    for words in page.headings:
        document.heading(words)
    start, at = document.length, 0
    for link in page.links:
        if link.target.host != _INSIDE.host:
            at = max(page.text.find(link.anchor, at), at)
            document.link(link.target.url, link.anchor, start + at)
    document.add(page.text)
    document.end_line()


# --- EPUB to Document: the chapters in the order of the spine, the book's own metadata -------------------------------


MAX_CHAPTERS = 2000
MAX_CHAPTER = 16 * 1024 * 1024  # bytes


def read_epub(body: bytes, document: Document) -> None:
    """Read a book."""
    packed = ZipFile(body)
    if "META-INF/rights.xml" in packed or "META-INF/license.lcpl" in packed:
        raise ReadingStopped("encrypted")
    book = _package(packed)
    data = packed.read(book)
    read_metadata([data], document)
    for name in _chapters(data, posixpath.dirname(book)):
        if name in packed:
            _take(_page(packed.read(name)[:MAX_CHAPTER]), document)


def _package(packed: ZipFile) -> str:
    """The name of the file that lists the parts of the book."""
    names: list[str] = []
    read_elements(
        packed.chunks("META-INF/container.xml"), {"rootfile": lambda a: names.append(unquote(a.get("full-path", "")))}
    )
    if not names or names[0] not in packed:
        raise ReadingStopped("broken: the list of chapters is missing")
    return names[0]


def _chapters(data: bytes, folder: str) -> list[str]:
    """The names of the chapters in reading order."""
    hrefs: dict[str, str] = {}
    order: list[str] = []

    def item(attributes: dict[str, str]) -> None:
        if attributes.get("media-type") in ("application/xhtml+xml", "text/html"):
            hrefs[attributes.get("id", "")] = attributes.get("href", "")

    read_elements([data], {"item": item, "itemref": lambda a: order.append(a.get("idref", ""))})
    paths = (unquote(hrefs[name].partition("#")[0]) for name in order[:MAX_CHAPTERS] if name in hrefs)
    return [posixpath.normpath(posixpath.join(folder, path)) for path in dict.fromkeys(paths)]
