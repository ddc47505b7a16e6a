"""Collections as BibTeX and RIS, for people who cite, with authors' names as these want them."""

import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote, urlsplit

import msgspec

from analecta.export import ExportRequest
from analecta.export.tables import requested_collections
from analecta.store.library import LibraryFolder
from analecta.store.output import output
from analecta.store.rows import PageRow
from analecta.text.display import iso, many, one_line
from analecta.urls import hex_id
from analecta.views.collections import Collection

# --- The names in what a page says of its author: people with family and given names, and bodies that have but one ---

_MOST = 50  # names
_ADDRESS = re.compile(r"<?\b[\w.+-]{1,100}@[\w.-]{1,100}>?|\bhttps?://\S+|\bwww\.\S+", re.IGNORECASE)
_BY = re.compile(r"^(?:by|von|par|por|di|written by|posted by)\s*:?\s+(?=\S+\s+\S)", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|und|et|y|&)\s+|\s*&\s*", re.IGNORECASE)
_PARTICLES = frozenset("van von der den de del della di da dos du la le ter ten zu zur el al bin ibn af av".split())
_SUFFIX = re.compile(r"^(?:jr|sr|ii|iii|iv|phd|ph\.d|md|m\.d|dr|prof|msc|bsc|esq)\.?$", re.IGNORECASE)
# A name with one of these is of a body, not of a person.
_BODIES = re.compile(
    r"\b(?:academy|agency|archives?|association|authors?|board|bureau|cent(?:er|re)|college|commission|committee|company|"
    r"contributors|corp|corporation|council|department|dept|editor(?:ial|s)?|encyclop\w+|foundation|gmbh|government|group|"
    r"inc|institut\w*|laborator\w+|library|limited|llc|ltd|magazine|ministry|museum|network|news|office|organi[sz]ation|"
    r"press|project|publish\w+|school|service|society|staff|team|trust|union|universi\w+|web|wiki\w*|admin\w*)\b|\d",
    re.IGNORECASE,
)


class Name(msgspec.Struct, frozen=True):
    """A person, or a body where there is no given name."""

    family: str
    given: str = ""


def names_of(author: str) -> list[Name]:
    """The names in the order in which they stand there; each once."""
    text = one_line(_BY.sub("", _ADDRESS.sub(" ", one_line(author)))).strip(" ,;|()[]")
    found = (_name(part) for part in _parts(text))
    return [name for name in dict.fromkeys(found) if name.family][:_MOST]


def _parts(text: str) -> list[str]:
    """The text cut into names: at semicolons, else at "and", else at commas that do not part family and given name."""
    if ";" in text or "|" in text:
        return re.split(r"[;|]", text)
    if _BODIES.search(text):
        return [text]
    parts = [part for piece in _AND.split(text) for part in _at_commas(piece)]
    return [part for part in parts if not _SUFFIX.match(part.strip())]


