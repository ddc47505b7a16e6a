"""What machines read of a page: Dublin Core in the head, and schema.org as JSON-LD."""

from collections.abc import Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from analecta.communities.view import Community
from analecta.model import BELOW
from analecta.publish.site.content import SiteContent, SiteItem, TopicPage, community_path
from analecta.publish.templates import script_data
from analecta.text.display import clean, is_page, language, many, rfc3339

Values = list[tuple[str, str]]


class Metadata(msgspec.Struct, frozen=True):
    """What stands in a page's head: names with their values, and the URLs of the parts of a collection."""

    values: Values
    description: str = ""
    parts: Sequence[str] = ()
    json_ld: Markup = Markup()


def front_metadata(site: SiteContent) -> Metadata:
    """Of the whole library."""
    topics = [shelf.topic for shelf in site.shelves]
    told = f"A library of pages about {', '.join(topics)}." if topics else "A library."
    languages = _languages([entry for _, entry in site.entries])
    values = _dublin_core(site, "index.html", site.title, "Collection", told, topics, languages)
    parts = [{"@type": "Collection", "name": clean(s.topic), "url": _url(site, s.path)} for s in site.shelves]
    json_ld = _json_ld({"@type": "Collection", "name": clean(site.title), "description": clean(told),
                        "dateModified": rfc3339(site.made), "url": _url(site, "index.html"),
                        "hasPart": parts})  # fmt: skip
    return Metadata(values, told[:300], json_ld=json_ld)


def shelf_metadata(site: SiteContent, shelf: TopicPage) -> Metadata:
    """Of a collection, with its items as a list."""
    entries = shelf.ranked
    told = f"{many(len(entries), 'page')} about {shelf.topic}, the best of {shelf.pages:,} that were found."
    subjects, languages = shelf.topic.split(BELOW), _languages(entries)
    values = _dublin_core(site, shelf.path, shelf.topic, "Collection", told, subjects, languages)
    items = [{"@type": "ListItem", "position": n, "item": _item(site, one)} for n, one in enumerate(entries, 1)]
    json_ld = _json_ld({
        "@type": "Collection",
        "name": clean(shelf.topic),
        "description": clean(told),
        "url": _url(site, shelf.path),
        "dateModified": rfc3339(max((entry.item.fetched_at for entry in entries), default=site.made)),
        "mainEntity": {"@type": "ItemList", "numberOfItems": len(items), "itemListElement": items},
    })  # fmt: skip
    return Metadata(values, told, [entry.item.url for entry in entries], json_ld)


def community_metadata(site: SiteContent, one: Community, told: str) -> Metadata:
    """Of a community."""
    languages = _languages(site.best.get(one.number, []))
    subjects = one.name.split(" · ")
    return Metadata(_dublin_core(site, community_path(one), one.name, "Collection", told, subjects, languages), told)


def copy_metadata(site: SiteContent, shelf: TopicPage, entry: SiteItem) -> Metadata:
    """Of an archived copy: what it is a copy of, by whom, from when."""
    item = entry.item
    languages = [lang] if (lang := language(item.lang)) else []
    values = _dublin_core(
        site, entry.copy, entry.title, "Text", entry.summary, [shelf.topic], languages, item.fetched_at
    )
    values += [
        ("DC.creator", item.author),
        ("DC.source", item.url),
        ("DC.date", item.date),
        ("DCTERMS.isVersionOf", item.url),
        ("DCTERMS.provenance", f"{item.warc}, {item.length} bytes at {item.offset}, {item.digest}"),
    ]
    return Metadata(values)


def _dublin_core(
    site: SiteContent,
    path: str,
    title: str,
    kind: str,
    told: str,
    subjects: list[str],
    languages: list[str],
    at: float = 0.0,
) -> Values:
    values = [("DC.title", title), ("DC.type", kind), ("DC.format", "text/html"), ("DC.description", told)]
    values += [("DC.subject", subject) for subject in subjects]
    values += [("DC.language", code) for code in languages]
    values += [("DC.publisher", site.title), ("DCTERMS.modified", rfc3339(at or site.made))]
    values += [("DC.identifier", site.base_url + path)] if site.base_url else []
    return values


def _languages(entries: list[SiteItem]) -> list[str]:
    return sorted({code for entry in entries if (code := language(entry.item.lang))})


def _item(site: SiteContent, entry: SiteItem) -> dict[str, Any]:
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


def _url(site: SiteContent, path: str) -> str:
    return site.base_url + path if site.base_url else ""


def _json_ld(value: dict[str, Any]) -> Markup:
    context = ["https://schema.org", {"dcterms": "http://purl.org/dc/terms/"}]
    whole = {"@context": context} | {key: part for key, part in value.items() if part or part == 0}
    return script_data(msgspec.json.encode(whole))
