"""A document as it is being read: text, title, author, date, language, headings and links, all within bounds."""

import re
import unicodedata
from dataclasses import dataclass, field
from typing import NamedTuple

from analecta.parse.html import MAX_HEADING, MAX_HEADINGS, MAX_TITLE
from analecta.parse.links import MAX_LINKS
from analecta.parse.text import MAX_TEXT

MAX_FOUND = 2 * MAX_LINKS  # links noted; some are no pages, some come twice

# Names of files, not TCP/IP or Node.js: by the ending of a format, or as a path.
_FILE = (
    r"\S+\.(?:docx?|dotx?|pdf|e?ps|dvi|tex|rtf|txt|s?html?|xml|od[tpsg]|sx[wic]|pp[ts]x?|xls[xm]?|wp[ds]?|pub|pages|"
    r"indd|qxd|p65|pmd|cdr|jpe?g|tiff?|png|gif|bmp|zip)|/\S+|\S*\\\S*|\S+/\S*/\S*"
)
_NO_TITLE = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel) - .*|(?:untitled|unknown|document|title|slide|book|presentation|main|"
    r"paper|no title|powerpoint[- ]presentation|powerpoint-präsentation|présentation powerpoint|folie|slides?|draft|"
    rf"template|manuscript|print|unbenannt|sans titre)[\s_-]*\d*|{_FILE}|\W*|[\W\d_]*|.)$",
    re.IGNORECASE,
)
_FIELD_LINK = re.compile(r"""\s*HYPERLINK\s++(?:\\[a-z]\s++)*+["“]?\s*(https?://[^\s"”]+)""", re.IGNORECASE)
_LIGATURES = re.compile("[\ufb00-\ufb06]")
# Controls that mean nothing in text, soft hyphens, and what cannot be written as UTF-8.
_NOISE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\ufeff\ufffe\uffff\ud800-\udfff]")


class ReadingStopped(Exception):
    """Why no more of a document is read: it is broken, encrypted, or too much. What was read till then is kept."""


class DocumentLink(NamedTuple):
    """A link of a document: where it points, the words that carry it, and where in the text they stand."""

    url: str
    anchor: str
    at: int


class TextMark(NamedTuple):
    """A place in a document's text."""

    piece: int
    at: int


@dataclass(slots=True)
class Document:
    """Grows piece by piece as a reader goes on."""

    title: str = ""
    author: str = ""
    date: str = ""
    lang: str = ""
    limits: str = ""
    headings: list[str] = field(default_factory=list)
    links: list[DocumentLink] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(self.pieces)

    @property
    def here(self) -> TextMark:
        """Where the next piece of text will stand."""
        return TextMark(len(self.pieces), self.length)

    def add(self, text: str) -> None:
        """Go on with the text."""
        room = MAX_TEXT - self.length
        self.pieces.append(text[:room])
        self.length += len(text)
        if len(text) > room:
            self.length = MAX_TEXT
            raise ReadingStopped("text-cut")

    def end_line(self) -> None:
        """What follows is a new paragraph; lines without words are not kept."""
        if self.pieces and self.pieces[-1] != "\n":
            self.add("\n")

    def since(self, mark: TextMark) -> str:
        """The words from a place on."""
        return " ".join("".join(self.pieces[mark.piece :]).split())

    def heading(self, words: str) -> None:
        """Note a heading; its words are part of the text, too."""
        words = tidy(words)[:MAX_HEADING]
        if words and len(self.headings) < MAX_HEADINGS:
            self.headings.append(words)

    def link(self, url: str, anchor: str = "", at: int | None = None) -> None:
        """Note a link out of the document; one within it is none."""
        url = url.strip()
        if url[:4].lower() == "www.":
            url = f"http://{url}"
        if url[:4].lower() == "http" and len(self.links) < MAX_FOUND:
            self.links.append(DocumentLink(url, anchor, self.length if at is None else at))

    def take(self, other: "Document") -> None:
        """Go on with all of another document."""
        self.links += [link._replace(at=link.at + self.length) for link in other.links]
        del self.links[MAX_FOUND:]
        for words in other.headings:
            self.heading(words)
        self.limits = self.limits or other.limits
        self.add(other.text)
        self.end_line()


def tidy(words: str) -> str:
    """Words in one line without noise."""
    return " ".join(plain(words).split())


def plain(text: str) -> str:
    """Text without control characters and soft hyphens, its ligatures spelt out (and nothing else normalised)."""
    if not text.isascii():
        text = _LIGATURES.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
    return _NOISE.sub("", text)


def field_link(code: str) -> str:
    """Where the code of one of Word's fields leads, or ""."""
    found = _FIELD_LINK.match(code)
    return found[1] if found else ""


def title_of(words: str) -> str:
    """A title if it is one, and no file name or what programs write where nobody gave a title."""
    words = tidy(words)
    return "" if _NO_TITLE.match(words) else words[:MAX_TITLE]
