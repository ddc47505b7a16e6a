"""F66, F75: few files, closed streams, read-only libraries, full disks, signals, little memory, odd paths."""

import contextlib
import fcntl
import json
import os
import pty
import resource
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing as shut
from pathlib import Path
from urllib.request import urlopen

import pytest

from analecta.cli.demo import make_demo
from analecta.export.bundle.write import write_bundle
from analecta.store.library import LibraryFolder
from analecta.store.sqlite import connect
from tests.crawls.driver import alive, children, make_library, wait_for
from tests.crawls.site import html, site
from tests.hostile import silence
from tests.process import STOPS, closing, ended, heed, limited, run, running


@pytest.fixture(scope="module")
def grown(tmp_path_factory) -> Path:
    """A library of a demo, which has all that a library may have; it is not to be changed."""
    from io import StringIO

    from rich.console import Console

    folder = tmp_path_factory.mktemp("grown") / "lib"
    assert make_demo(folder, Console(file=StringIO()), pages=150, size=800) == 0
    return folder


@pytest.fixture
def lib(grown, tmp_path) -> Path:
    """A copy that may be changed."""
    return shutil.copytree(grown, tmp_path / "lib")


def sentence(done: "subprocess.CompletedProcess[bytes]", code: int = 4) -> str:
    """The one sentence that a command ended with."""
    said = done.stderr.decode()
    assert (done.returncode, said.count("\n"), said[:10]) == (code, 1, "analecta: "), said
    return said


# --- F66 -------------------------------------------------------------------------------------------------------------

READING = (("status",), ("explain", "http://a.test/"), ("search", "bees"), ("export", "pages"), ("collection",))


@pytest.mark.parametrize("words", [("search", "bees"), ("crawl",)], ids=" ".join)
def test_f66_few_file_descriptors_are_one_sentence(grown, words):
    name, *rest = words
    done = run(name, grown, *rest, before=limited(resource.RLIMIT_NOFILE, 24))
    assert "only 24 files may be open at a time" in sentence(done)


def test_f66_a_crawl_says_how_many_files_it_needs_and_what_to_set(lib):
    done = run("crawl", lib, "--connect-to", "127.0.0.1:9", before=limited(resource.RLIMIT_NOFILE, 100))
    assert "this crawl needs 192: raise `ulimit -n`, or set fetch.parallel to 36" in sentence(done)


def test_f66_a_soft_limit_is_raised(lib):
    def limit() -> None:
        heed()
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    assert run("search", lib, "bees", before=limit).returncode == 0


@pytest.mark.parametrize("words", [("search", "bees"), ("status", "--json"), ("crawl",)], ids=" ".join)
def test_f66_a_closed_standard_output_is_one_sentence(grown, words):
    name, *rest = words
    assert "standard output is closed" in sentence(run(name, grown, *rest, before=closing(1)))


@pytest.mark.parametrize("words", [("status",), ("export", "pages")], ids=" ".join)
def test_f66_a_full_standard_output_is_one_sentence(grown, words):
    name, *rest = words
    with Path("/dev/full").open("wb") as full:
        assert "No space left on device" in sentence(run(name, grown, *rest, stdout=full))


@pytest.fixture
def read_only(lib) -> Iterator[Path]:
    """The library on a disk that is mounted read-only, which binds also the superuser."""
    place = lib.parent / "read-only"
    place.mkdir()
    mounted = subprocess.run(["mount", "--bind", lib, place], capture_output=True).returncode == 0
    if not mounted or subprocess.run(["mount", "-o", "remount,ro,bind", place], capture_output=True).returncode:
        if os.geteuid() == 0:
            pytest.skip("NOT TESTED: mounting a folder read-only is not allowed here")
        lib.chmod(0o555)
        yield lib
        lib.chmod(0o755)
        return
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_f66_a_read_only_library_is_searched_shown_and_exported(lib, read_only, tmp_path):
    before = sorted(path for path in lib.rglob("*") if path.name not in ("library.db-shm", "library.db-wal"))
    for words in READING:
        name, *rest = words
        done = run(name, read_only, *rest, env=os.environ | {"TMPDIR": str(tmp_path)})
        assert done.returncode == 0, done.stderr
        assert done.stdout
    assert "read-only" in sentence(run("crawl", read_only, "--connect-to", "127.0.0.1:9"))
    assert "read-only" in sentence(run("index", read_only))
    assert sorted(path for path in lib.rglob("*") if path.name not in ("library.db-shm", "library.db-wal")) == before
    assert not [*tmp_path.glob("analecta-*")]  # what was made for a while is gone


def test_f66_the_index_of_a_read_only_library_is_used(lib, read_only):
    assert run("index", lib).returncode == 0
    assert run("search", read_only, "bees", "--json").stdout.count(b'"url"') > 1


