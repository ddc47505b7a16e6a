"""The linear support vector machine, solved in its dual, and what the dual tells: Joachims' xi-alpha estimate (B7).

The training set of a node is a few hundred pages, so all their scalar products fit into one small matrix. libsvm
solves on that in 5 ms for 600 pages (liblinear takes 8 ms), and gives the alphas that the estimate needs.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analecta.judge.calibration import cross_validated

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_RHO = 2.0  # Joachims' constant for the bound
_PROMISE = 0.1  # F1 below which xi-alpha says nothing


class Estimate(NamedTuple):
    """How good a classifier will be on pages not seen, as known from its training alone."""

    precision: float
    recall: float
    error: float

    @property
    def f1(self) -> float:
        """Precision and recall in one: a classifier that says yes to one page only is precise, and no use."""
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-12)


class Quality(NamedTuple):
    """The mean F1 over the nodes of a tree, by xi-alpha and by cross-validation."""

    promised: float
    seen: float


def best_of(qualities: Sequence[Quality]) -> int:
    """Which is best: by xi-alpha, if that promises something of every one, else by cross-validation."""
    by_promise = all(q.promised >= _PROMISE for q in qualities)
    marks = [q.promised if by_promise else q.seen for q in qualities]
    return marks.index(max(marks))


class Plane(NamedTuple):
    """A separating hyperplane in the dual: `alphas` carry the sign of their side."""

    alphas: Floats
    bias: float

    def scores(self, products: Floats) -> Floats:
        """Distances of all examples, in units of the margin."""
        return np.asarray(products @ self.alphas + self.bias, np.float64)


def separate(products: Floats, yes: Bools, costs: Floats) -> Plane:
    """The plane with the widest margin between yes and no; an example may cost so much at most."""
    # scikit-learn takes 1.1 s and 73 MB to import; processes that only judge do without.
    from sklearn import config_context
    from sklearn.svm import SVC

    alphas = np.zeros(len(yes))
    some = np.flatnonzero(costs > 0)
    if not (yes[some].any() and (~yes[some]).any()):
        return Plane(alphas, 1.0 if yes[some].any() else -1.0)
    machine = SVC(kernel="precomputed", C=1.0, tol=1e-4)
    with config_context(assume_finite=True, skip_parameter_validation=True):  # its checks take longer than its work
        machine.fit(products[np.ix_(some, some)], yes[some], sample_weight=costs[some])
    alphas[some[machine.support_]] = machine.dual_coef_[0]
    return Plane(alphas, float(machine.intercept_[0]))


def unseen_scores(products: Floats, yes: Bools, costs: Floats) -> Floats:
    """The scores of the examples by planes that were found without them."""
    return cross_validated(yes, lambda some: separate(products, yes, costs * some).scores(products))


def xi_alpha(plane: Plane, products: Floats, yes: Bools) -> Estimate:
    """Joachims' estimate: an example with 2 alpha R^2 + xi >= 1 might be an error if it were left out.

    It never promises too much, and with fewer than some 50 examples of a topic promises little: nearly each of them
    carries the plane then, and the precision comes out as 0.
    """
    margin = np.where(yes, 1.0, -1.0) * plane.scores(products)
    slack = np.maximum(0.0, 1.0 - margin)
    radius = float((products.diagonal()[:, None] - products).max(initial=0.0))
    doubtful = _RHO * np.abs(plane.alphas) * radius + slack >= 1
    missed, let_in = int((doubtful & yes).sum()), int((doubtful & ~yes).sum())
    right = int(yes.sum()) - missed
    return Estimate(
        right / (right + let_in) if right else 0.0,
        right / max(int(yes.sum()), 1),
        (missed + let_in) / max(len(yes), 1),
    )


def observed(scores: Floats, yes: Bools, middle: float) -> Estimate:
    """The same from the scores of unseen examples: what cross-validation says."""
    said = scores >= middle
    right, let_in, missed = int((said & yes).sum()), int((said & ~yes).sum()), int((~said & yes).sum())
    return Estimate(
        right / max(right + let_in, 1), right / max(int(yes.sum()), 1), (let_in + missed) / max(len(yes), 1)
    )
