"""F07, F19-F22 and L7: what a host sees of us. The judge of each test is the server's own log."""

import time
from email.utils import formatdate
from itertools import pairwise

import pytest

from analecta.model import UrlState
from tests.crawls import soundness
from tests.crawls.alone import crawl_alone
from tests.crawls.driver import crawl, kept, kill_tree, make_library, started, states, wait_for
from tests.crawls.site import html, robots, site
from tests.hostile import HostileServer, answer, in_turn, silence

SLACK = 0.02  # the log notes a request when it was read, not when it was sent
# With one request under way at a time the delay runs from an answer that was sent after its request was noted: however
# late a busy machine notes it, the gap is never less than the delay.
ONE = {"per_host": 1}


def gaps(server: HostileServer, host: str) -> list[float]:
    """Seconds between requests to a host, robots.txt included."""
    return [after - before for before, after in pairwise(server.times()[host])]


def star(host: str, count: int) -> dict[str, tuple[str, ...]]:
    """A home page that links to so many pages."""
    return {f"{host}/": tuple(f"/{i}" for i in range(count)), **{f"{host}/{i}": () for i in range(count)}}


# --- the delay -------------------------------------------------------------------------------------------------------


def test_l7_no_host_sees_two_requests_closer_than_its_delay(tmp_path):
    with site({}, star("a.test", 8) | star("b.test", 8) | star("c.test", 8)) as server:
        seeds = ["http://a.test/", "http://b.test/", "http://c.test/"]
        library = make_library(tmp_path / "lib", seeds, server.address, fetch={"delay": 0.2} | ONE)
        crawl(library)
    assert len(kept(library)) == 27
    assert min(gap for host in server.times() for gap in gaps(server, host)) > 0.2 - SLACK
    soundness.check(library)


def test_l7_the_delay_holds_over_kill_and_resume(tmp_path):
    with site({}, star("a.test", 20)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch={"delay": 1.0} | ONE)
        for so_many in (3, 4):
            with started(library) as process:
                wait_for(lambda so_many=so_many: len(server.asked) >= so_many)
                kill_tree(process)
        with started(library):
            wait_for(lambda: len(server.asked) >= 6)
    assert min(gaps(server, "a.test")) > 1.0 - SLACK


def test_l7_a_robots_file_that_moved_to_another_host_keeps_that_hosts_delay(tmp_path):
    moved = {
        f"{name}.test/robots.txt": answer(b"", "301 Moved", location="http://all.test/robots.txt") for name in "abc"
    }
    links = {f"{name}.test/": () for name in "abc"} | star("all.test", 3)
    with site(moved, links) as server:
        seeds = [f"http://{name}.test/" for name in ("all", "a", "b", "c")]
        library = make_library(tmp_path / "lib", seeds, server.address, fetch={"delay": 0.3} | ONE)
        crawl(library)
    assert min(gaps(server, "all.test")) > 0.3 - SLACK


def test_f07_the_clock_may_jump_a_day_and_manners_stay(tmp_path):
    began = time.monotonic()

    def jumping() -> float:
        """A wall clock that jumps a day ahead, and back, twice a second."""
        return time.time() + 86_400 * (int((time.monotonic() - began) * 2) % 3 - 1)

    def tweak(engine):
        requests = engine.fetcher.requests
        engine.outcomes.wall = engine.ingest.wall = requests.robots.now = requests.fetch.now = jumping

    with site({}, star("a.test", 12)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch={"delay": 0.15} | ONE)
        crawl_alone(library, tweak)
    assert len(kept(library)) == 13
    assert min(gaps(server, "a.test")) > 0.15 - SLACK
    soundness.check(library)


# --- robots.txt ------------------------------------------------------------------------------------------------------


