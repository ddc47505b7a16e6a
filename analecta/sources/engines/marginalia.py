"""Marginalia: an index of the small, textual web. The key "public" is for all and often used up; ask for one's own."""

import msgspec

from analecta.sources.engines.engine import Ask, Engine, Hit, decode, plain, with_query

MOST = 100


class _Result(msgspec.Struct):
    url: str
    title: str = ""
    description: str = ""


class _Answer(msgspec.Struct):
    results: list[_Result]


def request(query: str, count: int, page: int, key: str, url: str) -> Ask:
    """`/search?query=…`, with the key in the head."""
    return Ask(with_query(url, {"query": query, "count": min(count, MOST), "page": page}), (("API-Key", key),))


def read(body: bytes) -> list[Hit]:
    """The results."""
    results = decode("marginalia", body, _Answer).results
    return [Hit(one.url, plain(one.title), plain(one.description)) for one in results]


ENGINE = Engine(
    "marginalia",
    request,
    read,
    url="https://api2.marginalia-search.com/search",
    key="MARGINALIA_API_KEY",
    keyless="public",
    most=MOST,
)
