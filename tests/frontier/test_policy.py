"""What links are worth, and which may be followed."""

import msgspec
import pytest
from making import lease, target

from analecta.frontier.policy import (
    PRIORITIES,
    LinkValue,
    Policy,
    Scope,
    best_first,
    breadth_first,
    by_page,
    depth_first,
)
from analecta.model import Verdict
from analecta.settings.load import parse, recipe_names, recipe_text
from analecta.settings.schema import PolicySettings

ON, OFF = Verdict(2, 0.8, ((2, 0.8),)), Verdict(-1, 0.2)


def test_best_first_values_links_as_the_page_is_on_topic():
    assert best_first(ON, lease("http://h/", priority=0.1, off_topic_steps=3), 0.5) == 0.8


def test_best_first_goes_down_by_the_decay_for_each_page_off_topic():
    value, worths = LinkValue(0.8, 0, 2, True), []
    for _ in range(3):
        path = lease("http://h/", priority=value.priority, off_topic_steps=value.off_topic_steps)
        value = Policy(best_first).value(Verdict(-1, 0.0), path)
        worths.append((value.priority, value.off_topic_steps))
    assert worths == [(0.4, 1), (0.2, 2), (0.1, 3)]


def test_p5_by_page_a_link_is_worth_its_page_whatever_the_path():
    assert by_page(ON, lease("http://h/", priority=0.1, off_topic_steps=3), 0.5) == 0.8
    assert by_page(Verdict(-1, 0.25), lease("http://h/", priority=0.9, off_topic_steps=1), 0.5) == 0.25


def test_best_first_takes_the_better_of_page_and_path_and_seeds_count_as_one():
    assert best_first(Verdict(-1, 0.25), lease("http://h/", priority=0.1), 0.5) == 0.125
    assert best_first(OFF, lease("http://h/", priority=1e6), 0.5) == 0.5


def test_breadth_first_values_the_near_whatever_the_page_says():
    worths = [breadth_first(ON, lease("http://h/", depth=depth), 0.5) for depth in range(5)]
    assert worths == sorted(worths, reverse=True)
    assert len(set(worths)) == 5
    assert breadth_first(OFF, lease("http://h/", depth=1, off_topic_steps=1), 0.5) == worths[1]


def test_b10_depth_first_values_the_deep_and_what_is_off_topic_less_than_anything_on_topic():
    worths = [depth_first(ON, lease("http://h/", depth=depth), 0.5) for depth in range(5)]
    assert worths == sorted(set(worths))
    off = [depth_first(OFF, lease("http://h/", depth=depth, priority=worths[-1]), 0.9) for depth in range(5)]
    assert max(off) < worths[0]


@pytest.mark.parametrize(("sharp", "path", "value"), [
    (False, 1, LinkValue(0.8, 0, 2, True)), (True, 2, LinkValue(0.8, 0, 2, True)),
    (True, 1, LinkValue(0.4, 1, 1, False)), (True, -1, LinkValue(0.8, 0, 2, True)),
])  # fmt: skip
def test_b10_sharp_focus_asks_for_the_topic_of_the_path_and_soft_for_any(sharp, path, value):
    assert Policy(best_first, sharp=sharp).value(ON, lease("http://h/", topic=path)) == value


@pytest.mark.parametrize(("cutoff", "followed"), [(-1, [True] * 4), (0, [True, False, False, False]),
                                                  (2, [True, True, True, False])])  # fmt: skip
def test_s6_a_path_is_given_up_after_so_many_pages_off_topic(cutoff, followed):
    policy = Policy(best_first, cutoff)
    verdicts = [ON, OFF, OFF, OFF]
    values = [policy.value(v, lease("http://h/", off_topic_steps=max(0, i - 1))) for i, v in enumerate(verdicts)]
    assert [not policy.gives_up(value) for value in values] == followed


def test_s6_a_page_on_topic_starts_the_count_anew():
    assert Policy(best_first, 1).value(ON, lease("http://h/", off_topic_steps=1)) == LinkValue(0.8, 0, 2, True)


def test_s11_links_with_some_anchors_are_never_followed():
    policy = Policy(best_first, never=[r"^next$", r"log ?in"])
    assert policy.never
    assert [a for a in ("next", "next page", "please log in", "rivers") if policy.never.found_in(a)] == [
        "next",
        "please log in",
    ]
    assert not Policy(best_first).never
    assert not Policy(best_first).never.found_in("next")


def test_s11_each_recipe_makes_a_policy():
    for name in recipe_names():
        chosen = msgspec.convert(parse(recipe_text(name), name).get("policy", {}), PolicySettings)
        policy = Policy(PRIORITIES[chosen.kind], chosen.cutoff, chosen.decay, chosen.never)
        assert policy.never.found_in("Next") == bool(chosen.never)


def test_patterns_may_have_flags_of_their_own():
    assert Policy(best_first, never=["x", "(?i)next"]).never.found_in("NEXT")
    assert Scope(exclude=["x", r"(?i)\.PDF$"]).refusal(target("http://h/a.pdf"), 0) == "scope-exclude"


# --- scope -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("example.org", ""),
        ("www.example.org", ""),
        ("a.b.example.org", ""),
        ("EXAMPLE.org", ""),
        ("badexample.org", "scope-host"),
        ("example.org.evil.test", "scope-host"),
        ("org", "scope-host"),
        ("example.com", "scope-host"),
    ],
)
def test_hosts_in_scope_are_those_named_and_their_subdomains(host, reason):
    assert Scope(hosts=["Example.ORG"]).refusal(target(f"http://{host}/"), 0) == reason


def test_a_named_subdomain_does_not_open_its_domain():
    assert Scope(hosts=["www.example.org"]).refusal(target("http://example.org/"), 0) == "scope-host"


def test_excluded_urls_and_depth():
    bounds = Scope(exclude=[r"\.pdf$", "/private/"], depth=2)
    urls = ["http://h/a.pdf", "http://h/private/x", "http://h/a.pdf.html"]
    assert [bounds.refusal(target(url), 2) for url in urls] == ["scope-exclude", "scope-exclude", ""]
    assert bounds.refusal(target("http://h/"), 3) == "scope-depth"


def test_without_bounds_all_is_in_scope():
    assert Scope().refusal(target("http://anything.test/x?y"), 10_000) == ""
