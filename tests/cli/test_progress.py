import io
from types import SimpleNamespace

import pytest
from making import candidate, item, page_row, shard_at, target
from rich.console import Console

from analecta.cli.crawl import CrawlOutput, _given, _steps, told
from analecta.cli.demo import _table
from analecta.cli.progress import asked_again, doing, figures, pause, ran_dry
from analecta.crawl.control import EngineStatus
from analecta.crawl.coordinator import CrawlStatus
from analecta.frontier.policy import CrawlPhase
from analecta.model import Tally, UrlState
from analecta.settings.schema import CommunitySettings, JudgeSettings, Settings
from analecta.store.library import LibraryFolder
from analecta.views.collections import CollectionItem


def crawl(*reports, tally=Tally(), only_examples=False):
    """How a crawl stands: (under way, queued, seconds until a host may be asked) a partition."""
    engines = [
        EngineStatus(n, Tally(), in_flight, queued, 0, 0, 0, 0, "m", wait, 0, [], serial=1)
        for n, (in_flight, queued, wait) in enumerate(reports)
    ]
    return CrawlStatus(0.0, tally, engines, CrawlPhase(), "m", 0, only_examples, 0, "")


@pytest.mark.parametrize(
    ("reports", "seconds"),
    [
        ([], 0),
        ([(0, 12, 60.0), (0, 0, -1.0)], 60),
        ([(0, 12, 60.0), (0, 3, 40.0)], 40),
        ([(0, 12, 60.0), (1, 3, 40.0)], 0),
        ([(0, 12, 60.0), (0, 3, 0.5)], 0),
    ],
)
def test_a_pause_is_told_only_where_every_host_wants_one(reports, seconds):
    assert pause(crawl(*reports)) == seconds


def written(what, width=80) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(what)
    return out.getvalue()


def result(**changes) -> CrawlOutput:
    usual = {"reason": "nothing is left to fetch", "code": 0, "pages": 1, "on_topic": 1, "hosts": 1, "queued": 1}
    none = {
        "failed": 0,
        "refused": 0,
        "reasons": {},
        "topics": {},
        "unread": 0,
        "bytes": 0,
        "notes": [],
        "again": {},
        "advice": "",
    }
    return CrawlOutput(library="lib", seconds=1.0, pages_per_second=1.0, **{**none, **usual, **changes})


def test_one_page_of_one_host_is_told_in_the_singular():
    assert "1 page in 1.0 s (1.0 a second), 100% on topic when fetched\n" in written(told(result()))
    assert "1 URL left in the queue; 1 host known\n" in written(told(result()))


def test_where_nothing_is_left_it_is_told_what_would_give_more_to_do():
    assert "More seeds in analecta.toml" in written(told(result(code=3)))
    assert "More seeds" not in written(told(result(code=0)))


def test_a_long_address_is_visibly_cut_where_the_terminal_is_narrow():
    page = item(url="http://a.test/" + "long-" * 30, title="Short")
    lines = written(_table("bees", [CollectionItem(page, 0.5)])).splitlines()
    assert lines[-1].rstrip().endswith("…")
    assert max(map(len, lines)) <= 80


def test_the_demo_shows_the_figure_that_it_sorts_by():
    assert "0.78  Short" in written(_table("bees", [CollectionItem(item(title="Short"), 0.8, authority=0.6)]))


def test_a_look_at_the_examples_is_not_called_a_crawl():
    assert doing(crawl((0, 9, 0.0), only_examples=True), "lib") == "Looking at the examples"
    assert doing(crawl((0, 9, 0.0)), "lib") == "Crawling lib"


@pytest.mark.parametrize(
    ("code", "grow", "first", "more"),
    [(130, False, "crawl LIB", 1), (0, False, "status LIB", 0), (0, True, "status LIB", 1)],
)
def test_a_crawl_leads_to_what_can_be_done_next(code, grow, first, more):
    steps = _steps(Settings(communities=CommunitySettings(grow=grow)), code)
    assert steps[0] == first
    assert len(steps) == 6 + more
    assert ("communities LIB" in steps) == grow
    assert {"search LIB WORDS", "feedback LIB URL --good"} <= set(steps)


def test_documents_that_are_not_read_yet_are_told():
    assert "3 documents kept and not yet read: the next crawl reads them" in written(told(result(unread=3)))
    assert "not yet read" not in written(told(result()))


@pytest.mark.parametrize("width", [40, 50, 80])
def test_no_figure_is_cut_where_the_terminal_is_narrow(width):
    counts = {"pages": 11111, "on_topic": 2222, "hosts": 3333, "refused": 44444, "failed": 5555}
    busy = crawl((128, 666666, 0.0), tally=Tally(bytes=7_700_000_000, **counts))
    shown = written(figures(busy, 12.3), width)
    assert all(f"{count:,}" in shown for count in (*counts.values(), 666666))
    assert "…" not in shown
    assert ("12.3/s" in shown) == (width == 80)


def test_what_became_of_pages_asked_for_again_is_told_in_one_line():
    assert asked_again({"gone": 2, "unchanged": 1000}) == "1,002 pages asked for again: 1,000 unchanged, 2 gone"


def test_a_crawl_that_was_interrupted_goes_on_with_the_options_that_were_given():
    params = {"lib": "x", "pages": None, "connect_to": "a b:80", "delay": 0.0, "refresh": 7.0, "json": False}
    given = _given(SimpleNamespace(params=params))
    assert given == " --connect-to 'a b:80' --delay 0.0"
    assert _steps(Settings(), 130, given)[0] == "crawl LIB --connect-to 'a b:80' --delay 0.0"


@pytest.mark.parametrize(("good", "dry"), [(9, True), (10, False)])
def test_a_crawl_that_finds_hardly_anything_any_more_says_what_may_help(tmp_path, good, dry):
    library = LibraryFolder.create(tmp_path / "lib", "")
    library.put("partitions", 1)
    urls = [f"http://h.test/{n}" for n in range(1100)]
    with shard_at(library.shard_path(0)) as shard:
        shard.add((n, candidate(url), UrlState.QUEUED, False, "") for n, url in enumerate(urls, 1))
        for n, url in enumerate(urls):  # the first hundred were all on topic
            topic = 0 if n < 100 + good else -1
            shard.add_page(page_row(target(url).id, kept_at=float(n), topic=topic), UrlState.DONE, 0, 0)
        shard.commit()
    assert ran_dry(library, Settings(), 1100).startswith("Of the last 1,000 pages 9 were on topic") == dry
    assert ran_dry(library, Settings(), 999) == ""
    assert ran_dry(library, Settings(judge=JudgeSettings(kind="none")), 1100) == ""
