import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import homogeneity_score

from analecta.analyse.clustering import impurity

SORTED = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60)


@settings(max_examples=30, deadline=None)
@given(SORTED)
def test_b19_impurity_is_what_scikit_learn_calls_a_lack_of_homogeneity(pairs):
    one, other = zip(*pairs, strict=True)
    assert impurity(one, other) == pytest.approx(1 - homogeneity_score(other, one), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(SORTED)
def test_b19_impurity_is_none_where_clusters_are_the_classes_under_other_names(pairs):
    one = np.array([pair[0] for pair in pairs])
    assert impurity(one, 7 - one) == pytest.approx(0.0, abs=1e-9)
    assert -1e-9 <= impurity(one, [pair[1] for pair in pairs]) <= 1 + 1e-9


def test_b19_impurity_is_whole_where_clusters_say_nothing():
    assert impurity([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(1.0)
