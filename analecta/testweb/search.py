"""A search engine over replayed pages that answers as SearXNG does (`/search?q=...&format=json`): BM25 in numpy.

Words in quotes must stand in the page one after the other, which is looked up in the text of the best pages.
"""

import html
import re
import zlib
from collections import Counter
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import numpy as np
import orjson

from analecta.testweb.server import Response
from analecta.testweb.warcs import Warcs

PER_PAGE = 10  # results of one answer, as SearXNG's engines give
CHECKED = 500  # pages looked through for a phrase
K1, B = 1.2, 0.75  # the usual constants of BM25
TITLE = 3  # a word of the title counts as this many

_HIDDEN = re.compile(rb"<(script|style|noscript|template)\b.*?</\1\s*>|<!--.*?-->", re.I | re.S)
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title", re.I | re.S)
_TAG = re.compile(rb"<[^>]*>")
_CHARSET = re.compile(rb"charset=[\"']?([\w-]+)", re.I)
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r'"([^"]+)"')


def title_and_text(found: Response) -> tuple[str, str]:
    """The title and the visible text of an HTML answer; ("", "") for anything else."""
    head = found.head.lower()
    if found.status != 200 or b"content-type: text/html" not in head:
        return "", ""
    body = found.body
    if b"content-encoding: gzip" in head:
        try:
            body = zlib.decompress(body, 31)
        except zlib.error:
            return "", ""
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


class Search:
    """Finds pages by words."""

    def __init__(self, archives: Warcs, step: Callable[[], None] = lambda: None) -> None:
        self.archives = archives
        self.urls: list[str] = []
        self._titles: list[str] = []
        self._words: dict[str, int] = {}
        self._build(step)

    def _build(self, step: Callable[[], None]) -> None:
        """Postings word by word: pages and weights in two arrays, `_starts` says where each word's begin."""
        number = self._words
        rows: list[np.ndarray] = []
        counts: list[np.ndarray] = []
        for url, found in self.archives.pages():
            step()
            title, text = title_and_text(found)
            if not text:
                continue
            tally = Counter(_WORD.findall(text.lower()))
            for word in _WORD.findall(title.lower()):
                tally[word] += TITLE
            self.urls.append(url)
            self._titles.append(title or url)
            rows.append(np.fromiter((number.setdefault(word, len(number)) for word in tally), np.int32, len(tally)))
            counts.append(np.fromiter(tally.values(), np.float32, len(tally)))
        sizes = np.array([len(row) for row in rows], np.int64)
        lengths = np.array([count.sum() for count in counts], np.float32)
        words = np.concatenate([*rows, np.empty(0, np.int32)])
        pages = np.repeat(np.arange(len(rows), dtype=np.int32), sizes)
        order = np.argsort(words, kind="stable")
        self._pages = pages[order]
        often = np.concatenate([*counts, np.empty(0, np.float32)])[order]
        norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()) if len(lengths) else 1.0, 1.0))
        self._weights = often * (K1 + 1) / (often + norm[self._pages])
        self._starts = np.searchsorted(words[order], np.arange(len(number) + 1))

    def find(self, query: str, start: int = 0, length: int = PER_PAGE) -> tuple[int, list[tuple[int, float]]]:
        """How many pages match, and (page, score) of some of them, best first."""
        scores = np.zeros(len(self.urls), np.float32)
        for word in dict.fromkeys(_WORD.findall(query.lower())):
            at = self._words.get(word)
            if at is not None:
                span = slice(self._starts[at], self._starts[at + 1])
                share = span.stop - span.start
                scores[self._pages[span]] += self._weights[span] * np.log1p((len(scores) - share + 0.5) / (share + 0.5))
        best = np.argsort(-scores, kind="stable")[: int(np.count_nonzero(scores))]
        phrases = [" ".join(_WORD.findall(phrase.lower())) for phrase in _QUOTED.findall(query)]
        if phrases:
            best = np.array([page for page in best[:CHECKED] if self._holds(int(page), phrases)], np.int64)
        return len(best), [(int(page), float(scores[page])) for page in best[start : start + length]]

    def answer(self, target: str) -> Response:
        """What SearXNG would answer to this request."""
        asked = parse_qs(urlsplit(target).query)
        query = asked.get("q", [""])[0].strip()
        if not query:
            return Response(400, b"Content-Type: text/plain\r\n", b"No query.\n")
        if asked.get("format", ["html"])[0] != "json":
            return Response(403, b"Content-Type: text/plain\r\n", b"Only format=json is served here.\n")
        page = asked.get("pageno", ["1"])[0]
        start = (max(1, int(page)) - 1) * PER_PAGE if page.isdigit() else 0
        number, found = self.find(query, start)
        results = [self._result(page, score, query, start + i + 1) for i, (page, score) in enumerate(found)]
        body = {"query": query, "number_of_results": number, "results": results}
        body |= {name: [] for name in ("answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines")}
        return Response(200, b"Content-Type: application/json\r\n", orjson.dumps(body))

    def _text(self, page: int) -> str:
        found = self.archives.answer(self.urls[page])
        return title_and_text(found)[1] if found else ""

    def _holds(self, page: int, phrases: list[str]) -> bool:
        text = " ".join(_WORD.findall(f"{self._titles[page]} {self._text(page)}".lower()))
        return all(f" {phrase} " in f" {text} " for phrase in phrases)

    def _result(self, page: int, score: float, query: str, position: int) -> dict[str, object]:
        url = self.urls[page]
        return {
            "url": url,
            "title": self._titles[page],
            "content": snippet(self._text(page), _WORD.findall(query.lower())),
            "engine": "replay",
            "engines": ["replay"],
            "positions": [position],
            "parsed_url": [*urlsplit(url)[:2], urlsplit(url).path, "", urlsplit(url).query, ""],
            "template": "default.html",
            "category": "general",
            "score": round(score, 4),
        }


def snippet(text: str, words: list[str], width: int = 240) -> str:
    """The part of a text around the first of the words that it holds."""
    low = text.lower()
    places = [place for place in (low.find(word) for word in words) if place >= 0]
    start = max(0, min(places, default=0) - width // 4)
    return ("… " if start else "") + text[start : start + width].strip() + (" …" if start + width < len(text) else "")
