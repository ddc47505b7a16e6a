"""F03-F06, F08, F42, F44: the disk, the signals, other processes, other versions, parsers that die."""

import asyncio
import contextlib
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from analecta.errors import LibraryBusy, ResourceError
from analecta.model import UrlState
from analecta.store.library import LibraryFolder, check_disk
from analecta.testweb.process import PocketServer
from tests.crawls import soundness
from tests.crawls.alone import crawl_alone
from tests.crawls.driver import (
    alive,
    children,
    crawl,
    journal,
    kept,
    make_library,
    pages,
    rows,
    said,
    started,
    states,
    wait_for,
)
from tests.crawls.site import html, site
from tests.hostile import Behaviour, HostileServer, answer, silence

# --- F03: the disk ---------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of 8 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", folder], capture_output=True).returncode:
        pytest.skip("NOT TESTED: mounting a small disk needs the superuser")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def grow(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=100m", folder], check=True)


def slowly(behave: Behaviour) -> Behaviour:
    """The same a little later: a disk is watched 20 times a second, and no network is as fast as loopback."""

    async def later(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        await behave(reader, writer)

    return later


def heavy(count: int = 120, size: int = 80_000) -> HostileServer:
    """A site whose pages shrink to a half at most: together some 10 MB in the archive and the database."""
    rng = Random(3)
    bodies = [answer(rng.randbytes(size // 2).hex().encode(), content_type="text/plain") for _ in range(count)]
    return site(
        {f"/{i}": slowly(body) for i, body in enumerate(bodies)} | {"/": html("/", *map("/{}".format, range(count)))}
    )


def test_f03_a_crawl_stops_before_the_disk_is_full_and_goes_on_when_there_is_room(small_disk):
    with heavy() as server:
        library = make_library(small_disk / "lib", ["http://a.test/"], server.address, fetch={"parallel": 4})
        ending = crawl(library, stop={"free_disk": 4_000_000})
        assert ending.code == 4
        assert "are free on the disk of" in ending.reason
        soundness.check(library)
        grow(small_disk)
        assert crawl(library).code == 0
    assert len(kept(library)) == 121
    assert max(map(server.paths().count, server.paths())) == 1
    soundness.check(library)


def test_f03_a_full_disk_ends_the_crawl_and_spoils_nothing(small_disk):
    with heavy() as server:
        library = make_library(small_disk / "lib", ["http://a.test/"], server.address, fetch={"parallel": 4})
        with pytest.raises(ResourceError):
            crawl(library)
        grow(small_disk)
        soundness.check_databases(library)
        assert crawl(library).code == 0
    assert len(kept(library)) == 121
    soundness.check(library)


def test_f03_a_full_disk_is_told_as_what_it_is(small_disk):
    with heavy() as server:
        library = make_library(small_disk / "lib", ["http://a.test/"], server.address, fetch={"parallel": 4})
        with pytest.raises(ResourceError, match=r"disk is full|No space left"):
            crawl(library)


def test_f03_the_command_says_that_the_disk_is_short_with_exit_code_4(tmp_path):
    with site({}, {"/": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, stop={"free_disk": 10**18})
        with started(library) as process:
            assert process.wait(60) == 4
            assert "are free on the disk of" in " ".join(said(process).split())


# --- F04: signals ----------------------------------------------------------------------------------------------------


def stopped(library: LibraryFolder, server: HostileServer, signals: int) -> int:
    """Start it, wait until the mute page is being asked for, and tell it to stop: the exit code.

    A page that never answers is waited for 60 s at most: what ends before did not wait for it.
    """
    with started(library) as process:
        wait_for(lambda: server.paths().count("/mute") >= 1)
        partitions = children(process.pid)
        for _ in range(signals):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.3)  # two signals at once are one
        code = process.wait(50)
        assert not any(map(alive, partitions))
        return code


@pytest.mark.parametrize(("signals", "patience"), [(1, 2.0), (2, 60.0)])
def test_f04_a_crawl_ends_soon_after_sigterm_and_at_once_after_a_second(tmp_path, signals, patience):
    with site({"/mute": silence(), "/": html("/", "/mute", "/a", "/b")}, {"/a": (), "/b": ()}) as server:
        fetch = {"first_byte_timeout": patience, "deadline": 60.0}
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch=fetch)
        assert stopped(library, server, signals) == 130
        soundness.check(library)
        server.behaviours["/mute"] = html("/mute")
        crawl(library)
    assert kept(library) == {f"http://a.test/{name}" for name in ("", "a", "b", "mute")}


@pytest.mark.slow
def test_f04_one_sigterm_does_not_wait_for_the_slowest_server(tmp_path):
    with site({"/mute": silence(), "/": html("/", "/mute")}) as server:
        fetch = {"first_byte_timeout": 60.0, "deadline": 60.0}
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch=fetch)
        assert stopped(library, server, 1) == 130
    soundness.check(library)


# --- F05, F06, F08: who may open a library ---------------------------------------------------------------------------


def test_f05_a_second_crawl_is_refused_with_the_owners_name_and_views_still_work(tmp_path):
    with site({"/mute": silence(), "/": html("/", "/mute")}) as server:
        fetch = {"first_byte_timeout": 30.0, "deadline": 30.0}
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch=fetch)
        with started(library) as process:
            wait_for(lambda: "/mute" in server.paths())
            with pytest.raises(LibraryBusy, match=f"process {process.pid} on {socket.gethostname()}"):
                crawl(library)
            assert kept(library) == {"http://a.test/"}
            command = [sys.executable, "-m", "analecta", "status", str(library.folder)]
            assert subprocess.run(command, capture_output=True).returncode == 0


def test_f06_a_read_only_library_is_refused_before_anything_is_fetched(small_disk):
    with site({}, {"/": ()}) as server:
        library = make_library(small_disk / "lib", ["http://a.test/"], server.address)
        library.put("partitions", 1)
        subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
        with pytest.raises(ResourceError, match="read-only"):
            crawl(library)
    assert server.asked == []


def test_f06_a_library_on_a_network_disk_is_refused(tmp_path):
    with pytest.raises(ResourceError, match="network disk"):
        check_disk(tmp_path, f"server:/export {tmp_path} nfs4 rw 0 0\n")


@pytest.mark.parametrize("version", [0, 99])
@pytest.mark.parametrize("name", ["library.db", "shards/p00.db"])
def test_f08_a_library_of_another_schema_is_refused_and_left_as_it_is(tmp_path, name, version):
    with site({}, {"/": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
        before = len(server.asked)
        with contextlib.closing(sqlite3.connect(library.folder / name, isolation_level=None)) as db:
            db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (version,))
        with pytest.raises(ResourceError, match=f"schema {version}"):
            crawl(LibraryFolder(library.folder))
        assert len(server.asked) == before
    with contextlib.closing(sqlite3.connect(library.folder / "shards" / "p00.db")) as db:
        assert db.execute("SELECT count(*) FROM pages").fetchone() == (1,)


# --- F42: readers ----------------------------------------------------------------------------------------------------


def test_f42_eight_readers_and_a_writer_never_see_a_locked_database(tmp_path):
    over, faults, looks, wal = threading.Event(), list[str](), [0] * 8, [0]

    def read(k: int) -> None:
        while not over.is_set():
            try:
                rows(library, "SELECT state, count(*) FROM urls GROUP BY state")
                pages(library)
                looks[k] += 1
            except sqlite3.Error as error:
                faults.append(str(error))

    def watch() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                wal[0] = max(wal[0], (library.folder / "shards" / "p00.db-wal").stat().st_size)
            time.sleep(0.05)

    with PocketServer(600, moody=False, delay=0.02) as web:
        seeds = {topic: web.web.seeds(topic, 2) for topic in web.web.topics}
        library = make_library(tmp_path / "lib", seeds, web.address, stop={"pages": 250}, fetch={"parallel": 8})
        library.put("partitions", 1)
        threads = [threading.Thread(target=read, args=(k,)) for k in range(8)] + [threading.Thread(target=watch)]
        for thread in threads:
            thread.start()
        try:
            crawl(library)
        finally:
            over.set()
            for thread in threads:
                thread.join()
    assert faults == []
    assert min(looks) > 3
    assert 0 < wal[0] < 70_000_000
    soundness.check(library)


# --- F44: parsers that die -------------------------------------------------------------------------------------------


def test_f44_a_page_that_crashes_the_parsers_child_fails_and_the_others_go_on(tmp_path):
    deep = answer(b"<p>deep" * 6000, content_type="text/html")
    with site({"/deep": deep, "/": html("/", "/deep", "/a")}, {"/a": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl_alone(
            library,
            lambda engine: setattr(engine.fetcher.parser.sandbox, "function", "tests.faults.killer:abort"),
        )
    assert kept(library) == {"http://a.test/", "http://a.test/a"}
    assert states(library)["http://a.test/deep"] == (UrlState.FAILED, "poison")
    soundness.check(library)


def test_f44_a_page_that_kills_the_process_three_times_is_set_aside(tmp_path):
    with site({"/": html("/", "/deadly", "/a", "/b")}, {"/deadly": (), "/a": (), "/b": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        command = [sys.executable, "-m", "tests.faults.killer", str(library.folder)]
        codes = [subprocess.run(command).returncode for _ in range(4)]
    assert codes == [-signal.SIGKILL] * 3 + [0]
    assert states(library)["http://a.test/deadly"] == (UrlState.FAILED, "poison")
    assert kept(library) == {"http://a.test/", "http://a.test/a", "http://a.test/b"}
    assert "ended while it parsed http://a.test/deadly" in journal(library)
    soundness.check(library)
