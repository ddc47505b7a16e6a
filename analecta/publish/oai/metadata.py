"""A page as a record of Dublin Core; its text is made fit for XML (F29, F37)."""

from collections.abc import Iterator, Sequence
from html import escape

from analecta.store.rows import Item
from analecta.text.display import one_line
from analecta.text.summary import name_of, summary

DC_SCHEMA = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd"
DC_SPACE = "http://www.openarchives.org/OAI/2.0/oai_dc/"
_OPEN = (
    f'<oai_dc:dc xmlns:oai_dc="{DC_SPACE}" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="{DC_SPACE} {DC_SCHEMA}">'
)
_WEB = ("http://", "https://")
ABOUT = 400  # characters of a description, at most
_READ = 2_000  # of the text, to make it from
_MOST = 1_000  # of any other value


def in_xml(text: str) -> str:
    """The text on one line, ready to stand in an element or an attribute."""
    return escape(one_line(text))


def oai_dc(item: Item, topics: Sequence[str], text: str) -> str:
    """The record of a page: `topics` are its topics' names, `text` is what was read of it."""
    values = ((name, in_xml(value[:_MOST])) for name, value in _values(item, topics, text))
    return f"{_OPEN}{''.join(f'<dc:{name}>{value}</dc:{name}>' for name, value in values if value)}</oai_dc:dc>"


def _values(item: Item, topics: Sequence[str], text: str) -> Iterator[tuple[str, str]]:
    yield "title", name_of(item.title, item.url)
    yield "creator", item.author
    for topic in topics:
        yield "subject", topic
    yield "description", summary(text[:_READ], item.title, ABOUT)
    yield "publisher", item.host
    yield "date", item.date
    yield "type", "Text"
    yield "format", item.mime
    yield "identifier", item.url if item.url.startswith(_WEB) else ""
    yield "source", f"urn:{item.digest}" if item.digest else ""  # the archived bytes
    yield "language", item.lang
    yield "rights", f"Reserved by its owner: {item.reserved}" if item.reserved else ""
