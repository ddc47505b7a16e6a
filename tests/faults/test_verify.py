"""F58: bit rot is found in every kind of file, told apart from what a kill leaves, and repaired where that can be."""

import contextlib
import json
import random
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from analecta.errors import ResourceError
from analecta.model import UrlState
from analecta.publish.oai.sync import keeping
from analecta.search.update import sync
from analecta.store.checksums import seal_of
from analecta.store.library import LibraryFolder
from analecta.store.repair import filler
from analecta.store.sqlite import connect
from analecta.store.verify import VerifyReport
from analecta.store.warc_scan import read_records
from analecta.testweb.process import PocketServer
from analecta.verify import NAME, check_library, run
from tests.cli.test_cli import analecta
from tests.crawls import soundness
from tests.crawls.driver import crawl, kept, kill_tree, make_library, rows, started, wait_for


@pytest.fixture(scope="module")
def whole(grown, tmp_path_factory) -> Path:
    """A library with an index and OAI records, verified."""
    folder = tmp_path_factory.mktemp("whole") / "lib"
    shutil.copytree(grown.folder, folder)
    library = LibraryFolder(folder)
    sync(library)
    with keeping(library, time.time, "test") as keeper:
        keeper.sync()
    assert check_library(folder).clean
    return folder


@pytest.fixture(scope="module")
def small(pocket, tmp_path_factory) -> Path:
    """A library of two partitions and few pages, as a crawl leaves it."""
    folder = tmp_path_factory.mktemp("small") / "lib"
    seeds = {topic: pocket.web.seeds(topic, 2) for topic in pocket.web.topics[:2]}
    library = make_library(folder, seeds, pocket.address, crawl={"workers": 2}, stop={"pages": 60})
    crawl(library)
    return folder


@pytest.fixture
def lib(small, tmp_path) -> Path:
    folder = tmp_path / "lib"
    shutil.copytree(small, folder)
    return folder


def flip(folder: Path, pattern: str, rng: random.Random) -> Path:
    """Change one byte of one file."""
    path = rng.choice(sorted(path for path in folder.glob(pattern) if path.is_file() and path.stat().st_size))
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 0xFF
    path.write_bytes(data)
    return path


def cut(path: Path, count: int) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - count)


def shard(folder: Path, n: int = 0) -> sqlite3.Connection:
    """A connection to a shard as Analecta writes to it: the seal is taken away."""
    return connect(folder / "shards" / f"p{n:02d}.db")


def change(folder: Path, statement: str, n: int = 0) -> None:
    with contextlib.closing(shard(folder, n)) as db:
        assert db.execute(statement).rowcount


def repaired(folder: Path) -> VerifyReport:
    """The report of a repair, after which nothing is wrong."""
    report = check_library(folder, repairing=True)
    assert report.clean, report
    assert check_library(folder).clean
    LibraryFolder(folder)
    return report


# --- a byte, anywhere ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["archive/*.gz", "shards/*.db", "library.db", "models/*", "index/**/*", "oai.db"])
def test_f58_a_changed_byte_is_found_in_every_kind_of_file_and_repaired(whole, tmp_path, pattern):
    lib = tmp_path / "lib"
    shutil.copytree(whole, lib)
    path = flip(lib, pattern, random.Random(f"f58 {pattern}"))
    report = check_library(lib)
    assert path.stem.split(".")[0] in str([kind.examples for kind in report.kinds.values()]), path
    assert repaired(lib).repaired


def test_f58_a_damaged_database_is_found_without_a_seal(lib):
    seal_of(lib / "shards" / "p00.db").unlink()
    path = lib / "shards" / "p00.db"
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 & ~4095)
        file.write(b"\xff" * 4096)
    report = check_library(lib)
    assert "database damaged" in report.kinds
    assert repaired(lib).repaired
    assert list((lib / "shards" / "quarantine").glob("p00.db*"))


