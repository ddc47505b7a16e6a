"""HTML and plain text inside of something else (a book, an archive) to Document."""

from analecta.model import Answer, Page, Target
from analecta.parse.charset import decode
from analecta.parse.documents.document import Document, title_of
from analecta.parse.html import parse_html
from analecta.urls import Joiner

# What relative links are joined to: they lead to other parts of the book or archive, so they are no links.
_INSIDE = Target("http://inside.invalid/", 1, "inside.invalid")


def read_html(body: bytes, document: Document) -> None:
    """Read a page, with its title."""
    page = _page(body)
    document.title, document.lang = title_of(page.title), page.lang
    document.author, document.date = page.author, page.date
    _take(page, document)


def read_chapter(body: bytes, document: Document) -> None:
    """Read a page as a further part of a document, whose title is not its own."""
    _take(_page(body), document)


def read_text(body: bytes, document: Document) -> None:
    """Read plain text."""
    document.add(decode(body)[0])


def _page(body: bytes) -> Page:
    return parse_html(Answer(_INSIDE.url, 200, b"", {}, b"", body), _INSIDE, Joiner(size=0))


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
