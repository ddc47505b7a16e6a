"""Pages that list everything: all titles from A to Z, and the search with its data."""

import unicodedata
from itertools import groupby

import msgspec

from analecta.publish.site.content import Entry, Shelf, Site, community_path
from analecta.publish.site.frame import framed, search_box
from analecta.publish.site.markup import foreign, html, link, script_data, tag
from analecta.text.display import clean, language

_OTHER = "#"  # under which titles stand that begin with no letter


def titles_page(site: Site) -> str:
    """All titles in the order of the alphabet."""
    rows = sorted(
        site.entries,
        key=lambda row: (_letter(row[1].title) == _OTHER, _folded(row[1].title), row[1].item.url),
    )
    groups = [(letter, list(some)) for letter, some in groupby(rows, key=lambda row: _letter(row[1].title))]
    jump = (tag("a", letter, href=f"#t{n}") for n, (letter, _) in enumerate(groups))
    parts = [
        tag("h1", "Titles"),
        tag("p", f"All {len(rows):,} pages of the library.", class_="lead"),
        tag("nav", *jump, class_="letters", aria_label="Letters") if len(groups) > 1 else "",
        *(
            tag("section", tag("h2", letter, id=f"t{n}"), tag("ul", *map(_title, some), class_="titles"))
            for n, (letter, some) in enumerate(groups)
        ),
    ]
    return framed(site, "titles.html", "Titles", parts)


def search_page(site: Site) -> str:
    """The search. What it finds is put in by search.js; without scripts it leads to the lists."""
    topics = (tag("li", tag("a", tag("bdi", shelf.topic), href=shelf.path)) for shelf in site.shelves)
    parts = [
        tag("h1", "Search"),
        search_box("", "Words"),
        tag("p", "Type words. All of them are looked for, also as beginnings of words.", id="told", role="status"),
        tag("ol", id="found", class_="found"),
        tag(
            "noscript",
            tag("p", "The search needs JavaScript, which is off. There is a ",
                tag("a", "list of all titles", href="titles.html"), ", and a page for each topic:"),
            tag("ul", *topics),
        ),
    ]  # fmt: skip
    return framed(site, "search.html", "Search", parts, scripts=("search-data.js", "search.js"))


def search_data(site: Site) -> str:
    """What the search knows, as a script: data that is loaded in any other way is refused to pages from file://."""
    topics = [[clean(shelf.topic), shelf.path] for shelf in site.shelves]
    number = {shelf.slug: n for n, shelf in enumerate(site.shelves)}
    homes = [[clean(one.name), community_path(one)] for one in site.communities]
    place = {one.number: n for n, one in enumerate(site.communities)}
    items = [
        _row(number[shelf.slug], place[entry.home.number] if entry.home else -1, entry) for shelf, entry in site.entries
    ]
    data = msgspec.json.encode({"topics": topics, "homes": homes, "items": items})
    return f"self.analecta = {script_data(data)};\n"


def _row(topic: int, home: int, entry: Entry) -> list[str | int]:
    item = entry.item
    about = " · ".join(filter(None, (item.host, item.author, item.date)))
    texts = (entry.title, item.url, about, entry.summary, entry.words, entry.copy, language(item.lang) or "")
    return [topic, f"i{entry.hex}", *map(clean, texts), home]


def _title(row: tuple[Shelf, Entry]) -> str:
    shelf, entry = row
    name = link(entry.item.url, foreign(entry.title, entry.item.lang))
    place = tag("a", tag("bdi", shelf.topic), href=f"{shelf.path}#i{entry.hex}", class_="quiet")
    return tag("li", name, " ", place)


def _folded(title: str) -> str:
    return unicodedata.normalize("NFKD", title).casefold().lstrip("\"'“”‘’«»([¿¡ ")


def _letter(title: str) -> str:
    first = _folded(title)[:1].upper()
    return html(first) if first.isalpha() else _OTHER
