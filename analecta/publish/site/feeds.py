"""What other programs read of a site: Atom feeds (RFC 4287), the sitemap, robots.txt."""

import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from analecta.publish.site.content import SiteContent, SiteItem, TopicPage, community_path
from analecta.text.display import clean, language, rfc3339

MOST = 50  # entries of a feed
_ATOM, _DC = "http://www.w3.org/2005/Atom", "http://purl.org/dc/elements/1.1/"
_MEDIA = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'


class Xml(str):
    """Text that is XML already: only `node` and `lines` make it."""

    __slots__ = ()


def node(name: str, /, *parts: str, **attributes: str | None) -> Xml:
    """An element of XML; `dc_title` is `dc:title`, and an attribute that is None is left out."""
    name = name.replace("_", ":")
    inner = "".join(map(_xml, parts))
    given = "".join(
        f' {key.replace("_", ":")}="{escape(clean(value))}"' for key, value in attributes.items() if value is not None
    )
    return Xml(f"<{name}{given}>{inner}</{name}>" if inner else f"<{name}{given}/>")


def lines(parts: Iterable[str]) -> Xml:
    """Parts below one another."""
    return Xml("\n".join(map(_xml, parts)))


def _xml(text: str) -> str:
    return text if isinstance(text, Xml) else escape(clean(text))


def topic_feed(site: SiteContent, shelf: TopicPage) -> str:
    """The newest pages of a topic."""
    found = [(shelf, entry) for entry in shelf.ranked]
    return _feed(site, f"{shelf.topic} · {site.title}", shelf.feed, shelf.path, f"{site.library}\n{shelf.topic}", found)


def whole_feed(site: SiteContent) -> str:
    """The newest pages of all topics."""
    return _feed(site, site.title, "feeds/all.xml", "index.html", site.library, site.found)


def newest(entries: Sequence[tuple[TopicPage, SiteItem]], most: int) -> list[tuple[TopicPage, SiteItem]]:
    """Those that were fetched last."""
    return sorted(entries, key=lambda one: (-one[1].item.fetched_at, one[1].item.url))[:most]


def urn(name: str) -> str:
    """An id that is the same for the same name, always."""
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}"


def _feed(
    site: SiteContent, title: str, path: str, page: str, name: str, found: Sequence[tuple[TopicPage, SiteItem]]
) -> str:
    entries = newest(found, MOST)
    parts = [
        node("title", title),
        node("id", urn(f"analecta:{name}")),
        node("updated", rfc3339(entries[0][1].item.fetched_at if entries else site.made)),
        node("author", node("name", site.title)),
        node("generator", "Analecta"),
        *_places(site, path, page),
        *(_entry(site, shelf, entry) for shelf, entry in entries),
    ]
    return _HEAD + node("feed", lines(parts), xmlns=_ATOM, xmlns_dc=_DC) + "\n"


def _places(site: SiteContent, path: str, page: str) -> Iterator[Xml]:
    """Where the feed and its page stand; from the feed's own address where no other is known."""
    if site.base_url:
        yield node("link", rel="self", type="application/atom+xml", href=site.base_url + path)
    yield node("link", rel="alternate", type="text/html", href=(site.base_url or "../") + page)


def _entry(site: SiteContent, shelf: TopicPage, entry: SiteItem) -> Xml:
    item = entry.item
    lang = language(item.lang)
    parts = [
        node("title", entry.title, xml_lang=lang),
        node("id", urn(item.url)),
        node("updated", rfc3339(item.fetched_at)),
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


# --- sitemap ---------------------------------------------------------------------------------------------------------
# Files for machines that want whole addresses: sitemap 0.9, OpenSearch 1.1, robots.txt. Only with a base URL.


_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
_SEARCH = "http://a9.com/-/spec/opensearch/1.1/"


def machine_files(site: SiteContent) -> Iterator[tuple[str, str]]:
    """The files, by their paths."""
    if site.base_url:
        yield "sitemap.xml", sitemap(site)
        yield "opensearch.xml", opensearch(site)
        yield "robots.txt", f"User-agent: *\nAllow: /\n\nSitemap: {site.base_url}sitemap.xml\n"


def sitemap(site: SiteContent) -> str:
    """The front page, the collections, the communities and the list of titles; copies are not ours to be found by."""
    pages = [("index.html", site.made), ("titles.html", site.made)]
    pages += [
        (shelf.path, max((entry.item.fetched_at for entry in shelf.ranked), default=site.made))
        for shelf in site.shelves
    ]
    if site.communities:
        pages += [(path, site.made) for path in ("communities.html", *map(community_path, site.communities))]
    urls = (node("url", node("loc", site.base_url + path), node("lastmod", rfc3339(at))) for path, at in pages)
    return _HEAD + node("urlset", lines(urls), xmlns=_SITEMAP) + "\n"


def opensearch(site: SiteContent) -> str:
    """How a browser asks the search."""
    parts = (
        node("ShortName", site.title[:16]),
        node("LongName", site.title[:48]),
        node("Description", f"Search the library {site.title}"[:1024]),
        node("Url", type="text/html", method="get", template=f"{site.base_url}search.html?q={{searchTerms}}"),
        node("InputEncoding", "UTF-8"),
        node("OutputEncoding", "UTF-8"),
    )
    return _HEAD + node("OpenSearchDescription", lines(parts), xmlns=_SEARCH) + "\n"
