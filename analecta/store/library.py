"""A library is a folder: copy it and you have everything. This is its front door."""

import contextlib
import fcntl
import json
import os
import shutil
import socket
import sqlite3
import tempfile
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from analecta.errors import LibraryBusy, ResourceError, UsageError
from analecta.store import shard_ids
from analecta.store.checksums import seal, seal_of
from analecta.store.migrations import upgrade
from analecta.store.partition import Shard
from analecta.store.rows import RunRow
from analecta.store.schema import HISTORY_TABLE, LIBRARY_SQL, OLDEST_SCHEMA, MetaKey
from analecta.store.snapshot import Snapshot
from analecta.store.sqlite import check_schema, connect, copy_database, full_disk, has_table, is_readonly, meta_value

SETTINGS = "analecta.toml"
_NETWORK_DISKS = frozenset(("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph"))


class HistoryPoint(NamedTuple):
    """How good a topic's collection was when so many pages had been fetched: confidences of its best items."""

    run: int
    at: float
    pages: int
    topic: int
    items: int  # all that the topic had; the confidences are of the best of them
    least: float
    mean: float
    most: float


_POINT = ", ".join(HistoryPoint._fields)


class LibraryFolder:
    """Opens a library folder for reading; `lock` it to write."""

    def __init__(self, folder: Path, checked: bool = True) -> None:
        """`checked`: refuse a library of which a part is missing or foreign (store/shard_ids.py)."""
        self.folder = folder
        self.settings_path = folder / SETTINGS  # the file a person edits
        self.archive = folder / "archive"  # where the WARC files are
        self.models = folder / "models"
        self._scratch: Path | None = None
        if not (folder / SETTINGS).is_file():
            where = "there is no such folder" if not folder.exists() else f"it has no {SETTINGS}"
            raise UsageError(f"{folder} is not a library: {where}; `analecta new {folder} --seeds FILE` makes one")
        if (folder / "library.db").exists():
            with contextlib.closing(connect(folder / "library.db", readonly=True)) as db:
                check_schema(db, folder / "library.db", OLDEST_SCHEMA)
        if checked:
            shard_ids.check(folder)

    @classmethod
    def create(cls, folder: Path, settings: str, topics: Mapping[str, str] | None = None) -> "LibraryFolder":
        """Make a new library from the text of its settings; never on top of something else.

        `topics` are texts by file name about what a person brought, such as what was read of a paper.
        """
        try:
            with whole_or_nothing(folder):
                folder.mkdir(parents=True, exist_ok=True)
                for part in ("shards", "archive", "models"):
                    (folder / part).mkdir()
                if topics:
                    (folder / "topics").mkdir()
                for name, text in (topics or {}).items():
                    (folder / "topics" / name).write_text(text, encoding="utf-8")
                with contextlib.closing(connect(folder / "library.db")) as db:
                    db.executescript(LIBRARY_SQL)
                # The settings come last: a folder without them is no library yet, so nothing half-made counts as one.
                (folder / SETTINGS).write_text(settings, encoding="utf-8")
        except (OSError, sqlite3.Error, ResourceError) as error:
            why = getattr(error, "strerror", None) or error
            raise ResourceError(f"cannot make a library at {folder}: {why}") from error
        return cls(folder)

    @staticmethod
    def check_new(folder: Path) -> None:
        """Say so where a library cannot be made: something is there, or its name is no text."""
        try:
            str(folder.absolute()).encode()
        except UnicodeEncodeError:
            raise UsageError(f"{str(folder)!r} is not written in UTF-8: choose another name") from None
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} exists already: choose another name, or remove it first")

    def shard_path(self, partition: int) -> Path:
        """The file of a partition."""
        return self.folder / "shards" / shard_ids.shard_name(partition)

    @property
    def shard_paths(self) -> list[Path]:
        """The files of the partitions that there are."""
        return [path for path in map(self.shard_path, range(self.partitions)) if path.exists()]

    def keeps_nothing(self) -> str:
        """Why nothing derived can be kept in the library: it is read-only, or tantivy does not take its path; or ""."""
        if is_readonly(self.folder):
            return "it is read-only"
        try:
            str(self.folder.absolute()).encode()
        except UnicodeEncodeError:
            return "its path is not written in UTF-8"
        return ""

    def derived(self, name: str) -> Path:
        """Where something is kept that is made from the library and can be made again, such as the search index.

        Where that cannot be in the library it is in a temporary folder, begun with what is in the library, for as
        long as the process lives.
        """
        own = self.folder / name
        if not self.keeps_nothing():
            return own
        if self._scratch is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="analecta-"))
            weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)
        path = self._scratch / name
        if own.exists() and not path.exists():
            shutil.copytree(own, path) if own.is_dir() else copy_database(own, path)
        return path

    @property
    def partitions(self) -> int:
        """How many partitions the library is split into; 0 before the first crawl."""
        return int(self.get(MetaKey.PARTITIONS, 0))

    # --- the small database that the coordinator alone writes ----------------------------------------------------

    @contextlib.contextmanager
    def database(self, readonly: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection to library.db, closed at the end."""
        path = self.folder / "library.db"
        with contextlib.closing(connect(path, readonly)) as db:
            yield db
        if not readonly:  # it may have been sealed between the opening and the writing
            seal_of(path).unlink(missing_ok=True)

    def get(self, key: str, default: Any = None) -> Any:
        """A value from the meta table."""
        with self.database(readonly=True) as db:
            return meta_value(db, key, default)

    def put(self, key: str, value: Any) -> None:
        """Set a value in the meta table."""
        with self.database() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def put_all(self, values: Mapping[str, Any]) -> None:
        """Set several values in the meta table: all of them or none."""
        with self.database() as db, db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def remove(self, key: str) -> None:
        """Take a value out of the meta table."""
        with self.database() as db:
            db.execute("DELETE FROM meta WHERE key = ?", (key,))

    def note(self, text: str) -> None:
        """Write down something a person should be able to find out later."""
        with self.database() as db:
            db.execute("INSERT INTO notes (at, note) VALUES (?, ?)", (time.time(), text))

    def topic_names(self, wanted: tuple[str, ...] = ()) -> list[str]:
        """Names of all topics by number; those in `wanted` that are new get the next numbers."""
        with self.database(readonly=not wanted) as db:
            for name in wanted:
                db.execute("INSERT OR IGNORE INTO topics (n, name) SELECT count(*), ? FROM topics", (name,))
            return [row[0] for row in db.execute("SELECT name FROM topics ORDER BY n")]

    def begin_run(self, asked: dict[str, Any]) -> int:
        """Note that a crawl starts; its number."""
        with self.database() as db:
            row = db.execute("INSERT INTO runs (began, asked) VALUES (?, ?)", (time.time(), json.dumps(asked)))
            return int(row.lastrowid or 0)

    def end_run(self, run: int, reason: str, tally: dict[str, Any]) -> None:
        """Note that it is over, and why."""
        with self.database() as db:
            values = (time.time(), reason, json.dumps(tally), run)
            db.execute("UPDATE runs SET ended = ?, reason = ?, tally = ? WHERE n = ?", values)

    def last_run(self) -> RunRow | None:
        """The latest run; None before the first."""
        query = "SELECT n, began, ended, reason, asked, tally FROM runs ORDER BY n DESC LIMIT 1"
        with self.database(readonly=True) as db:
            row = db.execute(query).fetchone()
        return RunRow(*row) if row else None

    def notes(self, since: float = 0.0) -> list[tuple[float, str]]:
        """What a person should know, with the time it was written down, from the coordinator and all partitions."""
        with self.database(readonly=True) as db:
            found = db.execute("SELECT at, note FROM notes WHERE at >= ?", (since,)).fetchall()
        with self.shards() as shards:
            for shard in shards:
                found += shard.execute("SELECT at, event FROM journal WHERE at >= ?", (since,))
        return sorted(found)

    def remember(self, moments: Iterable[HistoryPoint]) -> None:
        """Add to the history of the collections."""
        with self.database() as db:
            db.execute(HISTORY_TABLE)
            db.execute("BEGIN")
            db.executemany(f"INSERT INTO history ({_POINT}) VALUES (?,?,?,?,?,?,?,?)", moments)
            db.execute("COMMIT")

    def history(self) -> list[HistoryPoint]:
        """How good the collections were as crawls went on, oldest first."""
        with self.database(readonly=True) as db:
            if not has_table(db, "history"):
                return []
            return [HistoryPoint(*row) for row in db.execute(f"SELECT {_POINT} FROM history ORDER BY rowid")]

    # --- reading what the partitions wrote -----------------------------------------------------------------------

    @contextlib.contextmanager
    def shards(self) -> Iterator[list[sqlite3.Connection]]:
        """Read-only connections to all partitions, each seeing one moment."""
        with contextlib.ExitStack() as stack:
            opened = []
            for path in self.shard_paths:
                db = stack.enter_context(contextlib.closing(_moment(path)))
                if has_table(db, "meta"):  # it was made
                    check_schema(db, path, OLDEST_SCHEMA)
                    opened.append(db)
            yield opened

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """All that can be asked of the library, read-only, each file at its last commit; to be held only for a while.

        An open snapshot keeps SQLite from folding its log away.
        """
        with self.shards() as shards, contextlib.closing(_moment(self.folder / "library.db")) as database:
            yield Snapshot(shards, database, self.settings_path)

    # --- one writer ----------------------------------------------------------------------------------------------

    def holder(self) -> str:
        """Who holds the library for writing at this moment; "" where nobody does."""
        with contextlib.suppress(OSError), (self.folder / "lock").open() as file:
            # The name is taken away at the end of a crawl: only where one is left is the lock itself tried.
            if holder := file.read().strip():
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return holder
        return ""

    @contextlib.contextmanager
    def lock(self, bare: bool = False) -> Iterator[None]:
        """Hold the library for writing; Busy, with the holder's name, where another process does (F05).

        A library of an older version is upgraded, and what was written is sealed at the end; `bare`: neither.
        """
        check_disk(self.folder)
        path = self.folder / "lock"
        with path.open("a+") as file:
            if not _locked(file):
                file.seek(0)
                holder = file.read().strip() or "another process"
                raise LibraryBusy(f"{self.folder} is in use by {holder}; `analecta status` works all the same")
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
            file.flush()
            try:
                if not bare:
                    upgrade(self.folder, self.databases)
                    shard_ids.claim(self.folder)
                yield
                if not bare:
                    self.seal()
            finally:
                file.truncate(0)

    @contextlib.contextmanager
    def writers(self) -> Iterator[list[Shard]]:
        """The partitions that there are, to be written to; the caller holds the library."""
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(contextlib.closing(Shard(path))) for path in self.shard_paths]

    def make_shards(self, partitions: int) -> None:
        """Split a new library into so many partitions; the caller holds it."""
        self.put(MetaKey.PARTITIONS, partitions)
        shard_ids.claim(self.folder, make=True)

    @property
    def databases(self) -> list[Path]:
        """Its SQLite files, whether they are there or not."""
        return [self.folder / "library.db", *map(self.shard_path, range(self.partitions))]

    def seal(self) -> None:
        """Write checksums of the databases that were written to (store/checksums.py); the caller holds the library."""
        with contextlib.suppress(ResourceError):  # the holder may have removed it all
            # Before the first crawl there is nothing to lose.
            for path in self.databases if self.partitions else ():
                seal(path)


def _locked(file: IO[str]) -> bool:
    """Take the lock; a reader that looks who holds it has it for an instant, so it is tried a few times."""
    for _ in range(5):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.03)
    return False


def _moment(path: Path) -> sqlite3.Connection:
    """A read-only connection that goes on seeing what is there now."""
    db = connect(path, readonly=True)
    db.execute("BEGIN")
    db.execute("SELECT 1 FROM sqlite_master").fetchone()  # the moment is that of the first look
    return db


@contextlib.contextmanager
def whole_or_nothing(folder: Path) -> Iterator[None]:
    """A new library is made with all that belongs to it; what goes wrong leaves nothing behind."""
    LibraryFolder.check_new(folder)
    existed = folder.exists()
    try:
        yield
    except BaseException:
        for part in folder.iterdir() if folder.is_dir() else ():
            shutil.rmtree(part) if part.is_dir() else part.unlink()
        if not existed and folder.is_dir():
            folder.rmdir()
        raise


def check_disk(folder: Path, mounts: str | None = None) -> None:
    """Refuse folders that cannot hold a library, before anything is fetched (F06)."""
    kind = filesystem(folder.resolve(), _mounts() if mounts is None else mounts)
    if kind in _NETWORK_DISKS:
        raise ResourceError(
            f"{folder} is on a network disk ({kind}), where SQLite's write-ahead log is not safe: "
            "keep the library on a local disk and copy it when the crawl is over"
        )
    if words := full_disk(folder):
        raise ResourceError(f"{folder} cannot be written to: {words}")
    for part in (folder, folder / "shards", folder / "archive"):
        if part.exists() and not _writable(part):
            raise ResourceError(f"{part} is read-only: change its permissions or copy the library elsewhere")


def _writable(folder: Path) -> bool:
    """Try it: permission bits do not tell of read-only mounts, nor bind the superuser."""
    probe = folder / f".writable-{os.getpid()}"
    try:
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


def _mounts() -> str:
    try:
        return Path("/proc/self/mounts").read_text()
    except OSError:
        return ""


def filesystem(path: Path, mounts: str) -> str:
    """The kind of file system a path is on: that of the longest mount point above it."""
    best, kind = "", ""
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ")
        if (path.is_relative_to(point)) and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind
