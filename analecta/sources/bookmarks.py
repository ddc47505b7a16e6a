"""A browser's bookmarks, whose folders become the tree of topics (B1). What kind of file it is, its content tells.

Netscape HTML is what all browsers export; the others are the files in which they keep them: Chrome's and Edge's
`Bookmarks`, Firefox' backups (plain or compressed), Safari's `Bookmarks.plist`.
"""

import plistlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from turbohtml import Doctype, Document, Element, parse

from analecta.errors import UsageError
from analecta.sources.collector import Place, TopicCollector
from analecta.sources.files import MAX_BYTES, first_sign, json_of, read_bytes, text_of
from analecta.sources.result import SourceResult

# --- bookmark backups ------------------------------------------------------------------------------------------------
# Firefox' compressed backups, `bookmarks-….jsonlz4`: the word mozLz40, the size, then one block of LZ4.


MAGIC = b"mozLz40\0"


def unpacked(data: bytes, path: Path) -> bytes:
    """The bytes of a backup; other bytes as they are."""
    if not data.startswith(MAGIC):
        return data
    size = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "little")
    if size > MAX_BYTES:
        raise UsageError(f"{path} unpacks to more than {MAX_BYTES // 1_000_000} MB")
    try:
        return _unpack_lz4(data[len(MAGIC) + 4 :], size)
    except (IndexError, ValueError) as error:
        raise UsageError(f"{path} is a damaged Firefox backup: {error}") from error


