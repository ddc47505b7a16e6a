"""SearXNG, one's own or a friend's: many engines behind one, without a key (its JSON format must be switched on)."""

import msgspec

from analecta.seed.engines.engine import Ask, BadAnswer, Engine, Hit, decode, plain, with_query


class _Result(msgspec.Struct):
    url: str | None = None  # tables and sums have none
    title: str | None = None
    content: str | None = None


class _Answer(msgspec.Struct):
    results: list[_Result]
    unresponsive_engines: list[list[str]] = []


def request(query: str, count: int, page: int, key: str, url: str) -> Ask:
    """`/search?q=…&format=json`; how many hits a page has, the instance decides."""
    base = url.rstrip("/")
    place = base if base.endswith("/search") else f"{base}/search"
    return Ask(with_query(place, {"q": query, "format": "json", "pageno": page}))


def read(body: bytes) -> list[Hit]:
    """The results; that nothing was found counts only if somebody looked."""
    answer = decode("searxng", body, _Answer)
    if not answer.results and answer.unresponsive_engines:
        silent = ", ".join(" ".join(one) for one in answer.unresponsive_engines)
        raise BadAnswer(f"searxng found nothing because the engines behind it did not answer: {silent[:200]}")
    return [Hit(one.url, plain(one.title), plain(one.content)) for one in answer.results if one.url]


ENGINE = Engine(
    "searxng",
    request,
    read,
    refusal="the instance may not offer JSON: its settings.yml must list json under search.formats",
)
