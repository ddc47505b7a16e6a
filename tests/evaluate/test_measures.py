import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.evaluate.scores import (
    after,
    area,
    capped,
    harvest_curve,
    mean_and_error,
    mean_of,
    paired_t,
    precision_at,
    recall_curve,
    recall_of_best,
)

CRAWL = [True, False, True, True, False, False]


def test_recall_counts_what_was_found_so_far():
    assert recall_curve(CRAWL, 4).tolist() == [0, 0.25, 0.25, 0.5, 0.75, 0.75, 0.75]
    assert recall_curve([], 4).tolist() == [0]


def test_a_crawl_that_is_over_stays_where_it_was():
    curve = recall_curve(CRAWL, 4)
    assert [after(curve, t) for t in (0, 3, 6, 1000)] == [0, 0.5, 0.75, 0.75]


def test_the_area_is_the_mean_height_of_the_curve():
    assert area(recall_curve([True, True], 2), 4) == (0.5 + 1 + 1 + 1) / 4
    assert area(recall_curve([], 2), 0) == 0


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.randoms())
def test_finding_earlier_never_makes_the_area_smaller(hits, rng):
    best = sorted(hits, reverse=True)
    size, span = max(sum(hits), 1), len(hits) + rng.randrange(20)
    assert area(recall_curve(best, size), span) >= area(recall_curve(hits, size), span) - 1e-12


def test_p11_harvest_is_the_mean_worth_of_the_first_pages():
    assert harvest_curve([1.0, 0.5, 0.0]).tolist() == [1.0, 0.75, 0.5]
    assert mean_of([1.0, 0.5, 0.0]) == 0.5


def test_a_rich_host_counts_for_five_pages():
    hosts = ["a"] * 8 + ["b"] * 2
    assert capped([True] * 10, hosts) == 0.7
    assert capped([True] * 10, hosts, most=1) == 0.2


def test_s17_precision_is_by_rank_of_confidence_and_missing_pages_are_wrong():
    assert precision_at([False, True, True], [0.1, 0.9, 0.8], (1, 2, 3, 6)) == pytest.approx([1, 1, 2 / 3, 1 / 3])


def test_b21_recall_is_of_the_best_by_confidence():
    assert recall_of_best([False, True, True], [0.9, 0.8, 0.1], 4, 2) == 0.25


def test_the_standard_error_is_that_of_the_mean():
    mean, error = mean_and_error([1.0, 2.0, 3.0, 4.0])
    assert (mean, error) == pytest.approx((2.5, np.std([1, 2, 3, 4], ddof=1) / 2))
    assert mean_and_error([3.0]) == (3.0, 0.0)


def test_p11_the_t_test_is_paired_and_one_tailed():
    # Student's sleep data of 1908, the first paired t-test there was: t = 4.0621 with 9 degrees of freedom.
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    t, p = paired_t(second, first)
    assert (t, p) == pytest.approx((4.0621, 0.001416), abs=1e-4)
    assert paired_t(first, second)[1] == pytest.approx(1 - p)


def test_where_nothing_differs_nothing_is_shown():
    assert paired_t([0.5, 0.6], [0.5, 0.6]) == (0.0, 1.0)
    assert paired_t([0.5], [0.1]) == (0.0, 1.0)
