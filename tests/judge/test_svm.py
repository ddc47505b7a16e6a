import random

import numpy as np
import pytest

from analecta.errors import UsageError
from analecta.judge import JUDGES
from analecta.judge.bayes import BayesOptions, NaiveBayes
from analecta.judge.committee import Committee, CommitteeOptions, decide
from analecta.judge.svm import Svm, SvmOptions, best_of
from analecta.model import Example
from analecta.text.tokens import words
from tests.checks.judges import TOPICS, VOCABULARY, examples, page, some_pages, text_of

BELOW = [[*VOCABULARY[0][:5], "science"], [*VOCABULARY[0][5:], "science"], VOCABULARY[1]]


def by_anchors(n=6):
    """Examples whose texts say nothing, but what links to them say does."""
    rng = random.Random(5)
    same = "some words that all pages share whatever they are"
    return [Example(t, str(i), f"{same} {i}", text_of(v, rng, 6)) for i in range(n) for t, v in enumerate(VOCABULARY)]


def test_b4_pages_go_down_the_tree_of_topics():
    judge = Svm().fit(examples(8, BELOW), ["Science / Stars", "Science / Stones", "Music"])
    found = judge.judge([page(text_of(v, random.Random(3))) for v in BELOW])
    assert [v.topic for v in found] == [0, 1, 2]


def test_b4_an_inner_topic_keeps_what_no_child_takes():
    vocabularies = [*BELOW[:1], [*VOCABULARY[2], "science"], VOCABULARY[1]]
    judge = Svm().fit(examples(8, vocabularies), ["Science / Stars", "Science", "Music"])
    found = judge.judge([page(text_of(v, random.Random(3))) for v in vocabularies])
    assert [v.topic for v in found] == [0, 1, 2]


def test_b3_no_more_features_are_kept_than_asked_for():
    judge = Svm(SvmOptions(kept=3)).fit(examples(), TOPICS)
    assert len(judge.idf_) <= 2 * 3 * 3


def test_b7_the_number_of_features_is_chosen_by_estimate():
    chosen = Svm(SvmOptions(kept=(1, 40))).fit(examples(), TOPICS)
    one, many = (Svm(SvmOptions(kept=n)).fit(examples(), TOPICS) for n in (1, 40))
    assert chosen.quality() == [one, many][best_of([one.quality(), many.quality()])].quality()
    assert one.quality() != many.quality()
    assert 0 <= chosen.estimates_[0, 0] <= 1


def test_an_example_of_weight_nothing_is_no_example():
    wrong = [Example(0, "", text_of(VOCABULARY[1], random.Random(1)), weight=0.0)]
    assert Svm().fit(examples() + wrong, TOPICS).judge(some_pages()) == Svm().fit(examples(), TOPICS).judge(
        some_pages()
    )


@pytest.mark.parametrize("make", [Svm, NaiveBayes])
def test_b5_pages_met_far_away_teach_what_is_not_meant(make):
    rng = random.Random(2)
    like = [Example(0, "", text_of(VOCABULARY[0] + VOCABULARY[1], rng)) for _ in range(8)]
    far = [Example(-1, "", text_of(VOCABULARY[1], rng)) for _ in range(8)]
    asked = [page(text_of(VOCABULARY[1], rng))]
    without, taught = (make().fit(given, ["astronomy"]).judge(asked)[0] for given in (like, like + far))
    assert taught.topic == -1
    assert taught.confidence < without.confidence


def test_b6_anchors_can_decide_where_texts_do_not():
    judge = Svm(SvmOptions(["anchors"])).fit(by_anchors(), TOPICS)
    assert judge.needs == {"anchors"}
    texts, anchors = words(["some words"] * 3), words([text_of(v, random.Random(1), 5) for v in VOCABULARY])
    assert [v.topic for v in judge.judge_words(texts, anchors)] == [0, 1, 2]
    assert {v.topic for v in judge.judge_words(texts)} == {-1}


def test_b7_the_best_member_is_the_one_that_can_tell():
    committee = Committee(CommitteeOptions("best", ["terms", "anchors"])).fit(by_anchors(), TOPICS)
    assert committee.needs == {"anchors"}


def test_b8_members_that_learnt_nothing_or_see_nothing_abstain():
    committee = Committee(CommitteeOptions("unanimous")).fit(
        examples(), TOPICS
    )  # neither anchors nor neighbours were given
    alone = [v.topic for v in committee.judge([page(text_of(v, random.Random(1))) for v in VOCABULARY])]
    assert alone == [0, 1, 2]
    assert set(committee.asked_) == {"terms", "pairs"}


@pytest.mark.parametrize(("mode", "sure"), [("unanimous", 0.2), ("majority", 0.6), ("weighted", 0.5), ("best", 0.6)])
def test_b8_the_ways_to_decide(mode, sure):
    weights = np.array([[1.0], [2.0], [1.0]])
    votes = np.array([[[0.6]], [[0.7]], [[0.2]]]) if mode != "weighted" else np.array([[[0.6]], [[0.6]], [[0.2]]])
    assert decide(mode, votes, weights)[0, 0] == pytest.approx(sure)
    assert decide(mode, np.where(votes < 0.5, np.nan, votes), weights)[0, 0] >= 0.6 - 1e-12


def test_b8_a_tie_is_no_majority():
    assert decide("majority", np.array([[[0.9]], [[0.1]]]), np.ones((2, 1)))[0, 0] == 0.1


def test_b8_an_unknown_way_to_decide_is_refused():
    with pytest.raises(UsageError, match="unanimous"):
        Committee(CommitteeOptions("loudest"))


@pytest.mark.parametrize("name", JUDGES)
def test_f41_a_model_of_another_judge_is_refused(tmp_path, name):
    model = JUDGES[name]().fit(examples(), TOPICS).save(tmp_path)
    for other in JUDGES.keys() - {name}:
        with pytest.raises(UsageError, match="not made by"):
            JUDGES[other].load(tmp_path, model)


def test_p3_negatives_weigh_twice_as_much_however_many_there_are():
    few, many = ([*examples(), *[Example(-1, "", "xylophone glockenspiel")] * n] for n in (3, 300))
    judges = [
        NaiveBayes(BayesOptions(stock=0)).fit(given, TOPICS[:1])
        for given in ([e for e in g if e.topic < 1] for g in (few, many))
    ]
    assert judges[0].judge(some_pages()[:1])[0].topic == judges[1].judge(some_pages()[:1])[0].topic == 0


def test_explaining_names_whole_words():
    why = Svm().fit(examples(), TOPICS).explain(page("galaxies, a telescope and comets"))
    assert {"galaxy", "telescope", "comet"} <= {name for name, _ in why}
