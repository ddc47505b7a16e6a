"""The files in which browsers themselves keep bookmarks: trees of dictionaries, each browser with its own words.

The folders that a browser made (its bar, its menu) are marked as such there, whatever the language: what stands in
them stands in no folder of the person's.
"""

import plistlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from xml.parsers.expat import ExpatError

from analecta.errors import BadUse
from analecta.sources.collector import Gathering, Place

Node = dict[str, Any]

_FIREFOX_TAGS = "tags________"  # its folders hold the same pages again
_FIREFOX_OWN = frozenset(("root________", "menu________", "toolbar_____", "unfiled_____", "mobile______"))
_FIREFOX_OLD = frozenset(
    ("placesRoot", "bookmarksMenuFolder", "toolbarFolder", "unfiledBookmarksFolder", "mobileFolder")
)
_SAFARI_OWN = frozenset(("BookmarksBar", "BookmarksMenu", "com.apple.ReadingList"))


class Entry(NamedTuple):
    """A folder (with what is in it) or a link, in everybody's words."""

    name: str | None = None  # of a folder that the person made
    url: str = ""
    children: tuple[Node, ...] = ()


def read_chrome(store: Node, found: Gathering) -> None:
    """`Bookmarks` of Chrome, Edge and their kin: roots bookmark_bar, other, synced."""
    for root in store["roots"].values():
        _walk(found, _nodes(root), (), _chrome)


def read_firefox(store: Node, found: Gathering) -> None:
    """A backup as JSON."""
    _walk(found, (store,), (), _firefox)


def read_safari(data: bytes, found: Gathering) -> None:
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
        raise BadUse(f"{found.path} is a damaged property list{why}") from error
    if not isinstance(store, dict) or "WebBookmarkType" not in store:
        raise BadUse(f"{found.path} is a property list, but holds no Safari bookmarks")
    _walk(found, _nodes(store, "Children"), (), _safari)


def _walk(found: Gathering, nodes: tuple[Node, ...], place: Place, read: Callable[[Node], Entry]) -> None:
    """Depth first, in the order of the file, by a list: a damaged file may name a folder as its own child."""
    todo: list[tuple[Iterator[Node], Place]] = [(iter(nodes), place)]
    while todo:
        children, place = todo[-1]
        node = next(children, None)
        if node is None:
            todo.pop()
            continue
        found.count()
        entry = read(node)
        if entry.url:
            found.add(place, entry.url)
        inner = place if entry.name is None else found.enter(place, entry.name)
        if len(todo) > 1000:
            raise BadUse(f"{found.path} has folders more than 1,000 deep")
        todo.append((iter(entry.children), inner))


def _nodes(value: Any, key: str = "children") -> tuple[Node, ...]:
    """The dictionaries in a list at a key; none where there is something else."""
    inner = value.get(key) if isinstance(value, dict) else None
    return tuple(node for node in inner if isinstance(node, dict)) if isinstance(inner, list) else ()


def _word(node: Node, key: str) -> str:
    value = node.get(key)
    return value if isinstance(value, str) else ""


def _chrome(node: Node) -> Entry:
    if node.get("type") == "url":
        return Entry(url=_word(node, "url"))
    return Entry(_word(node, "name"), children=_nodes(node)) if node.get("type") == "folder" else Entry()


def _firefox(node: Node) -> Entry:
    guid, root = _word(node, "guid"), _word(node, "root")
    if guid == _FIREFOX_TAGS or root == "tagsFolder":
        return Entry()
    if node.get("type") == "text/x-moz-place" or node.get("typeCode") == 1:
        return Entry(url=_word(node, "uri"))
    if node.get("type") != "text/x-moz-place-container" and node.get("typeCode") != 2:
        return Entry()  # a separator
    own = guid in _FIREFOX_OWN or root in _FIREFOX_OLD
    return Entry(None if own else _word(node, "title"), children=_nodes(node))


def _safari(node: Node) -> Entry:
    if node.get("WebBookmarkType") == "WebBookmarkTypeLeaf":
        return Entry(url=_word(node, "URLString"))
    if node.get("WebBookmarkType") != "WebBookmarkTypeList":
        return Entry()  # a proxy, such as the history
    title = _word(node, "Title")
    return Entry(None if title in _SAFARI_OWN else title, children=_nodes(node, "Children"))
