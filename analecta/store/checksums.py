"""Checksums of SQLite files at rest: SQLite itself does not notice a changed byte in a text or a number.

A file is sealed when its writer is done, and the seal is taken away when it is next opened for writing
(store/sqlite.py): where there is a seal, every page of the file must be as it was.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import xxhash

_ENDING = ".sum"
_PAGES_AT_ONCE = 256
_NO_PAGE = 65_536  # SQLite writes 1 for this size


def seal_of(path: Path) -> Path:
    """Where the checksums of a file are."""
    return path.with_name(path.name + _ENDING)


def log_path(path: Path) -> Path:
    """Where the write-ahead log of a file is."""
    return path.with_name(f"{path.name}-wal")


def log_of(path: Path) -> int:
    """How many bytes are in the write-ahead log beside a file."""
    return log_path(path).stat().st_size if log_path(path).exists() else 0


def seal(path: Path) -> None:
    """Write the checksums of all pages beside the file, but where it is being written or cannot be sealed."""
    if not path.exists() or seal_of(path).exists():
        return
    part = seal_of(path).with_name(f".{seal_of(path).name}.part")
    with (
        contextlib.suppress(OSError, sqlite3.Error),  # read-only, full, damaged or in use
        contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=1)) as db,
    ):
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("BEGIN IMMEDIATE")  # writers are kept away meanwhile
        if not log_of(path):  # a reader may keep the log open
            part.write_bytes(np.fromiter(page_sums(path), np.uint64).tobytes())
            os.replace(part, seal_of(path))


def changed_pages(path: Path) -> list[int] | None:
    """The numbers (from 1) of pages that are not as they were sealed; None where there is no seal to go by."""
    try:
        sealed = np.frombuffer(seal_of(path).read_bytes(), np.uint64)
    except (OSError, ValueError):
        return None
    if log_of(path):
        return None
    now = np.fromiter(page_sums(path), np.uint64)
    size = max(len(now), len(sealed))
    differ = np.pad(now, (0, size - len(now))) != np.pad(sealed, (0, size - len(sealed)))
    return [int(n) + 1 for n in np.flatnonzero(differ)]


def page_sums(path: Path) -> Iterator[int]:
    """A checksum of each page of a file."""
    with path.open("rb") as file:
        head = file.read(18)
        size = int.from_bytes(head[16:18]) if len(head) == 18 else 4096
        size = size if size >= 512 else _NO_PAGE
        file.seek(0)
        while block := file.read(size * _PAGES_AT_ONCE):
            view = memoryview(block)
            for start in range(0, len(block), size):
                yield xxhash.xxh3_64_intdigest(view[start : start + size])
