import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from analecta.analyse.clustering import impurity, nmi, purity

SORTED = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60)


def test_p7_purity_counts_the_commonest_class_of_each_cluster():
    assert purity([0, 0, 0, 1, 1, 1], list("aabbbc")) == pytest.approx(4 / 6)
    assert purity([5, 5, 9], ["x", "x", "y"]) == 1.0


@settings(max_examples=30, deadline=None)
@given(SORTED)
def test_p7_nmi_is_that_of_scikit_learn(pairs):
    one, other = zip(*pairs, strict=True)
    assert nmi(one, other) == pytest.approx(normalized_mutual_info_score(one, other), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(SORTED)
def test_b19_impurity_is_none_where_clusters_are_the_classes_under_other_names(pairs):
    one = np.array([pair[0] for pair in pairs])
    assert impurity(one, 7 - one) == pytest.approx(0.0, abs=1e-9)
    assert -1e-9 <= impurity(one, [pair[1] for pair in pairs]) <= 1 + 1e-9


def test_b19_impurity_is_whole_where_clusters_say_nothing():
    assert impurity([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(1.0)
    assert nmi([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(0.0)
