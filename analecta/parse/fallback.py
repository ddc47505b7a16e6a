"""What can be had of a page that must not be parsed: title, words, links and wishes of its beginning, by patterns."""

import re
from functools import partial

from analecta.model import Page, Response, UrlRef
from analecta.parse.charset import decode, header_charset, spelt_out, tags, without_hidden
from analecta.parse.directives import AGENT, apply
from analecta.parse.links import NOFOLLOW, base_of, gather
from analecta.urls import canonical

PREFIX = 64 * 1024  # bytes looked at: a few milliseconds, whatever they are
MAX_LINKS = 200

# Every repetition is bounded, so that no input makes these quadratic.
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,500})", re.IGNORECASE)
_TAG = re.compile(r"<[^>]{0,1000}>?")


def rough_page(answer: Response, target: UrlRef, mime: str, why: str) -> Page:
    """A page with what its first 64 KB show; `why` goes into its limits."""
    html, charset = decode(answer.body[:PREFIX], header_charset(answer.headers.get("content-type", "")))
    html = without_hidden(html.replace("\0", "\ufffd"))
    page = Page(target.url, target.id, target.host, mime, charset=charset, limits=why)
    title = _TITLE.search(html)
    page.title = " ".join(spelt_out(title[1]).split()) if title else ""
    page.text = " ".join(spelt_out(_TAG.sub(" ", html)).split())
    found = list(tags(html, "a", "base", "meta"))
    anchors = [values for tag, values in found if tag == "a"]
    base = base_of([values.get("href") for tag, values in found if tag == "base"], target.url)

    def nofollow(anchor: dict[str, str]) -> bool:
        return NOFOLLOW.search(anchor.get("rel", "")) is not None

    hrefs = [anchor.get("href") for anchor in anchors]
    page.links = gather(hrefs, anchors, target.id, partial(canonical, base=base), lambda _: "", nofollow, MAX_LINKS)[0]
    metas = [
        ((values.get("name") or values.get("property", "")).strip().lower(), values.get("content", ""))
        for tag, values in found
        if tag == "meta"
    ]
    asked = [content for name, content in metas if name in ("robots", AGENT)]
    return apply(page, answer, asked, [content for name, content in metas if name == "tdm-reservation"])


def bare_page(answer: Response, target: UrlRef, mime: str, why: str) -> Page:
    """A page without anything, for what is no HTML."""
    return apply(Page(target.url, target.id, target.host, mime, limits=why), answer)
