"""Brave's Web Search API: an index of its own, with a key."""

from typing import Literal

import msgspec

from analecta.sources.engines.engine import EngineHit, EngineKind, EngineRequest, decode, plain, with_query

MOST = 20  # results of one answer
_LAST_PAGE = 9  # pages are counted from 0 here


class _BraveResult(msgspec.Struct):
    url: str
    title: str = ""
    description: str = ""


class _BraveWeb(msgspec.Struct):
    results: list[_BraveResult]


class _BraveAnswer(msgspec.Struct):
    type: Literal["search"]
    web: _BraveWeb | None = None  # left out where nothing was found


def request(query: str, count: int, page: int, key: str, url: str) -> EngineRequest:
    """Web results only, without mark-up."""
    fields = {"q": query, "count": min(count, MOST), "offset": min(page - 1, _LAST_PAGE)}
    fields |= {"result_filter": "web", "text_decorations": "false"}
    return EngineRequest(with_query(url, fields), (("Accept", "application/json"), ("X-Subscription-Token", key)))


def read(body: bytes) -> list[EngineHit]:
    """The web results."""
    web = decode("brave", body, _BraveAnswer).web
    return [EngineHit(one.url, plain(one.title), plain(one.description)) for one in web.results] if web else []


ENGINE = EngineKind(
    "brave",
    request,
    read,
    url="https://api.search.brave.com/res/v1/web/search",
    key="BRAVE_API_KEY",
    keyless=None,
    most=MOST,
)
