"""Sites with 300 real pages and an endless section of one kind, for test_webs.py (served by ServerProcess)."""

import hashlib
from collections.abc import Callable, Mapping

from analecta.testweb.server import ServedResponse
from tests.crawls.driver import page_text
from tests.crawls.site import prose

REAL = 300
HUBS = 10


def _sid(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:16]


def _calendar(path: str) -> list[str]:
    year, month = (int(part) for part in path.split("/")[2:4]) if path.count("/") > 3 else (2024, 1)
    months = [year * 12 + month - 1 + step for step in (1, -1, 12, -12)]
    return [f"/trap/{m // 12}/{m % 12 + 1:02d}/" for m in months]


def _facets(path: str) -> list[str]:
    chosen = path.partition("?")[2]
    return [
        f"/trap/?{chosen}{'&' if chosen else ''}{name}={_sid(chosen)[:3]}"
        for name in ("colour", "size", "sort", "page")
    ]


FURTHER: dict[str, Callable[[str], list[str]]] = {
    "calendar": _calendar,
    "facets": _facets,
    "repeating": lambda path: [path.rstrip("/") + part for part in ("/a/b/", "/b/a/")],
    "session": lambda path: [f"/trap/?sid={_sid(path + str(i))}" for i in range(4)],
    "relative": lambda _: ["trap/item-1/", "trap/item-2/", "trap/more/"],
}


def make(kind: str) -> Callable[[str, str, Mapping[str, str]], ServedResponse]:
    """What a server with one kind of trap answers."""

    def answer(_host: str, target: str, _headers: Mapping[str, str]) -> ServedResponse:
        if target == "/robots.txt":
            return ServedResponse(404)
        links, words = ["/", "/trap/"], prose(target)
        if target == "/":
            links += [f"/hub-{i}" for i in range(HUBS)]
        elif target.startswith("/hub-"):
            links += [f"/real/{_sid(str(n))}" for n in range(int(target[5:]), REAL, HUBS)]
        elif target.startswith("/trap/"):
            links += FURTHER[kind](target)
            words = prose(_sid(target), 12)
        elif not target.startswith("/real/"):
            return ServedResponse(404)
        body = page_text(*links, title=target, words=words)
        return ServedResponse(200, b"Content-Type: text/html\r\n", body)

    return answer