def test_f19_nothing_is_fetched_where_robots_txt_cannot_be_read(tmp_path):
    broken = {"a.test/robots.txt": answer(b"", "500 Broken"), "b.test/robots.txt": silence()}
    home = {"c.test/": html("/", "/0", "http://a.test/", "http://b.test/")}
    with site(broken | home, star("a.test", 3) | star("b.test", 3) | {"c.test/0": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://c.test/"], server.address, fetch={"first_byte_timeout": 0.3})
        crawl(library)
    assert {asked.path for asked in server.asked if asked.host != "c.test"} == {"/robots.txt"}
    assert kept(library) == {"http://c.test/", "http://c.test/0"}
    soundness.check(library)


def test_f19_a_site_whose_robots_txt_works_again_is_crawled_by_the_next_run(tmp_path):
    broken = in_turn(answer(b"", "500 Broken"), robots("User-agent: *"))
    home = {"b.test/": html("/", "http://a.test/")}
    with site({"a.test/robots.txt": broken} | home, star("a.test", 3)) as server:
        library = make_library(tmp_path / "lib", ["http://b.test/"], server.address)
        crawl(library)
        assert states(library)["http://a.test/"][0] == UrlState.QUEUED
        crawl(library)
    assert "http://a.test/2" in kept(library)


def test_f19_restarts_do_not_use_up_the_tries_of_urls_that_were_not_asked_for(tmp_path):
    home = {"b.test/": html("/", "http://a.test/"), "a.test/robots.txt": answer(b"", "500 Broken")}
    with site(home, {"a.test/": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://b.test/"], server.address)
        for _ in range(4):
            crawl(library)
    assert states(library)["http://a.test/"][0] == UrlState.QUEUED


@pytest.mark.parametrize("trouble", ["retry-after", "robots"])
def test_f22_a_seed_that_must_wait_does_not_end_the_crawl_of_the_others(tmp_path, trouble):
    page, rules = (busy("600"), answer(b"", "404 None")) if trouble == "retry-after" else (html("/"), silence())
    with site({"a.test/": page, "a.test/robots.txt": rules}, star("b.test", 4)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/", "http://b.test/"], server.address)
        crawl(library, fetch={"back_off": 60.0})
    assert len(kept(library)) == 5


@pytest.mark.parametrize("status", ["404 None", "403 No"])
def test_f19_no_robots_txt_allows_everything(tmp_path, status):
    with site({"a.test/robots.txt": answer(b"no", status)}, star("a.test", 3)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    assert len(kept(library)) == 4


def test_f20_queued_urls_are_refused_once_robots_txt_forbids_them(tmp_path):
    rules = in_turn(robots("User-agent: *", "Allow: /"), robots("User-agent: *", "Disallow: /"))
    with site({"a.test/robots.txt": rules}, star("a.test", 30)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch={"delay": 0.1})
        crawl_alone(library, lambda engine: setattr(engine.fetcher.requests.robots, "max_age", 0.8))
    ends = [end for url, end in states(library).items() if url != "http://a.test/"]
    refused = ends.count((UrlState.REFUSED, "robots"))
    assert refused >= 15
    assert refused + ends.count((UrlState.DONE, "")) == 30
    changed = [i for i, path in enumerate(server.paths()) if path == "/robots.txt"][1]
    assert server.paths()[changed:].count("/robots.txt") == len(server.paths()[changed:])
    soundness.check(library)


def test_f21_a_crawl_delay_is_honoured_also_where_we_would_not_wait_ourselves(tmp_path):
    slow = {"a.test/robots.txt": robots("User-agent: *", "Crawl-delay: 0.3")}
    with site(slow, star("a.test", 4) | star("b.test", 4)) as server:
        seeds = [f"http://{host}.test/{path}" for host in "ab" for path in ("", "0", "1", "2", "3")]
        library = make_library(tmp_path / "lib", seeds, server.address, fetch=ONE)
        crawl(library)
    assert len(kept(library)) == 10
    assert min(gaps(server, "a.test")) > 0.3 - SLACK
    assert server.times()["b.test"][-1] < server.times()["a.test"][-1]


def test_f21_a_host_that_asks_for_too_much_patience_is_set_aside_at_once(tmp_path):
    slow = {"a.test/robots.txt": robots("User-agent: *", "Crawl-delay: 1e9")}
    with site(slow, star("a.test", 4) | star("b.test", 4)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/", "http://b.test/"], server.address)
        with started(library) as process:
            process.wait(60)
    assert states(library)["http://a.test/"] == (UrlState.REFUSED, "crawl-delay")
    assert {asked.path for asked in server.asked if asked.host == "a.test"} == {"/robots.txt"}
    assert len(kept(library)) == 5


@pytest.mark.parametrize("delay", ["nan", "-5", "soon"])
def test_f21_a_crawl_delay_that_makes_no_sense_is_none(tmp_path, delay):
    slow = {"a.test/robots.txt": robots("User-agent: *", f"Crawl-delay: {delay}")}
    with site(slow, star("a.test", 4)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    assert len(kept(library)) == 5


# --- slow down -------------------------------------------------------------------------------------------------------


def busy(wait: str, status: str = "503 Busy") -> object:
    return answer(b"", status, retry_after=wait)


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Busy"])
def test_f22_retry_after_is_waited_for_and_the_page_comes_after_all(tmp_path, status):
    pages = {"a.test/": in_turn(busy("1", status), html("/", "/0")), "b.test/": html("/", "http://a.test/", "/0")}
    with site(pages, {"a.test/0": (), "b.test/0": ("/1",), "b.test/1": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://b.test/"], server.address, stop={"idle": 5})
        crawl(library)
    assert len(kept(library)) == 5
    assert max(gaps(server, "a.test")) > 1 - SLACK
    assert server.times()["b.test"][-1] < server.times()["a.test"][-1]  # the others went on meanwhile
    soundness.check(library)


@pytest.mark.parametrize("wait", [formatdate(0, usegmt=True), "garbage"])
def test_f22_a_retry_after_that_makes_no_sense_is_a_short_wait(tmp_path, wait):
    with site({"a.test/": in_turn(busy(wait), html("/"))}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, stop={"idle": 5})
        crawl(library)
    assert len(kept(library)) == 1
    assert max(gaps(server, "a.test")) > 1 - SLACK  # and less than `stop.idle`, or it would not have come


@pytest.mark.parametrize("wait", ["315360000", formatdate(time.time() + 3e8, usegmt=True)], ids=["seconds", "date"])
def test_f22_ten_years_are_left_for_a_later_crawl(tmp_path, wait):
    home = {"a.test/": busy(wait), "b.test/": html("/", "http://a.test/", "/0")}
    with site(home, {"b.test/0": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://b.test/"], server.address)
        ending = crawl(library)
    assert states(library)["http://a.test/"][0] == UrlState.QUEUED
    assert "crawl again later" in ending.reason
    assert kept(library) == {"http://b.test/", "http://b.test/0"}


def test_f22_retry_after_holds_over_a_restart(tmp_path):
    with site({"a.test/": busy("600"), "b.test/": html("/", "http://a.test/")}) as server:
        library = make_library(tmp_path / "lib", ["http://b.test/"], server.address, fetch={"delay": 0.1})
        crawl(library)
        before = len(server.asked)
        crawl(library)
    assert server.paths().count("/") == 2
    assert len(server.asked) == before
