"""SQLite as all our files are opened: WAL, no implicit transactions, errors in our own words."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from analecta.errors import ResourceError
from analecta.store.checksums import log_of, log_path, seal_of
from analecta.store.schema import OLDEST_SCHEMA, SCHEMA, MetaKey

Connection = sqlite3.Connection
_ROOM = 1_000_000  # bytes without which nothing can be done: SQLite wants files beside its own


def connect(path: Path, readonly: bool = False) -> sqlite3.Connection:
    """A connection as all of ours are: WAL, no implicit transactions, patient with locks."""
    try:
        return _read(path) if readonly else _write(path)
    except sqlite3.DatabaseError as error:
        raise ResourceError(f"cannot open {path}: {full_disk(path.parent) or error}") from error
    except OSError as error:
        why = error.strerror or error
        raise ResourceError(
            f"{path} cannot be read where it is, nor be copied to {tempfile.gettempdir()}: {why}"
        ) from error


def readable(raw: bytes) -> str:
    """A text whose bytes may be damaged: for connections that look at it all the same (`text_factory`)."""
    return raw.decode("utf-8", "replace")


@contextlib.contextmanager
def looking(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that reads one moment of a file which may be damaged, texts included."""
    with contextlib.closing(connect(path, readonly=True)) as db:
        db.text_factory = readable
        db.execute("BEGIN")
        yield db


def remake_indexes(path: Path) -> None:
    """Make all indexes of a file again."""
    with contextlib.closing(connect(path)) as db:
        db.execute("REINDEX")


def full_disk(folder: Path) -> str:
    """What to say where the disk of a folder is full; "" where it is not."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError:  # there is no such folder
        return ""
    return "the disk is full: make room on it, or take a larger one" if free < _ROOM else ""


def _open(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(os.fsencode(path))}?{mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30, cached_statements=256)


def _read(path: Path) -> sqlite3.Connection:
    try:
        return _probed(path, "mode=ro")
    except sqlite3.OperationalError:
        if not path.exists() or not (is_readonly(path.parent) or (full_disk(path.parent) and not log_of(path))):
            raise
    # Where nothing can be written there is no writer to wait for; but a log that was left there has to be read,
    # which SQLite does only where it may write beside it.
    return _probed(_copied(path), "mode=ro") if log_of(path) else _probed(path, "mode=ro&immutable=1")


def _probed(path: Path, mode: str) -> sqlite3.Connection:
    """A connection that has read the file once; closed where that fails."""
    db = _open(path, mode)
    try:
        db.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.Error:
        db.close()
        raise
    return db


def is_readonly(folder: Path) -> bool:
    """Whether nothing can be written to a folder, by its mode or because its disk is mounted so; as root, too."""
    return not os.access(folder, os.W_OK)


_copies: dict[Path, tuple[tempfile.TemporaryDirectory[str], Path]] = {}  # removed when the process ends


def _copied(path: Path) -> Path:
    """A copy of a database with its log, in a temporary folder."""
    if path not in _copies:
        folder = tempfile.TemporaryDirectory(prefix="analecta-")
        copy = Path(folder.name) / path.name
        try:
            copy_database(path, copy)
        except OSError:
            folder.cleanup()
            raise
        _copies[path] = folder, copy
    return _copies[path][1]


def copy_database(path: Path, copy: Path) -> None:
    """Copy a database to which nobody writes, with its log."""
    shutil.copyfile(path, copy)
    if log_of(path):
        shutil.copyfile(log_path(path), log_path(copy))


def _write(path: Path) -> sqlite3.Connection:
    with contextlib.suppress(OSError):
        seal_of(path).unlink(missing_ok=True)  # from now on the file may differ from what was sealed
    db = _open(path, "mode=rwc")
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # a kill loses nothing; a power cut at most the last batches
        db.execute("PRAGMA cache_size = -16000")
        db.execute("PRAGMA journal_size_limit = 67108864")
        # Each fold copies a page once, however often it was written since: the log may as well be as long as it is let.
        db.execute("PRAGMA wal_autocheckpoint = 16000")
    except sqlite3.Error:
        db.close()
        raise
    return db


def has_table(db: sqlite3.Connection, name: str) -> bool:
    """Whether a file has a table by now."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


def columns_of(db: sqlite3.Connection, table: str) -> list[str]:
    """The names of a table's columns; nothing where it is not there."""
    return [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def meta_value(db: sqlite3.Connection, key: str, default: Any = None) -> Any:
    """A value from the meta table."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else default


def marks(values: Sequence[object]) -> str:
    """Question marks for so many values, as a list of SQL."""
    return ",".join("?" * len(values))


def schema_of(db: sqlite3.Connection) -> int:
    """The version of the tables of a file; 0 where it has none yet."""
    return int(meta_value(db, MetaKey.SCHEMA, 0)) if has_table(db, "meta") else 0


def check_schema(db: sqlite3.Connection, path: Path, oldest: int = SCHEMA) -> None:
    """Refuse a file made by a newer Analecta, or by one older than can be dealt with here."""
    version = schema_of(db)
    if oldest <= version <= SCHEMA:
        return
    if version > SCHEMA:
        advice = "update Analecta to open it"
    elif version >= OLDEST_SCHEMA:
        advice = "it is upgraded when a command that writes to the library holds it"
    else:
        advice = "it cannot be migrated"
    raise ResourceError(f"{path} has schema {version}, this Analecta knows schema {SCHEMA}: {advice}")
