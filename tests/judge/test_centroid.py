import math
import random

import pytest

from analecta.errors import ResourceError, UsageError
from analecta.judge.centroid import Centroid, CentroidOptions
from analecta.model import Example
from tests.checks.judges import PAPER, TOPICS, VOCABULARY, examples, page, some_pages, text_of

# Four example pages with two topics, small enough to do the paper's sums by hand.
LIONS = ["lion lion savanna pride", "lion savanna mane prey", "lion mane prey pride pride", "lion savanna hunt"]
BOATS = ["boat sail sail harbour", "boat mast harbour", "boat sail anchor mast mast", "boat lion anchor"]


def by_hand(**settings):
    made = [Example(0, "", t) for t in LIONS] + [Example(1, "", t) for t in BOATS]
    options = CentroidOptions(**(PAPER | {"terms": 20, "correlation": 0.0, "threshold": 0.0} | settings))
    return Centroid(options).fit(made, ["lions", "boats"])


def test_s3_stop_words_are_out_and_words_are_not_stemmed():
    judge = Centroid().fit([Example(0, "", "The lion and the lions were running with other lions")], ["lions"])
    assert judge.dictionary_ == ["lion", "lions", "running"]


def test_s3_stop_words_are_those_of_the_page_s_language():
    german = Example(0, "", "Der Krieg und die Folgen sind nicht das, was man von der Zeit denkt, die war")
    english = Example(1, "", "The war was over and the men who had to die were not with us")
    judge = Centroid().fit([german, english], ["de", "en"])
    assert judge.weights_[judge.dictionary_.index("war")].tolist() == [0, 1 / 7]
    assert "und" not in judge.dictionary_


def test_s4_weight_is_tf_times_df_over_at_least_seven():
    judge = by_hand()
    weight = dict(zip(judge.dictionary_, judge.weights_.tolist(), strict=True))
    assert weight["lion"] == pytest.approx([5 * 4 / 7, 1 * 1 / 7])
    assert weight["pride"] == pytest.approx([3 * 2 / 7, 0])


def test_s4_only_the_heaviest_terms_are_kept_and_idf_is_log_n_over_df():
    judge = by_hand(terms=2)
    assert judge.dictionary_ == ["boat", "lion", "mast", "savanna"]  # mast ties with sail: the alphabet decides
    assert judge.idf_.tolist() == pytest.approx([math.log(8 / d) for d in (4, 5, 2, 3)])


def test_s5_correlation_is_the_cosine_over_the_dictionary():
    judge = by_hand(terms=2, min_shared=1)
    boat, lion, savanna = math.log(8 / 4) * 1, math.log(8 / 5) * 2, math.log(8 / 3) * 1
    c = (5 * 4 / 7, 3 * 3 / 7)  # lion, savanna
    expected = (c[0] * lion + c[1] * savanna) / math.hypot(*c) / math.hypot(boat, lion, savanna)
    verdict = judge.judge([page("Lion, savanna: a lion in a boat! Unknown words.")])[0]
    assert (verdict.topic, verdict.confidence) == (0, pytest.approx(0.5 + 0.5 * expected))


def test_s5_a_page_that_shares_too_few_words_is_others():
    judge = by_hand(min_shared=4)
    few, enough = judge.judge([page("lion lion savanna mane"), page("lion lion savanna mane prey")])
    assert (few.topic, few.confidence) == (-1, 0.0)
    assert enough.topic == 0


def test_s6_below_the_threshold_the_confidence_is_still_told():
    sure = by_hand(min_shared=1).judge([page("lion savanna boat")])[0].confidence
    verdict = by_hand(min_shared=1, threshold=sure + 0.01).judge([page("lion savanna boat")])[0]
    assert (verdict.topic, verdict.confidence, verdict.topics) == (-1, sure, ())


