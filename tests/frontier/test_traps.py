"""Traps: forms that are refused, groups of URLs that lose their good name, mirrors, hosts without yield."""

import numpy as np
import pytest

from analecta.frontier.traps import PageYield, Traps
from analecta.frontier.url_forms import NewLinks, is_kin, is_trusted, leads_of, refusal, shape, two_labels
from analecta.model import Link, Page
from tests.effort import little_work
from tests.making import target


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
    with little_work(0.5):
        for _ in range(20):
            refusal(f"http://h/{path}")
            shape(f"http://h/{path}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h/cal/2024/01", "http://h/cal/1999/12"),
        ("http://h/list?page=1&sort=up", "http://h/list?sort=down&page=2"),
        ("http://h/item7", "http://h/item12345"),
        ("http://h/s/3f9a0c11/x", "http://h/s/b7d2e5aa/x"),
    ],
)
def test_urls_of_one_shape(one, other):
    assert shape(one) == shape(other)


@pytest.mark.parametrize(
    "other", ["http://g/a/1", "http://h/b/1", "http://h/a/1?q", "http://h/a/x", "http://h/a/", "http://h/a/b1"]
)
def test_urls_of_other_shapes(other):
    assert shape("http://h/a/1") != shape(other)


@pytest.mark.parametrize(
    ("url", "parent", "kin"),
    [
        ("http://h/cal/2024/02", "http://h/cal/2024/01", True),
        ("http://h/find?a=1&b=2", "http://h/find?a=1", True),
        ("http://h/a/b/c/d/", "http://h/a/b/c/", True),
        ("http://h/wiki/Bee", "http://h/wiki/Wasp", False),
        ("http://h/item?id=3", "http://h/list?page=1", False),
        ("http://g/cal/2024/02", "http://h/cal/2024/01", False),
    ],
)
def test_a_page_is_of_the_kind_of_its_parent(url, parent, kin):
    assert is_kin(url, parent) is kin


# --- groups ----------------------------------------------------------------------------------------------------------


def noted(traps: Traps, *urls: str, **more: bool) -> Traps:
    for url in urls:
        traps.note(PageYield(url, url.split("/")[2], **more))
    return traps


def reason(traps: Traps, url: str) -> str:
    found = traps.suspicion(url, url.split("/")[2])
    return found.reason if found else ""


def months(*numbers: int) -> list[str]:
    return [f"http://h/cal?month={n}" for n in numbers]


def test_f70_a_form_that_brings_only_more_of_itself_is_demoted():
    traps = noted(Traps(), *months(1, 2), breeds=True)
    assert reason(traps, months(9)[0]) == ""
    noted(traps, *months(3), breeds=True)
    assert reason(traps, months(9)[0]) == "trap"
    assert reason(traps, "http://h/page") == reason(traps, "http://other/cal?month=9") == ""


def test_f70_a_form_that_was_good_and_is_not_any_more_is_demoted():
    traps = noted(Traps(), *months(1, 2, 3), on_topic=True, breeds=True)
    noted(traps, *months(*range(4, 14)), copy=True)
    assert reason(traps, months(99)[0]) == "trap"


def test_f70_a_form_half_of_which_is_good_keeps_its_name():
    traps = Traps()
    for n in range(60):
        noted(traps, *months(n), copy=n % 20 >= 10)
    assert reason(traps, months(99)[0]) == ""


def test_f70_a_new_form_on_a_host_of_traps_is_judged_by_the_host_until_it_was_tried():
    traps = noted(Traps(), *(f"http://h/{part}/1" for part in "abc"), copy=True)
    found = traps.suspicion("http://h/new/1", "h")
    assert found is not None
    assert found.untried
    noted(traps, "http://h/new/1", "http://h/new/2", on_topic=True)
    assert reason(traps, "http://h/new/3") == ""
    assert "h" in traps.cleared


@pytest.mark.parametrize("good", ["on_topic", "leads_out"])
def test_f70_a_pager_that_yields_something_is_no_trap(good):
    traps = noted(Traps(), *months(*range(40)), breeds=True, **{good: True})
    assert reason(traps, months(99)[0]) == ""


