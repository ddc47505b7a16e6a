"""Lists of addresses, as a person brings them: URLs, whole sites, feeds."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from analecta.errors import UsageError
from analecta.parse.xml import Tag
from analecta.sources.collector import Place, TopicCollector
from analecta.sources.files import first_sign, json_of, lines_of, read_bytes, text_of, xml_of
from analecta.sources.result import SourceResult
from analecta.urls import address_line, canonical

_COMMENT = re.compile(r"(?:^|\s)#.*")


def read_urls(path: Path, topic: str) -> SourceResult:
    """The topic whose seeds are the addresses in a file."""
    found = TopicCollector(path, topic)
    add_addresses(found, (), entries(path))
    return found.result("address; write one URL a line")


def entries(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a list that say something, with their numbers."""
    for number, line in enumerate(lines_of(text_of(read_bytes(path), path)), 1):
        if words := _COMMENT.sub("", line).strip():
            yield number, words


def add_addresses(found: TopicCollector, place: Place, lines: Iterable[tuple[int, str]]) -> None:
    """The addresses on lines, as links that stand at a place."""
    for number, words in lines:
        url, why = address_line(words)
        found.skip(words, why, number) if why else found.add(place, url, number)


# --- sites -----------------------------------------------------------------------------------------------------------
# A list of sites (C1): each line a host or the front page of one. A site is a host, or what lies below a path.
#
# `example.org`, `*.example.org`, `17,example.org` as ranked lists have it, and any page of example.org name the same
# site, which is begun at its front page; `example.org/~ann/` is a site of its own for its last slash.


_RANK = re.compile(r"(?<!\d)\d++\s*[,;\t]\s*(?=\S)")
_FRONT = re.compile(r"(?<=/)(?:index|default|home)\.\w+$", re.IGNORECASE)


def read_sites(path: Path, topic: str) -> SourceResult:
    """The topic whose seeds are the front pages of the sites in a file."""
    found = TopicCollector(path, topic)
    for number, words in entries(path):
        url, why = address_line(_RANK.sub("", words, count=1).removeprefix("*."))
        found.skip(words, why, number) if why else found.add((), front_page(url), number)
    return found.result("site; write one host a line")


def front_page(url: str) -> str:
    """Where the site of a page begins: at the host, unless the URL names a folder in it."""
    target = canonical(url)
    if target is None:
        return url
    start = target.url.index("/", target.url.index("//") + 2)
    path = _FRONT.sub("", target.url[start:].partition("?")[0])
    return target.url[:start] + (path if path.endswith("/") else "/")


# --- A feed (RSS 2.0 and 1.0, Atom, JSON Feed): its title is the topic, its entries' links the seeds -----------------


ATOM = frozenset(("http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"))  # 1.0 and 0.3
_BASE = "http://www.w3.org/XML/1998/namespace base"
# RSS 2.0 has no namespace, RSS 0.90 and 1.0 have these; elements of others (media, itunes) only look the same.
_SPACES = ATOM | {"", "http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/"}
_KINDS = "RSS, Atom or JSON Feed"


def read_feed(path: Path, topic: str) -> SourceResult:
    """The topic that a feed is which was saved to a file."""
    return feed_of(read_bytes(path), path, topic)


def feed_of(data: bytes, path: Path | str, topic: str, address: str = "") -> SourceResult:
    """The topic that a feed is; `address` is where it was found, if that is known."""
    found = TopicCollector(path, topic)
    sign = first_sign(data)
    if sign == b"{":
        _read_json(found, json_of(data, path), address)
    elif sign == b"<":
        _read_xml(found, xml_of(data, path), address)
    else:
        raise UsageError(f"{path} is no feed: {_KINDS} is wanted")
    return found.result("entry with a link")


def _read_json(found: TopicCollector, feed: dict[str, Any], address: str) -> None:
    items = feed.get("items")
    if "jsonfeed.org" not in str(feed.get("version")) or not isinstance(items, list):
        raise UsageError(f"{found.path} is JSON, but no JSON Feed (jsonfeed.org)")
    place = _place(found, str(feed.get("title") or ""))
    base = str(feed.get("home_page_url") or feed.get("feed_url") or address)
    for item in items:
        fields = item if isinstance(item, dict) else {}
        link = fields.get("url") or fields.get("external_url")
        if isinstance(link, str):
            found.add(place, _joined(link, base))
        else:
            found.skip(str(fields.get("title") or item), "the entry has no link")


def _read_xml(found: TopicCollector, root: Tag, address: str) -> None:
    channel = _channel(root)
    if channel is None:
        raise UsageError(f"{found.path} is XML, but no feed: {_KINDS} is wanted")
    place = _place(found, _title(channel))
    base = channel.attributes.get(_BASE) or root.attributes.get(_BASE) or next(_links(channel), "") or address
    items = channel.all("item", _SPACES) + root.all("item", _SPACES)  # in the channel in RSS 2.0, beside it in 1.0
    for entry in channel.all("entry", _SPACES) + items:
        link = next(_links(entry), "") or _permalink(entry)
        if link:
            found.add(place, _joined(link, entry.attributes.get(_BASE) or base), entry.line)
        else:
            found.skip(_title(entry) or "an entry", "the entry has no link", entry.line)


def _title(tag: Tag) -> str:
    """The title of a feed or an entry; in Atom it may have marks of XHTML in it."""
    return next((title.whole_text for title in tag.all("title", _SPACES)), "")


def _place(found: TopicCollector, title: str) -> Place:
    return found.enter((), title) if title.strip() else ()


def _channel(root: Tag) -> Tag | None:
    """The element that has the title."""
    if root.name == "feed" and root.space in ATOM:
        return root
    return next(iter(root.all("channel", _SPACES)), None) if root.name in ("rss", "RDF") else None


def _links(tag: Tag) -> Iterator[str]:
    """The pages that an entry stands for: RSS has them as text, Atom as attributes."""
    for link in tag.all("link", _SPACES):
        stands_for = link.attributes.get("rel", "alternate") == "alternate"
        href = link.text.strip() or (link.attributes.get("href", "") if stands_for else "")
        if href:
            yield href


def _permalink(entry: Tag) -> str:
    """RSS 2.0: a guid is the page's address unless it says that it is not."""
    for guid in entry.all("guid", _SPACES):
        if guid.attributes.get("isPermaLink", "true") == "true" and guid.text.strip().startswith("http"):
            return guid.text.strip()
    return ""


def _joined(link: str, base: str) -> str:
    """A relative link made whole."""
    here = canonical(base)
    whole = canonical(link, here.url) if here else None
    return whole.url if whole else link
