"""The bookmark file that Netscape wrote in 1994 and every browser exports: <DL> lists of <DT>, <H3> and <A>.

End tags are mostly left out, and each program leaves out others, so the elements are taken as they come: a heading
names the list that opens next, a link belongs to the list around it.
"""

from dataclasses import dataclass

from turbohtml import Doctype, Document, Element, parse

from analecta.errors import BadUse
from analecta.sources.browser_folders import OWN_NAMES
from analecta.sources.collector import Gathering, Place
from analecta.sources.files import text_of

_HEADINGS = frozenset(("h2", "h3", "h4"))  # h1 is the file's own title
_OWN = ("personal_toolbar_folder", "unfiled_bookmarks_folder")  # the marks of Chrome, Edge and Firefox


@dataclass(slots=True)
class _List:
    """A <DL> whose end has not come yet."""

    element: Element
    place: Place
    top: bool  # the outermost, in which the browser's own folders stand


def read_netscape(data: bytes, found: Gathering) -> None:
    """An exported file."""
    document = _document(data, found)
    if not _is_bookmarks(document):
        raise BadUse(f"{found.path} is HTML, but no bookmark file: export the bookmarks from your browser as HTML")
    lists: list[_List] = []
    heading: Place | None = None
    seen: set[tuple[int | None, int | None]] = set()
    for element in document.iter_elements():
        tag = element.tag
        if tag not in _HEADINGS and tag not in ("dl", "a"):
            continue
        _close(lists, element)
        place, top = (lists[-1].place, lists[-1].top) if lists else ((), True)
        if tag == "dl":
            lists.append(_List(element, place if heading is None else heading, heading is None and not lists))
            heading = None
        elif tag == "a":
            # Where </A> is missing the parser repeats the link in what follows: the same mark, met twice.
            where = (element.source_line, element.source_col)
            if where not in seen and (href := element.attr("href")) is not None:
                found.add(place, href, element.source_line or 0)
            seen.add(where)
        else:
            heading = _folder(found, element, place, top)


def _document(data: bytes, found: Gathering) -> Document:
    """Strictly in UTF-8, or in what the file itself says."""
    try:
        return parse(text_of(data, found.path))
    except BadUse:
        document = parse(data)
        if b"\0" in data or (document.encoding or "").lower() == "utf-8":
            raise
        return document


def _is_bookmarks(document: Document) -> bool:
    """By its first line; or by the date that every program writes to a link."""
    first = next((node.name for node in document.children if isinstance(node, Doctype)), "")
    return "netscape-bookmark" in first.lower() or document.select_one("dt > a[add_date]") is not None


def _close(lists: list[_List], element: Element) -> None:
    """Leave the lists that do not hold an element."""
    parent = element.parent
    around = parent.closest("dl") if isinstance(parent, Element) else None
    while lists and lists[-1].element != around:
        lists.pop()


def _folder(found: Gathering, heading: Element, place: Place, top: bool) -> Place:
    """Where the links below a heading stand."""
    # Its first words: where </H3> is missing, all that follows is in it.
    name = heading.text if heading.find("dl") is None else next(iter(heading.stripped_strings), "")
    own = any(heading.attr(mark) for mark in _OWN) or (heading.attr("id") or "").startswith("com.apple.")
    if own or (top and " ".join(name.split()).casefold() in OWN_NAMES):
        return place
    return found.enter(place, name, heading.source_line or 0)
