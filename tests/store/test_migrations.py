"""Libraries that an older version made: read as they are, upgraded when they are written to, refused when newer.

The libraries in old_libraries were made by the last version with schema 2 from made-up webs: `two` has two partitions,
marks, a retraining, OAI records and a crawl that was killed; `villages` has communities. `outputs.json` beside each
holds what that version's commands printed.
"""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from analecta.cli import app
from analecta.crawl.run import Crawl
from analecta.errors import ResourceError
from analecta.settings.load import load
from analecta.store import migrations, sqlite
from analecta.store.library import LibraryFolder
from analecta.store.migrations import MIGRATIONS, backups
from analecta.store.partition import Shard
from analecta.store.repair import salvage
from analecta.store.schema import LIBRARY_SQL, OLDEST_SCHEMA, SCHEMA, SHARD_SQL, MetaKey
from analecta.store.sqlite import connect, schema_of
from analecta.verify import check_library

OLD = Path(__file__).parent / "old_libraries"
KEYED = ("journal", "notes", "history")


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Unpacks one of the old libraries, and gives its folder."""
    monkeypatch.chdir(tmp_path)

    def unpack(name):
        with tarfile.open(OLD / f"{name}.tar.xz") as tar:
            tar.extractall(tmp_path, filter="data")
        return tmp_path / name

    return unpack


def versions(folder):
    with contextlib.ExitStack() as stack:
        files = [folder / "library.db", *sorted(folder.glob("shards/p*.db"))]
        return [schema_of(stack.enter_context(contextlib.closing(connect(path, readonly=True)))) for path in files]


def rows(folder):
    """What the tables hold that get primary keys, in their order."""
    found = {}
    for path in [folder / "library.db", *sorted(folder.glob("shards/p*.db"))]:
        with contextlib.closing(connect(path, readonly=True)) as db:
            for table in KEYED:
                names = [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
                if columns := ", ".join(name for name in names if name != "n"):
                    found[path.name, table] = db.execute(f"SELECT {columns} FROM {table} ORDER BY rowid").fetchall()
    return found


def databases(folder):
    """The bytes of all files but what readers put beside those of SQLite: an index of the log, and an empty log."""
    found = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {path: raw for path, raw in found.items() if raw and not path.name.endswith("-shm")}


def check_outputs(folder):
    """Every command prints what the old version did."""
    for told in json.loads((folder.parent / "outputs.json").read_text()):
        if told["code"]:
            continue
        done = CliRunner().invoke(app, told["command"])
        assert done.exit_code == told["code"], told["command"]
        assert done.stdout == told["output"], told["command"]


def lock(folder):
    with LibraryFolder(folder).lock():
        pass


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two", "villages"])
def test_an_old_library_is_read_as_it_is(made, name):
    folder = made(name)
    before = rows(folder)
    check_outputs(folder)
    assert check_library(folder).clean
    assert (set(versions(folder)), rows(folder)) == ({2}, before)
    assert not (folder / "backup").exists()


def test_an_old_library_on_a_read_only_disk_is_read(made, monkeypatch):
    folder = made("villages")
    before = databases(folder)
    real = sqlite._open

    # As on such a disk: nothing is written beside the files.
    monkeypatch.setattr(sqlite, "_open", lambda path, mode: real(path, mode + "&immutable=1" * (mode == "mode=ro")))
    monkeypatch.setattr(sqlite, "is_readonly", lambda _: True)
    monkeypatch.setattr("analecta.store.library.is_readonly", lambda _: True)
    check_outputs(folder)
    assert databases(folder) == before


# --- upgrading -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two", "villages"])
def test_an_old_library_is_upgraded_when_it_is_locked_and_shows_what_it_showed(made, name):
    folder = made(name)
    before = rows(folder)
    lock(folder)
    assert set(versions(folder)) == {SCHEMA}
    assert rows(folder) == before
    assert any(before.values())
    assert check_library(folder).clean
    check_outputs(folder)


def test_the_databases_of_before_are_kept(made):
    folder = made("two")
    before = rows(folder)
    lock(folder)
    kept = backups(folder)
    assert [path.name for path in kept] == ["library.db.v2.bak", "p00.db.v2.bak", "p01.db.v2.bak"]
    assert sorted(path.name for path in (folder / "backup").iterdir()) == [path.name for path in kept]
    for path in kept:  # each takes its old place again
        target = folder / ("" if path.name.startswith("library") else "shards") / path.name.removesuffix(".v2.bak")
        os.replace(path, target)
    assert set(versions(folder)) == {2}
    assert rows(folder) == before
    lock(folder)
    assert set(versions(folder)) == {SCHEMA}


def test_a_shard_that_was_put_back_from_an_old_copy_is_upgraded_too(made):
    folder = made("two")
    lock(folder)
    os.replace(folder / "backup" / "p01.db.v2.bak", folder / "shards" / "p01.db")
    lock(folder)
    assert versions(folder) == [SCHEMA] * 3


def test_an_upgraded_library_has_the_tables_of_a_new_one(made, tmp_path):
    folder = made("two")
    lock(folder)
    for script, path in ((SHARD_SQL, folder / "shards" / "p00.db"), (LIBRARY_SQL, folder / "library.db")):
        with contextlib.closing(sqlite3.connect(":memory:")) as new, contextlib.closing(connect(path)) as old:
            new.executescript(script)
            for table in (name for (name,) in new.execute("SELECT name FROM sqlite_master WHERE type = 'table'")):
                columns = [list(db.execute(f"PRAGMA table_info({table})")) for db in (new, old)]
                assert columns[0] == columns[1], table
            assert not old.execute("SELECT 1 FROM sqlite_master WHERE name LIKE 'old_%'").fetchone()


def test_a_crawl_that_was_killed_goes_on_after_the_upgrade(made, pocket):
    folder = made("two")
    library = LibraryFolder(folder)
    with library.snapshot() as snapshot:
        before = snapshot.page_count()
    asked = {"fetch": {"connect_to": pocket.address, "delay": 0.0}, "stop": {"pages": 3, "idle": 5.0}}
    Crawl(library, load(library.settings_path, asked)).run()
    with library.snapshot() as snapshot:
        assert snapshot.page_count() > before
    assert versions(folder) == [SCHEMA] * 3
    assert check_library(folder).clean


def test_a_mark_is_added_to_an_old_library_as_it_is(made):
    folder = made("two")
    library = LibraryFolder(folder)
    library.note("said of an old library")
    assert "said of an old library" in [note for _, note in library.notes()]
    assert versions(folder) == [2] * 3


def test_a_damaged_file_of_an_old_library_is_saved_with_its_notes(made):
    folder = made("two")
    before = rows(folder)["library.db", "notes"]
    salvage(folder / "library.db", LIBRARY_SQL, folder / "quarantine")
    assert rows(folder)["library.db", "notes"] == before
    lock(folder)
    assert versions(folder) == [SCHEMA] * 3


def test_a_damaged_copy_is_found_and_put_aside(made):
    folder = made("villages")
    lock(folder)
    path = folder / "backup" / "p00.db.v2.bak"
    path.write_bytes(path.read_bytes()[:20_000])
    assert list(check_library(folder).kinds) == ["backups"]
    assert check_library(folder, repairing=True).clean
    assert (folder / "quarantine" / path.name).exists()


def test_a_full_disk_is_said_before_anything_is_changed(made, monkeypatch):
    folder = made("villages")
    before = databases(folder)
    monkeypatch.setattr(migrations, "log_of", lambda _: 10**18)
    with pytest.raises(ResourceError, match="make room on it"):
        lock(folder)
    assert databases(folder) == before


def room_for(monkeypatch, folder, free):
    """A disk with so many bytes free; what is in the folder of copies takes of them."""
    used = sum(path.stat().st_size for path in folder.glob("backup/*") if path.is_file())

    def usage(_):
        now = sum(path.stat().st_size for path in folder.glob("backup/*") if path.is_file())
        return SimpleNamespace(free=free + used - now)

    monkeypatch.setattr(migrations, "disk_usage", usage)


@pytest.mark.parametrize("left", [".library.db.v2.bak.part", "library.db.v2.bak"])
def test_an_upgrade_that_was_killed_needs_no_more_room_the_second_time(made, monkeypatch, left):
    folder = made("villages")
    files = [folder / "library.db", folder / "shards" / "p00.db"]
    (folder / "backup").mkdir()
    (folder / "backup" / left).write_bytes(files[0].read_bytes())
    room_for(monkeypatch, folder, sum(path.stat().st_size + migrations.log_of(path) for path in files[1:]))
    migrations.upgrade(folder, files)
    assert versions(folder) == [SCHEMA] * 2
    assert sorted(path.name for path in (folder / "backup").iterdir()) == ["library.db.v2.bak", "p00.db.v2.bak"]


def test_a_copy_that_failed_leaves_nothing_and_the_finished_one_stays(made, monkeypatch):
    folder = made("villages")
    (folder / "backup").mkdir()
    (folder / "backup" / "library.db.v2.bak").write_bytes((folder / "library.db").read_bytes())

    def fails(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(migrations.os, "fsync", fails)
        with pytest.raises(ResourceError, match="is as it was"):
            lock(folder)
    assert [path.name for path in (folder / "backup").iterdir()] == ["library.db.v2.bak"]
    assert versions(folder) == [2] * 2


def test_what_was_upgraded_is_on_the_disk_and_not_only_in_the_log(made, monkeypatch):
    folder = made("villages")
    synced, real = [], os.fsync
    monkeypatch.setattr(migrations.os, "fsync", lambda file: (synced.append(os.fstat(file).st_ino), real(file)))
    with contextlib.closing(sqlite3.connect(folder / "library.db")) as reader:  # else the last to close folds the log
        assert schema_of(reader) == 2
        migrations.upgrade(folder, [folder / "library.db"])
        (folder / "alone.db").write_bytes((folder / "library.db").read_bytes())
    with contextlib.closing(sqlite3.connect(folder / "alone.db")) as db:
        assert schema_of(db) == SCHEMA
    assert {path.stat().st_ino for path in (folder, folder / "backup")} <= set(synced)


# --- kills -----------------------------------------------------------------------------------------------------------

KILLED = """
import os, sys
from pathlib import Path
from analecta.store import migrations
from analecta.store.library import LibraryFolder