@pytest.mark.parametrize("line", [0.1, 0.3, 0.6, 1.0])
def test_s6_the_paper_s_correlation_is_a_confidence_of_one_half(line):
    correlation = 2 * by_hand(min_shared=1).judge([page("lion savanna boat")])[0].confidence - 1
    sure = by_hand(min_shared=1, correlation=line).judge([page("lion savanna boat")])[0].confidence
    above = 0.5 + 0.5 * (correlation - line) / (1 - line) if line < correlation else 0
    assert sure == pytest.approx(above or 0.5 * correlation / line)


def test_s8_a_word_that_is_on_every_page_seen_loses_weight():
    judge = by_hand(min_shared=1, live_idf=True, every=50)
    before = dict(zip(judge.dictionary_, judge.idf_, strict=True))
    judge.judge([page("lion menu contact")] * 49)
    assert judge.idf_.tolist() == list(before.values())
    judge.judge([page("lion menu contact")] * 2)
    after = dict(zip(judge.dictionary_, judge.idf_, strict=True))
    assert after["lion"] < before["lion"] < after["boat"]


def test_s8_live_verdicts_do_not_depend_on_how_pages_are_batched():
    pages = some_pages(50)
    one, many = (Centroid(CentroidOptions(live_idf=True, every=7)).fit(examples(), TOPICS) for _ in range(2))
    assert [v for p in pages for v in one.judge([p])] == many.judge(pages)


def test_s8_a_judge_saved_between_two_renewals_goes_on_alike(tmp_path):
    judge = Centroid(CentroidOptions(live_idf=True, every=7)).fit(examples(), TOPICS)
    judge.judge(some_pages(10))
    again = Centroid.load(tmp_path, judge.save(tmp_path))
    assert again.judge(some_pages(30)) == judge.judge(some_pages(30))


def test_s9_a_page_may_belong_to_two_topics():
    both = page(text_of(VOCABULARY[0] + VOCABULARY[1], random.Random(3), 200))
    verdict = Centroid(CentroidOptions(overlap=2)).fit(examples(), TOPICS).judge([both])[0]
    assert {topic for topic, _ in verdict.topics} == {0, 1}
    assert len(Centroid().fit(examples(), TOPICS).judge([both])[0].topics) == 1


def test_a_page_with_much_else_on_it_is_less_of_the_only_topic():
    made = [Example(0, "", " ".join(VOCABULARY[0]))]
    full = page(" ".join(VOCABULARY[0]))
    thin = page(" ".join(VOCABULARY[0]) + " " + text_of(VOCABULARY[1] + VOCABULARY[2], random.Random(6), 300))
    ours, papers = (Centroid(CentroidOptions(correlation=0, outside=x)).fit(made, ["astronomy"]) for x in (0.15, 0.0))
    assert [v.confidence for v in papers.judge([full, thin])] == pytest.approx([1, 1])
    correlations = [2 * v.confidence - 1 for v in ours.judge([full, thin])]
    assert correlations[0] > 2 * correlations[1] > 0


def test_the_paper_builds_no_centroid_from_fewer_than_four():
    judge = Centroid(CentroidOptions(**PAPER)).fit(examples(3), TOPICS)
    assert judge.dictionary_ == []


def test_explain_gives_the_words_that_make_the_correlation():
    judge = Centroid(CentroidOptions(correlation=0.0)).fit(examples(), TOPICS)
    seen = page("a star, a planet, an orbit, a comet and a violin")
    why = judge.explain(seen)
    assert {word for word, _ in why} == {"star", "planet", "orbit", "comet"}
    assert sum(weight for _, weight in why) == pytest.approx(2 * judge.judge([seen])[0].confidence - 1)


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_f41_a_changed_model_is_refused(tmp_path, ending):
    name = Centroid().fit(examples(), TOPICS).save(tmp_path)
    path = tmp_path / f"{name}.{ending}"
    path.write_bytes(path.read_bytes()[:-1] + b" ")
    with pytest.raises(UsageError, match="changed or damaged"):
        Centroid.load(tmp_path, name)


def test_f41_a_model_is_never_looked_for_outside_its_folder(tmp_path):
    with pytest.raises(UsageError):
        Centroid.load(tmp_path / "models", "../" + "a" * 32)
    with pytest.raises(ResourceError):
        Centroid.load(tmp_path, "a" * 32)
