"""A library is a folder: made once, one writer, any number of readers."""

import contextlib
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from analecta.errors import LibraryBusy, ResourceError, UsageError
from analecta.store import SqliteError, sqlite
from analecta.store.library import LibraryFolder, check_disk, filesystem
from analecta.store.library_db import adopt_model
from analecta.store.partition import Shard
from analecta.store.schema import OLDEST_SCHEMA, SCHEMA, MetaKey
from analecta.store.sqlite import connect

TEXT = 'recipe = "adaptive"  # a remark\n'
MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
proc /proc proc rw 0 0
server:/export /mnt/far nfs4 rw 0 0
/dev/sdb1 /mnt/far/near xfs rw 0 0
//nas/share /mnt/my\\040share cifs rw 0 0
me@host: /home/me/ssh fuse.sshfs rw 0 0
/dev/sdc1 /mnt/over nfs rw 0 0
/dev/sdc1 /mnt/over ext4 rw 0 0
short line
"""


@pytest.fixture
def library(tmp_path):
    return LibraryFolder.create(tmp_path / "lib", TEXT)


def test_a_new_library_has_its_settings_as_they_were_written(library):
    assert library.settings_path.read_text() == TEXT
    assert sorted(part.name for part in library.folder.iterdir() if part.is_dir()) == ["archive", "models", "shards"]
    assert library.partitions == 0


def test_create_never_overwrites(library, tmp_path):
    with pytest.raises(UsageError, match="exists already"):
        LibraryFolder.create(library.folder, "other")
    assert library.settings_path.read_text() == TEXT
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        LibraryFolder.create(tmp_path / "file", TEXT)
    assert (tmp_path / "file").read_text() == "mine"


def test_create_takes_an_empty_folder_and_missing_parents(tmp_path):
    (tmp_path / "empty").mkdir()
    assert LibraryFolder.create(tmp_path / "empty", TEXT).settings_path.exists()
    assert LibraryFolder.create(tmp_path / "a" / "b" / "c", TEXT).settings_path.exists()


def test_a_name_that_is_no_text_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not written in UTF-8"):
        LibraryFolder.create(tmp_path / os.fsdecode(b"lib\xff"), TEXT)
    assert list(tmp_path.iterdir()) == []


def test_whatever_goes_wrong_with_a_new_library_leaves_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        LibraryFolder.create(tmp_path / "lib", "# \udcff")
    assert list(tmp_path.iterdir()) == []


def test_a_library_that_cannot_be_made_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ResourceError, match="cannot make a library"):
        LibraryFolder.create(tmp_path / "file" / "lib", TEXT)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.parametrize(("name", "words"), [("nowhere", "no such folder"), (".", "it has no analecta.toml")])
def test_what_is_no_library_is_refused_with_a_remedy(tmp_path, name, words):
    with pytest.raises(UsageError, match=words) as raised:
        LibraryFolder(tmp_path / name)
    assert "analecta new" in str(raised.value)


def test_meta_notes_topics_and_runs_are_remembered(library):
    library.put("model", "abc")
    library.note("something happened")
    assert library.topic_names(("rivers", "lakes")) == ["rivers", "lakes"]
    assert library.topic_names(("seas", "rivers")) == ["rivers", "lakes", "seas"]
    run = library.begin_run({"a": 1})
    library.end_run(run, "done", {"pages": 3})
    again = LibraryFolder(library.folder)
    assert (again.get("model"), again.get("other", 5), again.topic_names()) == ("abc", 5, ["rivers", "lakes", "seas"])
    assert [note for _, note in again.notes()] == ["something happened"]
    last = again.last_run()
    assert (last.reason, last.asked, last.tally) == ("done", '{"a": 1}', '{"pages": 3}')
    assert library.begin_run({}) == run + 1


def test_there_is_no_last_run_before_the_first(library):
    assert library.last_run() is None


def test_shards_are_read_at_one_moment_while_they_are_written(library):
    library.put("partitions", 3)
    with contextlib.closing(Shard(library.shard_path(1))) as shard, library.shards() as readers:
        assert len(readers) == 1
        count = "SELECT count(*) FROM robots"
        assert readers[0].execute(count).fetchone() == (0,)
        shard.hosts.save_robots("http://h", (1.0, 200, b""))
        shard.commit()
        assert readers[0].execute(count).fetchone() == (0,)
        with library.shards() as later:
            assert later[0].execute(count).fetchone() == (1,)


def test_a_snapshot_sees_library_db_as_it_was_when_it_was_opened(library):
    library.topic_names(("Bees",))
    with library.snapshot() as snapshot:
        library.topic_names(("Moon",))
        assert snapshot.topic_names() == ["Bees"]


def test_a_model_is_adopted_with_all_that_goes_with_it_or_not_at_all(library):
    with library.database() as db:
        stop = "SELECT RAISE(ABORT, 'stopped')"
        db.execute(f"CREATE TRIGGER stop BEFORE INSERT ON meta WHEN new.key = 'reclassifying' BEGIN {stop}; END")
    with pytest.raises(SqliteError, match="stopped"):
        adopt_model(library, "new", "centroid", "6 examples", "digest", {MetaKey.RECLASSIFYING: "null"})
    with library.snapshot() as snapshot:
        assert (snapshot.models(), library.get(MetaKey.MODEL), library.get(MetaKey.TAUGHT)) == ([], None, None)
    adopt_model(library, "new", "centroid", "6 examples", "digest")
    with library.snapshot() as snapshot:
        assert [model.hash for model in snapshot.models()] == ["new"]
    assert (library.get(MetaKey.MODEL), library.get(MetaKey.TAUGHT)) == ("new", "digest")


# --- one writer ------------------------------------------------------------------------------------------------------

HOLDER = (
    "import sys; from pathlib import Path; from analecta.store.library import LibraryFolder\n"
    "with LibraryFolder(Path(sys.argv[1])).lock(): print('held', flush=True); sys.stdin.read()"
)


@contextlib.contextmanager
def another_process(folder):
    """A process that holds the library."""
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"held\n"
            yield process
        finally:
            process.kill()


def test_f05_a_second_process_is_refused_with_the_name_of_the_first(library):
    with another_process(library.folder) as first:
        with pytest.raises(LibraryBusy) as raised, library.lock():
            pass
        assert f"process {first.pid} on {socket.gethostname()}" in str(raised.value)
        assert library.holder() == f"process {first.pid} on {socket.gethostname()}"


def test_f05_read_only_views_work_meanwhile(library):
    library.put("partitions", 1)
    with another_process(library.folder):
        again = LibraryFolder(library.folder)
        assert (again.partitions, again.topic_names(), again.last_run()) == (1, [], None)
        with again.shards() as readers:
            assert readers == []


def test_f05_a_killed_holder_holds_nothing(library):
    with another_process(library.folder):
        pass
    assert (library.folder / "lock").read_text(), "its name is still there"
    assert library.holder() == ""
    with library.lock():
        assert (library.folder / "lock").read_text() == f"process {os.getpid()} on {socket.gethostname()}"


def test_f05_the_lock_is_free_after_use_and_after_an_error(library):
    with pytest.raises(ZeroDivisionError), library.lock():
        raise ZeroDivisionError
    with library.lock(), pytest.raises(LibraryBusy, match=str(os.getpid())), LibraryFolder(library.folder).lock():
        pass
    assert library.holder() == ""


# --- other schemas ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "words"), [(SCHEMA + 1, "update Analecta"), (OLDEST_SCHEMA - 1, "cannot be migrated")]
)
def test_f08_a_library_of_another_schema_is_refused_and_left_as_it_is(library, version, words):
    library.put("schema", version)
    before = (library.folder / "library.db").read_bytes()
    with pytest.raises(ResourceError, match=words):
        LibraryFolder(library.folder)
    assert (library.folder / "library.db").read_bytes() == before


@pytest.mark.parametrize(
    ("version", "words"), [(SCHEMA + 1, "update Analecta"), (OLDEST_SCHEMA - 1, "cannot be migrated")]
)
def test_f08_a_shard_of_another_schema_is_refused_and_left_as_it_is(library, version, words):
    library.make_shards(2)
    with contextlib.closing(Shard(library.shard_path(1))) as shard:
        shard.put(MetaKey.SCHEMA, version)
        shard.commit()
    before = library.shard_path(1).read_bytes()
    with pytest.raises(ResourceError, match=rf"p01\.db has schema {version}, .*{words}"), library.snapshot():
        pass
    assert library.shard_path(1).read_bytes() == before


def test_a_library_whose_database_is_spoilt_is_refused_with_a_message(library):
    (library.folder / "library.db").write_bytes(b"spoilt " * 1000)
    with pytest.raises(ResourceError, match=r"library\.db"):
        LibraryFolder(library.folder)


def test_a_file_that_is_no_database_is_not_kept_open(tmp_path):
    path = tmp_path / "spoilt.db"
    path.write_bytes(b"spoilt " * 1000)
    with pytest.raises(ResourceError, match="file is not a database"):
        connect(path, readonly=True)
    opened = [os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert str(path) not in opened


def test_no_room_for_the_copy_of_a_database_that_cannot_be_read_in_place_is_told(library, monkeypatch):
    def refuses(path, mode):
        raise sqlite3.OperationalError("unable to open database file")

    def no_room(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sqlite, "_open", refuses)
    monkeypatch.setattr(sqlite, "is_readonly", lambda _: True)
    monkeypatch.setattr(sqlite, "log_of", lambda _: 1)
    monkeypatch.setattr(sqlite, "copy_database", no_room)
    with pytest.raises(ResourceError, match=r"library\.db cannot be read .* No space left on device"):
        connect(library.folder / "library.db", readonly=True)


def test_f08_a_library_without_its_database_is_refused_and_not_begun_anew(library):
    (library.folder / "library.db").unlink()
    with pytest.raises(ResourceError, match=r"library\.db"):
        LibraryFolder(library.folder).partitions  # noqa: B018


# --- disks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/lib", "ext4"),
        ("/mnt/far/lib", "nfs4"),
        ("/mnt/far/near/lib", "xfs"),
        ("/mnt/farther", "ext4"),
        ("/mnt/my share/lib", "cifs"),
        ("/home/me/ssh/lib", "fuse.sshfs"),
        ("/mnt/over/lib", "ext4"),
    ],
)
def test_f06_the_file_system_of_a_path_is_that_of_the_longest_mount_point(path, kind):
    assert filesystem(Path(path), MOUNTS) == kind
    assert filesystem(Path(path), "") == ""


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p"])
def test_f06_a_library_on_a_network_disk_is_refused(library, kind):
    mounts = f"/dev/sda1 / ext4 rw 0 0\nserver:/x {library.folder.parent.resolve()} {kind} rw 0 0\n"
    with pytest.raises(ResourceError, match=f"network disk \\({kind}\\)"):
        check_disk(library.folder, mounts)


def test_f06_a_local_disk_will_do(library):
    check_disk(library.folder, "/dev/sda1 / ext4 rw 0 0\n")
    check_disk(library.folder)
    assert not list(library.folder.rglob(".writable*"))


@pytest.fixture
def readonly(tmp_path):
    """A library on a disk that was remounted read-only."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", disk], capture_output=True).returncode:
        pytest.skip("F06 NOT SHOWN: no right to mount a read-only disk here")
    try:
        made = LibraryFolder.create(disk / "lib", TEXT)
        made.put("partitions", 1)
        Shard(made.shard_path(0)).close()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True, capture_output=True)
        yield made
    finally:
        subprocess.run(["umount", disk], check=True, capture_output=True)


