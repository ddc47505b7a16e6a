"""What can be had of a page that must not be parsed: title, words and links of its beginning, by plain patterns."""

import re

from analecta.model import Answer, Page, Target
from analecta.parse.charset import decode, header_charset
from analecta.parse.directives import apply
from analecta.parse.links import gather
from analecta.urls import canonical

PREFIX = 64 * 1024  # bytes looked at: a few milliseconds, whatever they are
MAX_LINKS = 200

# Every repetition is bounded, so that no input makes these quadratic.
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,500})", re.IGNORECASE)
_HREF = re.compile(r"<a\s[^>]{0,500}?href\s{0,9}=\s{0,9}[\"']?([^\"'\s>]{1,1000})", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style)\b.{0,20000}?</\1[^>]{0,20}>?", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]{0,1000}>?")


def rough_page(answer: Answer, target: Target, mime: str, why: str) -> Page:
    """A page with what its first 64 KB show; `why` goes into its limits."""
    html, charset = decode(answer.body[:PREFIX], header_charset(answer.headers.get("content-type", "")))
    html = html.replace("\0", "\ufffd")
    page = Page(target.url, target.id, target.host, mime, charset=charset, limits=why)
    title = _TITLE.search(html)
    page.title = " ".join(title[1].split()) if title else ""
    page.text = " ".join(_TAG.sub(" ", _UNSEEN.sub(" ", html)).split())
    hrefs = _HREF.findall(html)

    def join(href: str) -> Target | None:
        return canonical(href, target.url)

    page.links = gather(hrefs, hrefs, target.id, join, lambda _: "", lambda _: False, MAX_LINKS).links
    return apply(page, answer)


def bare_page(answer: Answer, target: Target, mime: str, why: str) -> Page:
    """A page without anything, for what is no HTML."""
    return apply(Page(target.url, target.id, target.host, mime, limits=why), answer)
