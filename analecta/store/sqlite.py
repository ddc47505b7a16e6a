"""SQLite as all our files are opened: WAL, no implicit transactions, errors in our own words."""

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from analecta.errors import Environment

SCHEMA = 2  # 2: pages have author and date


def connect(path: Path, readonly: bool = False) -> sqlite3.Connection:
    """A connection as all of ours are: WAL, no implicit transactions, patient with locks."""
    try:
        return _read(path) if readonly else _write(path)
    except sqlite3.DatabaseError as error:
        raise Environment(f"cannot open {path}: {error}") from error


def _open(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(path))}?{mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30, cached_statements=256)


def _read(path: Path) -> sqlite3.Connection:
    db = _open(path, "mode=ro")
    try:
        db.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError:
        db.close()
        if not path.exists() or not _readonly_disk(path):
            raise
        db = _open(path, "mode=ro&immutable=1")  # on a read-only disk there can be no writer to wait for
        db.execute("SELECT 1 FROM sqlite_master")
    return db


def _readonly_disk(path: Path) -> bool:
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _write(path: Path) -> sqlite3.Connection:
    db = _open(path, "mode=rwc")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")  # a kill loses nothing; a power cut at most the last batches
    db.execute("PRAGMA cache_size = -16000")
    db.execute("PRAGMA journal_size_limit = 67108864")
    db.execute("PRAGMA wal_autocheckpoint = 4000")
    return db


def check_schema(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file made by a newer Analecta; an older one would be migrated here."""
    found = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    version = int(found[0]) if found else 0
    if version != SCHEMA:
        raise Environment(
            f"{path} has schema {version}, this Analecta knows schema {SCHEMA}: "
            + ("update Analecta to open it" if version > SCHEMA else "it cannot be migrated")
        )
