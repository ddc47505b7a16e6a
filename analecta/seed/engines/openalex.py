"""OpenAlex: scholarly works by title, abstract and full text. A key is not needed but allows more requests a day."""

import re

import msgspec

from analecta.seed.engines.engine import Ask, Engine, Hit, decode, plain, with_query

MOST = 50
_FIELDS = "display_name,doi,primary_location,best_oa_location,abstract_inverted_index"
_WILD = re.compile(r"[*?~]")  # operators of its query language, which in a title are punctuation


class _Location(msgspec.Struct):
    landing_page_url: str | None = None


class _Work(msgspec.Struct):
    display_name: str | None = None
    doi: str | None = None
    primary_location: _Location | None = None
    best_oa_location: _Location | None = None
    abstract_inverted_index: dict[str, list[int]] | None = None


class _Answer(msgspec.Struct):
    results: list[_Work]


def request(query: str, count: int, page: int, key: str, url: str) -> Ask:
    """Works by relevance, with the fields that are read below and no others."""
    fields = {"search": _WILD.sub(" ", query), "per-page": min(count, MOST), "page": page, "select": _FIELDS}
    return Ask(with_query(url, fields | ({"api_key": key} if key else {})))


def read(body: bytes) -> list[Hit]:
    """Works that are somewhere on the web: the open copy's page first, the publisher's or the DOI else."""
    hits = []
    for work in decode("openalex", body, _Answer).results:
        places = [place.landing_page_url for place in (work.best_oa_location, work.primary_location) if place]
        url = next(filter(None, [*places, work.doi]), None)
        if url:
            hits.append(Hit(url, plain(work.display_name), _abstract(work.abstract_inverted_index or {})))
    return hits


def _abstract(index: dict[str, list[int]]) -> str:
    """The words of an abstract, given with their places, put in order."""
    return plain(" ".join(word for _, word in sorted((at, word) for word, places in index.items() for at in places)))


ENGINE = Engine("openalex", request, read, url="https://api.openalex.org/works", key="OPENALEX_API_KEY", most=MOST)
