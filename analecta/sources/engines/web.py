"""Engines for the whole web: SearXNG, Brave and Marginalia.

SearXNG is one's own or a friend's: many engines behind one, without a key (its JSON format must be switched on).
`analecta replay --search` answers in its manner and also knows back-links (`link:URL`), of which SearXNG knows nothing:
what stands at `/config` tells the two apart. Brave has an index of its own, with a key. Marginalia has one of the
small, textual web; its key "public" is for all and often used up: ask for one's own.
"""

from typing import Literal

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

_BRAVE_LAST_PAGE = 9  # pages are counted from 0 here


class _WebResult(msgspec.Struct):
    url: str
    title: str = ""
    description: str = ""


class _WebResults(msgspec.Struct):
    results: list[_WebResult]


class _BraveAnswer(msgspec.Struct):
    type: Literal["search"]
    web: _WebResults | None = None  # left out where nothing was found


class _SearxngResult(msgspec.Struct):
    url: str | None = None  # tables and sums have none
    title: str | None = None
    content: str | None = None


class _SearxngAnswer(msgspec.Struct):
    results: list[_SearxngResult]
    unresponsive_engines: list[list[str]] = []


class _SearxngConfig(msgspec.Struct):
    backlinks: str = ""  # what to put before a URL


def _ask_brave(query: str, count: int, page: int, key: str, url: str) -> EngineRequest:
    """Web results only, without mark-up."""
    fields = {"q": query, "count": count, "offset": min(page - 1, _BRAVE_LAST_PAGE)}
    fields |= {"result_filter": "web", "text_decorations": "false"}
    return EngineRequest(with_query(url, fields), (("Accept", "application/json"), ("X-Subscription-Token", key)))


def _ask_marginalia(query: str, count: int, page: int, key: str, url: str) -> EngineRequest:
    """`/search?query=…`, with the key in the head."""
    fields = {"query": query, "count": count, "page": page}
    return EngineRequest(with_query(url, fields), (("API-Key", key),))


def _ask_searxng(query: str, count: int, page: int, key: str, url: str) -> EngineRequest:
    """`/search?q=…&format=json`; how many hits a page has, the instance decides."""
    return EngineRequest(with_query(f"{_base(url)}/search", {"q": query, "format": "json", "pageno": page}))


def _base(url: str) -> str:
    return url.rstrip("/").removesuffix("/search")


def _read_brave(body: bytes) -> list[EngineHit]:
    return _hits(decode("brave", body, _BraveAnswer).web)


def _read_marginalia(body: bytes) -> list[EngineHit]:
    return _hits(decode("marginalia", body, _WebResults))


def _hits(found: _WebResults | None) -> list[EngineHit]:
    return [EngineHit(one.url, plain(one.title), plain(one.description)) for one in found.results] if found else []


def _read_searxng(body: bytes) -> list[EngineHit]:
    """The results; that nothing was found counts only if somebody looked."""
    answer = decode("searxng", body, _SearxngAnswer)
    if not answer.results and answer.unresponsive_engines:
        silent = ", ".join(" ".join(one) for one in answer.unresponsive_engines)
        raise BadAnswer(f"searxng found nothing because the engines behind it did not answer: {silent[:200]}")
    return [EngineHit(one.url, plain(one.title), plain(one.content)) for one in answer.results if one.url]


SEARXNG = EngineKind(
    "searxng",
    _ask_searxng,
    _read_searxng,
    backlinks=BackLinks(
        lambda hit, count, page, key, url: _ask_searxng(f"link:{hit.url}", count, page, key, url),
        lambda body, _page: _read_searxng(body),
        first=lambda url: EngineRequest(f"{_base(url)}/config"),
        offered=lambda body: decode("searxng", body, _SearxngConfig).backlinks == "link:",
    ),
    refusal="the instance may not offer JSON: its settings.yml must list json under search.formats",
)
BRAVE = EngineKind(
    "brave",
    _ask_brave,
    _read_brave,
    url="https://api.search.brave.com/res/v1/web/search",
    key="BRAVE_API_KEY",
    keyless=None,
    most=20,
)
MARGINALIA = EngineKind(
    "marginalia",
    _ask_marginalia,
    _read_marginalia,
    url="https://api2.marginalia-search.com/search",
    key="MARGINALIA_API_KEY",
    keyless="public",
    most=100,
)
