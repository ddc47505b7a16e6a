"""Whether an index is whole and of now: of what it was made, and what it is made up of, written beside it.

What is written down comes last, and is taken away before the index is changed: an index without it was not finished.
"""

import contextlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec
import xxhash

from analecta.search.index import WORDS
from analecta.store.library import Library

NAME = "kept.json"
_VERSION = f"4 tantivy {version('tantivy')}"  # raise it when pages are indexed otherwise
_RACY = 1.0  # seconds: a file written so lately may be written again without looking changed

Stamps = dict[str, tuple[int, int]]  # size and time of files by name
Hashes = dict[str, tuple[int, int, int]]  # and a hash of what is in them


class Kept(msgspec.Struct, frozen=True):
    """What is written down of an index."""

    version: str
    source: Stamps | None  # of what it was made; None where its files were too young to be trusted
    index: Hashes
    pages: int
    stale: int  # pages that were changed or deleted since all was made; BM25 still counts their words
    at: float
    took: float


def folder_of(library: Library) -> Path:
    """Where the index of a library is."""
    return library.derived("index")


def read_kept(library: Library) -> Kept | None:
    """What is known of the index; None where there is none, or it was not finished."""
    with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.decode((folder_of(library) / NAME).read_bytes(), type=Kept)
    return None


def wrong(library: Library) -> str:
    """Why the index cannot be used as it is; "" where it can."""
    folder = folder_of(library)
    if not (folder / WORDS).is_dir():
        return "there was none"
    if (kept := read_kept(library)) is None:
        return "it was not finished"
    if kept.version != _VERSION:
        return "it was of another version"
    return "" if _whole(folder, kept.index) else "it was damaged"


def _whole(folder: Path, index: Mapping[str, tuple[int, int, int]]) -> bool:
    """Whether all files are as they were; what was only copied or touched is, so what is in it is looked at."""
    for name, (size, at, hashed) in index.items():
        path = folder / name
        if not path.is_file() or (found := path.stat()).st_size != size:
            return False
        if found.st_mtime_ns != at and _hash(path) != hashed:
            return False
    return True


def changed_files(library: Library) -> list[str]:
    """The files of the index that are not as they were written; what is in them is looked at."""
    folder = folder_of(library)
    if not (folder / WORDS).is_dir():
        return []
    if (kept := read_kept(library)) is None:
        return [NAME]
    return [name for name, (*_, hashed) in kept.index.items() if not _same(folder / name, hashed)]


def _same(path: Path, hashed: int) -> bool:
    return path.is_file() and _hash(path) == hashed


def source_of(library: Library) -> Stamps:
    """Of what an index would be made now; settings say what sites and communities are."""
    own = [library.folder / "library.db", *map(library.shard_path, range(library.partitions))]
    written_to = [path for file in own for path in (file, file.with_name(f"{file.name}-wal"))]
    return stamps([*written_to, library.settings_path], library.folder)


def forget(library: Library) -> None:
    """The index is about to be changed: it does not count until it is kept again."""
    (folder_of(library) / NAME).unlink()


def keep(
    folder: Path, source: Stamps, pages: int, stale: int, began: float, ended: float, known: Hashes | None = None
) -> None:
    """Write down what the index is: from now on it counts. What `known` tells of a file is not found out again."""
    fresh = any(at / 1e9 > began - _RACY for _, at in source.values())
    parts = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock" and not _own(path)]
    index: Hashes = {}
    for name, stamp in stamps(parts, folder).items():
        before = (known or {}).get(name, (0, 0, 0))
        index[name] = (*stamp, before[2] if before[:2] == stamp else _hash(folder / name))
    kept = Kept(_VERSION, None if fresh else source, index, pages, stale, ended, ended - began)
    part = folder / f".{NAME}.part"
    part.write_bytes(msgspec.json.encode(kept))
    part.replace(folder / NAME)


def _own(path: Path) -> bool:
    return path.name in (NAME, f".{NAME}.part")


def stamps(paths: Sequence[Path], folder: Path) -> Stamps:
    """Size and time of those that are there; an empty log is as good as none."""
    found = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            stat = path.stat()
            if stat.st_size or not path.name.endswith("-wal"):
                found[str(path.relative_to(folder))] = (stat.st_size, stat.st_mtime_ns)
    return found


def _hash(path: Path) -> int:
    hashed = xxhash.xxh3_64()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            hashed.update(piece)
    return hashed.intdigest()
