"""A feed (RSS 2.0 and 1.0, Atom, JSON Feed): its title is the topic, its entries' links the seeds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analecta.errors import BadUse
from analecta.parse.xml_tree import Tag, read_xml
from analecta.sources.collector import Gathering, Place
from analecta.sources.files import first_sign, json_of, read_bytes
from analecta.sources.result import Reading
from analecta.urls import canonical

ATOM = frozenset(("http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"))  # 1.0 and 0.3
RSS1 = "http://purl.org/rss/1.0/"
_BASE = "http://www.w3.org/XML/1998/namespace base"
# RSS 2.0 has no namespace, RSS 0.90 and 1.0 have these; elements of others (media, itunes) only look the same.
_SPACES = ATOM | {"", RSS1, "http://my.netscape.com/rdf/simple/0.9/"}
_KINDS = "RSS, Atom or JSON Feed"


def read_feed(path: Path, topic: str) -> Reading:
    """The topic that a feed is which was saved to a file."""
    return feed_of(read_bytes(path), path, topic)


def feed_of(data: bytes, path: Path | str, topic: str, address: str = "") -> Reading:
    """The topic that a feed is; `address` is where it was found, if that is known."""
    found = Gathering(path, topic)
    sign = first_sign(data)
    if sign == b"{":
        _read_json(found, json_of(data, path), address)
    elif sign == b"<":
        _read_xml(found, read_xml(data, path), address)
    else:
        raise BadUse(f"{path} is no feed: {_KINDS} is wanted")
    reading = found.reading()
    if not reading.topics:
        raise found.nothing("entry with a link")
    return reading


def _read_json(found: Gathering, feed: dict[str, Any], address: str) -> None:
    items = feed.get("items")
    if "jsonfeed.org" not in str(feed.get("version")) or not isinstance(items, list):
        raise BadUse(f"{found.path} is JSON, but no JSON Feed (jsonfeed.org)")
    place = _place(found, str(feed.get("title") or ""))
    base = str(feed.get("home_page_url") or feed.get("feed_url") or address)
    for item in items:
        fields = item if isinstance(item, dict) else {}
        link = fields.get("url") or fields.get("external_url")
        if isinstance(link, str):
            found.add(place, _joined(link, base))
        else:
            found.skip(str(fields.get("title") or item), "the entry has no link")


def _read_xml(found: Gathering, root: Tag, address: str) -> None:
    channel = _channel(root)
    if channel is None:
        raise BadUse(f"{found.path} is XML, but no feed: {_KINDS} is wanted")
    place = _place(found, _title(channel))
    base = channel.attributes.get(_BASE) or root.attributes.get(_BASE) or next(_links(channel), "") or address
    for entry in _entries(root, channel):
        link = next(_links(entry), "") or _permalink(entry)
        if link:
            found.add(place, _joined(link, entry.attributes.get(_BASE) or base), entry.line)
        else:
            found.skip(_title(entry) or "an entry", "the entry has no link", entry.line)


def _title(tag: Tag) -> str:
    """The title of a feed or an entry; in Atom it may have marks of XHTML in it."""
    return next((title.whole_text for title in tag.all("title", _SPACES)), "")


def _place(found: Gathering, title: str) -> Place:
    return found.enter((), title) if title.strip() else ()


def _channel(root: Tag) -> Tag | None:
    """The element that has the title."""
    if root.name == "feed" and root.space in ATOM:
        return root
    return next(iter(root.all("channel", _SPACES)), None) if root.name in ("rss", "RDF") else None


def _entries(root: Tag, channel: Tag) -> list[Tag]:
    """RSS 1.0 has the items beside the channel, RSS 2.0 in it."""
    return channel.all("entry", _SPACES) + channel.all("item", _SPACES) + root.all("item", _SPACES)


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