@pytest.fixture
def full(tmp_path):
    """A library on a disk with nothing free."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], capture_output=True).returncode:
        pytest.skip("F03 NOT SHOWN: no right to mount a small disk here")
    try:
        made = LibraryFolder.create(disk / "lib", TEXT)
        made.put("partitions", 1)
        Shard(made.shard_path(0)).close()
        for left in made.folder.rglob("*-shm"):  # SQLite's own, where a reader was the last
            left.unlink()
        with contextlib.suppress(OSError), (disk / "fill").open("wb", buffering=0) as file:
            while file.write(bytes(1024)):
                pass
        yield made
    finally:
        subprocess.run(["umount", disk], check=True, capture_output=True)


def test_f03_a_library_on_a_full_disk_can_be_read(full):
    again = LibraryFolder(full.folder)
    assert again.partitions == 1
    with again.shards() as readers:
        assert len(readers) == 1


def test_f03_what_writes_says_that_the_disk_is_full(full):
    with pytest.raises(ResourceError, match="the disk is full: make room"), full.lock():
        pass
    with pytest.raises(ResourceError, match="the disk is full: make room"):
        full.put("a", 1)


def test_f03_a_library_that_cannot_be_made_on_a_full_disk_leaves_nothing(full):
    with pytest.raises(ResourceError, match=r"cannot make a library at .* the disk is full"):
        LibraryFolder.create(full.folder.parent / "new", TEXT)
    assert not (full.folder.parent / "new").exists()


def test_f06_a_read_only_library_cannot_be_locked_for_writing(readonly):
    with pytest.raises(ResourceError, match="read-only"), readonly.lock():
        pass


def test_f06_nothing_can_be_made_on_a_read_only_disk(readonly):
    with pytest.raises(ResourceError, match="cannot make a library"):
        LibraryFolder.create(readonly.folder.parent / "new", TEXT)


def test_f06_a_read_only_library_can_be_read(readonly):
    again = LibraryFolder(readonly.folder)
    assert again.partitions == 1
    with again.shards() as readers:
        assert len(readers) == 1
