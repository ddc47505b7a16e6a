"""Plain text to Page: the first line is its title, the bare URLs in it are its links."""

import re
from itertools import islice

from analecta.model import Page, Response, UrlRef
from analecta.parse.charset import decode, header_charset
from analecta.parse.directives import apply
from analecta.parse.html import AROUND, MAX_TITLE
from analecta.parse.links import MAX_LINKS, gather
from analecta.text.language import language_of
from analecta.urls import MAX_URL, Joiner

MAX_TEXT = 2_000_000  # characters kept of a text file; logs and data dumps go on for ever

# A URL in running text ends before the punctuation that ends its sentence or bracket; a bracket that it opens itself
# is its own. A comma before another URL parts the two.
_LETTER = r"[^\s<>\"'`{}|\\^(),]"
URL = re.compile(
    rf"https?://(?:{_LETTER}|,(?!https?://)|\((?:{_LETTER}|,){{0,{MAX_URL}}}\)|\(){{1,{MAX_URL}}}(?<![.,;:!?(\]])",
    re.IGNORECASE,
)
_LINE = re.compile(r"\S[^\n]*")


def parse_text(answer: Response, target: UrlRef, joiner: Joiner, mime: str = "text/plain") -> Page:
    """The page that a plain-text answer holds."""
    text, charset = decode(answer.body, header_charset(answer.headers.get("content-type", "")))
    page = Page(target.url, target.id, target.host, mime, charset=charset)
    if len(text) > MAX_TEXT:
        page.limits = "text-cut"
    page.text = text = text[:MAX_TEXT].replace("\0", "\ufffd")
    first = _LINE.search(text)
    page.title = " ".join(first[0][: 4 * MAX_TITLE].split())[:MAX_TITLE] if first else ""
    page.lang = language_of(text, answer.headers.get("content-language", ""))
    page.main_text = lambda: text
    apply(page, answer)
    _read_links(page, text, target, joiner)
    return page


def _read_links(page: Page, text: str, target: UrlRef, joiner: Joiner) -> None:
    found = list(islice(URL.finditer(text), 2 * MAX_LINKS))
    page.links, kept, cut = gather([m[0] for m in found], found, target.id, joiner.base(target.url), lambda _: "")
    if cut or len(found) == 2 * MAX_LINKS:
        page.limits = "; ".join(filter(None, (page.limits, "links-cut")))

    def around(i: int) -> str:
        return " ".join(text[max(0, kept[i].start() - AROUND) : kept[i].end() + AROUND].split())

    page.link_context = around
