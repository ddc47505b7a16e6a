import random

import pytest

from analecta.judge.profile import Profile
from analecta.model import NO_TOPIC, UNLABELLED, Example, Page

BEES = "bee hive honey queen swarm nectar pollen wax comb drone keeper meadow brood".split()
WASPS = "wasp sting nest paper hornet jar yellow gall larva prey hunter mud oak".split()
TOWNS = "town street mayor church market bridge station river parish county council mill square".split()
USUAL = "the a of and in is it page more home about contact read see which there their were".split()


def text(rng, *topics, usual=30):
    """A page with a dozen words of each topic among everyday ones."""
    return " ".join(rng.choices(USUAL, k=usual) + [word for topic in topics for word in rng.choices(topic, k=12)])


def page(words):
    return Page("http://a.example/", 0, "", "text/html", text=words)


@pytest.fixture
def rng():
    return random.Random(3)


def examples(rng, topic=0, words=BEES, count=6):
    return [Example(topic, f"http://e.example/{topic}/{i}", text(rng, words)) for i in range(count)]


def met(rng, words, count, topic=UNLABELLED):
    return [Example(topic, f"http://m.example/{words[0]}/{i}", text(rng, words)) for i in range(count)]


def test_b9_pages_met_join_the_examples_only_if_the_examples_vouch_for_them(rng):
    """A word that only pages met use: those about bees bring it into the topic, those about towns do not."""
    given = examples(rng) + met(rng, TOWNS, 20)
    about_bees = [Example(UNLABELLED, f"http://m.example/{i}", text(rng, BEES) + " propolis") for i in range(8)]
    about_towns = [Example(UNLABELLED, f"http://m.example/{i}", text(rng, TOWNS) + " propolis") for i in range(8)]
    joined, apart = (Profile().fit(given + more, ["bees"]) for more in (about_bees, about_towns))
    asked = page("propolis " * 3 + text(rng, BEES, usual=5))
    assert "propolis" in [word for word, _ in joined.explain(asked)]
    assert "propolis" not in [word for word, _ in apart.explain(asked)]


def test_what_was_met_teaches_what_is_usual_on_this_web(rng):
    site = "wiki portal category talk history random article donate".split()
    given = [Example(0, f"http://e.example/{i}", text(rng, BEES, site)) for i in range(5)]
    other = [Example(UNLABELLED, f"http://m.example/{i}", text(rng, TOWNS, site)) for i in range(30)]
    asked = [page(text(rng, site, TOWNS)), page(text(rng, BEES))]
    town, bees = Profile().fit(given + other, ["bees"]).judge(asked)
    assert town.topic == NO_TOPIC
    assert bees.topic == 0


def test_a_page_met_joins_the_topic_that_it_is_nearest_to(rng):
    given = examples(rng) + examples(rng, 1, WASPS) + met(rng, WASPS, 10) + met(rng, TOWNS, 20)
    judge = Profile().fit(given, ["bees", "wasps"])
    bees, wasps = judge.judge([page(text(rng, BEES)), page(text(rng, WASPS))])
    assert (bees.topic, wasps.topic) == (0, 1)


def test_an_example_that_is_doubted_counts_for_less(rng):
    wrong = Example(0, "http://e.example/wrong", text(rng, TOWNS))
    doubted = Example(0, "http://e.example/wrong", wrong.text, weight=0.2)
    given, asked = examples(rng) + met(rng, WASPS, 20), [page(text(rng, TOWNS))]
    full, less = (Profile().fit([*given, one], ["bees"]).judge(asked)[0].confidence for one in (wrong, doubted))
    assert less < full - 0.05


def test_one_example_vouches_for_nothing_and_examples_without_words_for_no_page(rng):
    given = [Example(0, "http://e.example/", text(rng, BEES)), Example(1, "http://e.example/none", "")]
    more = [Example(UNLABELLED, f"http://m.example/{i}", text(rng, BEES) + " propolis") for i in range(8)]
    judge = Profile().fit(given + more + met(rng, TOWNS, 20), ["bees", "nothing"])
    asked = page("propolis " * 3 + text(rng, BEES, usual=5))
    assert "propolis" not in [word for word, _ in judge.explain(asked)]
    assert [verdict.topic for verdict in judge.judge([asked, page("")])] == [0, NO_TOPIC]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("around", [0, 40])
def test_a_topic_of_one_example_beside_another_topic_takes_no_page_that_shares_nothing_with_it(rng, count, around):
    given = examples(rng, 0, BEES, count) + examples(rng, 1, TOWNS, 4) + met(rng, WASPS, around)
    judge = Profile().fit(given, ["bees", "towns"])
    unlike, alike = judge.judge([page("quasar nebula redshift galaxy dust orbit comet"), page(text(rng, BEES))])
    assert (unlike.topic, alike.topic) == (-1, 0)
    assert unlike.confidence < 0.5


def test_b19_examples_of_a_subtopic_show_the_topic_above_too(rng):
    """They do not speak against it, and what is plainly of the subtopic still goes there."""
    given = [*examples(rng, 0, WASPS), *examples(rng, 1, BEES), *met(rng, TOWNS, 30)]
    tree, flat = (Profile().fit(given, ["Insects", name]) for name in ("Insects / Bees", "Bees"))
    both = page(text(rng, WASPS, BEES))
    assert tree.judge([both])[0].topic == 0
    assert tree.judge([both])[0].confidence > flat.judge([both])[0].confidence
    assert tree.judge([page(text(rng, BEES))])[0].topic == 1
