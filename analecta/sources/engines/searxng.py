"""SearXNG, one's own or a friend's: many engines behind one, without a key (its JSON format must be switched on).

`analecta replay --search` answers in its manner and also knows back-links (`link:URL`), of which SearXNG knows nothing:
what stands at `/config` tells the two apart.
"""

import msgspec

from analecta.sources.engines.engine import (
    BackLinks,
    BadAnswer,
    EngineHit,
    EngineKind,
    EngineRequest,
    decode,
    plain,
    with_query,
)


class _SearxngResult(msgspec.Struct):
    url: str | None = None  # tables and sums have none
    title: str | None = None
    content: str | None = None


class _SearxngAnswer(msgspec.Struct):
    results: list[_SearxngResult]
    unresponsive_engines: list[list[str]] = []


class _Config(msgspec.Struct):
    backlinks: str = ""  # what to put before a URL


def request(query: str, count: int, page: int, key: str, url: str) -> EngineRequest:
    """`/search?q=…&format=json`; how many hits a page has, the instance decides."""
    return EngineRequest(with_query(f"{_base(url)}/search", {"q": query, "format": "json", "pageno": page}))


def linking(page: EngineHit, count: int, number: int, key: str, url: str) -> EngineRequest:
    """The pages that link to a page."""
    return request(f"link:{page.url}", count, number, key, url)


def _base(url: str) -> str:
    return url.rstrip("/").removesuffix("/search")


def read(body: bytes) -> list[EngineHit]:
    """The results; that nothing was found counts only if somebody looked."""
    answer = decode("searxng", body, _SearxngAnswer)
    if not answer.results and answer.unresponsive_engines:
        silent = ", ".join(" ".join(one) for one in answer.unresponsive_engines)
        raise BadAnswer(f"searxng found nothing because the engines behind it did not answer: {silent[:200]}")
    return [EngineHit(one.url, plain(one.title), plain(one.content)) for one in answer.results if one.url]


ENGINE = EngineKind(
    "searxng",
    request,
    read,
    backlinks=BackLinks(
        linking,
        lambda body, _page: read(body),
        first=lambda url: EngineRequest(f"{_base(url)}/config"),
        offered=lambda body: decode("searxng", body, _Config).backlinks == "link:",
    ),
    refusal="the instance may not offer JSON: its settings.yml must list json under search.formats",
)
