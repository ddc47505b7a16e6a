"""A page as a record of Dublin Core, and text from the web made fit for XML (F29, F37)."""

import re
from collections.abc import Iterator, Sequence
from html import escape

from analecta.publish.items import Item

DC_SCHEMA = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd"
DC_SPACE = "http://www.openarchives.org/OAI/2.0/oai_dc/"
_OPEN = (
    f'<oai_dc:dc xmlns:oai_dc="{DC_SPACE}" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="{DC_SPACE} {DC_SCHEMA}">'
)
# What XML 1.0 does not allow, C1 controls that it discourages, and what turns the direction of the text around it.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_SENTENCE_END = re.compile(r"[.!?…]['\")\]”’]*\s|[。！？]")
_LOOSE = re.compile(r" (?=[,.;:!?)\]](?:\s|$))|(?<=[(\[]) ")  # texts have their links on lines of their own
_WEB = ("http://", "https://")
ABOUT = 400  # characters of a description, at most
_READ = 1_500  # of the text, to make it from
_MOST = 1_000  # of any other value


def fit(text: str) -> str:
    """The text on one line, with nothing in it that XML cannot hold."""
    return " ".join(_UNFIT.sub("", text).split())


def in_xml(text: str) -> str:
    """The text ready to stand in an element or an attribute."""
    return escape(fit(text))


def oai_dc(item: Item, topics: Sequence[str], text: str) -> str:
    """The record of a page: `topics` are its topics' names, `text` is what was read of it."""
    values = ((name, in_xml(value[:_MOST])) for name, value in _values(item, topics, text))
    return f"{_OPEN}{''.join(f'<dc:{name}>{value}</dc:{name}>' for name, value in values if value)}</oai_dc:dc>"


def _values(item: Item, topics: Sequence[str], text: str) -> Iterator[tuple[str, str]]:
    yield "title", item.name
    yield "creator", item.author
    for topic in topics:
        yield "subject", topic
    yield "description", first_sentences(text, item.title)
    yield "publisher", item.host
    yield "date", item.date
    yield "type", "Text"
    yield "format", item.mime
    yield "identifier", item.url if item.url.startswith(_WEB) else ""
    yield "source", f"urn:{item.digest}" if item.digest else ""  # the archived bytes
    yield "language", item.lang
    yield "rights", f"Reserved by its owner: {item.reserved}" if item.reserved else ""


def first_sentences(text: str, title: str = "") -> str:
    """What a page begins with, without its title, up to the end of a sentence or at least of a word."""
    line, title = _LOOSE.sub("", fit(text[:_READ])), fit(title)
    line = line.removeprefix(title).lstrip() if title else line
    if len(line) <= ABOUT:
        return line
    start = line[: ABOUT + 1]
    ends = [found.end() for found in _SENTENCE_END.finditer(start)]
    if ends and ends[-1] > ABOUT // 4:
        return start[: ends[-1]].rstrip()
    return (start[: ABOUT - 1].rpartition(" ")[0] or start[: ABOUT - 1]) + "…"
