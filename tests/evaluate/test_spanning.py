import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.evaluate.communities import quality, spanning_clusters

EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 1000)), min_size=1, max_size=40)


def groups(of):
    return {frozenset(np.flatnonzero(of == one).tolist()) for one in set(of.tolist())}


@given(EDGES)
def test_c6_cut_to_as_many_as_heavy_links_connect_is_what_they_connect(edges):
    edges = [(a, b, w / 1000) for a, b, w in edges if a != b]
    src, dst, weight = (np.array([edge[i] for edge in edges], kind) for i, kind in enumerate((int, int, float)))
    graph = nx.Graph((a, b) for a, b, w in edges if w >= 0.5)
    graph.add_nodes_from(range(10))
    expected = set(map(frozenset, nx.connected_components(graph)))
    assert groups(spanning_clusters(src, dst, weight, 10, len(expected))) == expected


def test_c6_cut_to_k_takes_the_lightest_links_away():
    src, dst, weight = np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([0.5, 0.1, 0.4])
    assert groups(spanning_clusters(src, dst, weight, 4, 2)) == {frozenset({0, 1}), frozenset({2, 3})}


def test_c6_quality_is_by_largest_overlap():
    found = quality([[1, 2, 3, 4], [5, 6]], [[1, 2, 3, 9], [4, 5]])
    assert (found.precision, found.recall) == (pytest.approx((3 / 4 + 1 / 2) / 2), pytest.approx((3 / 4 + 1 / 2) / 2))
    assert quality([[1]], [[2]]).f == 0
