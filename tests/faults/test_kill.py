"""F01, F02: a crawl that is killed at any instant goes on with nothing lost and nothing twice."""

import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from analecta.model import UrlState
from analecta.store.library import LibraryFolder
from analecta.testweb.process import PocketServer
from tests.crawls import soundness
from tests.crawls.driver import children, crawl, journal, kept, kill_tree, make_library, said, started, states, wait_for
from tests.crawls.site import site
from tests.hostile import answer

PARALLEL = 8
ENDLESS = ["/calendar/", "/shop/", "/docs/", "/news/", "sid="]


def pocket(folder: Path, size: int, delay: float) -> PocketServer:
    return PocketServer(size, log=folder / "log", moody=False, delay=delay)


def library_of(folder: Path, web: PocketServer, **override: object) -> LibraryFolder:
    """A library for all of the pocket web that has an end and asks for no patience."""
    slow = [site.host for site in web.web.plan.sites if site.robots in ("delay", "broken")]
    seeds = {topic: web.web.seeds(topic, 2) for topic in web.web.topics}
    scope = {"exclude": [*ENDLESS, *slow]}
    crawl = {"workers": 2}
    return make_library(folder, seeds, web.address, scope=scope, crawl=crawl, fetch={"parallel": PARALLEL}, **override)


def asked_again(web: PocketServer) -> tuple[int, int]:
    """How many requests, for pages and for robots.txt, had been made before."""
    counts = Counter((noted.host, noted.target) for noted in web.asked())
    robots = sum(n - 1 for (_, target), n in counts.items() if target == "/robots.txt")
    return sum(n - 1 for n in counts.values()) - robots, robots


def kill_often(library: LibraryFolder, kills: int, rng: random.Random, longest: float) -> tuple[Counter[str], int]:
    """Kill it `kills` times (coordinator, a partition, or all), then let it end: kinds, and partitions that died."""
    done: Counter[str] = Counter()
    died = 0
    while True:
        with started(library) as process:
            while done.total() < kills:
                time.sleep(rng.uniform(0.1, longest))
                if process.poll() is not None:
                    break
                partitions = children(process.pid)
                kind = rng.choice(["tree", "coordinator", "partition"])
                if kind == "partition" and partitions:
                    os.kill(rng.choice(partitions), signal.SIGKILL)
                    done[kind] += 1
                    died += 1
                    continue
                if kind == "coordinator":
                    process.kill()
                    process.wait()
                else:
                    kill_tree(process)
                done[kind] += 1
                died += 2
                break
            else:
                assert process.wait(600) == 0, said(process)
                return done, died
            assert process.poll() is None or process.returncode in (-9, 0), said(process)
            if process.returncode == 0:
                return done, died


def same_end(library: LibraryFolder, other: LibraryFolder) -> None:
    """The same URLs are known, the same are pages, and each ended in the same state for the same reason."""
    assert kept(library) == kept(other)
    ours, theirs = states(library), states(other)
    assert ours.keys() == theirs.keys()
    # Which of two like pages stands for the other, or which of two reasons is told, depends on which came first.
    either = ("", "duplicate", "nofollow", "scope-exclude")
    plain = {url: end for url, end in ours.items() if end[1] not in either}
    assert plain == {url: end for url, end in theirs.items() if end[1] not in either}


def run_f01(folder: Path, size: int, kills: int, delay: float, longest: float, seed: int) -> Counter[str]:
    with pocket(folder, size, 0.0) as web:
        whole = library_of(folder / "whole", web)
        crawl(whole)
        none, hops = asked_again(web)  # the robots.txt of www.X redirects to that of X: that is asked twice
        assert none == 0
    (folder / "log").unlink()
    with pocket(folder, size, delay) as web:
        library = library_of(folder / "killed", web)
        done, died = kill_often(library, kills, random.Random(seed), longest)
        pages, robots = asked_again(web)
    assert done.total() == kills
    assert pages <= died * PARALLEL
    assert robots - hops <= died * PARALLEL
    same_end(library, whole)
    soundness.check(library)
    soundness.check_warcs_by_command(library, Path(sys.executable).parent)
    return done


def test_f01_eight_kills_lose_nothing_and_fetch_nothing_twice(tmp_path):
    done = run_f01(tmp_path, size=400, kills=8, delay=0.1, longest=1.2, seed=5)
    assert len(done) == 3  # each kind of kill was among them


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_f01_two_hundred_kills_of_five_thousand_pages(tmp_path):
    run_f01(tmp_path, size=5000, kills=200, delay=0.1, longest=1.6, seed=1)


def test_f01_a_nofollow_link_is_redeemed_by_a_plain_one_after_a_restart(tmp_path):
    pages = {"/": answer(b'<a href="/x" rel=nofollow>x</a><a href="/b">b</a>', content_type="text/html")}
    with site(pages, {"/b": ("/x",), "/x": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library, stop={"pages": 1})
        assert states(library)["http://a.test/x"] == (UrlState.REFUSED, "nofollow")
        crawl(library)
    assert kept(library) == {"http://a.test/", "http://a.test/b", "http://a.test/x"}


# --- F02: the end of a file is missing -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def killed(tmp_path_factory) -> Iterator[tuple[Path, PocketServer, set[str]]]:
    """A library whose crawl was killed half way, its web, and the pages of the whole crawl."""
    folder = tmp_path_factory.mktemp("f02")
    with pocket(folder, 150, 0.0) as web:
        whole = library_of(folder / "whole", web)
        crawl(whole)
    with pocket(folder, 150, 0.05) as web:
        library = library_of(folder / "killed", web)
        with started(library) as process:
            wait_for(lambda: sum(path.stat().st_size for path in soundness.warcs(library)) > 60_000)
            kill_tree(process)
    with pocket(folder, 150, 0.0) as web:
        yield library.folder, web, kept(whole)


def cut(path: Path, count: int) -> None:
    with path.open("r+b") as file:
        file.truncate(max(0, path.stat().st_size - count))


@pytest.mark.parametrize(("what", "count"), [("*.warc.gz", 1), ("*.warc.gz", 4096), ("*.db-wal", 700), ("*", 4096)])
def test_f02_what_was_cut_off_is_trimmed_reported_and_fetched_again(tmp_path, killed, what, count):
    folder, web, whole = killed
    shutil.copytree(folder, tmp_path / "lib")
    library = LibraryFolder(tmp_path / "lib")
    for path in [*library.folder.glob(f"archive/{what}"), *library.folder.glob(f"shards/{what}")]:
        if path.suffix != ".db" and path.suffix != ".parsing":
            cut(path, count)
    crawl(library, fetch={"connect_to": web.address})
    assert kept(library) == whole
    # The end of a write-ahead log may be old frames, whose loss is none.
    assert what == "*.db-wal" or "quarantine" in journal(library) or "lost its last" in journal(library)
    soundness.check(library)
