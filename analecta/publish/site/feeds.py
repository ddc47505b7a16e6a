"""Atom (RFC 4287): a feed for each topic and one for all, the newest pages first.

An entry's id is made from its address, and a feed's from the library's and the topic's name: they stay as they are
wherever the site is put. Addresses of our own pages are given only where it is known where they stand.
"""

import re
import uuid
from collections.abc import Iterator, Sequence

from analecta.publish.site.content import Entry, Shelf, Site
from analecta.publish.site.markup import Html, joined, node
from analecta.text.display import language
from analecta.text.words import iso

MOST = 50  # entries of a feed
_ATOM, _DC = "http://www.w3.org/2005/Atom", "http://purl.org/dc/elements/1.1/"
_MEDIA = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_HEAD = Html('<?xml version="1.0" encoding="utf-8"?>\n')


def topic_feed(site: Site, shelf: Shelf) -> str:
    """The newest pages of a topic."""
    found = [(shelf, entry) for entry in shelf.ranked]
    return _feed(site, f"{shelf.topic} · {site.title}", shelf.feed, shelf.path, f"{site.library}\n{shelf.topic}", found)


def whole_feed(site: Site) -> str:
    """The newest pages of all topics."""
    return _feed(site, site.title, "feeds/all.xml", "index.html", site.library, site.found)


def newest(entries: Sequence[tuple[Shelf, Entry]], most: int) -> list[tuple[Shelf, Entry]]:
    """Those that were fetched last."""
    return sorted(entries, key=lambda one: (-one[1].item.fetched_at, one[1].item.url))[:most]


def urn(name: str) -> str:
    """An id that is the same for the same name, always."""
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}"


def _feed(site: Site, title: str, path: str, page: str, name: str, found: Sequence[tuple[Shelf, Entry]]) -> str:
    entries = newest(found, MOST)
    parts = [
        node("title", title),
        node("id", urn(f"analecta:{name}")),
        node("updated", iso(entries[0][1].item.fetched_at if entries else site.made)),
        node("author", node("name", site.title)),
        node("generator", "Analecta"),
        *_places(site, path, page),
        *(_entry(site, shelf, entry) for shelf, entry in entries),
    ]
    return _HEAD + node("feed", joined(parts, Html("\n")), xmlns=_ATOM, xmlns_dc=_DC) + "\n"


def _places(site: Site, path: str, page: str) -> Iterator[Html]:
    """Where the feed and its page stand; from the feed's own address where no other is known."""
    if site.base_url:
        yield node("link", rel="self", type="application/atom+xml", href=site.base_url + path)
    yield node("link", rel="alternate", type="text/html", href=(site.base_url or "../") + page)


def _entry(site: Site, shelf: Shelf, entry: Entry) -> Html:
    item = entry.item
    lang = language(item.lang)
    parts = [
        node("title", entry.title, xml_lang=lang),
        node("id", urn(item.url)),
        node("updated", iso(item.fetched_at)),
        node(
            "link",
            rel="alternate",
            type=item.mime if _MEDIA.fullmatch(item.mime) else None,
            hreflang=lang,
            href=item.url,
        ),
        node("author", node("name", item.author or item.host)),
        node("category", term=shelf.topic),
    ]
    if entry.copy:
        href = (site.base_url or "../") + entry.copy
        parts.append(node("link", rel="related", type="text/html", title="Archived copy", href=href))
    parts += [node("dc_date", item.date)] if item.date else []
    parts += [node("dc_language", lang)] if lang else []
    parts += [node("summary", entry.summary, xml_lang=lang)] if entry.summary else []
    return node("entry", *parts)
