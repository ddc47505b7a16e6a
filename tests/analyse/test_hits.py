import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analecta.analyse.hits import LinkGraph, base_set, hits, settled

NODES = 12
LINKS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=60)


def ends(links) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array(links, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def dense(links, weights) -> tuple[np.ndarray, np.ndarray]:
    """Panorama's equation 5 as it is written there."""
    a = np.zeros((NODES, NODES))
    for s, d in links:
        a[s, d] = s != d
    d, hubs = np.diag(weights), np.ones(NODES)
    for _ in range(100):
        authorities = a.T @ d @ hubs
        hubs = a @ d @ authorities
        hubs, authorities = hubs / (np.linalg.norm(hubs) or 1), authorities / (np.linalg.norm(authorities) or 1)
    return hubs, authorities


def test_b12_a_page_linked_from_all_hubs_is_the_authority():
    hubs, authorities = hits(*ends([(0, 2), (1, 2), (1, 3)]), nodes=4)
    golden = (1 + 5**0.5) / 2  # the eigenvalue of this graph: 1 is worth so many times 0, and 2 so many times 3
    assert np.allclose(hubs, np.array([1, golden, 0, 0]) / np.hypot(1, golden))
    assert np.allclose(authorities, np.array([0, 0, golden, 1]) / np.hypot(1, golden))


def test_b12_a_host_has_one_voice_about_a_page():
    # Pages 0 to 3 of one host link to page 6; page 4 and page 5, each of its own host, link to page 7.
    links = ends([(0, 6), (1, 6), (2, 6), (3, 6), (4, 7), (5, 7)])
    hosts = [1, 1, 1, 1, 2, 3, 4, 5]
    assert np.argmax(hits(*links, nodes=8)[1]) == 6
    assert np.argmax(hits(*links, nodes=8, hosts=hosts)[1]) == 7


def test_b12_a_page_s_links_to_one_host_weigh_as_one_for_its_hub_score():
    links = ends([(0, 2), (0, 3), (0, 4), (1, 5), (1, 6), (1, 7)])
    hubs, _ = hits(*links, nodes=8, hosts=[1, 2, 3, 3, 3, 4, 5, 6], iterations=1)
    assert np.isclose(hubs[1] / hubs[0], 3)


def test_b12_links_within_a_host_do_not_count():
    hubs, authorities = hits(*ends([(0, 1), (1, 0), (2, 1)]), nodes=3, hosts=[7, 7, 9])
    assert np.allclose(hubs, [0, 0, 1])
    assert np.allclose(authorities, [0, 1, 0])


def test_p8_relevance_turns_the_scores_to_the_cluster():
    links = ends([(0, 3), (1, 3), (2, 3), (4, 6), (5, 6)])
    weights = [0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9]
    assert np.argmax(hits(*links, nodes=7)[1]) == 3
    assert np.argmax(hits(*links, nodes=7, weights=weights)[1]) == 6


@given(LINKS, st.lists(st.floats(0.1, 1), min_size=NODES, max_size=NODES))
def test_p8_scores_are_those_of_the_paper_s_equation(links, weights):
    for found, wanted in zip(hits(*ends(links), NODES, weights), dense(links, weights), strict=True):
        assert np.allclose(found, wanted, atol=1e-6)


@given(LINKS, st.lists(st.floats(-1, 1), min_size=NODES, max_size=NODES), st.lists(st.integers(0, 4), min_size=NODES))
def test_b12_scores_have_length_1_or_are_all_0(links, weights, hosts):
    for scores in hits(*ends(links), NODES, weights, hosts[:NODES]):
        assert (scores >= 0).all()  # which no NaN is
        assert np.isclose(np.linalg.norm(scores), 1) or not scores.any()


@given(LINKS, st.randoms())
def test_b12_neither_order_nor_repetition_of_links_matters(links, random):
    again = links + links[:5]
    random.shuffle(again)
    assert np.array_equal(hits(*ends(links), NODES), hits(*ends(again), NODES))


def test_b12_no_pages_no_links_no_relevance():
    assert [len(scores) for scores in hits([], [], 0)] == [0, 0]
    assert not np.any(hits([], [], 3))
    assert not np.any(hits([0], [1], 3, weights=[0, np.nan, -1]))


def test_b12_very_small_relevance_does_not_vanish():
    hubs, authorities = hits([0], [1], 3, weights=[1e-200, 1e-200, 1.0])
    assert (hubs[0], authorities[1]) == (1.0, 1.0)


def test_b12_the_base_set_has_all_successors_and_some_predecessors():
    src, dst = ends([(1, 8), (1, 9), (2, 1), (3, 1), (3, 1), (4, 1), (5, 2), (6, 7)])
    assert base_set([1], src, dst, 2).tolist() == [1, 2, 3, 8, 9]
    assert base_set([1], src, dst, 3).tolist() == [1, 2, 3, 4, 8, 9]


def test_b12_links_within_the_base_set_are_numbered_by_place():
    graph = LinkGraph([*range(100, 111)], np.arange(11), *ends([(1, 9), (2, 1), (3, 1), (9, 10)]))
    few = graph.among(np.array([1, 2, 9]))
    assert (few.src.tolist(), few.dst.tolist()) == ([0, 1], [2, 0])
    assert (few.ids, few.hosts.tolist()) == ([101, 102, 109], [1, 2, 9])
    assert base_set([], [], []).tolist() == []


def test_b12_redirects_are_followed_to_their_end():
    assert settled([1, 2, 3, 3, 4]).tolist() == [3, 3, 3, 3, 4]
    assert set(settled([1, 0, 2]).tolist()[:2]) <= {0, 1}
