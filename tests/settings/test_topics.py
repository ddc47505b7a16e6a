from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.cli.new import MOST, tell_odd, tell_topics
from analecta.errors import UsageError
from analecta.settings.schema import Topic
from analecta.settings.topics import merge, tree
from analecta.sources.collector import combine
from analecta.sources.result import SkippedLine, SourceResult

A, B = Path("a.txt"), Path("b.txt")


def test_topics_of_the_same_name_are_one_and_seeds_are_once():
    first = SourceResult((Topic("x", ("https://a.test/", "https://b.test/")),), repeated=1)
    other = SourceResult((Topic("y", ("https://a.test/",)), Topic("x", ("http://b.test/", "https://c.test/"))))
    both = combine([(A, first), (B, other)])
    assert both.topics == (
        Topic("x", ("https://a.test/", "https://b.test/", "https://c.test/")),
        Topic("y", ("https://a.test/",)),
    )
    assert both.repeated == 2


def test_a_topic_that_another_file_has_seeds_for_wants_none():
    outline = SourceResult((), queries={"x": "x", "y / z": "y / z"})
    both = combine([(A, outline), (B, SourceResult((Topic("x", ("https://a.test/",)),)))])
    assert both.queries == {"y / z": "y / z"}


def test_what_was_skipped_keeps_its_file():
    reading = SourceResult((Topic("x", ("https://a.test/",)),), (SkippedLine(3, "ftp:", "no"),))
    assert [skipped.file for skipped in combine([(A, reading), (B, reading)]).skipped] == ["a.txt", "b.txt"]


def test_a_file_whose_name_is_no_text_can_be_told():
    reading = SourceResult((Topic("x", ("https://a.test/",)),), (SkippedLine(3, "ftp:", "no"),))
    assert [skipped.file for skipped in combine([(Path("s\udcff"), reading)]).skipped] == ["s?"]


def test_without_any_seed_it_is_bad_use_that_says_what_to_do():
    with pytest.raises(UsageError, match=r"a\.txt has an example: write URLs of good pages below it"):
        combine([(A, SourceResult((), queries={"x": "x"}))])


names = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(" / ".join)


@given(st.lists(names, unique=True, min_size=1))
def test_the_tree_has_each_topic_once_below_its_parents(given_names):
    path, found = [], []
    for leaf in tree([Topic(name, ("u",)) for name in given_names]):
        path[leaf.depth :] = [leaf.name]
        assert len(path) == leaf.depth + 1
        if leaf.topic is not None:
            found.append(" / ".join(path))
    assert sorted(found) == sorted(given_names)


@given(st.lists(st.tuples(names, st.lists(st.sampled_from(["http://a.test/", "https://a.test/", "http://b.test/"])))))
def test_merging_loses_no_seed_and_counts_the_rest(pairs):
    topics, repeated = merge([Topic(name, tuple(seeds)) for name, seeds in pairs])
    assert len({topic.name for topic in topics}) == len(topics)
    assert sum(len(topic.seeds) for topic in topics) + repeated == sum(len(seeds) for _, seeds in pairs)


def test_it_is_told_as_a_tree_with_the_first_of_what_is_odd():
    topics = (Topic("S / B", ("u", "v")), Topic("K", ("u",)), Topic("S", ("w",)))
    odd = tuple(SkippedLine(n, "ftp:", "no", "a.txt") for n in range(1, 14))
    lines = [*tell_topics(topics), *tell_odd(SourceResult(topics, odd, 2, {"Q": "Q"}, ("K",)))]
    assert lines[:3] == ["  Topic S: 1 seed", "      B: 2 seeds", "  Topic K: 1 seed"]
    assert lines[3:8:2] == ["  Named more than once: 2", "    K", "    Q"]
    assert lines[-2:] == [f"    a.txt, line {MOST}: ftp:: no", "    and 3 more"]
