"""What a bundle says of itself: its files with their digests, the archive's, and the order of the pages."""

import hashlib
import re
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

FORMAT = "analecta-bundle"
VERSION = 1
MANIFEST, README, DECISIONS, RUNS = "manifest.json", "README.md", "decisions.jsonl", "runs.jsonl"
SETTINGS, RESOLVED = "settings/analecta.toml", "settings/resolved.json"
VERSIONS, MODELS, TOPICS = "versions.json", "models.json", "topics.json"
FILES, ARCHIVE = "files/", "archive/"
_OWN = ("analecta.toml", "library.db", "lock", "shards", "archive", "models", "index", "analysis", "site")
_ALLOWED = re.compile(
    r"README\.md|decisions\.jsonl|runs\.jsonl|versions\.json|models\.json|topics\.json|settings/analecta\.toml"
    r"|settings/resolved\.json|models/[0-9a-f]{32}\.(?:json|npz)|archive/[\w.-]{1,200}\.warc(?:\.gz)?"
    r"|files/[^\x00-\x1f\x7f\\]{1,500}"
)


class Entry(msgspec.Struct, frozen=True):
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
    files: list[Entry]
    archive: list[Entry]
    archived: bool  # whether the WARC files are inside


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


class Run(msgspec.Struct, frozen=True):
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
    return parts[0] != "files" or parts[1].casefold() not in _OWN


def order_digest(urls: Iterable[str]) -> str:
    """One number for an order of pages."""
    found = hashlib.sha256()
    for url in urls:
        found.update(url.encode("utf-8", "replace") + b"\n")
    return found.hexdigest()
