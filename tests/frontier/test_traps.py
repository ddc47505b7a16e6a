"""Traps: forms that are refused, and shapes that lose their good name."""

import pytest

from analecta.frontier.traps import DEMOTED, Traps, refusal, shape
from tests.effort import little_work


@pytest.mark.parametrize(
    "path",
    ["a/b/a/b", "a/b/a/b/", "x/a/b/a/b/y", "a/a/a", "a/a/a/", "a/b/c/a/b/c", "2024/01/2024/01", "en/news/en/news?x=1"],
)
def test_f24_paths_that_grow_by_themselves_are_refused(path):
    assert refusal(f"http://h/{path}") == "trap-repeat"


@pytest.mark.parametrize(
    "path",
    ["", "a/b/a/c", "a/a", "a/a/b", "ab/b/a", "a/ba/b", "a/b/aa/b", "?p=/a/b/a/b/a/b", "aa/a/a", "1/2/1", "a/a/ab"],
)
def test_f24_other_paths_are_not(path):
    assert refusal(f"http://h/{path}") == ""


def test_f24_paths_of_too_many_segments_are_refused():
    deep = [str(i) for i in range(30)]
    assert refusal("http://h/" + "/".join(deep[:20])) == ""
    assert refusal("http://h/" + "/".join(deep[:21])) == "trap-depth"


@pytest.mark.parametrize("path", ["a" * 990, "/" * 19 + "a" * 900, "ab/" * 19 + "a" * 900, "a/" * 2 + "b" * 900])
def test_a_form_is_judged_at_once(path):
    with little_work():
        for _ in range(20):
            refusal(f"http://h/{path}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h/cal/2024/01", "http://h/cal/1999/12"),
        ("http://h/list?page=1", "http://h/list?sort=up&page=2"),
        ("http://h/item7", "http://h/item12345"),
    ],
)
def test_urls_of_one_shape(one, other):
    assert shape(one) == shape(other)


@pytest.mark.parametrize("other", ["http://g/a/1", "http://h/b/1", "http://h/a/1?q", "http://h/a/x", "http://h/a/"])
def test_urls_of_other_shapes(other):
    assert shape("http://h/a/1") != shape(other)


def test_f24_a_shape_that_brings_nothing_goes_behind():
    traps = Traps(sample=12, least=0.25)
    for day in range(11):
        traps.note(f"http://h/cal?d={day}", good=False)
        assert traps.factor("http://h/cal?d=99") == 1.0
    traps.note("http://h/cal?d=11", good=False)
    assert traps.factor("http://h/cal?d=99") == DEMOTED
    assert traps.factor("http://h/page") == traps.factor("http://other/cal?d=99") == 1.0


def test_a_shape_with_enough_good_pages_keeps_its_name():
    traps = Traps(sample=12, least=0.25)
    for i in range(40):
        traps.note(f"http://h/p/{i}", good=i % 4 == 0)
    assert traps.factor("http://h/p/99") == 1.0


def test_a_shape_can_earn_its_good_name_back():
    traps = Traps(sample=4, least=0.5)
    for i in range(4):
        traps.note(f"http://h/p/{i}", good=False)
    assert traps.factor("http://h/p/9") == DEMOTED
    for i in range(4):
        traps.note(f"http://h/p/{i}", good=True)
    assert traps.factor("http://h/p/9") == 1.0


def test_counts_stop_before_they_overflow():
    traps = Traps()
    slot = traps._slot("http://h/1")
    traps._tried[slot] = traps._good[slot] = 60_000
    for _ in range(6000):
        traps.note("http://h/1", good=True)
    assert traps.factor("http://h/1") == 1.0
