"""OpenAlex: scholarly works by title, abstract and full text. A key is not needed but allows more requests a day.

A work that cites another links to it, so to speak: works are asked for by OpenAlex' own name of the cited one.
"""

import re

import msgspec

from analecta.sources.engines.engine import BackLinks, EngineHit, EngineKind, EngineRequest, decode, plain, with_query

_FIELDS = "id,display_name,doi,primary_location,best_oa_location,abstract_inverted_index"
_REF = "openalex:"
_WILD = re.compile(r"[*?~]")  # operators of its query language, which in a title are punctuation


class _Location(msgspec.Struct):
    landing_page_url: str | None = None


class _OpenalexWork(msgspec.Struct):
    id: str = ""  # https://openalex.org/W12
    display_name: str | None = None
    doi: str | None = None
    primary_location: _Location | None = None
    best_oa_location: _Location | None = None
    abstract_inverted_index: dict[str, list[int]] | None = None


class _OpenalexAnswer(msgspec.Struct):
    results: list[_OpenalexWork]


def request(query: str, count: int, page: int, key: str, url: str) -> EngineRequest:
    """Works by relevance, with the fields that are read below and no others."""
    return _ask({"search": _WILD.sub(" ", query)}, count, page, key, url)


def citing(work: EngineHit, count: int, page: int, key: str, url: str) -> EngineRequest | None:
    """Works that cite one which was found here."""
    if not work.ref.startswith(_REF):
        return None
    return _ask({"filter": f"cites:{work.ref.removeprefix(_REF)}"}, count, page, key, url)


def _ask(what: dict[str, object], count: int, page: int, key: str, url: str) -> EngineRequest:
    fields = what | {"per-page": count, "page": page, "select": _FIELDS}
    return EngineRequest(with_query(url, fields | ({"api_key": key} if key else {})))


def read(body: bytes) -> list[EngineHit]:
    """Works that are somewhere on the web: the open copy's page first, the publisher's or the DOI else."""
    hits = []
    for work in decode("openalex", body, _OpenalexAnswer).results:
        places = [place.landing_page_url for place in (work.best_oa_location, work.primary_location) if place]
        url = next(filter(None, [*places, work.doi]), None)
        if url:
            name = work.id.rpartition("/")[2]
            ref = f"{_REF}{name}" if name else ""
            hits.append(EngineHit(url, plain(work.display_name), _abstract(work.abstract_inverted_index or {}), ref))
    return hits


def _abstract(index: dict[str, list[int]]) -> str:
    """The words of an abstract, given with their places, put in order."""
    return plain(" ".join(word for _, word in sorted((at, word) for word, places in index.items() for at in places)))


ENGINE = EngineKind(
    "openalex",
    request,
    read,
    url="https://api.openalex.org/works",
    key="OPENALEX_API_KEY",
    most=50,
    backlinks=BackLinks(citing, lambda body, _work: read(body)),
)
