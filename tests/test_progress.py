import io
from types import SimpleNamespace

import pytest
from making import item
from rich.console import Console

from analecta.cli.crawling import _steps
from analecta.demo import _table
from analecta.progress import doing, pause
from analecta.publish.collection import Ranked
from analecta.settings import CommunitySettings, Settings
from analecta.watch import Result, told


def crawl(*reports):
    """A crawl, as far as progress looks at it: (under way, queued, seconds until a host may be asked) a partition."""
    parts = [SimpleNamespace(flying=flying, queued=queued, wait=wait) for flying, queued, wait in reports]
    return SimpleNamespace(workers=[SimpleNamespace(report=part) for part in [*parts, None]])


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


def result(**changes) -> Result:
    usual = {"reason": "nothing is left to fetch", "code": 0, "pages": 1, "on_topic": 1, "hosts": 1, "queued": 1}
    none = {"failed": 0, "refused": 0, "reasons": {}, "topics": {}, "unread": 0, "bytes": 0, "notes": []}
    return Result(library="lib", seconds=1.0, pages_per_second=1.0, **{**none, **usual, **changes})


def test_one_page_of_one_host_is_told_in_the_singular():
    assert "1 page in 1.0 s (1.0 a second), 100% on topic when fetched\n" in written(told(result()))
    assert "1 URL left in the queue; 1 host known\n" in written(told(result()))


def test_where_nothing_is_left_it_is_told_what_would_give_more_to_do():
    assert "More seeds in analecta.toml" in written(told(result(code=3)))
    assert "More seeds" not in written(told(result(code=0)))


def test_a_long_address_is_visibly_cut_where_the_terminal_is_narrow():
    page = item(url="http://a.test/" + "long-" * 30, title="Short")
    lines = written(_table("bees", [Ranked(page, 1, 0.5, 0.0, "")])).splitlines()
    assert lines[-1].rstrip().endswith("…")
    assert max(map(len, lines)) <= 80


def test_the_demo_shows_the_figure_that_it_sorts_by():
    assert "0.78  Short" in written(_table("bees", [Ranked(item(title="Short"), 1, 0.78, 0.0, "", 0.9)]))


def test_a_look_at_the_examples_is_not_called_a_crawl():
    looking = crawl((0, 9, 0.0))
    looking.interrupts, looking.only_examples, looking.lessons = 0, True, SimpleNamespace(model="m")
    looking.workers[0].report.unread = 0
    assert doing(looking) == "Looking at the examples"


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
