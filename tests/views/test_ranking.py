from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from analecta.store.rows import PageRow
from analecta.views.collections import AUTHORITY, CONFIDENCE, POOR, CollectionItem, choose, in_order, scaled

TEXT = {"title", "mime", "lang", "author", "date", "digest", "reserved", "warc", "anchor", "context"}
PLAIN = {name: "" if name in TEXT else 0 for name in PageRow.__struct_fields__}


def candidate(url, title="", confidence=0.8, authority=0.0):
    host = url.split("/")[2]
    item = PageRow(**PLAIN | {"url": url, "host": host, "title": title, "topics": ()})
    return CollectionItem(item, confidence, authority)


def urls(chosen):
    return [one.item.url for one in chosen]


def good(_):
    return ""


def by_path(item):
    return "shop" if "/shop" in item.url else ""


pages = st.builds(
    candidate,
    st.builds("http://{}.test/{}{}".format, st.sampled_from("abc"), st.sampled_from(["p", "shop"]), st.integers(0, 30)),
    st.sampled_from(["", "One", " one ", "Two", "Three", "Four"]),
    st.floats(0, 1),
    st.floats(0, 1),
)
lists = st.lists(pages, max_size=40, unique_by=lambda one: one.item.url).map(in_order)


@given(lists, st.integers(0, 50), st.integers(0, 4))
def test_s12_what_is_asked_for_does_not_change_what_comes_first(ordered, most, per_host):
    everything = choose(ordered, 100, per_host, by_path)
    assert choose(ordered, most, per_host, by_path) == everything[:most]


@given(lists, st.integers(0, 4))
def test_s12_each_title_of_a_host_is_there_once_and_none_is_lost(ordered, per_host):
    chosen = choose(ordered, 100, per_host, by_path)
    assert [one.rank for one in chosen] == [*range(1, len(chosen) + 1)]
    assert len({one.look for one in chosen}) == len(chosen)
    assert {one.look for one in chosen} == {one.look for one in ordered}


def test_s12_pages_of_one_title_are_listed_together_where_their_hosts_differ():
    ordered = in_order(candidate(url, "Home") for url in ("http://a.test/", "http://a.test/x", "http://b.test/"))
    assert urls(choose(ordered, 10, 5, good)) == ["http://a.test/", "http://b.test/"]


@given(lists, st.integers(1, 4))
def test_s12_hosts_are_full_before_one_has_more_than_its_share(ordered, per_host):
    chosen = [one.item.host for one in choose(ordered, 100, per_host, by_path) if not one.kind]
    first = next((i for i, host in enumerate(chosen) if Counter(chosen[: i + 1])[host] > per_host), len(chosen))
    assert max(Counter(chosen[:first]).values(), default=0) <= per_host
    assert all(Counter(chosen[:first])[host] == per_host for host in chosen[first:])


@given(lists, st.integers(0, 4))
def test_s15_poor_kinds_come_after_all_others(ordered, per_host):
    kinds = [one.kind for one in choose(ordered, 100, per_host, by_path)]
    assert kinds == sorted(kinds, key=bool)


@given(lists)
def test_s12_without_a_limit_the_order_is_that_of_the_scores(ordered):
    scores = [one.score for one in choose(ordered, 100, 0, by_path) if not one.kind]
    assert scores == sorted(scores, reverse=True)


def test_s12_a_host_gets_more_places_only_where_they_would_stay_empty():
    ordered = in_order([candidate(f"http://a.test/{i}", confidence=0.9 - i / 100) for i in range(4)])
    ordered = in_order([*ordered, candidate("http://b.test/0", confidence=0.6)])
    assert urls(choose(ordered, 3, 2, good)) == ["http://a.test/0", "http://a.test/1", "http://b.test/0"]
    assert urls(choose(ordered, 4, 2, good))[3:] == ["http://a.test/2"]


def test_s12_texts_of_pages_that_are_not_needed_are_not_looked_at():
    looked = []
    ordered = in_order(candidate(f"http://a.test/{i}", confidence=i / 1000) for i in range(1000))
    chosen = choose(ordered, 10, 5, lambda item: looked.append(item.url) or "")
    assert looked == urls(chosen)


def test_s12_authority_decides_between_pages_of_which_the_judge_is_about_as_sure():
    known, unknown = candidate("http://a.test/", authority=1.0), candidate("http://b.test/", confidence=0.85)
    surer = msgspec.structs.replace(unknown, confidence=0.95)
    assert [one.item.host for one in in_order([unknown, surer, known])] == ["b.test", "a.test", "b.test"]
    assert CONFIDENCE + AUTHORITY == 1.0


def test_s12_authorities_are_scaled_by_the_best_of_the_topic_itself():
    assert scaled({1: 0.9, 2: 0.25, 3: 0.01, 4: 0.0}, [2, 3, 4, 5]) == {2: 1.0, 3: 0.2}
    assert scaled({}, [1]) == {}


def test_s15_the_best_page_of_a_poor_kind_scores_less_than_the_least_page_on_topic():
    best = candidate("http://a.test/", confidence=1.0, authority=1.0)
    assert msgspec.structs.replace(best, kind="shop").score == POOR
    assert candidate("http://a.test/", confidence=0.5).score > POOR
