"""A bundle: all that is needed to repeat a crawl and to see whether it comes to the same (docs/reproducibility.md)."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from analecta.settings.schema import Settings

# --- What a bundle says of itself: its files with their digests, the archive's, and the order of the pages -----------

FORMAT = "analecta-bundle"
VERSION = 1
MANIFEST, README, DECISIONS, RUNS = "manifest.json", "README.md", "decisions.jsonl", "runs.jsonl"
SETTINGS, RESOLVED = "settings/analecta.toml", "settings/resolved.json"
VERSIONS, MODELS, TOPICS = "versions.json", "models.json", "topics.json"
FILES, ARCHIVE = "files/", "archive/"
_OWN = frozenset(
    ("lock", "oai.lock", "index.lock", "shards", "archive", "models", "index", "analysis", "site", "undo", "backup")
)
_OWN_FILES = ("analecta.toml", "library.db", "oai.db")  # and all that stands beside them, as library.db-wal
_LONGEST = 255  # bytes of a name: no file system takes more
_ALLOWED = re.compile(
    r"README\.md|decisions\.jsonl|runs\.jsonl|versions\.json|models\.json|topics\.json|settings/analecta\.toml"
    r"|settings/resolved\.json|models/[0-9a-f]{32}\.(?:json|npz)|archive/[\w.-]{1,200}\.warc(?:\.gz)?"
    r"|files/[^\x00-\x1f\x7f\\\ud800-\udfff]{1,500}"
)


class BundleFile(msgspec.Struct, frozen=True):
    """A file with its size and SHA-256."""

    name: str
    size: Annotated[int, Meta(ge=0)]
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Manifest(msgspec.Struct, frozen=True):
    """The table of contents; `archive` lists the library's WARC files, whether the bundle holds them or not."""

    format: str
    version: int
    analecta: str
    library: str
    partitions: Annotated[int, Meta(ge=0, le=256)]
    waited: int  # hosts that had to be waited for: the clock has a say in when they are asked
    pages: int
    order: str  # SHA-256 of the pages' URLs in the order of keeping, a line each
    files: list[BundleFile]
    archive: list[BundleFile]
    archived: bool  # whether the WARC files are inside
    gone: list[str] = []  # examples of its runs that the library no longer has


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a URL; of a page also what it is about, and `order`, its place among all pages, from 1."""

    url: str
    state: str
    reason: str = ""
    topic: str = ""
    confidence: float = 0.0
    order: int = 0
    depth: int = 0
    model: str = ""


class BundleRun(msgspec.Struct, frozen=True):
    """A crawl that was started: what was asked for and what it came to."""

    n: int
    began: float
    ended: float | None
    reason: str
    asked: dict[str, Any]
    tally: dict[str, Any]


def allowed(name: str) -> bool:
    """Whether a file of this name may be in a bundle: nothing that could lead out of its folder, nothing unknown."""
    parts = name.split("/")
    if not _ALLOWED.fullmatch(name) or any(part in ("", ".", "..") for part in parts) or len(parts) > 20:
        return False
    if any(len(part.encode()) > _LONGEST for part in parts):
        return False
    return parts[0] != "files" or not _ours(parts[1])


def _ours(name: str) -> bool:
    """Whether a library keeps something of its own under this name, on whatever disk."""
    same = _same(name)
    return same in _OWN or same.startswith(_OWN_FILES)


def _same(name: str) -> str:
    """What names have in common that some disk takes for one: case, forms of letters, signs that nobody sees."""
    shown = "".join(char for char in name if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", shown).casefold()


def in_the_way(names: Iterable[str]) -> str:
    """A file whose name another has, but for case, or that lies below a file; "" where there is none."""
    seen: set[str] = set()
    for name in sorted(names, key=lambda name: name.count("/")):
        parts = [*map(_same, name.split("/"))]
        if not seen.isdisjoint("/".join(parts[:n]) for n in range(1, len(parts) + 1)):
            return name
        seen.add("/".join(parts))
    return ""


def examples_of(settings: Settings) -> list[str]:
    """The files that settings name as examples, from the library's folder."""
    return [name for topic in settings.topics for name in topic.examples] + [*settings.others.examples]


def order_digest(urls: Iterable[str]) -> str:
    """One number for an order of pages."""
    found = hashlib.sha256()
    for url in urls:
        found.update(url.encode("utf-8", "replace") + b"\n")
    return found.hexdigest()


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