point, calls = sys.argv[2], []

def kills(name, real, when, after):
    def call(*arguments):
        calls.append(name)
        if calls.count(name) == when and not after:
            os.kill(os.getpid(), 9)
        result = real(*arguments)
        if calls.count(name) == when and after:
            os.kill(os.getpid(), 9)
        return result
    return call

name, when, after = point.split(":")
if name == "step":
    migrations.MIGRATIONS = {2: kills(name, migrations.MIGRATIONS[2], int(when), after == "after")}
elif name == "replace":
    os.replace = kills(name, os.replace, int(when), after == "after")
else:
    setattr(migrations, name, kills(name, getattr(migrations, name), int(when), after == "after"))
with LibraryFolder(Path(sys.argv[1])).lock():
    pass
"""


@pytest.mark.parametrize(
    ("point", "left"),
    [
        ("replace:1:before", [2, 2, 2]),  # while a copy is written
        ("_back_up:1:after", [2, 2, 2]),
        ("step:1:after", [2, 2, 2]),  # inside the transaction
        ("_upgrade_file:1:after", [3, 2, 2]),  # between two files
        ("step:2:after", [3, 2, 2]),
        ("_upgrade_file:2:after", [3, 3, 2]),
        ("_back_up:3:after", [3, 3, 2]),
    ],
)
def test_an_upgrade_that_was_killed_is_finished_at_the_next_lock(made, point, left):
    folder = made("two")
    before = rows(folder)
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder), point])
    assert done.returncode == -9
    assert versions(folder) == left
    assert rows(folder) == before
    LibraryFolder(folder)  # it can be read meanwhile
    lock(folder)
    assert versions(folder) == [SCHEMA] * 3
    assert rows(folder) == before
    assert sorted(path.name for path in (folder / "backup").iterdir()) == [path.name for path in backups(folder)]
    assert len(backups(folder)) == 3


# --- other versions --------------------------------------------------------------------------------------------------


def test_f08_a_library_of_a_newer_version_is_refused_and_nothing_is_touched(made):
    folder = made("villages")
    with contextlib.closing(sqlite3.connect(folder / "library.db", isolation_level=None)) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (SCHEMA + 1, MetaKey.SCHEMA))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = databases(folder)
    for command in (["status"], ["crawl"], ["retrain"], ["verify"], ["verify", "--repair"]):
        done = CliRunner().invoke(app, [command[0], "villages", *command[1:]])
        assert isinstance(done.exception, ResourceError) or done.exit_code == 4, command
        assert "update Analecta to open it" in str(done.exception) + done.output
    assert databases(folder) == before


def test_f08_a_shard_of_a_newer_version_stops_the_upgrade_before_it_begins(made):
    folder = made("two")
    with contextlib.closing(sqlite3.connect(folder / "shards" / "p01.db", isolation_level=None)) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (SCHEMA + 1, MetaKey.SCHEMA))
    with pytest.raises(ResourceError, match="update Analecta"):
        lock(folder)
    assert versions(folder) == [2, 2, SCHEMA + 1]


def test_f08_an_old_shard_is_not_written_to_before_its_library_is_locked(made):
    with pytest.raises(ResourceError, match="has schema 2, this Analecta knows schema 3: it is upgraded when"):
        Shard(made("villages") / "shards" / "p00.db")


def test_there_is_a_step_from_each_version_to_the_next():
    assert sorted(MIGRATIONS) == list(range(OLDEST_SCHEMA, SCHEMA))