def test_f70_the_worse_a_group_the_later_it_comes():
    bad = noted(Traps(), *months(1, 2, 3), copy=True).suspicion(months(9)[0], "h")
    worse = noted(Traps(), *months(*range(30)), copy=True).suspicion(months(99)[0], "h")
    assert bad is not None
    assert worse is not None
    assert 0 > bad.priority(0.9) > worse.priority(0.9)
    assert bad.priority(0.9) > bad.priority(0.1)


def test_f70_pages_of_a_kind_with_hardly_a_new_word_repeat_each_other():
    traps, words = Traps(), np.arange(100, dtype=np.uint64)
    assert not traps.repeats(months(1)[0], words)
    assert traps.repeats(months(2)[0], words + np.uint64(3))
    assert not traps.repeats(months(3)[0], words + np.uint64(60))


# --- mirrors ---------------------------------------------------------------------------------------------------------


def test_f70_a_new_host_that_begins_with_a_copy_is_a_mirror():
    traps = noted(Traps(), "http://a/x", "http://a/y", on_topic=True)
    noted(traps, "http://b/x", copy=True, mirrors=True)
    assert reason(traps, "http://b/never/seen") == "trap-mirror"
    assert reason(traps, "http://a/z") == ""


def test_f70_a_host_with_pages_of_its_own_may_have_some_copies():
    traps = noted(Traps(), "http://b/x", "http://b/y", "http://b/z", on_topic=True)
    noted(traps, "http://b/licence", copy=True, mirrors=True)
    assert reason(traps, "http://b/w") == ""


def test_f70_of_new_hosts_with_known_paths_only_some_are_let_in():
    traps = noted(Traps(), "http://a/x", on_topic=True)
    found = [traps.admission(f"http://m{i}/x", f"m{i}") for i in range(20)]
    assert [one.reason if one else "" for one in found] == [""] * 6 + ["untried"] * 14


# --- hosts without yield ---------------------------------------------------------------------------------------------


def test_f70_a_host_of_nothing_but_new_pages_of_its_own_uses_up_its_budget():
    traps = Traps(budget=8, domain_of=two_labels)
    noted(traps, *(f"http://a.tar.pit/{chr(97 + n)}x/y" for n in range(9)), fertile=True)
    assert reason(traps, "http://a.tar.pit/more") == reason(traps, "http://b.tar.pit/") == "trap-budget"


def test_f70_a_budget_grows_with_pages_on_topic():
    traps = noted(Traps(budget=8), "http://h/good", on_topic=True)
    noted(traps, *(f"http://h/{chr(97 + n)}x/y" for n in range(20)), fertile=True)
    assert reason(traps, "http://h/more") == ""


@pytest.mark.parametrize(
    ("links", "leads"),
    [
        (["http://a.h.test/x/1", "http://a.h.test/x/2"], NewLinks(out=False, off=False, fertile=True)),
        (["http://a.h.test/other"], NewLinks(out=True, off=False, fertile=False)),
        (["http://b.test/", "http://a.h.test/x/1"], NewLinks(out=True, off=True, fertile=False)),
        (["http://b.h.test/", "http://c.h.test/"], NewLinks(out=True, off=False, fertile=True)),
    ],
)
def test_f70_where_the_new_links_of_a_page_lead(links, leads):
    own = target("http://a.h.test/x/0")
    fresh = [target(link) for link in links]
    page = Page(own.url, own.id, own.host, "text/html", links=[Link(one) for one in fresh])
    assert leads_of(page, fresh, two_labels) == leads


@pytest.mark.parametrize(
    ("url", "trusted"),
    [
        ("http://h.test/a/b", True),
        ("https://forum.test/x", True),
        ("http://forum.test.evil/x", False),
        ("http://h.test/ab", False),
    ],
)
def test_f70_a_person_trusts_hosts_and_beginnings_of_urls(url, trusted):
    assert is_trusted(url, ("h.test/a/", "forum.test")) is trusted


def test_f70_what_is_trusted_is_never_demoted():
    traps = noted(Traps(trusted=("h",)), *months(*range(20)), copy=True)
    assert reason(traps, months(99)[0]) == ""


def test_counts_stop_before_they_overflow():
    traps = Traps()
    for _ in range(66_000):  # a count has 16 bits
        traps.note(PageYield("http://h/a/b", "h", on_topic=True))
    assert (traps.total, traps.suspicion("http://h/a/b", "h")) == (66_000, None)