def test_f66_a_read_only_library_is_served_by_oai(read_only, tmp_path):
    with running("serve-oai", read_only, "--port", 0, "--json", env=os.environ | {"TMPDIR": str(tmp_path)}) as process:
        told = json.loads(process.stdout.readline())
        with urlopen(f"{told['url']}?verb=ListRecords&metadataPrefix=oai_dc") as answer:
            assert answer.read().count(b"<record>") == min(told["records"], 100) > 50
        process.send_signal(signal.SIGTERM)
        assert ended(process) == (130, "")
    assert not [*tmp_path.glob("analecta-*")]


def test_f66_what_a_killed_crawl_left_in_its_log_is_read_on_a_read_only_disk(lib, read_only):
    path = lib / "library.db"
    with shut(connect(path)) as db:
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("INSERT INTO notes (at, note) VALUES (1, 'in the log')")
        log = path.with_name("library.db-wal").read_bytes()
        content = path.read_bytes()
    path.write_bytes(content)
    path.with_name("library.db-wal").write_bytes(log)
    assert "in the log" in [note for _, note in LibraryFolder(read_only).notes()]
    assert not path.with_name("library.db-shm").exists()


@pytest.fixture
def full_disk(grown, tmp_path) -> Iterator[Path]:
    """A library on a disk that has no room left."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "none", place], capture_output=True).returncode:
        pytest.skip("NOT TESTED: mounting a small disk needs the superuser")
    lib = shutil.copytree(grown, place / "lib", ignore=shutil.ignore_patterns("index*", "site", "analysis"))
    with (place / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    yield lib
    subprocess.run(["umount", "-l", place], check=True)


def test_f66_a_full_disk_is_one_sentence(full_disk):
    out = full_disk.parent
    for words in (
        ("search", "bees"), ("publish", "-o", out / "site"), ("export", "pages", "-o", out / "p.jsonl"),
        ("serve-oai", "--port", 0), ("crawl", "--connect-to", "127.0.0.1:9"),
    ):  # fmt: skip
        name, *rest = words
        said = sentence(run(name, full_disk, *rest))
        assert "full" in said or "No space left" in said
    assert run("status", full_disk).returncode == 0
    assert sorted(path.name for path in out.iterdir()) == ["filler", "lib"]


# --- F75: signals ----------------------------------------------------------------------------------------------------


def tidy(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Ends cleanly: with the documented code, without a traceback, and with nothing of it left running."""
    others = children(process.pid)
    process.send_signal(number)
    code, said = ended(process)
    assert code == 130, said
    assert "Traceback" not in said, said
    assert "Exception" not in said
    wait_for(lambda: not any(map(alive, others)))


@pytest.mark.parametrize("number", STOPS)
def test_f75_every_signal_ends_a_server(lib, number):
    with running("serve-oai", lib, "--port", 0) as process:
        process.stdout.readline()
        tidy(process, number)


@pytest.mark.parametrize(("number", "processes"), [(signal.SIGTERM, 2), (signal.SIGHUP, 1)])
def test_f75_a_signal_ends_a_replay(number, processes):
    with running("replay", "pocket:100", "--processes", processes, "--port", 0) as process:
        process.stdout.readline()
        tidy(process, number)


def test_f75_a_signal_ends_a_look_at_examples(tmp_path):
    with site({"/": silence()}) as server:
        library = make_library(tmp_path / "b", ["http://a.test/"], server.address, fetch={"first_byte_timeout": 2.0})
        with running("health", library.folder, "--connect-to", server.address) as process:
            wait_for(server.paths)
            tidy(process, signal.SIGTERM)