@pytest.mark.parametrize("file", ["archive/p00-00000.warc.gz", "shards/p00.db", "library.db"])
def test_f58_a_file_that_was_cut_off_is_found_and_repaired(lib, file):
    cut(lib / file, (lib / file).stat().st_size // 3)
    with contextlib.suppress(ResourceError):  # it may not even open
        assert not check_library(lib).clean
    assert repaired(lib).repaired


# --- what the rows say -----------------------------------------------------------------------------------------------

ONE = "(SELECT id FROM urls WHERE state = 2 LIMIT 1)"


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        (f"UPDATE urls SET state = 9 WHERE id = {ONE}", "URL states"),
        (f"UPDATE urls SET page = NULL WHERE id = {ONE}", "URL states"),
        ("UPDATE urls SET elsewhere = NULL WHERE state = 5", "URL states"),
        ("UPDATE urls SET reason = NULL WHERE state = 4", "URL states"),
        (f"UPDATE urls SET cold = 1 WHERE id = {ONE}", "URL states"),
        (f"UPDATE urls SET topic = 77 WHERE id = {ONE}", "URL states"),
        (f"UPDATE urls SET url = url||'x' WHERE id = {ONE}", "URLs"),
        ("UPDATE urls SET url = url||'x' WHERE n = (SELECT min(n) FROM urls WHERE page IS NULL)", "URLs"),
        (f"UPDATE urls SET host = 9999 WHERE id = {ONE}", "URLs"),
        (f"DELETE FROM urls WHERE id = {ONE}", "page rows"),
        (f"DELETE FROM pages WHERE id = {ONE}", "URL states"),
        (f"UPDATE pages SET text = x'00' WHERE id = {ONE}", "page rows"),
        (f"UPDATE pages SET links = x'00' WHERE id = {ONE}", "page rows"),
        (f"UPDATE pages SET title = cast(x'ff41' AS TEXT) WHERE id = {ONE}", "page rows"),
        (f"UPDATE pages SET offset = offset + 1 WHERE id = {ONE}", "pages and their records"),
        (f"UPDATE pages SET digest = 'sha1:X' WHERE id = {ONE}", "pages and their records"),
        (f"UPDATE pages SET file = 7 WHERE id = {ONE}", "pages and their records"),
        ("UPDATE meta SET value = '{}' WHERE key = 'queued'", "counts"),
        ("DELETE FROM outbox WHERE seq = (SELECT min(seq) + 1 FROM outbox)", "messages between partitions"),
    ],
)
def test_f58_rows_that_break_an_invariant_are_found_and_repaired(lib, statement, kind):
    change(lib, statement)
    assert kind in check_library(lib).kinds
    repaired(lib)


