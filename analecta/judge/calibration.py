"""One meaning for every judge's confidence: 0.5 is the line between yes and no, and the steepness is Platt's.

Scores come from cross-validation, so that they are what unseen pages would get. Platt's sigmoid is fitted to them with
his smoothed targets, and with weights as if one page in 1 + FARAWAY were on topic: a crawl meets few that are, but
training has as many as the person brought. Stock pages are no counter-examples here, being much farther off than
real pages. Where only they are known, the line lies at the mean of unseen examples. With few examples, too, a page
must come ALONE of the way from where counter-examples are to the scores that examples have in training; a single
example, which has no cross-validated score, gives no other line.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from analecta.arrays import Bools, Floats, Ints

ENOUGH = 5  # examples, and real counter-examples, from which Platt's sigmoid is fitted
FARAWAY = 8.0
ALONE = 0.33  # a judge may have its own
_FOLDS = 5
_SURE = 4.0  # log odds against a page as far off as most counter-examples are, where Platt cannot be asked


class ScoreLine(NamedTuple):
    """Where the line is among the scores, and how fast sureness grows with the distance from it."""

    middle: float
    slope: float


def confidence(scores: Floats, middle: Floats | float, slope: Floats | float) -> Floats:
    """Scores as confidences in [0, 1]."""
    return np.asarray(1 / (1 + np.exp(-np.clip(slope * (scores - middle), -30, 30))), np.float64)


def folds(yes: Bools) -> Ints:
    """A fold for every example, five or as many as there are: both sides are dealt out in turn."""
    n = min(_FOLDS, max(int(yes.sum()), 1))
    fold = np.zeros(len(yes), np.int64)
    for side in (yes, ~yes):
        fold[side] = np.arange(side.sum()) % n
    return fold


def cross_validated(yes: Bools, scores: Callable[[Bools], Floats]) -> Floats:
    """Each example's score by a learner that has not seen it; `scores` learns from some and scores all."""
    fold = folds(yes)
    unseen = np.zeros(len(yes))
    for k in range(int(fold.max()) + 1):
        unseen[fold == k] = scores(fold != k)[fold == k]
    return unseen


def line(yes: Bools, stock: Bools, trained: Floats, unseen: Floats, alone: float = ALONE) -> ScoreLine:
    """The line between yes and no, from the scores of examples in training and unseen."""
    real = ~yes & ~stock
    if yes.sum() >= ENOUGH and real.sum() >= ENOUGH:
        fitted = platt(unseen[yes | real], yes[yes | real])
        if fitted.slope > 0:  # and half of the examples get in, however hard they are to tell from the rest
            return fitted._replace(middle=min(fitted.middle, float(np.median(unseen[yes]))))
    off = float(np.median(unseen[real] if real.any() else unseen[~yes])) if (~yes).any() else 0.0
    middle = off + alone * (float(trained[yes].mean()) - off)
    if yes.sum() > 1:
        middle = max(middle, float(unseen[yes].mean()))
    middle = max(middle, off + 1e-6)
    return ScoreLine(middle, _SURE / (middle - off))


def platt(scores: Floats, yes: Bools, steps: int = 50) -> ScoreLine:
    """Platt's sigmoid by Newton's method; the sides weigh 1 to FARAWAY, whatever their numbers."""
    n, m = int(yes.sum()), int((~yes).sum())
    target = np.where(yes, (n + 1) / (n + 2), 1 / (m + 2))
    weight = np.where(yes, 1 / max(n, 1), FARAWAY / max(m, 1))
    spread = float(scores.std()) or 1.0
    x = np.stack([scores / spread, np.ones_like(scores)], axis=1)
    a = np.zeros(2)
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(x @ a, -30, 30)))
        gradient = x.T @ (weight * (p - target))
        hessian = (x.T * (weight * p * (1 - p))) @ x + 1e-9 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        a -= step * min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-10:
            break
    if a[0] <= 0:
        return ScoreLine(0.0, 0.0)
    return ScoreLine(float(-a[1] / a[0] * spread), float(a[0] / spread))