@pytest.mark.parametrize(
    ("words", "number"),
    [(("export", "links"), signal.SIGINT), (("bundle",), signal.SIGHUP), (("map",), signal.SIGTERM)],
)
def test_f75_a_signal_ends_what_writes(grown, tmp_path, number, words):
    """A pipe that nobody reads holds it in the middle."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    name, *rest = words
    with running(name, grown, *rest, "-o", tmp_path / "pipe") as process:
        assert select.select([reader], [], [], 60)[0]
        tidy(process, number)
    os.close(reader)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("number", [signal.SIGINT])
def test_f75_a_signal_ends_a_search_that_waits_for_the_index(lib, number):
    shutil.rmtree(lib / "index", ignore_errors=True)
    with (lib / "index.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with running("search", lib, "bees") as process:
            wait_for(lambda: str(lib / "index.lock") in opened(process.pid))
            tidy(process, number)


def test_f75_a_signal_ends_a_question_to_a_server_that_is_silent(tmp_path):
    with (
        site({"/": silence()}) as server,
        running("new", tmp_path / "l", "--feed", f"http://{server.address}/") as asks,
    ):
        wait_for(server.paths)
        tidy(asks, signal.SIGTERM)
    assert not (tmp_path / "l").exists()


def has_numpy(pid: int) -> bool:
    """Whether a process has imported numpy: it has then read what its parent wants of it."""
    with contextlib.suppress(OSError):
        return "numpy" in Path(f"/proc/{pid}/maps").read_text()
    return False


@pytest.mark.parametrize("number", [signal.SIGHUP])
def test_f75_a_signal_ends_an_evaluation(tmp_path, number):
    words = ("evaluate", "--web", "pocket:400", "--recipes", "adaptive,breadth-first", "--jobs", 2, "--draws", 40)
    with running(*words, "-o", tmp_path / "out", env=os.environ | {"TMPDIR": str(tmp_path)}) as process:
        wait_for(lambda: sum(map(has_numpy, children(process.pid))) > 1, 60)
        tidy(process, number)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("number", [signal.SIGINT])
def test_f75_a_signal_ends_a_demo(tmp_path, number):
    with running("demo", tmp_path / "lib", "--pages", 100_000) as process:
        wait_for(lambda: len(children(process.pid)) > 1, 60)
        tidy(process, number)


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_f75_a_signal_ends_a_repetition(lib, tmp_path, number):
    write_bundle(LibraryFolder(lib), tmp_path / "b.zip")
    with running("repeat", tmp_path / "b.zip", tmp_path / "again", "--archive", lib / "archive") as process:
        wait_for((tmp_path / "again" / "shards" / "p00.db").exists, 60)
        tidy(process, number)


@pytest.mark.parametrize("words", [("publish", "-o", "site"), ("analyse",)], ids=" ".join)
def test_f75_a_signal_at_any_moment_leaves_nothing_half_written(lib, tmp_path, words):
    name, *rest = words
    with running(name, lib, *rest, cwd=tmp_path) as process:
        wait_for(lambda: process.poll() is not None or "shards" in " ".join(opened(process.pid)), 60)
        process.send_signal(signal.SIGTERM)
        code, said = ended(process)
    assert code in (0, 130)  # it may have been at its end
    assert "Traceback" not in said, said
    assert not [*tmp_path.glob(".*.part")]


def test_f75_signals_that_are_ignored_at_the_start_stay_so(lib):
    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    with running("serve-oai", lib, "--port", 0, "--json", before=ignore) as process:
        told = json.loads(process.stdout.readline())
        for number in (signal.SIGINT, signal.SIGHUP):
            process.send_signal(number)
            with urlopen(f"{told['url']}?verb=Identify") as answer:
                assert answer.status == 200
        tidy(process, signal.SIGTERM)


def test_f75_a_terminal_that_is_closed_ends_a_crawl_cleanly(tmp_path):
    with site({"/mute": silence(), "/": html("/", "/mute")}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch={"first_byte_timeout": 2.0})
        pid, terminal = pty.fork()
        if not pid:
            heed()
            os.execv(sys.executable, [sys.executable, "-m", "analecta", "crawl", str(library.folder)])
        wait_for(lambda: "/mute" in server.paths())
        os.close(terminal)  # the system sends SIGHUP, and what is printed from now on fails
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    assert library.last_run().reason == "interrupted"


def opened(pid: int) -> list[str]:
    """The files that a process has open."""
    try:
        return [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []


# --- F75: memory, paths, streams -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "megabytes"), [(("search", "bees"), 400), (("crawl",), 200), (("status",), 100)])
def test_f75_too_little_memory_is_one_sentence(grown, words, megabytes):
    name, *rest = words
    done = run(name, grown, *rest, before=limited(resource.RLIMIT_AS, megabytes * 1_000_000))
    assert f"only {megabytes} MB of address space are allowed" in sentence(done)


def test_f75_paths_that_are_no_utf_8_are_paths(grown, tmp_path):
    odd = tmp_path / os.fsdecode(b"\xffodd")
    odd.mkdir()
    lib = shutil.copytree(grown, odd / "lib")
    seeds = odd / "seeds.txt"
    seeds.write_text("http://a.test/\n")
    for words in (
        ("status", "--json"), ("search", "bees"), ("export", "pages", "-o", odd / "p.csv", "--format", "csv"),
        ("export", "archive", "-o", odd / "a.wacz"), ("bundle", "-o", odd / "b.zip"), ("map", "-o", odd / "m.html"),
        ("publish", "-o", odd / "site"), ("add", "--seeds", seeds, "--topic", "odd"),
    ):  # fmt: skip
        name, *rest = words
        done = run(name, lib, *rest)
        assert done.returncode == 0, (words, done.stderr)
    assert "is not written in UTF-8" in sentence(run("new", odd / "new", "--seeds", seeds), 2)
    assert "is not a library" in sentence(run("status", odd / "none"), 2)
    assert "is not written in UTF-8" in sentence(run("crawl", lib, "--connect-to", "127.0.0.1:9"), 2)


@pytest.mark.parametrize("words", [("search", "bees"), ("nonsense",)], ids=" ".join)
def test_f75_a_closed_standard_error_changes_nothing(lib, words):
    name, *rest = words
    done, open_ = run(name, lib, *rest, before=closing(2)), run(name, lib, *rest)
    assert done.returncode == open_.returncode
    assert done.stdout == open_.stdout
    with sqlite3.connect(lib / "library.db") as db:  # nothing was printed into a file that had its number
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_f75_all_streams_closed_is_an_exit_code(lib):
    assert run("status", lib, before=closing(0, 1, 2)).returncode == 4
