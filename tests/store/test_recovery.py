"""What a start does after a crash, for every way in which archive and shard can be out of step."""

import contextlib
import random
import subprocess
import sys

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from making import FREE, answer, candidate, page_row, pushed, shard_at, states, target

from analecta.frontier.frontier import Frontier
from analecta.model import UrlState
from analecta.store import recovery
from analecta.store.archive import Archive, last_whole_member, read_record
from analecta.store.recovery import CrashMarker, Partition, recover

URLS = [f"http://h.test/{i}" for i in range(8)]


@contextlib.contextmanager
def library(folder):
    """Shard, archive and suspect of a folder, closed at the end."""
    with shard_at(folder / "p00.db") as shard, contextlib.closing(CrashMarker(folder / "p00.parsing")) as suspect:
        yield shard, suspect


def crawled(folder, urls=URLS):
    """A folder in which pages were kept and committed; their places."""
    folder.mkdir(exist_ok=True)
    with library(folder) as (shard, _):
        archive = Archive(folder, "p00")
        shard.add((n, candidate(url, topic=n % 2), UrlState.QUEUED, False, "") for n, url in enumerate(urls, 1))
        places = [kept(shard, archive, url, n) for n, url in enumerate(urls, 1)]
        archive.close()
        shard.set_file(0, archive.path(0).name, archive.path(0).stat().st_size)
        shard.commit()
    return archive.path(0), places


def kept(shard, archive, url, n):
    place = archive.write(answer(url, url.encode() * n * 9))
    id = target(url).id
    shard.add_page(page_row(id, place.file, place.offset, place.length, topic=n % 2), UrlState.DONE, 0, 0)
    return place


def recovered(folder):
    """What recovery gives back and says, committed."""
    with library(folder) as (shard, suspect):
        back, notes = recover(shard, folder, suspect)
        shard.commit()
        return back, notes, states(shard)


def whole(path):
    return last_whole_member(path, path.stat().st_size) == path.stat().st_size


def test_a_folder_in_good_order_needs_nothing(tmp_path):
    path, _ = crawled(tmp_path)
    before = path.read_bytes()
    back, notes, now = recovered(tmp_path)
    assert (back, notes, path.read_bytes()) == ({}, [], before)
    assert set(now.values()) == {UrlState.DONE}
    assert not (tmp_path / "quarantine").exists()


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(cut=st.integers(1, 4096))  # fmt: skip
def test_f02_pages_whose_records_were_cut_off_are_queued_again(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("cut")
    path, places = crawled(folder)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(max(0, size - cut))
    back, notes, now = recovered(folder)
    left = path.stat().st_size
    lost = [url for url, place in zip(URLS, places, strict=True) if place.offset + place.length > left]
    assert now == {target(url).id: UrlState.QUEUED if url in lost else UrlState.DONE for url in URLS}
    assert back.total() == len(lost)
    assert f"lost its last {size - left} bytes: {len(lost)} pages" in notes[0]
    assert whole(path)
    assert all(read_record(path, place) for place in places if place.offset + place.length <= left)


def test_f02_what_is_left_of_a_cut_record_is_put_aside_and_reported(tmp_path):
    path, places = crawled(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: places[-1].offset + 20])
    back, notes, _ = recovered(tmp_path)
    assert back == {0: 1}
    assert [tail.read_bytes() for tail in (tmp_path / "quarantine").iterdir()] == [data[places[-1].offset :][:20]]
    assert "20 bytes that were not committed were put into archive/quarantine" in notes[1]


def test_f02_a_tail_that_was_never_committed_is_put_aside_and_no_page_is_lost(tmp_path):
    path, _ = crawled(tmp_path)
    before = path.read_bytes()
    archive = Archive(tmp_path, "p00")
    archive.write(answer("http://h.test/late"))
    archive.close()
    back, notes, now = recovered(tmp_path)
    assert (back, path.read_bytes(), set(now.values())) == ({}, before, {UrlState.DONE})
    assert "were put into archive/quarantine" in notes[0]
    assert len(list((tmp_path / "quarantine").iterdir())) == 1


def test_f02_a_file_that_was_never_committed_is_put_aside(tmp_path):
    crawled(tmp_path)
    Archive(tmp_path, "p00", file=1).close()
    Archive(tmp_path, "p01", file=0).close()
    _, notes, _ = recovered(tmp_path)
    assert notes == ["p00-00001.warc.gz was not committed and was put into archive/quarantine"]
    assert (tmp_path / "quarantine" / "p00-00001.warc.gz").exists()
    assert (tmp_path / "p01-00000.warc.gz").exists(), "another partition's file is none of ours"


def test_f02_where_the_whole_file_is_gone_all_its_pages_are_fetched_again(tmp_path):
    path, _ = crawled(tmp_path)
    path.unlink()
    back, notes, now = recovered(tmp_path)
    assert (back.total(), set(now.values())) == (len(URLS), {UrlState.QUEUED})
    assert "8 pages are fetched again" in notes[0]


def test_f02_recovering_twice_is_as_good_as_once(tmp_path):
    path, _ = crawled(tmp_path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 700)
    back, _, first = recovered(tmp_path)
    assert back.total() > 0
    assert recovered(tmp_path) == ({}, [], first)


def test_f02_a_kill_during_recovery_loses_nothing(tmp_path):
    path, _ = crawled(tmp_path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 700)
    with library(tmp_path) as (shard, suspect):
        first, _ = recover(shard, tmp_path, suspect)  # not committed
    back, _, _ = recovered(tmp_path)
    assert back == first


