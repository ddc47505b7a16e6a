import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import normalized_mutual_info_score as nmi

from analecta.analyse.clustering import best_number, condensed, directions, impurities, kmeans, nearest


def heaps(count, each=40, width=30, noise=0.02, seed=0):
    """Rows of length 1 in so many heaps, and which heap each is of."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(count), each)
    rows = rng.random((count, width))[of] ** 4 + noise * rng.random((len(of), width))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), of


def test_p7_heaps_that_are_apart_become_clusters():
    rows, of = heaps(6)
    found = kmeans(rows, 6, np.random.default_rng(3))
    assert nmi(found.of, of) == pytest.approx(1.0)
    assert found.mean > 0.98


def test_p7_the_same_seed_gives_the_same_and_length_does_not_matter():
    rows, _ = heaps(4, noise=0.5)
    one, same = (kmeans(rows, 4, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(one.of, same.of)
    assert np.array_equal(one.centres, same.centres)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 99))
def test_p7_no_cluster_is_empty_and_all_pages_are_with_the_nearest_centre(pages, k, seed):
    rows = condensed(csr_matrix(np.random.default_rng(seed).integers(0, 3, (pages, 4)).astype(np.float32)), None)
    found = kmeans(rows, k, np.random.default_rng(seed), starts=2)
    assert np.bincount(found.of, minlength=min(k, pages)).min() >= 1
    assert len(found.centres) == min(k, pages)


def test_p7_pages_that_are_all_alike_still_fill_the_clusters_asked_for():
    rows = np.tile(np.array([[0.6, 0.8]], np.float32), (10, 1))
    assert sorted(np.bincount(kmeans(rows, 3, np.random.default_rng(0)).of).tolist()) == [1, 1, 8]


def test_p7_many_pages_settle_around_centres_found_on_a_sample():
    rows, of = heaps(5, each=2400)
    found = kmeans(rows, 5, np.random.default_rng(1))
    assert nmi(found.of, of) == pytest.approx(1.0)
    assert np.array_equal(nearest(rows, found.centres)[0], found.of)


def test_p7_condensed_pages_keep_who_is_near_whom():
    rows, of = heaps(4, width=200, noise=0.5)
    across = directions(csr_matrix(rows), np.random.default_rng(0), 8)
    few = condensed(csr_matrix(rows), across)
    assert few.shape == (160, 8)
    assert nmi(kmeans(few, 4, np.random.default_rng(0)).of, of) == pytest.approx(1.0)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_b19_the_number_of_heaps_is_found(count):
    rows, _ = heaps(count, width=60, noise=0.3)
    found = impurities(csr_matrix(rows), np.random.default_rng(0), range(2, 9), splits=4)
    assert best_number(found) == count
    assert found[count] < 0.05


def test_b19_pages_that_do_not_fall_apart_are_one_cluster():
    rows = csr_matrix(np.random.default_rng(0).random((300, 40)).astype(np.float32))
    assert best_number(impurities(rows, np.random.default_rng(0), range(2, 7), splits=4)) == 1
    assert best_number({}) == 1


def test_b19_where_nothing_is_plain_two_clusters_are_not_enough_to_tell():
    assert best_number({2: 0.25, 3: 0.47, 4: 0.42, 5: 0.40, 6: 0.41}) == 5
    assert best_number({2: 0.0, 3: 0.02, 4: 0.3}) == 3
    assert best_number({2: 0.3}) == 2