def _unpack_lz4(data: bytes, size: int) -> bytes:
    """A block of LZ4 that unpacks to `size` bytes: runs of new bytes, each with what to repeat after it.

    pyarrow could do it, and takes 0.2 s to import.
    """
    found, at = bytearray(), 0
    while at < len(data):
        token = data[at]
        fresh, at = _lz4_length(data, at + 1, token >> 4)
        found += data[at : at + fresh]
        at += fresh
        if at < len(data):  # the last run has nothing to repeat
            back = int.from_bytes(data[at : at + 2], "little")
            count, at = _lz4_length(data, at + 2, token & 15)
            if not 0 < back <= len(found) or len(found) + count + 4 > size:
                raise ValueError("it repeats what is not there, or more than it says")
            start = len(found) - back
            piece = found[start : start + count + 4]  # repeated where more is wanted than there is
            found += piece if len(piece) == count + 4 else (piece * ((count + 4) // back + 1))[: count + 4]
    if len(found) != size:
        raise ValueError(f"it unpacks to {len(found)} bytes, not to {size}")
    return bytes(found)


def _lz4_length(data: bytes, at: int, length: int) -> tuple[int, int]:
    """A length and where it ends: 15 is gone on with in further bytes, as long as those are 255."""
    more = length == 15
    while more:
        more, length, at = data[at] == 255, length + data[at], at + 1
    return length, at


# --- browser folders -------------------------------------------------------------------------------------------------
# What browsers call the folders that they make themselves, at the top of an exported file, in the person's language.
#
# Chrome, Edge and Firefox mark some of them; Safari and older programs only name them. They say nothing of a topic, so
# they are left out of its path.


_NAMES = """
Bookmarks | Bookmarks bar | Bookmarks toolbar | Bookmarks menu | Other bookmarks | Mobile bookmarks | Synced bookmarks
Favorites | Favorites bar | Other favorites | Mobile favorites | Favourites | Favourites bar | Other favourites
Reading list
Lesezeichen | Lesezeichenleiste | Lesezeichen-Symbolleiste | Lesezeichen-Menü | Weitere Lesezeichen | Leseliste
Andere Lesezeichen | Mobile Lesezeichen | Favoriten | Favoritenleiste | Weitere Favoriten
Favoris | Barre de favoris | Barre des favoris | Autres favoris | Favoris mobiles | Barre personnelle | Marque-pages
Menu des marque-pages | Autres marque-pages | Liste de lecture
Marcadores | Barra de marcadores | Otros marcadores | Favoritos | Barra de favoritos | Otros favoritos
Outros favoritos | Outros marcadores | Lista de lectura | Lista de leitura
Preferiti | Barra dei preferiti | Altri preferiti | Segnalibri | Barra dei segnalibri
Altri segnalibri | Elenco lettura
Bladwijzers | Bladwijzerbalk | Andere bladwijzers | Favorieten | Favorietenbalk | Andere favorieten | Leeslijst
Zakładki | Pasek zakładek | Inne zakładki | Ulubione | Pasek ulubionych
Bokmärken | Bokmärkesfältet | Andra bokmärken
Закладки | Панель закладок | Другие закладки | Избранное | Панель избранного | Список для чтения
ブックマーク | ブックマーク バー | ブックマークバー | その他のブックマーク | お気に入り | お気に入りバー
リーディングリスト
书签 | 书签栏 | 其他书签 | 收藏夹 | 收藏夹栏 | 其他收藏夹 | 阅读列表 | 書籤 | 書籤列 | 其他書籤
즐겨찾기 | 북마크바 | 기타 북마크
"""

OWN_NAMES = frozenset(name.strip().casefold() for line in _NAMES.strip().splitlines() for name in line.split("|"))


# --- netscape --------------------------------------------------------------------------------------------------------
# The bookmark file that Netscape wrote in 1994 and every browser exports: <DL> lists of <DT>, <H3> and <A>.
#
# End tags are mostly left out, and each program leaves out others, so the elements are taken as they come: a heading
# names the list that opens next, a link belongs to the list around it.


_HEADINGS = frozenset(("h2", "h3", "h4"))  # h1 is the file's own title
_OWN = ("personal_toolbar_folder", "unfiled_bookmarks_folder")  # the marks of Chrome, Edge and Firefox


def read_netscape(data: bytes, found: TopicCollector) -> None:
    """An exported file."""
    document = _document(data, found)
    if not _is_bookmarks(document):
        raise UsageError(f"{found.path} is HTML, but no bookmark file: export the bookmarks from your browser as HTML")
    # The place of each list, and whether it is an outermost one, in which the browser's own folders stand.
    lists: dict[Element | None, tuple[Place, bool]] = {None: ((), True)}
    heading: Place | None = None
    seen: set[tuple[int | None, int | None]] = set()
    for element in document.iter_elements():
        tag = element.tag
        if tag not in _HEADINGS and tag not in ("dl", "a"):
            continue
        around = element.parent.closest("dl") if isinstance(element.parent, Element) else None
        place, top = lists[around]
        if tag == "dl":
            lists[element] = (place, around is None) if heading is None else (heading, False)
            heading = None
        elif tag == "a":
            # Where </A> is missing the parser repeats the link in what follows: the same mark, met twice.
            where = (element.source_line, element.source_col)
            if where not in seen and (href := element.attr("href")) is not None:
                found.add(place, href, element.source_line or 0)
            seen.add(where)
        else:
            heading = _folder(found, element, place, top)


def _document(data: bytes, found: TopicCollector) -> Document:
    """Strictly in UTF-8, or in what the file itself says."""
    try:
        return parse(text_of(data, found.path))
    except UsageError:
        document = parse(data)
        if b"\0" in data or (document.encoding or "").lower() == "utf-8":
            raise
        return document


def _is_bookmarks(document: Document) -> bool:
    """By its first line; or by the date that every program writes to a link."""
    first = next((node.name for node in document.children if isinstance(node, Doctype)), "")
    return "netscape-bookmark" in first.lower() or document.select_one("dt > a[add_date]") is not None


def _folder(found: TopicCollector, heading: Element, place: Place, top: bool) -> Place:
    """Where the links below a heading stand."""
    # Its first words: where </H3> is missing, all that follows is in it.
    name = heading.text if heading.find("dl") is None else next(iter(heading.stripped_strings), "")
    own = any(heading.attr(mark) for mark in _OWN) or (heading.attr("id") or "").startswith("com.apple.")
    if own or (top and " ".join(name.split()).casefold() in OWN_NAMES):
        return place
    return found.enter(place, name, heading.source_line or 0)


# --- browser stores --------------------------------------------------------------------------------------------------
# The files in which browsers themselves keep bookmarks: trees of dictionaries, each browser with its own words.
#
# The folders that a browser made (its bar, its menu) are marked as such there, whatever the language: what stands in
# them stands in no folder of the person's.


Node = dict[str, Any]

# The keys of Chrome, Firefox and Safari; none of them uses a word of another for something else.
_KIND = ("type", "typeCode", "WebBookmarkType")  # the second in older backups of Firefox
_LINK = ("url", "text/x-moz-place", 1, "WebBookmarkTypeLeaf")
_FOLDER = ("folder", "text/x-moz-place-container", 2, "WebBookmarkTypeList")
_URL = ("url", "uri", "URLString")
_NAME = ("name", "title", "Title")
_CHILDREN = ("children", "Children")
# By what the browser's own folders are known.
_MADE_BY_BROWSER = {
    "guid": ("root________", "menu________", "toolbar_____", "unfiled_____", "mobile______"),
    "root": ("placesRoot", "bookmarksMenuFolder", "toolbarFolder", "unfiledBookmarksFolder", "mobileFolder"),
    "Title": ("BookmarksBar", "BookmarksMenu", "com.apple.ReadingList"),
}
_TAGS = {"guid": ("tags________",), "root": ("tagsFolder",)}  # its folders hold the same pages again


def read_safari(data: bytes, found: TopicCollector) -> None:
    """`Bookmarks.plist`, as XML or binary."""
    try:
        store = plistlib.loads(data)
    # A damaged binary list fails in as many ways as there are types in it.
    except (
        ExpatError,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        OverflowError,
        RecursionError,
        MemoryError,
    ) as error:
        why = f": {error}" if isinstance(error, ExpatError | ValueError) else ""
        raise UsageError(f"{found.path} is a damaged property list{why}") from error
    if not isinstance(store, dict) or "WebBookmarkType" not in store:
        raise UsageError(f"{found.path} is a property list, but holds no Safari bookmarks")
    _walk(found, _nodes(store))


def _walk(found: TopicCollector, nodes: Sequence[Node]) -> None:
    """Depth first, in the order of the file, by a list: a damaged file may name a folder as its own child."""
    todo: list[tuple[Iterator[Node], Place]] = [(iter(nodes), ())]
    while todo:
        children, place = todo[-1]
        node = next(children, None)
        if node is None:
            todo.pop()
            continue
        found.count()
        kinds = [node.get(key) for key in _KIND]
        if _is_marked(node, _TAGS):
            continue
        if any(kind in _LINK for kind in kinds):
            if url := _word(node, _URL):
                found.add(place, url)
        elif any(kind in _FOLDER for kind in kinds):  # else it is a separator, or a proxy such as the history
            inner = place if _is_marked(node, _MADE_BY_BROWSER) else found.enter(place, _word(node, _NAME))
            if len(todo) > 1000:
                raise UsageError(f"{found.path} has folders more than 1,000 deep")
            todo.append((iter(_nodes(node)), inner))


def _is_marked(node: Node, marks: Mapping[str, tuple[str, ...]]) -> bool:
    return any(node.get(key) in values for key, values in marks.items())


def _nodes(value: Any) -> list[Node]:
    """The dictionaries in the list of a folder's children; none where there is something else."""
    inner = [value.get(key) for key in _CHILDREN] if isinstance(value, dict) else []
    return [node for some in inner if isinstance(some, list) for node in some if isinstance(node, dict)]


def _word(node: Node, keys: tuple[str, ...]) -> str:
    """The first text at one of these keys."""
    return next((node[key] for key in keys if isinstance(node.get(key), str)), "")


# --- bookmarks -------------------------------------------------------------------------------------------------------


_WANTED = (
    "export them from your browser as HTML, or give Chrome's Bookmarks, a Firefox backup or Safari's Bookmarks.plist"
)
MAX_BOOKMARKS = 200_000  # a property list of 2 KB can name one folder a million times


def read_bookmarks(path: Path, topic: str) -> SourceResult:
    """A topic for each folder with links; those in no folder are of the topic that is named."""
    found = TopicCollector(path, topic, MAX_BOOKMARKS)
    _read(unpacked(read_bytes(path), path), found)
    found.skip_barren("no page stands in this folder")
    return found.result("bookmark")


def _read(data: bytes, found: TopicCollector) -> None:
    """What it is, its first signs tell."""
    path, sign = found.path, first_sign(data)
    if data.startswith(b"bplist") or (sign == b"<" and b"<plist" in data[:1000]):
        read_safari(data, found)
    elif sign == b"<":
        read_netscape(data, found)
    elif sign != b"{":
        raise UsageError(f"{path} is no bookmark file: {_WANTED}")
    else:
        _walk(found, _top(json_of(data, path), path))


def _top(store: Node, path: Path | str) -> list[Node]:
    """Where a browser's own file in JSON begins."""
    if isinstance(store.get("roots"), dict):
        return [node for root in store["roots"].values() for node in _nodes(root)]  # bookmark_bar, other, synced
    if isinstance(store.get("children"), list):
        return [store]
    raise UsageError(f"{path} is JSON, but holds no bookmarks: {_WANTED}")
