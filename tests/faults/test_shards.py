"""F57: a library knows its shards; one that is missing or foreign is named, and nothing is touched."""

import contextlib
import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from analecta.errors import ResourceError
from analecta.store.library import LibraryFolder
from tests.cli.test_cli import analecta
from tests.crawls.driver import make_library, rows

COMMANDS: list[tuple[str, ...]] = [
    ("status",), ("crawl",), ("explain", "http://a.test/"), ("search", "bees"), ("index",), ("collection",),
    ("export", "pages"), ("retrain",), ("topics", "list"), ("publish", "-o", "OUT"), ("serve-oai", "--port", "0"),
    ("verify",),
]  # fmt: skip


@pytest.fixture
def lib(grown, tmp_path) -> Path:
    folder = tmp_path / "lib"
    shutil.copytree(grown.folder, folder)
    return folder


def run(folder: Path, command: tuple[str, ...], code: int) -> str:
    name, *more = (str(folder.parent / "out") if word == "OUT" else word for word in command)
    words = (name, more[0], folder, *more[1:]) if name == "topics" else (name, folder, *more)
    return str(analecta(*words, code=code).stderr)


def contents(folder: Path) -> dict[str, str]:
    """What is in the files of a library; SQLite's own beside a database are not looked at."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    return {str(path.relative_to(folder)): hashlib.sha1(path.read_bytes()).hexdigest() for path in files}


def remove(folder: Path) -> None:
    for path in (folder / "shards").glob("p01.db*"):
        path.unlink()


def empty(folder: Path) -> None:
    remove(folder)
    (folder / "shards" / "p01.db").touch()


def swap(folder: Path) -> None:
    first, second = folder / "shards" / "p00.db", folder / "shards" / "p01.db"
    for path in (folder / "shards").glob("*.db-*"):
        path.unlink()
    first.rename(folder / "shards" / "x")
    second.rename(first)
    (folder / "shards" / "x").rename(second)


def foreign(folder: Path) -> None:
    other = make_library(folder.parent / "other", ["http://a.test/"])
    with other.lock():
        other.make_shards(2)
    remove(folder)
    shutil.copy(other.folder / "shards" / "p01.db", folder / "shards" / "p01.db")


def add(folder: Path) -> None:
    shutil.copy(folder / "shards" / "p00.db", folder / "shards" / "p02.db")


def lose_list(folder: Path) -> None:
    for path in folder.glob("library.db*"):
        path.unlink()


def lose_archive(folder: Path) -> None:
    (folder / "archive").rename(folder.parent / "elsewhere")


@pytest.mark.parametrize(
    ("harm", "file", "words"),
    [
        (remove, "shards/p01.db", "is missing"),
        (empty, "shards/p01.db", "is empty"),
        (swap, "shards/p00.db", "is p01.db of this library"),
        (foreign, "shards/p01.db", "is from another library"),
        (add, "shards/p02.db", "does not belong to this library"),
        (lose_list, "library.db", "is missing"),
        (lose_archive, "archive", "is missing"),
    ],
)
def test_f57_what_is_missing_or_foreign_is_named_and_nothing_is_touched(lib, harm: Callable, file, words):
    harm(lib)
    before = contents(lib)
    for command in COMMANDS:
        said = run(lib, command, 4)
        assert f"{lib / file} {words}" in said, command
        assert len(said.splitlines()) == 1, command
    assert contents(lib) == before


def test_f57_a_library_that_is_put_back_is_as_before(lib):
    (lib / "shards" / "p01.db").rename(lib.parent / "away")
    with pytest.raises(ResourceError, match=r"p01\.db is missing"):
        LibraryFolder(lib)
    (lib.parent / "away").rename(lib / "shards" / "p01.db")
    assert LibraryFolder(lib).partitions == 2


def as_older(folder: Path) -> None:
    """Make a library as it was before shards had ids."""
    for path in (folder / "shards").glob("*.db"):
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("DELETE FROM meta WHERE key = 'shard'")
    with contextlib.closing(sqlite3.connect(folder / "library.db", isolation_level=None)) as db:
        db.execute("DROP TABLE shards")
    for path in folder.rglob("*.sum"):
        path.unlink()


def test_f57_an_older_library_gets_ids_when_it_is_next_written_to(lib):
    as_older(lib)
    library = LibraryFolder(lib)  # which is no reason to refuse it
    assert rows(library, "SELECT value FROM meta WHERE key = 'shard'") == []
    with library.lock():
        pass
    ids = rows(library, "SELECT value FROM meta WHERE key = 'shard'")
    assert len(set(ids)) == 2
    swap(lib)
    with pytest.raises(ResourceError, match=r"p01\.db of this library"):
        LibraryFolder(lib)


def test_f57_an_older_library_that_has_lost_a_shard_is_not_given_a_new_one(lib):
    as_older(lib)
    remove(lib)
    with pytest.raises(ResourceError, match=r"p01\.db is missing"):
        LibraryFolder(lib)


def test_f57_a_kill_while_ids_are_given_leaves_a_library_that_opens(lib):
    with contextlib.closing(sqlite3.connect(lib / "library.db", isolation_level=None)) as db:
        db.execute("UPDATE shards SET made = 0 WHERE name = 'p01.db'")
    with contextlib.closing(sqlite3.connect(lib / "shards" / "p01.db", isolation_level=None)) as db:
        db.execute("DELETE FROM meta WHERE key = 'shard'")
    library = LibraryFolder(lib)
    with library.lock():
        pass
    assert len(rows(library, "SELECT value FROM meta WHERE key = 'shard'")) == 2


def test_f57_a_library_whose_shards_were_never_made_opens(tmp_path):
    library = make_library(tmp_path / "lib", ["http://a.test/"])
    library.put("partitions", 2)
    assert LibraryFolder(library.folder).partitions == 2
