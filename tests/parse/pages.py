"""Answers and targets for the parse tests."""

from analecta.model import Page, Response, UrlRef
from analecta.parse import Parser
from analecta.parse.html import parse_html
from analecta.urls import Joiner, canonical

URL = "http://example.com/a/page.html"


def target(url: str = URL) -> UrlRef:
    found = canonical(url)
    assert found is not None
    return found


def answer(body: bytes | str, url: str = URL, head: bytes = b"", **headers: str) -> Response:
    raw = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(url, 200, head, {"content-type": "text/html"} | named, raw, raw)


def html(body: bytes | str, url: str = URL, **headers: str) -> Page:
    return parse_html(answer(body, url, **headers), target(url), Joiner())


def any_page(parser: Parser, body: bytes | str, url: str = URL, **headers: str) -> Page:
    return parser(answer(body, url, **headers), target(url))


def urls(page: Page) -> list[str]:
    return [link.target.url for link in page.links]


def strings(page: Page) -> list[str]:
    """Every string that a page hands on."""
    lazy = [page.link_context(i) for i in range(len(page.links))]
    anchors = [link.anchor for link in page.links]
    return [
        page.title,
        page.text,
        page.lang,
        page.charset,
        page.canonical,
        page.main_text(),
        *page.headings,
        *anchors,
        *lazy,
    ]