def _at_commas(text: str) -> list[str]:
    """ "Doe, Jane" is one person, "Jane Doe, John Roe" are two, "Doe, Jane, Roe, John" are two as well."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    parts = [part for part in parts if not _SUFFIX.match(part)]
    if all(len(part.split()) > 1 for part in parts):
        return parts
    if len(parts) % 2 == 0 and all(len(part.split()) == 1 or _is_particled(part) for part in parts[::2]):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return parts


def _is_particled(text: str) -> bool:
    return text.split()[0].lower() in _PARTICLES


def _name(text: str) -> Name:
    text = text.strip(" ,.") if text.count(".") == 1 else text.strip(" ,")
    family, comma, given = (piece.strip() for piece in text.partition(","))
    if _BODIES.search(text) or " " not in text:
        return Name(text)
    if comma:
        return Name(family, given)
    words = text.split()
    start = next((n for n, word in enumerate(words[1:-1], 1) if word in _PARTICLES), len(words) - 1)
    return Name(" ".join(words[start:]), " ".join(words[:start]))


# --- Collections as BibTeX and RIS, for people who cite: one entry a page, however many collections it is in ---------
# A key depends on the address alone, so that a paper that cites it can be set again after the library has grown. What
# TeX would take for a command is escaped; everything else is kept as it is, in UTF-8.

# BibTeX counts braces even behind a backslash: only commands whose braces pair are safe.
_TEX = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", **{mark: f"\\{mark}" for mark in "#$%&_"},
})  # fmt: skip
_VERBATIM = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20"})
_RIS_TYPES = {
    "application/pdf": "RPRT", "application/postscript": "RPRT", "application/msword": "RPRT",
    "application/rtf": "RPRT", "application/epub+zip": "EBOOK",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "RPRT",
    "application/vnd.oasis.opendocument.text": "RPRT",
    "application/vnd.ms-powerpoint": "SLIDE", "application/vnd.oasis.opendocument.presentation": "SLIDE",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "SLIDE",
}  # fmt: skip
_PAGES = frozenset(("text/html", "application/xhtml+xml", "text/plain"))


class CitedPage(msgspec.Struct, frozen=True):
    """A page to cite, with its key and the topics in whose collections it is."""

    key: str
    item: PageRow
    topics: list[str]


def references(found: Iterable[Collection]) -> list[CitedPage]:
    """The pages of collections, each once, in their order."""
    pages: dict[int, CitedPage] = {}
    keys: set[str] = set()
    for collection in found:
        for ranked in collection.items:
            item = ranked.item
            if item.id not in pages:
                pages[item.id] = CitedPage(_key(item, keys), item, [])
            pages[item.id].topics.append(collection.topic)
    return list(pages.values())


def bibtex(found: Iterable[Collection]) -> Iterator[str]:
    """Entries of BibTeX: @online for pages (biblatex), @misc for documents."""
    for reference in references(found):
        item = reference.item
        kind = "online" if item.mime in _PAGES else "misc"
        year, month = [*item.date.split("-"), "", ""][:2]
        fields = {
            "author": " and ".join(map(_bibtex_name, names_of(item.author))),
            "title": f"{{{tex(item.name)}}}",  # a second pair of braces keeps capitals as they are
            "year": year,
            "month": month.lstrip("0"),
            "organization": tex(item.host),
            "url": _address(item.url),
            "urldate": iso(item.fetched_at)[:10],
            "keywords": ", ".join(map(tex, reference.topics)),
            "note": tex(_note(item)),
        }
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        yield f"@{kind}{{{reference.key},\n" + ",\n".join(lines) + "\n}\n\n"


def ris(found: Iterable[Collection]) -> Iterator[str]:
    """Entries of RIS, as reference managers read them."""
    for reference in references(found):
        item = reference.item
        fields = [("TY", _RIS_TYPES.get(item.mime, "ELEC")), ("ID", reference.key), ("TI", one_line(item.name))]
        fields += [("AU", _ris_name(name)) for name in names_of(item.author)]
        fields += [("PY", item.date[:4]), ("DA", item.date.replace("-", "/")), ("PB", item.host), ("LA", item.lang)]
        fields += [("UR", _address(item.url)), ("Y2", iso(item.fetched_at)[:10].replace("-", "/"))]
        fields += [*(("KW", one_line(topic)) for topic in reference.topics), ("N1", _note(item))]
        yield "".join(f"{tag}  - {value}\r\n" for tag, value in fields if value) + "ER  - \r\n\r\n"


FORMATS: dict[str, Callable[[Iterable[Collection]], Iterator[str]]] = {"bibtex": bibtex, "ris": ris}


def export_citations(library: LibraryFolder, request: ExportRequest) -> list[str]:
    """Write what cites the pages of collections to a file, whole or not at all, or to standard output."""
    found, _ = requested_collections(library, request)
    entries = [entry.encode() for entry in FORMATS[request.format](found)]
    with output(request.path, request.format, request.force) as out:
        out.writelines(entries)
    return [f"{many(len(entries), 'item')}."]


def tex(text: str) -> str:
    """A text in which TeX finds no command."""
    return one_line(text).translate(_TEX)


def _key(item: PageRow, taken: set[str]) -> str:
    """The host, the last word of the address and the beginning of its hash; longer in the rare case of a clash."""
    parts = urlsplit(item.url)
    host = re.sub(r"^www\.", "", item.host).split(".")[0]
    last = unquote(parts.path.rstrip("/").rpartition("/")[2]).partition(".")[0]
    words = [re.sub(r"[^a-z0-9]+", "", word.lower())[:20] for word in (host, last)]
    keys = ("-".join([*filter(None, words), hex_id(item.id)[:size]]) for size in range(6, 17))
    key = next(key for key in keys if key not in taken)
    taken.add(key)
    return key


def _bibtex_name(name: Name) -> str:
    """Family name first; a body in braces, so that its words are not taken for names."""
    if not name.given:
        return f"{{{tex(name.family)}}}"
    return f"{_apart(name.family)}, {_apart(name.given)}"


def _apart(part: str) -> str:
    """A part of a name; in braces where a comma or an "and" in it would part it further."""
    escaped = tex(part)
    return f"{{{escaped}}}" if "," in part or re.search(r"\band\b", part, re.IGNORECASE) else escaped


def _ris_name(name: Name) -> str:
    return f"{name.family}, {name.given}" if name.given else name.family


def _address(url: str) -> str:
    return one_line(url).translate(_VERBATIM)


def _note(item: PageRow) -> str:
    """Where the archived copy is, unless its owner wants none."""
    if item.noarchive or not item.warc:
        return ""
    return f"Archived copy: {item.warc}, record at byte {item.offset}, {item.digest}"
