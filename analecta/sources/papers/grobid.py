"""A GROBID server in place of our own reader: it is asked by HTTP, and its TEI is read.

The format: https://grobid.readthedocs.io/en/latest/Grobid-service/ and the TEI guidelines.
"""

import http.client
import re
import threading
import uuid
from collections.abc import Iterable
from queue import Empty, Queue
from urllib.parse import urlsplit
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from analecta.errors import ResourceError, UsageError
from analecta.sources.papers.paper import Paper, Reference, Section

_TEI = {"t": "http://www.tei-c.org/ns/1.0"}
_MAX_ANSWER = 64 * 1024 * 1024
_YEAR = re.compile(r"(?:1[89]|20)\d\d")


def ask_grobid(url: str, data: bytes, seconds: float = 120.0) -> str:
    """The TEI that the GROBID server at `url` makes of a PDF, within so many seconds in all."""
    connection, path = _server(url, seconds)
    said: Queue[tuple[int, str, bytes] | Exception] = Queue()
    # Limits of sockets are for single reads: only another thread can end what drips byte by byte.
    threading.Thread(target=_post, args=(connection, path, data, said), daemon=True).start()
    try:
        answer = said.get(timeout=seconds)
    except Empty:
        raise ResourceError(f"the GROBID server at {url} is too slow: no answer after {seconds:g} s") from None
    if isinstance(answer, Exception):
        raise ResourceError(f"the GROBID server at {url} does not answer: {answer}")
    status, reason, text = answer
    if status != 200:
        raise ResourceError(f"the GROBID server at {url} answers {status} {reason}")
    return text.decode("utf-8", "replace")


def _post(
    connection: http.client.HTTPConnection, path: str, data: bytes, said: "Queue[tuple[int, str, bytes] | Exception]"
) -> None:
    body, kind = _form(data)
    try:
        connection.request("POST", path, body, {"Content-Type": kind, "Accept": "application/xml"})
        answer = connection.getresponse()
        said.put((answer.status, answer.reason, answer.read(_MAX_ANSWER)))
    except (OSError, ValueError, http.client.HTTPException) as wrong:
        said.put(wrong)
    finally:
        connection.close()


def _server(url: str, seconds: float) -> tuple[http.client.HTTPConnection, str]:
    """Whom to ask, and by which path."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # a port that is no number, a bracket that is not closed
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise UsageError(f"{url!r} is no address of a GROBID server: it should look like http://localhost:8070")
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return connect(host, port, timeout=seconds), parts.path.rstrip("/") + "/api/processFulltextDocument"


def _form(data: bytes) -> tuple[bytes, str]:
    """The PDF as a form of one file, with the reference's own words asked for."""
    mark = uuid.uuid4().hex
    head = (
        f'--{mark}\r\nContent-Disposition: form-data; name="includeRawCitations"\r\n\r\n1\r\n'
        f'--{mark}\r\nContent-Disposition: form-data; name="input"; filename="paper.pdf"\r\n'
        "Content-Type: application/pdf\r\n\r\n"
    )
    return head.encode() + data + f"\r\n--{mark}--\r\n".encode(), f"multipart/form-data; boundary={mark}"


def from_grobid(tei: str) -> Paper:
    """The paper that GROBID's TEI describes."""
    if "<!DOCTYPE" in tei or "<!ENTITY" in tei:  # F31: entities may grow without end
        raise UsageError("the answer of GROBID has a DOCTYPE, which TEI of GROBID never has")
    try:
        root = ElementTree.fromstring(tei)
    except ElementTree.ParseError as wrong:
        raise UsageError(f"the answer of GROBID is no TEI: {wrong}") from None
    source = _first(root, ".//t:teiHeader//t:sourceDesc//t:analytic")
    people = source.findall("t:author", _TEI) if source is not None else []
    title = _text(_first(root, ".//t:teiHeader//t:titleStmt/t:title"))
    references = tuple(_reference(item) for item in root.iterfind(".//t:back//t:listBibl/t:biblStruct", _TEI))
    return Paper(
        title=title,
        authors=tuple(_names(people)),
        affiliations=tuple(dict.fromkeys(_place(at) for one in people for at in one.iterfind("t:affiliation", _TEI))),
        abstract=_text(_first(root, ".//t:profileDesc/t:abstract")),
        keywords=tuple(_keywords(root)),
        sections=tuple(_sections(root)),
        references=references,
        why="" if title else "no title was found",
    )


def _reference(item: Element) -> Reference:
    title = _text(_first(item, "t:analytic/t:title[@level='a']")) or _text(_first(item, "t:monogr/t:title"))
    people = item.findall("t:analytic/t:author", _TEI) or item.findall("t:monogr/t:author", _TEI)
    date = _first(item, ".//t:imprint/t:date")
    year = _YEAR.search((date.get("when") or _text(date)) if date is not None else "")
    raw = _text(_first(item, "t:note[@type='raw_reference']")) or _text(item)
    return Reference(title, tuple(_names(people)), year[0] if year else "", raw)


def _names(people: Iterable[Element]) -> list[str]:
    found = []
    for one in people:
        parts = [*one.iterfind("t:persName/t:forename", _TEI), *one.iterfind("t:persName/t:surname", _TEI)]
        if name := " ".join(filter(None, map(_text, parts))):
            found.append(name)
    return found


def _place(affiliation: Element) -> str:
    names = [_text(part) for part in affiliation.iterfind("t:orgName", _TEI)]
    address = [_text(part) for part in affiliation.iterfind("t:address/*", _TEI)]
    return ", ".join(filter(None, names + address))


def _keywords(root: Element) -> list[str]:
    terms = [_text(term) for term in root.iterfind(".//t:profileDesc//t:keywords//t:term", _TEI)]
    if not terms:
        terms = re.split(r"\s*[;,]\s*", _text(_first(root, ".//t:profileDesc//t:keywords")))
    return [term for term in terms if term]


def _sections(root: Element) -> Iterable[Section]:
    for part in root.iterfind(".//t:text/t:body/t:div", _TEI):
        heading = _first(part, "t:head")
        if heading is not None:
            title = " ".join(filter(None, (heading.get("n"), _text(heading))))
            yield Section(title, " ".join(_text(paragraph) for paragraph in part.iterfind("t:p", _TEI)))


def _first(root: Element, path: str) -> Element | None:
    return root.find(path, _TEI)


def _text(element: Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())
