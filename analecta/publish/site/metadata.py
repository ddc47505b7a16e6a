"""What machines read of a page: Dublin Core in the head, and schema.org as JSON-LD."""

from collections.abc import Iterator
from typing import Any

import msgspec

from analecta.communities.view import Community
from analecta.model import BELOW
from analecta.publish.site.content import Entry, Shelf, Site, community_path
from analecta.publish.site.markup import Html, script_data, tag
from analecta.text.display import clean, is_page, language, many, rfc3339

_SCHEMAS = {"DC": "http://purl.org/dc/elements/1.1/", "DCTERMS": "http://purl.org/dc/terms/"}


def about(shelf: Shelf) -> str:
    """What a collection is, in a sentence."""
    return f"{many(len(shelf.ranked), 'page')} about {shelf.topic}, the best of {shelf.pages:,} that were found."


def front_metadata(site: Site) -> Iterator[Html]:
    """Of the whole library."""
    topics = [shelf.topic for shelf in site.shelves]
    told = f"A library of pages about {', '.join(topics)}." if topics else "A library."
    yield tag("meta", name="description", content=told[:300])
    yield from _dublin(
        site, "index.html", site.title, "Collection", told, topics, _languages([entry for _, entry in site.entries])
    )
    parts = [{"@type": "Collection", "name": clean(s.topic), "url": _url(site, s.path)} for s in site.shelves]
    yield _json_ld({"@type": "Collection", "name": clean(site.title), "description": clean(told),
                    "dateModified": rfc3339(site.made), "url": _url(site, "index.html"), "hasPart": parts})  # fmt: skip


def shelf_metadata(site: Site, shelf: Shelf) -> Iterator[Html]:
    """Of a collection, with its items as a list."""
    entries = shelf.ranked
    yield tag("meta", name="description", content=about(shelf))
    subjects, languages = shelf.topic.split(BELOW), _languages(entries)
    yield from _dublin(site, shelf.path, shelf.topic, "Collection", about(shelf), subjects, languages)
    for entry in entries:
        yield tag("link", rel="DCTERMS.hasPart", href=entry.item.url)
    items = [{"@type": "ListItem", "position": n, "item": _item(site, one)} for n, one in enumerate(entries, 1)]
    yield _json_ld({
        "@type": "Collection",
        "name": clean(shelf.topic),
        "description": clean(about(shelf)),
        "url": _url(site, shelf.path),
        "dateModified": rfc3339(max((entry.item.fetched_at for entry in entries), default=site.made)),
        "mainEntity": {"@type": "ItemList", "numberOfItems": len(items), "itemListElement": items},
    })  # fmt: skip


def community_metadata(site: Site, one: Community, told: str) -> Iterator[Html]:
    """Of a community."""
    yield tag("meta", name="description", content=told)
    languages = _languages(site.best.get(one.number, []))
    yield from _dublin(site, community_path(one), one.name, "Collection", told, one.name.split(" · "), languages)


def copy_metadata(site: Site, shelf: Shelf, entry: Entry) -> Iterator[Html]:
    """Of an archived copy: what it is a copy of, by whom, from when."""
    item = entry.item
    languages = [lang] if (lang := language(item.lang)) else []
    yield from _dublin(site, entry.copy, entry.title, "Text", entry.summary, [shelf.topic], languages, item.fetched_at)
    for name, value in (
        ("DC.creator", item.author),
        ("DC.source", item.url),
        ("DC.date", item.date),
        ("DCTERMS.isVersionOf", item.url),
        ("DCTERMS.provenance", f"{item.warc}, {item.length} bytes at {item.offset}, {item.digest}"),
    ):
        if value:
            yield tag("meta", name=name, content=value)


def _dublin(
    site: Site,
    path: str,
    title: str,
    kind: str,
    told: str,
    subjects: list[str],
    languages: list[str],
    at: float = 0.0,
) -> Iterator[Html]:
    for name, url in _SCHEMAS.items():
        yield tag("link", rel=f"schema.{name}", href=url)
    values = [("DC.title", title), ("DC.type", kind), ("DC.format", "text/html"), ("DC.description", told)]
    values += [("DC.subject", subject) for subject in subjects]
    values += [("DC.language", code) for code in languages]
    values += [("DC.publisher", site.title), ("DCTERMS.modified", rfc3339(at or site.made))]
    values += [("DC.identifier", site.base_url + path)] if site.base_url else []
    for name, value in values:
        if value:
            yield tag("meta", name=name, content=value)


def _languages(entries: list[Entry]) -> list[str]:
    return sorted({code for entry in entries if (code := language(entry.item.lang))})


def _item(site: Site, entry: Entry) -> dict[str, Any]:
    item = entry.item
    found = {
        "@type": "WebPage" if is_page(item.mime) else "DigitalDocument",
        "name": clean(entry.title),
        "url": item.url,
        "inLanguage": language(item.lang),
        "author": clean(item.author),
        "datePublished": item.date,
        "encodingFormat": clean(item.mime),
        "description": clean(entry.summary),
        "archivedAt": _url(site, entry.copy) if entry.copy else "",
        "dcterms:identifier": item.url,
        "dcterms:dateAccepted": rfc3339(item.fetched_at),
    }
    return {key: value for key, value in found.items() if value}


def _url(site: Site, path: str) -> str:
    return site.base_url + path if site.base_url else ""


def _json_ld(value: dict[str, Any]) -> Html:
    context = ["https://schema.org", {"dcterms": _SCHEMAS["DCTERMS"]}]
    whole = {"@context": context} | {key: part for key, part in value.items() if part or part == 0}
    return tag("script", script_data(msgspec.json.encode(whole)), type="application/ld+json")
