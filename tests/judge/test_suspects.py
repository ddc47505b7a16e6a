import random

from analecta.judge.suspects import ENOUGH, doubtful
from analecta.model import Example
from tests.crawl import twenty


def text(rng, topic):
    own, common = rng.sample(twenty.TOPICS[topic], 9) if topic else twenty.COMMON, twenty.COMMON
    return " ".join(rng.choice(own if rng.random() < 0.3 else common) for _ in range(160))


def examples(rng, *topics):
    """Examples of topic 0, 1 and so on: each of the topics named, one after another."""
    return [
        Example(number, f"http://a.test/{number}-{i}", text(rng, name))
        for number, names in enumerate(topics)
        for i, name in enumerate(names)
    ]


def test_b9_right_examples_are_not_doubted():
    given = examples(random.Random(1), ["bees"] * 8, ["stars"] * 8, ["bread"] * 8)
    assert doubtful(given) == {}


def test_b9_an_example_is_doubted_that_sits_with_those_of_another_topic():
    given = examples(random.Random(1), ["bees"] * 7 + ["bread"], ["stars"] * 8, ["bread"] * 8)
    assert doubtful(given) == {"http://a.test/0-7": 2}


def test_b9_wrong_examples_of_one_kind_do_not_vouch_for_one_another():
    given = examples(random.Random(1), ["bees"] * 5 + ["stars"] * 3, ["stars"] * 8)
    assert doubtful(given) == {f"http://a.test/0-{i}": 1 for i in (5, 6, 7)}


def test_b9_where_a_topic_is_alone_the_smaller_group_is_doubted_once_some_pages_were_met():
    rng = random.Random(1)
    given = examples(rng, ["bees"] * 5 + ["stars"] * 3)
    met = [text(rng, "") for _ in range(ENOUGH)]
    assert doubtful(given, met) == {f"http://a.test/0-{i}": -1 for i in (5, 6, 7)}
    assert doubtful(given, met[1:]) == {}


def test_b9_two_halves_are_not_doubted_nor_pages_that_have_little_in_common():
    rng = random.Random(1)
    met = [text(rng, "") for _ in range(ENOUGH)]
    assert doubtful(examples(rng, ["bees"] * 4 + ["stars"] * 4), met) == {}
    assert doubtful(examples(rng, [*list(twenty.NAMES)[:6], "bees", "bees"]), met) == {}


def test_b9_few_examples_and_pages_without_words_are_no_trouble():
    assert doubtful([]) == doubtful(examples(random.Random(1), ["bees"], ["stars"])) == {}
    empty = [Example(i % 2, f"http://a.test/{i}", "") for i in range(8)]
    assert doubtful(empty) == doubtful([Example(0, e.url, "") for e in empty], ["", *["word"] * ENOUGH]) == {}
