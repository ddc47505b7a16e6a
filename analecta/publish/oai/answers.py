"""The XML of answers: envelope, errors, headers, records. All text goes through `in_xml`; metadata is XML already."""

from collections.abc import Iterable, Mapping

import msgspec

from analecta.publish.oai.datestamps import written
from analecta.publish.oai.metadata import in_xml
from analecta.store.oai_records import Record

_SPACE = "http://www.openarchives.org/OAI/2.0/"
_OPEN = (
    f'<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH xmlns="{_SPACE}"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    f' xsi:schemaLocation="{_SPACE} {_SPACE}OAI-PMH.xsd">'
)
_ID_SPACE = "http://www.openarchives.org/OAI/2.0/oai-identifier"
_MASK = 2**64 - 1


class Fault(msgspec.Struct, frozen=True):
    """One of the eight errors of the protocol, with a sentence for a person."""

    code: str
    words: str


class Site(msgspec.Struct, frozen=True):
    """What the repository says of itself."""

    name: str
    base_url: str
    email: str
    repository: str  # the middle part of identifiers, such as library.example.org
    began: int  # no record is stamped earlier
    page_size: int


def envelope(site: Site, date: int, asked: Mapping[str, str], content: str) -> bytes:
    """A whole answer to what was asked."""
    request = "".join(f' {name}="{in_xml(value)}"' for name, value in asked.items())
    head = f"<responseDate>{written(date)}</responseDate><request{request}>{in_xml(site.base_url)}</request>"
    return f"{_OPEN}\n{head}\n{content}\n</OAI-PMH>\n".encode()


def element(name: str, text: str) -> str:
    """An element that holds text."""
    return f"<{name}>{in_xml(text)}</{name}>"


def error(fault: Fault) -> str:
    """An error."""
    return f'<error code="{fault.code}">{in_xml(fault.words)}</error>'


def identifier(site: Site, id: int) -> str:
    """The identifier of a page's record: the same for ever."""
    return f"oai:{site.repository}:{id & _MASK:016x}"


def header(site: Site, record: Record) -> str:
    """A record's header."""
    status = ' status="deleted"' if record.metadata is None else ""
    name, date = element("identifier", identifier(site, record.id)), element("datestamp", written(record.stamp))
    return f"<header{status}>{name}{date}{''.join(element('setSpec', spec) for spec in record.sets)}</header>"


def whole(site: Site, record: Record) -> str:
    """A record; of a deleted one there is only the header."""
    metadata = "" if record.metadata is None else f"<metadata>{record.metadata}</metadata>"
    return f"<record>{header(site, record)}{metadata}</record>\n"


def resumption(text: str, cursor: int, size: int, expires: int | None) -> str:
    """The element that says where the list goes on, or with no text that it is over."""
    until = f' expirationDate="{written(expires)}"' if expires is not None else ""
    return f'<resumptionToken{until} completeListSize="{size}" cursor="{cursor}">{text}</resumptionToken>'


def identify(site: Site, sample: int) -> str:
    """What the repository is."""
    values = (
        ("repositoryName", site.name),
        ("baseURL", site.base_url),
        ("protocolVersion", "2.0"),
        ("adminEmail", site.email),
        ("earliestDatestamp", written(site.began)),
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
