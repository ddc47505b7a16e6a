"""Any site with an OpenSearch 1.1 description whose results come as Atom or RSS.

The URL is that of the description document, or a template with {searchTerms} as such a document gives.
"""

import re
from urllib.parse import quote

from analecta.parse.xml import DoctypeRefused, Tag, XmlError, read_tree
from analecta.sources.engines.engine import BadAnswer, EngineHit, EngineKind, EngineRequest, Request, plain
from analecta.urls import canonical

_TYPES = ("application/atom+xml", "application/rss+xml")
_PARAMETER = re.compile(r"\{([^{}?]*)(\?)?\}")
_FEEDS = {"feed": "entry", "rss": "item", "RDF": "item"}  # Atom, RSS 2.0, RSS 1.0: root -> name of a hit


def request(query: str, count: int, page: int, key: str, url: str) -> EngineRequest:
    """The URL is a template already."""
    return _fill(url, query, count, 1 + (page - 1) * count, page)


def _fill(template: str, query: str, count: int, index: int, page: int) -> EngineRequest:
    """The template with its parameters replaced; those that may be left out and are not known here are left out."""
    values = {"searchTerms": quote(query, safe="", errors="replace"), "count": str(count), "language": "*"}
    values |= {"startIndex": str(index), "startPage": str(page), "inputEncoding": "UTF-8", "outputEncoding": "UTF-8"}

    def value(found: "re.Match[str]") -> str:
        if found[1] not in values and not found[2]:
            raise BadAnswer(f"opensearch: the template wants {found[0][:60]!r}, of which nothing is known")
        return values.get(found[1], "")

    return EngineRequest(_PARAMETER.sub(value, template))


def describe(body: bytes, url: str) -> Request:
    """How the site that a description document tells of is asked."""
    root = _tree(body)
    if root.name != "OpenSearchDescription":
        raise BadAnswer(f"opensearch: {url[:200]} is no OpenSearch description but <{root.name[:40]}>")
    urls = [one for one in root.children if one.name == "Url"]
    offers = [one for one in urls if "results" in one.attributes.get("rel", "results").split()]
    for kind in _TYPES:
        for one in offers:
            if one.attributes.get("type", "").partition(";")[0].strip().lower() == kind:
                return _request_of(one, url)
    kinds = ", ".join(sorted({one.attributes.get("type", "?")[:40] for one in offers})) or "no results at all"
    raise BadAnswer(f"opensearch: {url[:200]} offers its results neither as Atom nor as RSS but as {kinds}")


def _request_of(offer: Tag, url: str) -> Request:
    """How an offer is taken up: its template is filled, with hits and pages counted from where it says."""
    template = offer.attributes.get("template", "")
    if "{searchTerms" not in template:
        raise BadAnswer(f"opensearch: the template {template[:100]!r} has no place for the words to search")
    try:
        first, page = int(offer.attributes.get("indexOffset", 1)), int(offer.attributes.get("pageOffset", 1))
    except ValueError as error:
        raise BadAnswer(f"opensearch: {url[:200]} counts from what is no number: {error}") from error
    if not template.startswith(("http://", "https://")):  # not allowed, but seen: a path on the same host
        template = url[: url.index("/", url.index("//") + 2)] + "/" + template.lstrip("/")
    return lambda query, count, number, _key, _url: _fill(
        template, query, count, first + (number - 1) * count, page + number - 1
    )


def read(body: bytes) -> list[EngineHit]:
    """The hits of a feed, whichever of the three it is."""
    root = _tree(body)
    if root.name not in _FEEDS:
        raise BadAnswer(f"opensearch: the answer is neither Atom nor RSS but <{root.name[:40]}>")
    hits = [_hit(one) for one in root.parts() if isinstance(one, Tag) and one.name == _FEEDS[root.name]]
    return [hit for hit in hits if canonical(hit.url) is not None]


def _hit(entry: Tag) -> EngineHit:
    parts = [one for one in entry.children if one.space == entry.space]  # <media:title> is not the title
    links = [one for one in parts if one.name == "link" and one.attributes.get("rel", "alternate") == "alternate"]
    url = next((found for one in links if (found := one.attributes.get("href") or one.text.strip())), "")
    texts = {one.name: plain(one.whole_text) for one in reversed(parts)}
    text = texts.get("summary") or texts.get("description") or texts.get("content") or ""
    return EngineHit(url, texts.get("title", ""), text)


def _tree(body: bytes) -> Tag:
    try:
        return read_tree(body, max_depth=len(body))  # it is walked without recursion
    except DoctypeRefused as error:
        raise BadAnswer("opensearch: the XML has a DOCTYPE, which is refused") from error
    except XmlError as error:
        raise BadAnswer(f"opensearch: the answer is no XML: {error.wrong or error}") from error


ENGINE = EngineKind("opensearch", request, read, most=20, phrases=False, describe=describe)
