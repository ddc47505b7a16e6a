"""What is derived from a library, as the search index: one writer at a time, and whether its sources have changed."""

import contextlib
import fcntl
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from analecta.errors import LibraryBusy
from analecta.store.sqlite import connect

_LOOK = 0.05  # seconds between looks whether another writer is done


@contextlib.contextmanager
def one_writer(lock: Path, busy: str, wait: bool = False) -> Iterator[None]:
    """Hold a lock file; where another process has it, LibraryBusy with these words, or `wait` for it."""
    with lock.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if not wait:
                    raise LibraryBusy(busy) from error
            time.sleep(_LOOK)  # not in flock: a signal that comes just before it would not be heard
        yield


class Watch:
    """Tells whether anything was committed to SQLite files, without reading them."""

    def __init__(self) -> None:
        self._open: dict[Path, sqlite3.Connection] = {}

    def versions(self, files: Iterable[Path]) -> dict[Path, int]:
        """A number for each file that differs after each commit of another connection."""
        for file in files:
            if file not in self._open and file.exists():
                self._open[file] = connect(file, readonly=True)
        return {file: int(db.execute("PRAGMA data_version").fetchone()[0]) for file, db in self._open.items()}

    def close(self) -> None:
        """Close the files."""
        for db in self._open.values():
            db.close()
