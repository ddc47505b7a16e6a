"""The solver of support vector machines. Only this module needs scikit-learn: it is imported when one is trained."""

import numpy as np
from sklearn import config_context
from sklearn.svm import SVC

from analecta.judge.arrays import Bools, Floats


def solve(products: Floats, yes: Bools, costs: Floats) -> tuple[Floats, float]:
    """The alphas of the examples and the bias; those without costs have no say."""
    some = np.flatnonzero(costs > 0)
    machine = SVC(kernel="precomputed", C=1.0, tol=1e-4)
    with config_context(assume_finite=True, skip_parameter_validation=True):  # its checks take longer than its work
        machine.fit(products[np.ix_(some, some)], yes[some], sample_weight=costs[some])
    alphas = np.zeros(len(yes))
    alphas[some[machine.support_]] = machine.dual_coef_[0]
    return alphas, float(machine.intercept_[0])
