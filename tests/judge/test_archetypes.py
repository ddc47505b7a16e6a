from hypothesis import given
from hypothesis import strategies as st

from analecta.judge.training_set import archetypes, drifted

SURE = {1: 0.95, 2: 0.9, 3: 0.85, 4: 0.8, 5: 0.4}
SCORES = st.dictionaries(st.integers(0, 20), st.floats(0, 1), max_size=20)


def test_b9_top_authorities_and_top_confidences_join_in_turn():
    assert archetypes(SURE, {4: 0.9, 3: 0.5}, [0.5], most=2) == [1, 4]
    assert archetypes(SURE, {4: 0.9, 3: 0.5, 2: 0.1}, [0.5], most=3) == [1, 4, 2]


def test_b9_what_is_not_above_the_mean_of_the_training_does_not_join():
    assert archetypes(SURE, {5: 0.9, 4: 0.5}, [0.7, 0.9], most=2) == [1, 2]
    assert archetypes(SURE, SURE, [0.95], most=5) == []


def test_b9_no_more_join_than_the_shorter_list_has():
    assert archetypes(SURE, {3: 1.0}, [0.1], most=4) == [3]
    assert archetypes(SURE, {}, [0.1], most=4) == []


def test_b9_authorities_of_other_topics_and_of_nothing_are_no_candidates():
    assert archetypes(SURE, {99: 0.9, 4: 0.0, 3: 0.1}, [0.1], most=3) == [3]


def test_b9_without_training_documents_nothing_joins():
    assert archetypes(SURE, SURE, [], most=3) == []


@given(SCORES, SCORES, st.lists(st.floats(0, 1), max_size=5), st.integers(0, 10))
def test_b9_archetypes_are_few_sure_and_named_once(confidences, authorities, training, most):
    found = archetypes(confidences, authorities, training, most)
    assert len(set(found)) == len(found) <= min(most, len(authorities))
    assert all(confidences[page] > sum(training) / len(training) - 1e-12 for page in found)


def test_b9_a_retraining_that_keeps_the_person_s_examples_is_taken():
    assert drifted([0.86, 0.84, 0.8], [0.8, 0.79, 0.82]) == ""
    assert drifted([], []) == ""


def test_b9_a_retraining_that_makes_the_person_s_examples_worse_is_refused():
    assert drifted([0.9] * 4, [0.5] * 4) == "the mean confidence of your examples would fall from 0.90 to 0.50"
    assert drifted([0.9] * 8, [0.95] * 5 + [0.1] * 3).startswith("3 of your 8 examples")


def test_b9_a_lost_example_among_four_is_no_drift():
    assert drifted([0.9] * 4, [0.95] * 3 + [0.1]) == ""
