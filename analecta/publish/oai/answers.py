"""The XML of answers: sets, metadata, headers, records, errors."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain, count

import msgspec

from analecta.model import BELOW
from analecta.store.oai_records import OaiRecord
from analecta.store.rows import PageRow
from analecta.text.display import one_line, rfc3339
from analecta.text.summary import name_of, summary
from analecta.urls import hex_id

# --- Sets are topics: "Science / Biology" is the set science:biology, which lies in the set science ------------------

_ILLEGAL = re.compile(r"[^A-Za-z0-9_.!~*'()-]+")
SPEC = re.compile(r"[A-Za-z0-9_.!~*'()-]+(:[A-Za-z0-9_.!~*'()-]+)*")  # as the protocol's schema has it


class Sets(msgspec.Struct, frozen=True):
    """The set of each topic by number, and the names of all sets by spec, those above before those below."""

    of_topic: tuple[str, ...]
    names: dict[str, str]


def sets_of(topics: Sequence[str]) -> Sets:
    """The sets of a library's topics; numbers and names of topics stay, so sets keep their specs."""
    specs: dict[str, str] = {}  # by path
    for number, topic in enumerate(topics):
        for path in paths(topic):
            if path not in specs:
                specs[path] = _spec(path, number, specs)
    return Sets(tuple(specs[topic] for topic in topics), {spec: path for path, spec in specs.items()})


def paths(topic: str) -> list[str]:
    """A topic with all above it, the highest first: a, a / b, a / b / c."""
    parts = topic.split(BELOW)
    return [BELOW.join(parts[: n + 1]) for n in range(len(parts))]


def _spec(path: str, number: int, known: dict[str, str]) -> str:
    """A spec that no other set has; where two names read alike, the later one gets a number: its topic's, if free."""
    above, _, name = path.rpartition(BELOW)
    before = known[above] + ":" if above in known else ""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    spec = before + (_ILLEGAL.sub("-", plain).strip("-") or f"topic-{number}")
    specs = chain((spec,), (f"{spec}-{n}" for n in count(number)))
    return next(one for one in specs if one not in known.values())


# --- A page as a record of Dublin Core; its text is made fit for XML (F29, F37) --------------------------------------

DC_SCHEMA = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd"
DC_SPACE = "http://www.openarchives.org/OAI/2.0/oai_dc/"
_OPEN_DC = (
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


def oai_dc(item: PageRow, topics: Sequence[str], text: str) -> str:
    """The record of a page: `topics` are its topics' names, `text` is what was read of it."""
    values = ((name, in_xml(value[:_MOST])) for name, value in _values(item, topics, text))
    return f"{_OPEN_DC}{''.join(f'<dc:{name}>{value}</dc:{name}>' for name, value in values if value)}</oai_dc:dc>"


def _values(item: PageRow, topics: Sequence[str], text: str) -> Iterator[tuple[str, str]]:
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


# --- answers ---------------------------------------------------------------------------------------------------------
# The XML of answers: envelope, errors, headers, records. All text goes through `in_xml`; metadata is XML already.

_SPACE = "http://www.openarchives.org/OAI/2.0/"
_OPEN = (
    f'<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH xmlns="{_SPACE}"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    f' xsi:schemaLocation="{_SPACE} {_SPACE}OAI-PMH.xsd">'
)
_ID_SPACE = "http://www.openarchives.org/OAI/2.0/oai-identifier"


class Fault(msgspec.Struct, frozen=True):
    """One of the eight errors of the protocol, with a sentence for a person."""

    code: str
    words: str


class RepositoryIdentity(msgspec.Struct, frozen=True):
    """What the repository says of itself."""

    name: str
    base_url: str
    email: str
    repository: str  # the middle part of identifiers, such as library.example.org
    began: int  # no record is stamped earlier
    page_size: int


def envelope(site: RepositoryIdentity, date: int, asked: Mapping[str, str], content: str) -> bytes:
    """A whole answer to what was asked."""
    request = "".join(f' {name}="{in_xml(value)}"' for name, value in asked.items())
    head = f"<responseDate>{rfc3339(date)}</responseDate><request{request}>{in_xml(site.base_url)}</request>"
    return f"{_OPEN}\n{head}\n{content}\n</OAI-PMH>\n".encode()


def element(name: str, text: str) -> str:
    """An element that holds text."""
    return f"<{name}>{in_xml(text)}</{name}>"


def error(fault: Fault) -> str:
    """An error."""
    return f'<error code="{fault.code}">{in_xml(fault.words)}</error>'


def identifier(site: RepositoryIdentity, id: int) -> str:
    """The identifier of a page's record: the same for ever."""
    return f"oai:{site.repository}:{hex_id(id)}"


def header(site: RepositoryIdentity, record: OaiRecord) -> str:
    """A record's header."""
    status = ' status="deleted"' if record.metadata is None else ""
    name, date = element("identifier", identifier(site, record.id)), element("datestamp", rfc3339(record.stamp))
    return f"<header{status}>{name}{date}{''.join(element('setSpec', spec) for spec in record.sets)}</header>"


def whole(site: RepositoryIdentity, record: OaiRecord) -> str:
    """A record; of a deleted one there is only the header."""
    metadata = "" if record.metadata is None else f"<metadata>{record.metadata}</metadata>"
    return f"<record>{header(site, record)}{metadata}</record>\n"


def resumption(text: str, cursor: int, size: int, expires: int | None) -> str:
    """The element that says where the list goes on, or with no text that it is over."""
    until = f' expirationDate="{rfc3339(expires)}"' if expires is not None else ""
    return f'<resumptionToken{until} completeListSize="{size}" cursor="{cursor}">{text}</resumptionToken>'


def identify(site: RepositoryIdentity, sample: int) -> str:
    """What the repository is."""
    values = (
        ("repositoryName", site.name),
        ("baseURL", site.base_url),
        ("protocolVersion", "2.0"),
        ("adminEmail", site.email),
        ("earliestDatestamp", rfc3339(site.began)),
        ("deletedRecord", "persistent"),
        ("granularity", "YYYY-MM-DDThh:mm:ssZ"),
        ("compression", "gzip"),
    )
    about = (
        f'<description><oai-identifier xmlns="{_ID_SPACE}" xsi:schemaLocation="{_ID_SPACE} {_ID_SPACE}.xsd">'
        + element("scheme", "oai")
        + element("repositoryIdentifier", site.repository)
        + element("delimiter", ":")
        + element("sampleIdentifier", identifier(site, sample))
        + "</oai-identifier></description>"
    )
    return "".join(element(name, value) for name, value in values) + about


def sets(found: Iterable[tuple[str, str]]) -> str:
    """Sets with their names."""
    return "".join(f"<set>{element('setSpec', spec)}{element('setName', name)}</set>\n" for spec, name in found)
