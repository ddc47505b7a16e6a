"""Bytes to Page: title, text, links, language, and what the page asks of robots (docs/architecture.md)."""

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Self

import msgspec

from analecta.model import Page, Response, UrlRef
from analecta.parse.directives import apply
from analecta.parse.fallback import bare_page, rough_page
from analecta.parse.html import parse_html
from analecta.parse.page_sandbox import TIME_UP, PageSandbox, ParserDied, flatten
from analecta.parse.sandbox import ChildLimits
from analecta.parse.sniff import DOCUMENTS, sniff_type
from analecta.parse.text import parse_text
from analecta.urls import Joiner

__all__ = ["DOCUMENTS", "PARSERS", "UNREAD", "PageSandbox", "Parser", "ParserDied", "parse_in_child"]

ParsePage = Callable[[Response, UrlRef, Joiner, str], Page]

PARSERS: dict[str, ParsePage] = {
    "text/html": parse_html,
    "application/xhtml+xml": parse_html,
    "text/plain": parse_text,
}

MAX_BODY = 512 * 1024  # bytes parsed in this process; more go to the child
# Tags parsed in this process. 999 of 1,000 real pages have fewer, and no 5,000 tags can take more than
# 0.4 s and 250 MB, even misnested so that each is repeated at all 512 levels.
MAX_TAGS = 5000
# After a page that took longer than SLOW seconds the next ones go to the child if they are of more than medium size.
# Honest pages take a tenth of that.
SLOW = 0.05
WARY_FOR = 1000  # answers
WARY_BODY = 64 * 1024
WARY_TAGS = 400
TOO_LATE = 3  # pages of a host that took all the time the child has for one: the next ones are not parsed
_SHORTEST_TAG = 3  # bytes: so a short body need not be counted

# Documents get more than pages: a book takes seconds, and pdfium much memory for a page with large pictures.
READ_DOCUMENT = "analecta.parse.documents:parse_in_child"  # only its child imports the readers, pdfium among them
DOCUMENT_LIMITS = ChildLimits(seconds=20.0, memory=1024 * 1024 * 1024, nice=10)
MAX_DOCUMENT = 64 * 1024 * 1024  # bytes
UNREAD = "waits to be read"  # the limits of a document that is read later


class Parser:
    """Parses an answer here if it looks harmless, in a child if not; what has no parser is kept as binary.

    Documents (PDF, Office, archives) are read in a child of their own, always. One that cannot be read, or kills
    the child, is a page without text whose `limits` say why: to try again would not help.
    A call that goes to a child (`heavy`) may block for seconds: run it in a thread.
    """

    def __init__(self) -> None:
        self.joiner = Joiner()
        self.sandbox = PageSandbox()
        self.reader = PageSandbox(READ_DOCUMENT, DOCUMENT_LIMITS, MAX_DOCUMENT, bare_page)
        self._late: Counter[str] = Counter()  # pages that took too long, by host
        self._wary = 0  # answers left of those after a slow page

    def __call__(self, answer: Response, target: UrlRef, heavy: bool | None = None) -> Page:
        """The page; raises ParserDied if a parser broke on it. `heavy` if the caller has looked already."""
        mime = sniff_type(answer.headers.get("content-type", ""), answer.body)
        if mime in DOCUMENTS:
            try:
                return self.reader.parse(answer, target, mime)
            except ParserDied as died:
                return apply(died.page, answer)
        parse = PARSERS.get(mime)
        if parse is None:
            return apply(Page(target.url, target.id, target.host, mime), answer)
        if self.heavy(answer) if heavy is None else heavy:
            return self._suspect(answer, target, mime)
        began = time.thread_time()
        try:
            return parse(answer, target, self.joiner, mime)
        except Exception as wrong:
            raise ParserDied(f"{type(wrong).__name__}: {wrong}", target, mime) from wrong
        finally:
            if time.thread_time() - began > SLOW:
                self._wary = WARY_FOR

    def page(self, answer: Response, target: UrlRef) -> Page:
        """The page, or what is known of it where a parser broke on it."""
        try:
            return self(answer, target)
        except ParserDied as died:
            return died.page

    def _suspect(self, answer: Response, target: UrlRef, mime: str) -> Page:
        """A heavy page, from the child; of hosts that have used up its time before only what patterns find."""
        if self._late[target.host] >= TOO_LATE:
            return rough_page(answer, target, mime, f"parse-limited: {TOO_LATE} pages of its host took too long")
        page = self.sandbox.parse(answer, target, mime)
        if page.limits.startswith(TIME_UP):
            self._late[target.host] += 1
        return page

    def unread(self, answer: Response, target: UrlRef) -> Page | None:
        """A document as a page that is still to be read; None for what is no document."""
        mime = sniff_type(answer.headers.get("content-type", ""), answer.body)
        return bare_page(answer, target, mime, UNREAD) if mime in DOCUMENTS else None

    def heavy(self, answer: Response) -> bool:
        """Whether an answer is a document, or so large, or of so many tags, that it is parsed in a child."""
        body = answer.body
        size = len(body)
        # What begins with a tag is no document, whatever the server says (0.1 us; to sniff costs 1-2).
        if body[:1] != b"<" and sniff_type(answer.headers.get("content-type", ""), body) in DOCUMENTS:
            return True
        max_body, max_tags = MAX_BODY, MAX_TAGS
        if self._wary:
            self._wary -= 1
            max_body, max_tags = WARY_BODY, WARY_TAGS
        return size > max_tags * _SHORTEST_TAG and (size > max_body or body.count(b"<") > max_tags)

    def close(self) -> None:
        """End the children."""
        self.sandbox.close()
        self.reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_parse_suspect = partial(parse_html, suspect=True)
_CHILD_PARSERS = PARSERS | {"text/html": _parse_suspect, "application/xhtml+xml": _parse_suspect}
_child_joiner = Joiner(size=10_000)


def parse_in_child(answer: Response, target: UrlRef, mime: str) -> msgspec.Struct:
    """What the child of pages runs: the same parsers, with the depth of the page looked at."""
    return flatten(_CHILD_PARSERS[mime](answer, target, _child_joiner, mime))