def test_f58_what_a_repair_takes_out_is_put_aside(lib):
    with contextlib.closing(shard(lib)) as db:
        url, offset, length = db.execute(
            f"SELECT u.url, p.offset, p.length FROM pages p JOIN urls u ON u.id = p.id WHERE u.id = {ONE}"
        ).fetchone()
    path = lib / "archive" / "p00-00000.warc.gz"
    data = bytearray(path.read_bytes())
    data[offset + length // 2] ^= 0xFF
    path.write_bytes(data)
    before = path.stat().st_size
    repaired(lib)
    aside = lib / "archive" / "quarantine"
    assert (aside / f"p00-00000.warc.gz.{offset}.damaged").read_bytes() == bytes(data[offset : offset + length])
    assert json.loads((aside / "pages.jsonl").read_text())["url"] == url
    assert rows(LibraryFolder(lib), "SELECT state FROM urls WHERE url = ?", url) == [(UrlState.QUEUED,)]
    assert path.stat().st_size == before
    soundness.check_warcs(LibraryFolder(lib))


@pytest.mark.parametrize("length", [*range(220, 330), 1000, 1193, 65_530, *range(65_700, 65_760), 1_000_000])
def test_f58_a_record_stands_in_for_damaged_bytes_of_any_length(tmp_path, length):
    path = tmp_path / "x.warc.gz"
    path.write_bytes(filler(length))
    (record,) = read_records(path, 0, length)
    assert (record.length, record.fault, record.headers["warc-type"]) == (length, "", "metadata")


# --- repaired, and on ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", ["database", "pages"])
def test_f58_what_was_repaired_is_whole_after_the_next_crawl(tmp_path, lost):
    with PocketServer(40, moody=False) as web:
        exclude = ["/calendar/", "/shop/", "/docs/", "/news/", "sid="]
        seeds = web.web.seeds(web.web.topics[0], 2)
        library = make_library(tmp_path / "lib", seeds, web.address, scope={"exclude": exclude}, stop={"pages": 25})
        crawl(library)
        before, texts = kept(library), dict(rows(library, "SELECT id, text FROM pages"))
        if lost == "database":
            for path in (library.folder / "shards").glob("p00.db*"):
                path.unlink()
        else:
            change(library.folder, "UPDATE pages SET text = x'00' WHERE seq % 3 = 0")
            flip(library.folder, "archive/*.gz", random.Random(5))
        report = repaired(library.folder)
        assert report.repaired
        crawl(LibraryFolder(library.folder), stop={"pages": len(before)})
        assert before <= kept(library)
        after = dict(rows(library, "SELECT id, text FROM pages"))
    assert {id: after[id] for id in texts} == texts
    assert check_library(library.folder).clean
    soundness.check(library)


# --- a kill is no rot ------------------------------------------------------------------------------------------------


def test_f58_what_a_kill_leaves_is_told_and_is_no_damage(tmp_path):
    with PocketServer(600, moody=False, delay=0.2) as web:
        seeds = {topic: web.web.seeds(topic, 2) for topic in web.web.topics}
        library = make_library(tmp_path / "lib", seeds, web.address, crawl={"workers": 2})
        with started(library) as process:
            wait_for(lambda: sum(path.stat().st_size for path in soundness.warcs(library)) > 20_000)
            during = check_library(library.folder)
            kill_tree(process)
        assert during.clean, during
        killed = check_library(library.folder)
        assert killed.clean, killed
        assert any("killed" in note for note in killed.notes)
        crawl(library, stop={"pages": 20})
    after = check_library(library.folder)
    assert (after.clean, after.notes) == (True, [])


# --- how it runs -----------------------------------------------------------------------------------------------------


def test_f58_an_interrupted_check_continues_where_it_stopped(lib):
    flip(lib, "archive/p00-00000.warc.gz", random.Random(1))
    seen: list[str] = []

    def interrupt(name: str, done: int, all: int) -> None:
        seen.append(name)
        if seen.count("p01-00000.warc.gz") == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(LibraryFolder(lib), interrupt)
    assert (lib / NAME).exists()
    first = len(seen)
    report, _ = run(LibraryFolder(lib), lambda name, done, all: seen.append(name))
    assert report.resumed
    assert seen[first:].count("p00-00000.warc.gz") == 1  # named, and not read again
    fresh, _ = run(LibraryFolder(lib))
    assert not fresh.resumed
    assert (report.kinds, report.checked) == (fresh.kinds, fresh.checked)
    assert not (lib / NAME).exists()


def test_f58_a_file_that_changed_since_the_interruption_is_read_again(lib):
    def interrupt(name: str, done: int, all: int) -> None:
        if name == "models":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(LibraryFolder(lib), interrupt)
    flip(lib, "archive/p00-00000.warc.gz", random.Random(1))
    assert "archive records" in run(LibraryFolder(lib))[0].kinds


def test_f58_exit_codes_and_json(lib):
    assert "No damage found" in analecta("verify", lib).stdout
    change(lib, f"UPDATE urls SET state = 9 WHERE id = {ONE}")
    said = analecta("verify", lib, code=1)
    assert "URL states: 1" in said.stdout
    assert "--repair" in said.stderr
    found = json.loads(analecta("verify", lib, "--json", code=1).stdout)
    assert (found["clean"], found["report"]["kinds"]["URL states"]["count"]) == (False, 1)
    assert "Repaired: p00.db" in analecta("verify", lib, "--repair").stdout
    assert json.loads(analecta("verify", lib, "--json").stdout)["clean"]
    (lib / "library.db").unlink()
    assert "library.db is missing" in analecta("verify", lib, "--repair", code=4).stderr


def test_f58_a_read_only_library_is_checked_and_left_as_it_is(lib, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", disk], capture_output=True).returncode:
        pytest.skip("F58 NOT SHOWN: no right to mount a read-only disk here")
    try:
        shutil.copytree(lib, disk / "lib")
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True, capture_output=True)
        assert "No damage found" in analecta("verify", disk / "lib").stdout
        assert "read-only" in analecta("verify", disk / "lib", "--repair", code=4).stderr
    finally:
        subprocess.run(["umount", disk], check=True, capture_output=True)
