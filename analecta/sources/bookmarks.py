"""A browser's bookmarks, whose folders become the tree of topics (B1). What kind of file it is, its content tells.

Netscape HTML is what all browsers export; the others are the files in which they keep them: Chrome's and Edge's
`Bookmarks`, Firefox' backups (plain or compressed), Safari's `Bookmarks.plist`.
"""

from collections.abc import Callable
from pathlib import Path

from analecta.errors import BadUse
from analecta.sources.bookmark_backups import unpacked
from analecta.sources.browser_stores import read_chrome, read_firefox, read_safari
from analecta.sources.collector import Gathering
from analecta.sources.files import first_sign, json_of, read_bytes
from analecta.sources.netscape import read_netscape
from analecta.sources.result import Reading

_WANTED = (
    "export them from your browser as HTML, or give Chrome's Bookmarks, a Firefox backup or Safari's Bookmarks.plist"
)
MAX_BOOKMARKS = 200_000  # a property list of 2 KB can name one folder a million times


def read_bookmarks(path: Path, topic: str) -> Reading:
    """A topic for each folder with links; those in no folder are of the topic that is named."""
    data = unpacked(read_bytes(path), path)
    found = Gathering(path, topic, MAX_BOOKMARKS)
    _kind(data, path)(data, found)
    found.skip_barren("no page stands in this folder")
    reading = found.reading()
    if not reading.topics:
        raise found.nothing("bookmark")
    return reading


def _kind(data: bytes, path: Path) -> Callable[[bytes, Gathering], None]:
    """What reads such a file."""
    sign = first_sign(data)
    if data.startswith(b"bplist") or (sign == b"<" and b"<plist" in data[:1000]):
        return read_safari
    if sign == b"<":
        return read_netscape
    if sign != b"{":
        raise BadUse(f"{path} is no bookmark file: {_WANTED}")
    store = json_of(data, path)
    if isinstance(store.get("roots"), dict):
        return lambda _, found: read_chrome(store, found)
    if isinstance(store.get("children"), list):
        return lambda _, found: read_firefox(store, found)
    raise BadUse(f"{path} is JSON, but holds no bookmarks: {_WANTED}")
