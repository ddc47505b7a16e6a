import numpy as np
import pytest

from analecta.judge.svm import Hyperplane, TreeQuality, best_of, estimate, separate, unseen_scores, xi_alpha


def cloud(n, apart, seed=1):
    """Points of length 1 on two sides, and which side."""
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 1, (2 * n, 8))
    points[:n, 0] += apart
    points[n:, 0] -= apart
    points /= np.linalg.norm(points, axis=1)[:, None]
    return points @ points.T, np.arange(2 * n) < n


def test_two_points_are_parted_in_the_middle():
    plane = separate(np.eye(2), np.array([True, False]), np.full(2, 9.0))
    assert plane.scores(np.eye(2)) == pytest.approx([1, -1], abs=1e-3)
    assert plane.alphas == pytest.approx([1, -1], abs=1e-3)


def test_examples_of_no_weight_do_not_count():
    products, yes = cloud(10, 2)
    some = np.ones(20)
    some[[0, 15]] = 0
    assert separate(products, yes, some).alphas[[0, 15]].tolist() == [0, 0]


def test_one_side_alone_says_always_the_same():
    assert separate(np.eye(2), np.array([True, True]), np.ones(2)).bias > 0
    assert separate(np.eye(2), np.array([False, False]), np.ones(2)).bias < 0


def test_b7_xi_alpha_is_joachims_formula():
    products, yes = np.eye(4), np.array([True, True, False, False])  # R^2 = 1
    plane = Hyperplane(np.array([0.2, 0.6, -0.1, -0.1]), 0.9)  # 2 alpha + xi: 0.4 + 0, 1.2 + 0, and twice 0.2 + 1.8
    assert xi_alpha(plane, products, yes) == (pytest.approx(1 / 3), 0.5, 0.75)


@pytest.mark.parametrize("apart", [1.0, 2.0, 4.0])
def test_b7_xi_alpha_promises_no_more_than_cross_validation_shows(apart):
    products, yes = cloud(60, apart)
    costs = np.ones(120)
    promised = xi_alpha(separate(products, yes, costs), products, yes)
    seen = estimate(unseen_scores(products, yes, costs) >= 0, yes)
    assert promised.precision <= seen.precision + 1e-9
    assert promised.error >= seen.error - 1e-9


def test_b7_xi_alpha_chooses_where_it_promises_something_of_every_one():
    assert best_of([TreeQuality(0.4, 0.9), TreeQuality(0.6, 0.8)]) == 1
    assert best_of([TreeQuality(0.0, 0.9), TreeQuality(0.6, 0.8)]) == 0


def test_b7_what_is_easier_to_part_is_promised_to_be_better():
    hard, easy = (xi_alpha(separate(*cloud(60, a), np.ones(120)), *cloud(60, a)).precision for a in (1.0, 4.0))
    assert 0 <= hard < easy <= 1
