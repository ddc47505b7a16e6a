"""Libraries of older versions: read as they are, and upgraded when they are next locked for writing.

Each database is copied into LIB/backup and then upgraded in one transaction; library.db is the first, so that an older
Analecta refuses the library from then on. What a kill leaves undone is done at the next lock, file by file.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import disk_usage

from analecta.errors import ResourceError
from analecta.store.checksums import log_of
from analecta.store.schema import OLDEST_SCHEMA, SCHEMA, MetaKey
from analecta.store.sqlite import check_schema, columns_of, connect, schema_of

BACKUP = "backup"  # the folder in a library


def upgrade(folder: Path, files: Sequence[Path]) -> None:
    """Bring the databases of a library to the schema of this version; the caller holds the library."""
    versions = {path: _version(path) for path in files if path.exists()}
    old = {path: folder / BACKUP / f"{path.name}.v{n}.bak" for path, n in versions.items() if 0 < n < SCHEMA}
    if old:
        _remove_parts(folder / BACKUP)
        _check_room(folder, old)
    for path, backup in old.items():
        try:
            _upgrade_file(path, backup)
        except (OSError, sqlite3.Error) as error:
            raise ResourceError(f"{path} could not be upgraded and is as it was: {error}") from error


def backups(folder: Path) -> list[Path]:
    """The copies of databases from before they were upgraded."""
    return sorted((folder / BACKUP).glob("*.bak"))


def _version(path: Path) -> int:
    with contextlib.closing(connect(path, readonly=True)) as db:
        if version := schema_of(db):  # none: a shard that was killed while it was made
            check_schema(db, path, OLDEST_SCHEMA)
        return version


def _check_room(folder: Path, files: Mapping[Path, Path]) -> None:
    free = disk_usage(folder).free + sum(backup.stat().st_size for backup in files.values() if backup.exists())
    wanted = sum(map(_size, files))
    if free < wanted:
        raise ResourceError(
            f"{folder} was made by an older Analecta and is upgraded before it is written to. A copy of its databases "
            f"needs {wanted / 1e6:,.0f} MB, and the disk has {free / 1e6:,.0f}: make room on it. Nothing was changed"
        )


def _size(path: Path) -> int:
    return path.stat().st_size + log_of(path)


def _upgrade_file(path: Path, backup: Path) -> None:
    with contextlib.closing(connect(path)) as db:
        db.execute("PRAGMA synchronous = FULL")  # library.db is upgraded before the others also where power is cut
        db.execute("BEGIN IMMEDIATE")  # nobody writes between the copy and the upgrade
        _back_up(path, backup)
        for step in range(schema_of(db), SCHEMA):
            MIGRATIONS[step](db)
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (SCHEMA, MetaKey.SCHEMA))
        db.execute("COMMIT")
        db.execute("PRAGMA busy_timeout = 0")  # a reader is not waited for: the log is on the disk already
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _back_up(path: Path, target: Path) -> None:
    """Copy a database with its log into one file, which has its name once it is whole."""
    target.parent.mkdir(exist_ok=True)
    if disk_usage(target.parent).free < _size(path):  # for two: the file has the version of the copy from before a kill
        target.unlink(missing_ok=True)
    part = target.with_name(f".{target.name}.part")
    try:
        _copy(path, part)
        os.replace(part, target)
        for folder in (target.parent, target.parent.parent):
            _sync_folder(folder)
    except BaseException:
        _remove_parts(target.parent)
        raise


def _copy(path: Path, part: Path) -> None:
    with contextlib.closing(connect(path, readonly=True)) as source, contextlib.closing(sqlite3.connect(part)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    with part.open("rb") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Have the names of its files on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_parts(folder: Path) -> None:
    """Remove what copies that were not finished left, with SQLite's files beside them."""
    for left in folder.glob(".*.bak.part*"):
        left.unlink()


# --- the steps -------------------------------------------------------------------------------------------------------
# Each takes any database of a library from one version to the next, inside a transaction. Tables are written out here:
# those of store/schema.py are of the version of today.

_KEYED = {  # of version 3
    "journal": "at REAL NOT NULL, event TEXT NOT NULL",
    "notes": "at REAL NOT NULL, note TEXT NOT NULL",
    "history": "run INTEGER NOT NULL, at REAL NOT NULL, pages INTEGER NOT NULL, topic INTEGER NOT NULL, "
    "items INTEGER NOT NULL, least REAL NOT NULL, mean REAL NOT NULL, most REAL NOT NULL",
}


def _add_primary_keys(db: sqlite3.Connection) -> None:
    """2 to 3: journal, notes and history get a primary key."""
    for table, columns in _KEYED.items():
        if names := ", ".join(columns_of(db, table)):
            db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
            db.execute(f"CREATE TABLE {table} (n INTEGER PRIMARY KEY, {columns})")
            db.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM old_{table} ORDER BY rowid")
            db.execute(f"DROP TABLE old_{table}")


# By the version that each starts from.
MIGRATIONS: Mapping[int, Callable[[sqlite3.Connection], None]] = {2: _add_primary_keys}
