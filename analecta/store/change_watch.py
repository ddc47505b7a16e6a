"""Tells whether anything was committed to SQLite files, for what is derived from them."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from analecta.store.sqlite import connect


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
