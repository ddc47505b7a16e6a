import random
import warnings

import msgspec
import pytest

from analecta.judge.health import CLOSE, ENOUGH, Health, health
from analecta.model import NO_TOPIC, UNLABELLED, Example
from tests.crawl import twenty


def text(rng, topic):
    own = rng.sample(twenty.TOPICS[topic], 12)
    return " ".join(rng.choice(own if rng.random() < 0.4 else twenty.COMMON) for _ in range(200))


def examples(*topics, seed=1):
    """Examples of topic 0, 1 and so on: each of the subjects named, one after another."""
    rng = random.Random(seed)
    return [
        Example(number, f"http://a.test/{number}-{i}", text(rng, name))
        for number, names in enumerate(topics)
        for i, name in enumerate(names)
    ]


def by_name(found):
    return {topic.name: topic for topic in found.topics}


def test_s14_topics_that_differ_are_told_apart_and_their_examples_come_back():
    found = health(examples(["bees"] * 6, ["stars"] * 6, ["bread"] * 6), ["Bees", "Stars", "Bread"])
    assert [topic.back for topic in found.topics] == [1.0, 1.0, 1.0]
    assert (found.close, found.strays, found.few) == ([], [], [])


@pytest.mark.parametrize("pages", [5, 10])
def test_s14_two_halves_of_one_subject_are_too_close(pages):
    found = health(examples(["bees"] * pages, ["bees"] * pages, ["stars"] * pages), ["One", "Two", "Stars"])
    assert [(pair.one, pair.other) for pair in found.close] == [("One", "Two")]
    assert found.similarities[0][1] >= CLOSE > 2 * found.similarities[0][2]


def test_s14_two_halves_are_too_close_also_where_there_is_nothing_else():
    found = health(examples(["bees"] * 6, ["bees"] * 6), ["One", "Two"])
    assert [pair.similarity for pair in found.close] == [found.similarities[0][1]]
    assert health(examples(["bees"] * 6, ["stars"] * 6), ["One", "Two"]).close == []


def test_s14_likeness_does_not_grow_with_the_number_of_examples():
    few, many = (
        health(examples(["bees"] * n, ["stars", "bees"] * (n // 2)), ["A", "B"]).similarities[0][1] for n in (6, 30)
    )
    assert few == pytest.approx(many, abs=0.15)


def test_s14_a_wrong_example_is_named_with_the_topic_that_it_is_like():
    found = health(examples(["bees"] * 6 + ["bread"], ["stars"] * 7, ["bread"] * 7), ["Bees", "Stars", "Bread"])
    assert [(s.url, s.topic, s.nearer) for s in found.strays] == [("http://a.test/0-6", "Bees", "Bread")]
    assert found.strays[0].there > found.strays[0].own
    assert (by_name(found)["Bees"].back, by_name(found)["Bees"].away) == (6 / 7, {"Bread": 1})


def test_s14_the_words_of_a_topic_stand_for_it():
    found = health(examples(["bees"] * 6, ["stars"] * 6), ["Bees", "Stars"])
    assert len(by_name(found)["Bees"].words) == 8
    assert set(by_name(found)["Bees"].words) <= set(twenty.TOPICS["bees"])
    assert set(health(examples(["bees"] * 6), ["Bees"]).topics[0].words) <= set(twenty.TOPICS["bees"])


def test_s14_each_topic_knows_the_two_most_like_it():
    names = ["bees", "stars", "bread", "bees"]
    found = health(examples(*([name] * 6 for name in names)), ["A", "B", "C", "D"])
    assert [len(topic.nearest) for topic in found.topics] == [2] * 4
    assert (found.topics[0].nearest[0].topic, found.topics[3].nearest[0].topic) == ("D", "A")


def test_s2_topics_with_few_examples_are_named_and_nothing_is_said_of_their_closeness():
    found = health(examples(["bees"] * (ENOUGH - 1), ["bees"] * (ENOUGH - 1), ["stars"] * 6), ["One", "Two", "Stars"])
    assert (found.few, found.close) == (["One", "Two"], [])


def test_s14_a_single_example_is_not_compared_with_itself():
    found = health(examples(["bees"], ["stars"] * 5), ["Bees", "Stars"])
    assert (by_name(found)["Bees"].back, by_name(found)["Stars"].back) == (None, 1.0)
    assert found.strays == []


def test_s14_a_topic_alone_has_no_neighbours_but_may_have_an_example_unlike_the_others():
    found = health(examples(["bees"] * 7 + ["stars"]), ["Bees"])
    assert (found.topics[0].back, found.topics[0].nearest, found.similarities) == (None, [], [[1.0]])
    assert [(stray.url, stray.nearer) for stray in found.strays] == [("http://a.test/0-7", None)]
    assert health(examples(["bees"] * 8), ["Bees"]).strays == []


def test_s14_a_topic_without_examples_is_shown_by_those_below_it():
    found = health(examples([], ["bees"] * 6, ["stars"] * 6), ["Nature", "Nature / Bees", "Nature / Stars"])
    assert found.few == []
    assert health(examples([], ["bees"] * 6), ["Nature", "Naturejournals / Bees"]).few == ["Nature"]
    assert health(examples(["bees"], ["bees"] * 6), ["Nature", "Nature / Bees"]).few == ["Nature"]


def test_s14_no_topics_no_examples_and_no_words_are_no_trouble():
    assert health([], []) == Health([], [], [], [], [])
    assert health([], ["A", "B"]).few == ["A", "B"]
    silent = health([Example(i % 2, f"http://a.test/{i}", "the 1 2 3") for i in range(8)], ["A", "B"])
    assert (silent.close, silent.strays, silent.similarities[0][1]) == ([], [], 0.0)


def test_s14_the_same_page_everywhere_is_one_topic():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = health([Example(i % 2, f"http://a.test/{i}", "honey hive swarm") for i in range(8)], ["A", "B"])
    assert found.similarities[0][1] == pytest.approx(1.0, abs=0.2)
    assert found.close


def test_s14_pages_of_no_topic_are_left_out_and_the_order_of_examples_does_not_matter():
    given = examples(["bees"] * 6, ["stars"] * 6)
    away = [Example(NO_TOPIC, "http://b.test/", "x y z"), Example(UNLABELLED, "http://c.test/", "honey")]
    found = health(given, ["Bees", "Stars"])
    assert health(given + away, ["Bees", "Stars"]) == found
    turned = health(given[::-1], ["Bees", "Stars"])
    assert [topic.words for topic in turned.topics] == [topic.words for topic in found.topics]


def test_s14_it_goes_through_json():
    found = health(examples(["bees"] * 6 + ["stars"], ["stars"] * 7), ["Bees", "Stars"])
    assert msgspec.json.decode(msgspec.json.encode(found), type=Health) == found
