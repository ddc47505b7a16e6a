"""What links are worth as the crawl stands, and one entry a site."""

import pytest
from making import candidate, lease, target

from analecta.frontier.policy import (
    EXAMPLE_PRIORITY,
    CrawlPhase,
    Focus,
    LinkValue,
    Policy,
    SiteEntries,
    best_first,
    depth_first,
    host_of,
)
from analecta.frontier.traps import DEMOTED
from analecta.model import FoundBy, Verdict

ON = Verdict(0, 0.8, ((0, 0.8), (1, 0.6)))
LEARNING = CrawlPhase(learning=True)


def domain(host):
    return ".".join(host.split(".")[-2:])


def test_s7_a_topic_that_is_full_takes_no_more_part():
    focus = Focus(Policy(best_first, decay=0.5))
    focus.turn(CrawlPhase(retired=(0,)))
    assert focus.open(ON) == Verdict(1, 0.6, ((1, 0.6),)), "it may be on another topic too"
    alone = Verdict(0, 0.9, ((0, 0.9),))
    assert focus.open(alone) == Verdict(-1, 0.0)
    assert focus.value(alone, lease("http://h/", priority=0.4, topic=1)) == LinkValue(0.2, 1, 1, False)


def test_s6_the_cutoff_may_be_moved_and_what_waits_then_goes_to_the_back():
    focus = Focus(Policy(best_first, cutoff=1))
    page = lease("http://h/", priority=0.4, off_topic_steps=0)
    off = Verdict(-1, 0.0)
    assert focus.value(off, page).priority == focus.value_again(off, page) == 0.2
    focus.turn(CrawlPhase(cutoff=0))
    assert focus.value(off, page) is None
    assert focus.value_again(off, page) == pytest.approx(0.2 * DEMOTED)
    focus.turn(CrawlPhase())
    assert focus.value(off, page), "as it was set"


def test_s16_links_of_copies_are_worth_less_or_not_followed():
    page = lease("http://h/")
    assert Focus(Policy(best_first)).value(ON, page, twin=True).priority == 0.4
    assert Focus(Policy(best_first), follow_duplicates=False).value(ON, page, twin=True) is None


def test_an_example_is_on_topic_whatever_a_judge_says_but_its_links_are_worth_what_the_judge_thinks():
    focus = Focus(Policy(best_first, cutoff=0))
    assert focus.value(Verdict(-1, 0.1), lease("http://h/", priority=EXAMPLE_PRIORITY, topic=3)) == LinkValue(
        0.1, 0, 3, True
    )


def test_b10_while_it_learns_another_policy_rules_and_what_is_far_waits():
    near = {"near_domains": ["own.test"], "near_depth": 2, "domain_of": domain}
    focus = Focus(Policy(best_first, cutoff=0), Policy(depth_first), **near)
    assert focus.outside("other.test", 9) == 1.0
    assert focus.value(Verdict(), lease("http://h/")) is None
    focus.turn(LEARNING)
    assert [focus.outside(host, 2) for host in ("www.own.test", "other.test")] == [1.0, DEMOTED]
    assert focus.outside("own.test", 3) == DEMOTED
    assert focus.value(Verdict(), lease("http://h/")).on_topic is False, "no path is given up"


def test_s16_links_that_leave_the_site_come_first_if_asked():
    focus = Focus(Policy(best_first), off_site_first=True, domain_of=domain)
    targets = [target(f"http://{host}/") for host in ("b.own.test", "other.test")]
    groups = focus.by_factor("a.own.test", 1, targets)
    assert {factor: [t.host for t in group] for factor, group in groups.items()} == {
        0.5: ["b.own.test"], 1.0: ["other.test"]}  # fmt: skip
    assert not Focus(Policy(best_first)).choosy
    assert Focus(Policy(best_first)).leaving("a", "a") == 1.0


def test_s16_of_links_from_elsewhere_to_a_host_the_first_counts():
    pages = {1: "http://a.test/", 2: "http://new.test/x"}
    entries = SiteEntries(["old.test"], pages.get)
    factors = [
        entries.factor(candidate(url, parent=parent, found_by=found))
        for url, parent, found in [
            ("http://old.test/1", 1, FoundBy.LINK),
            ("http://new.test/1", 1, FoundBy.LINK),
            ("http://new.test/2", 1, FoundBy.LINK),
            ("http://new.test/3", 7, FoundBy.LINK),  # of a page in another partition
            ("http://new.test/4", 2, FoundBy.LINK),
            ("http://new.test/5", 1, FoundBy.REDIRECT),
        ]
    ]
    assert factors == [DEMOTED, 1.0, DEMOTED, DEMOTED, 1.0, 1.0]


def test_s16_a_second_link_from_elsewhere_raises_nothing():
    focus = Focus(Policy(best_first), one_entry=True)
    groups = focus.by_factor("a.test", 1, [target("http://a.test/x"), target("http://b.test/")])
    assert {factor: [t.host for t in group] for factor, group in groups.items()} == {1.0: ["a.test"]}


def test_the_host_of_a_url_has_its_port():
    assert host_of("http://h.test:81/a/b") == "h.test:81"
    assert host_of(None) == ""
