import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.judge.calibration import confidence, cross_validated, folds, line, platt

NONE = np.zeros(20, np.bool_)


def scored(on, off):
    return np.array(on + off, float), np.array([True] * len(on) + [False] * len(off))


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=9), st.lists(st.floats(-50, 50), min_size=1, max_size=9))
def test_every_line_gives_confidences_that_rise_with_the_score(on, off):
    scores, yes = scored(on, off)
    for stock in (np.zeros(len(yes), np.bool_), ~yes):
        sure = confidence(np.sort(scores), *line(yes, stock, scores, scores))
        assert ((sure >= 0) & (sure <= 1)).all()
        assert (np.diff(sure) >= 0).all()


def test_platt_puts_the_line_between_and_keeps_his_smoothed_targets():
    scores, yes = scored([2.0] * 10, [-2.0] * 10)
    fitted = platt(scores, yes)
    assert confidence(np.array([2.0, -2.0]), *fitted) == pytest.approx([11 / 12, 1 / 12], abs=1e-6)


def test_half_of_the_examples_get_in_however_mixed_up_all_is():
    rng = np.random.default_rng(1)
    scores, yes = scored(rng.normal(0.3, 1, 10).tolist(), rng.normal(0, 1, 10).tolist())
    assert (confidence(scores[yes], *line(yes, NONE, scores, scores)) >= 0.5).sum() >= 5


def test_stock_pages_do_not_draw_the_line_to_themselves():
    on, off = [1.0, 1.1, 0.9, 1.2, 0.8], [-9.0] * 5
    scores, yes = scored(on, off)
    assert line(yes, ~yes, scores, scores).middle > 0.8


def test_one_example_has_a_line_below_it():
    scores, yes = scored([1.0], [-1.0] * 9)
    sure = confidence(np.array([1.0, 0.0, -1.0]), *line(yes, ~yes, scores, scores))
    assert sure[0] > 0.9
    assert sure[2] < 0.1


def test_no_example_is_scored_by_a_learner_that_saw_it():
    yes = np.array([True] * 3 + [False] * 7)
    seen = []
    unseen = cross_validated(yes, lambda some: seen.append(some) or np.where(some, 1.0, 2.0))
    assert unseen.tolist() == [2.0] * 10
    assert len(seen) == folds(yes).max() + 1 == 3