def test_f02_the_archive_goes_on_after_a_recovery(tmp_path):
    path, _ = crawled(tmp_path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 300)
    recovered(tmp_path)
    archive = Archive(tmp_path, "p00")
    place = archive.write(answer("http://h.test/new"))
    archive.close()
    assert b"http://h.test/new" in read_record(path, place)
    assert whole(path)


def test_f02_a_lost_page_that_was_queued_already_is_not_counted_twice(tmp_path):
    path, _ = crawled(tmp_path)
    with library(tmp_path) as (shard, _):
        assert shard.ask_again(before=99.0).total() == len(URLS)
        shard.commit()
    path.unlink()
    back, _, now = recovered(tmp_path)
    assert set(now.values()) == {UrlState.QUEUED}
    assert back.total() == 0


# --- the suspect -----------------------------------------------------------------------------------------------------


def test_f44_the_suspect_outlives_a_killed_process(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from analecta.store.recovery import CrashMarker;"
        "s = CrashMarker(Path(sys.argv[1])); s.set(-123456789); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "s"]).returncode == -9
    with contextlib.closing(CrashMarker(tmp_path / "s")) as suspect:
        assert suspect.get() == -123456789


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(id=st.integers(-(2**63), 2**63 - 1))  # fmt: skip
def test_a_suspect_holds_any_id(tmp_path, id):
    with contextlib.closing(CrashMarker(tmp_path / "s")) as suspect:
        suspect.set(id)
    with contextlib.closing(CrashMarker(tmp_path / "s")) as suspect:
        assert suspect.get() == id


@pytest.mark.parametrize("content", [b"", b"123", b"123456789"])
def test_a_suspect_file_of_the_wrong_size_is_made_anew(tmp_path, content):
    (tmp_path / "s").write_bytes(content)
    with contextlib.closing(CrashMarker(tmp_path / "s")) as suspect:
        assert suspect.get() == 0


def test_f44_a_url_that_ended_the_process_three_times_is_poison(tmp_path):
    bad = target(URLS[0]).id
    with library(tmp_path) as (shard, _):
        shard.add([(1, candidate(URLS[0]), UrlState.QUEUED, False, "")])
        shard.commit()
    for _ in range(3):
        with library(tmp_path) as (shard, suspect):
            shard.lease([bad], [0.5])
            shard.commit()
            suspect.set(bad)
        back, notes, now = recovered(tmp_path)
        assert notes == [f"the process ended while it parsed {URLS[0]}"]
    assert (back, now) == ({}, {bad: UrlState.FAILED})
    assert recovered(tmp_path) == ({}, [], now), "the suspect is cleared"


# --- archive and shard together --------------------------------------------------------------------------------------


def partition_at(folder, **more):
    return contextlib.closing(Partition(folder / "p00.db", folder, **more))


def test_f02_a_file_that_was_filled_within_a_batch_is_whole_after_a_restart(tmp_path):
    with partition_at(tmp_path, max_size=4000) as partition:
        frontier = Frontier(partition, FREE)
        pushed(frontier, *(candidate(f"http://h.test/{i}") for i in range(4)))
        partition.commit()
        places = []
        for lease in frontier.pop(4, 0.0):
            place = partition.archive.write(answer(lease.url, random.Random(lease.n).randbytes(1500)))
            partition.add_page(page_row(lease.id, place.file, place.offset, place.length), UrlState.DONE, 0, 0)
            places.append(place)
        partition.commit()
    assert len({place.file for place in places}) == 2
    with partition_at(tmp_path) as partition:
        assert not partition.returned
        assert partition.db.execute("SELECT event FROM journal").fetchall() == []
        assert states(partition)[target("http://h.test/0").id] == UrlState.DONE
        assert all(read_record(partition.archive.path(place.file), place) for place in places)


def test_a_commit_takes_archive_and_shard_together(tmp_path):
    with partition_at(tmp_path) as partition:
        frontier = Frontier(partition, FREE)
        partition.counters["queued"] = lambda: frontier.queued
        partition.commit()
        assert partition.files() == []
        partition.archive.write(answer())
        pushed(frontier, candidate("http://h.test/", topic=3))
        partition.commit()
        assert partition.files() == [(0, "p00-00000.warc.gz", partition.archive.path(0).stat().st_size)]
        assert msgspec.json.decode(partition.get("queued")) == {"3": 1}


@pytest.mark.parametrize("part", ["archive", "marker"])
def test_all_files_are_closed_even_if_one_cannot_be(tmp_path, monkeypatch, part):
    kind = {"archive": Archive, "marker": CrashMarker}[part]
    close = kind.close

    def broken(self):
        close(self)
        raise OSError("the disk is full")

    monkeypatch.setattr(kind, "close", broken)
    one = Partition(tmp_path / "p00.db", tmp_path)
    with pytest.raises(OSError, match="the disk is full"):
        one.close()
    monkeypatch.undo()
    Partition(tmp_path / "p00.db", tmp_path).close()


def test_a_partition_that_cannot_be_recovered_is_not_left_open(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError("no such archive")

    monkeypatch.setattr(recovery, "recover", broken)
    with pytest.raises(OSError, match="no such archive"):
        Partition(tmp_path / "p00.db", tmp_path)
    monkeypatch.undo()
    Partition(tmp_path / "p00.db", tmp_path).close()
