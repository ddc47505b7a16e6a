import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from analecta.judge.features import (
    Features,
    FeatureSpace,
    augmented,
    most_telling,
    mutual_information,
    plain_idf,
    tf_idf,
    unit,
)
from analecta.model import Example
from analecta.text.tokens import words


def named(space, counts):
    return [{space.names[j]: row[j] for j in np.flatnonzero(row)} for row in counts.toarray()]


def test_p4_words_are_stemmed_and_stop_words_are_out():
    space = FeatureSpace("terms")
    found = space.learn([Example(0, "", "The connections are connected, and he was connecting a connection")])
    assert list(named(space, found)[0].values()) == [4]


def test_forms_of_a_stem_that_no_example_had_are_found_too():
    space = FeatureSpace("terms")
    space.learn(
        [Example(0, "", "a crawl, the crawler; she walks, walked; we painted and were painting; reads and hunts")]
    )
    space.keep(np.arange(len(space.names)))
    found = named(space, space.count(words(["paints hunted hunting reading crawls"])))[0]
    assert {"hunts": 2, "reads": 1, "crawl": 1}.items() <= found.items()


def test_b6_pairs_are_near_each_other_in_any_order():
    space = FeatureSpace("pairs", window=2)
    space.learn([Example(0, "", "solar wind. wind solar! lunar one two three rock; lunar of the and rock")])
    assert space.names == ["solar wind"]
    space.keep(np.arange(1))
    assert space.count(words(["Wind, solar", "solar one two three wind", "solars winds"])).toarray().tolist() == [
        [1],
        [0],
        [1],
    ]


def test_b6_pairs_do_not_reach_from_page_to_page():
    space = FeatureSpace("pairs")
    space.learn([Example(0, "", "solar wind solar wind")])
    assert space.count(words(["lonely solar", "wind again"])).nnz == 0


def test_b6_anchors_have_their_own_stop_words():
    space = FeatureSpace("anchors")
    found = space.learn([Example(0, "", "text", anchors="click here: volcano page, read more, next, home")])
    assert named(space, found) == [{"volcano": 1}]


def test_b6_spaces_stand_side_by_side():
    features = Features(("terms", "anchors", "neighbours"))
    features.learn([Example(0, "", "lion", "savanna", "zebra"), Example(0, "", "lion", "", "lion")])
    features.keep(np.arange(len(features.names)))
    assert features.names == ["lion", "savanna (anchors)", "lion (neighbours)", "zebra (neighbours)"]
    found, others = features.count(words(["lion lion grass"]), words(["savanna"]), None)
    assert (found.toarray().tolist(), others.tolist()) == ([[2, 1, 0, 0]], [1])


def test_p4_equation_one():
    counts = csr_matrix(np.array([[4.0, 1, 0], [0, 0, 0], [0, 3, 3]]))
    weights = augmented(counts, plain_idf(3, np.array([1.0, 2, 1]))).toarray()
    assert weights[0] == pytest.approx([1 * math.log(3), (0.5 + 0.5 / 4) * math.log(1.5), 0])
    assert weights[2] == pytest.approx([0, math.log(1.5), math.log(3)])


def test_tf_idf_and_length():
    weights = unit(tf_idf(csr_matrix(np.array([[3.0, 4.0], [0, 0]])), np.ones(2), damp=False))
    assert weights.toarray().tolist() == [[0.6, 0.8], [0, 0]]
    assert unit(csr_matrix(np.array([[3.0]])), np.array([16.0])).toarray()[0, 0] == pytest.approx(3 / 5)


def test_b3_mutual_information_is_the_paper_s_formula():
    present = csr_matrix(np.array([[1.0, 1], [1, 0], [0, 1], [0, 1]]))
    inside = np.array([True, True, False, False])
    told = mutual_information(present, inside, np.ones(4))
    assert told == pytest.approx([0.5 * math.log(0.5 / (0.5 * 0.5)), 0.25 * math.log(0.25 / (0.75 * 0.5))])


def test_b3_the_most_frequent_are_ranked_by_what_they_tell():
    counts = csr_matrix(np.array([[9.0, 5, 1, 0], [9, 5, 0, 0], [9, 0, 0, 7]]))
    inside = np.array([True, True, False])
    assert most_telling(counts, inside, np.ones(3), candidates=2, kept=5).tolist() == [1]
    assert most_telling(counts, inside, np.ones(3), candidates=3, kept=5).tolist() == [1, 2]
