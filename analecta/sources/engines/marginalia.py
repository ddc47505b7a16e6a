"""Marginalia: an index of the small, textual web. The key "public" is for all and often used up; ask for one's own."""

import msgspec

from analecta.sources.engines.engine import EngineHit, EngineKind, EngineRequest, decode, plain, with_query

MOST = 100


class _MarginaliaResult(msgspec.Struct):
    url: str
    title: str = ""
    description: str = ""


class _MarginaliaAnswer(msgspec.Struct):
    results: list[_MarginaliaResult]


def request(query: str, count: int, page: int, key: str, url: str) -> EngineRequest:
    """`/search?query=…`, with the key in the head."""
    return EngineRequest(
        with_query(url, {"query": query, "count": min(count, MOST), "page": page}), (("API-Key", key),)
    )


def read(body: bytes) -> list[EngineHit]:
    """The results."""
    results = decode("marginalia", body, _MarginaliaAnswer).results
    return [EngineHit(one.url, plain(one.title), plain(one.description)) for one in results]


ENGINE = EngineKind(
    "marginalia",
    request,
    read,
    url="https://api2.marginalia-search.com/search",
    key="MARGINALIA_API_KEY",
    keyless="public",
    most=MOST,
)
