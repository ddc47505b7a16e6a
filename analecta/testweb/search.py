"""A search engine over replayed pages that answers as SearXNG does (`/search?q=...&format=json`).

`link:URL` finds the pages that link to a URL, which SearXNG cannot: `/config` says that it is offered here.
"""

import html
import re
import zlib
from collections.abc import Callable, Iterator
from functools import cached_property
from urllib.parse import parse_qs, urlsplit

import orjson

from analecta.analyse.word_search import InLinks, WordSearch, snippet
from analecta.testweb.server import Answer, ServedResponse
from analecta.testweb.warc_index import WarcIndex, key_of
from analecta.urls import Joiner

PER_PAGE = 10  # results of one answer, as SearXNG's engines give
LINK = "link:"
MAX_LINKS = 2000  # of one page, as a crawl takes

_HIDDEN = re.compile(rb"<(script|style|noscript|template)\b.*?</\1\s*>|<!--.*?-->", re.I | re.S)
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title", re.I | re.S)
_TAG = re.compile(rb"<[^>]*>")
_HREF = re.compile(rb"<(a|area|base)\s[^>]{0,500}?href\s{0,9}=\s{0,9}(?:\"([^\">]*)|'([^'>]*)|([^\"'\s>]+))", re.I)
_CHARSET = re.compile(rb"charset=[\"']?([\w-]+)", re.I)
_JSON = b"Content-Type: application/json\r\n"
_TEXT = b"Content-Type: text/plain\r\n"


def body_of(found: ServedResponse) -> bytes:
    """The HTML of an answer; b"" where it is something else."""
    head = found.head.lower()
    if found.status != 200 or b"content-type: text/html" not in head:
        return b""
    if b"content-encoding: gzip" not in head:
        return found.body
    try:
        return zlib.decompress(found.body, 31)
    except zlib.error:
        return b""


def title_and_text(found: ServedResponse) -> tuple[str, str]:
    """The title and the visible text of an HTML answer; ("", "") for anything else."""
    body = body_of(found)
    named = _CHARSET.search(found.head) or _CHARSET.search(body[:2048])
    title = _TITLE.search(body)
    plain = [title[1] if title else b"", _TAG.sub(b" ", _HIDDEN.sub(b" ", body))]
    return tuple(_clean(part, named[1].decode() if named else "utf-8") for part in plain)  # type: ignore[return-value]


def _clean(data: bytes, charset: str) -> str:
    try:
        text = data.decode(charset, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    return " ".join(html.unescape(text).split())


class MadeUpPages:
    """A made-up web as if these of its URLs had been archived."""

    def __init__(self, ask: Answer, urls: Callable[[], Iterator[str]]) -> None:
        self.ask, self.urls = ask, urls

    def pages(self) -> Iterator[tuple[str, ServedResponse]]:
        """Every URL with its answer."""
        return ((url, self.answer(url)) for url in self.urls())

    def answer(self, url: str) -> ServedResponse:
        """What the web says."""
        host, _, path = url.partition("://")[2].partition("/")
        return self.ask(host, f"/{path}", {})

    def close(self) -> None:
        """It has no files."""


class WebSearch:
    """Finds pages by words, and by the links on them."""

    def __init__(self, archives: WarcIndex | MadeUpPages, step: Callable[[], None] = lambda: None) -> None:
        self.archives = archives
        self.urls: list[str] = []
        self._titles: list[str] = []
        self._words = WordSearch(self._pages(step), lambda page: f"{self._titles[page]} {self._text(page)}")

    def _pages(self, step: Callable[[], None]) -> Iterator[tuple[str, str]]:
        for url, found in self.archives.pages():
            step()
            title, text = title_and_text(found)
            if text:
                self.urls.append(url)
                self._titles.append(title or url)
                yield title, text

    @cached_property
    def _links(self) -> InLinks:
        """The links of all pages, gathered when the first of such questions comes."""
        joiner = Joiner()
        return InLinks(self._ids(url, joiner) for url in self.urls)

    def _ids(self, url: str, joiner: Joiner) -> list[int]:
        found = self.archives.answer(url)
        tags = _HREF.findall(body_of(found)) if found else []
        hrefs = [(name, html.unescape((a or b or c).decode("utf-8", "replace"))) for name, a, b, c in tags]
        base = next((href for name, href in hrefs if name.lower() == b"base"), "")
        start = joiner.base(url)(base) if base else None
        join = joiner.base(start.url if start else url)
        targets = (join(href.strip()) for name, href in hrefs[:MAX_LINKS] if name.lower() != b"base")
        return [target.id for target in targets if target]

    def asked(self, target: str) -> ServedResponse | None:
        """The answer to a request, where it is one for a search engine."""
        if target.startswith("/search"):
            return self.answer(target)
        return self.about() if target == "/config" else None

    def about(self) -> ServedResponse:
        """What SearXNG tells of itself at `/config`, and that there is more here."""
        engine = {"name": "replay", "categories": ["general"], "enabled": True, "shortcut": "re"}
        body = {"instance_name": "analecta replay", "categories": ["general"], "engines": [engine], "backlinks": LINK}
        return ServedResponse(200, _JSON, orjson.dumps(body))

    def answer(self, target: str) -> ServedResponse:
        """What SearXNG would answer to this request."""
        asked = parse_qs(urlsplit(target).query)
        query = asked.get("q", [""])[0].strip()
        if not query:
            return ServedResponse(400, _TEXT, b"No query.\n")
        if asked.get("format", ["html"])[0] != "json":
            return ServedResponse(403, _TEXT, b"Only format=json is served here.\n")
        page = asked.get("pageno", ["1"])[0]
        start = (max(1, int(page)) - 1) * PER_PAGE if page.isdigit() else 0
        number, best = self.find(query, start + PER_PAGE)
        results = [self._result(page, score, query, i) for i, (page, score) in enumerate(best[start:], start + 1)]
        body = {"query": query, "number_of_results": number, "results": results}
        body |= {name: [] for name in ("answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines")}
        return ServedResponse(200, _JSON, orjson.dumps(body))

    def find(self, query: str, n: int) -> tuple[int, list[tuple[int, float]]]:
        """How many pages match, and the best `n` of them with their scores."""
        if not query.startswith(LINK):
            return self._words.find(query, n)
        id = key_of(query.removeprefix(LINK).strip())
        found = [page for page in self._links.of([id]) if key_of(self.urls[page]) != id]
        return len(found), [(page, 1.0) for page in found[:n]]

    def _text(self, page: int) -> str:
        found = self.archives.answer(self.urls[page])
        return title_and_text(found)[1] if found else ""

    def _result(self, page: int, score: float, query: str, position: int) -> dict[str, object]:
        url = self.urls[page]
        return {
            "url": url,
            "title": self._titles[page],
            "content": snippet(self._text(page), query),
            "engine": "replay",
            "engines": ["replay"],
            "positions": [position],
            "parsed_url": [*urlsplit(url)[:2], urlsplit(url).path, "", urlsplit(url).query, ""],
            "template": "default.html",
            "category": "general",
            "score": round(score, 4),
        }
