"""How good a crawl was: recall, harvest, area, precision by rank, and whether one way beats another.

A crawl is an array with one entry for each page, in the order of fetching: whether it was on topic, or how probably.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]


def recall_curve(hits: Sequence[bool], relevant: int) -> Floats:
    """The share of the relevant pages that has been found after 0, 1, 2, ... fetches."""
    found = np.concatenate(([0.0], np.cumsum(np.asarray(hits, np.float64))))
    return found / max(relevant, 1)


def harvest_curve(worth: Sequence[float]) -> Floats:
    """H_t of P11: the mean worth of the first t pages, for t = 1, 2, ..."""
    values = np.asarray(worth, np.float64)
    return np.asarray(np.cumsum(values) / np.arange(1, len(values) + 1), np.float64)


def after(curve: Floats, fetches: float) -> float:
    """A curve's value after so many fetches; a crawl that had nothing left to fetch stays where it was."""
    return float(curve[min(round(fetches), len(curve) - 1)]) if len(curve) else 0.0


def area(curve: Floats, fetches: int) -> float:
    """The area under a recall curve up to so many fetches, as a share of what finding all at once would give."""
    return float(np.mean([after(curve, t) for t in range(1, fetches + 1)])) if fetches else 0.0


def mean_of(worth: Sequence[float]) -> float:
    """The harvest rate of a whole crawl."""
    return float(np.mean(worth)) if len(worth) else 0.0


def capped(hits: Sequence[bool], hosts: Sequence[str], most: int = 5) -> float:
    """The harvest rate where a host counts for `most` on-topic pages: one rich host does not make a good crawl."""
    counted = Counter(host for hit, host in zip(hits, hosts, strict=True) if hit)
    return sum(min(n, most) for n in counted.values()) / len(hits) if len(hits) else 0.0


def precision_at(hits: Sequence[bool], confidences: Sequence[float], ranks: Sequence[int]) -> list[float]:
    """The share of on-topic pages among the best so many by confidence (S17); pages that lack count as wrong."""
    order = np.argsort(-np.asarray(confidences, np.float64), kind="stable")
    found = np.concatenate(([0.0], np.cumsum(np.asarray(hits, np.float64)[order])))
    return [after(found, rank) / rank for rank in ranks]


def recall_of_best(hits: Sequence[bool], confidences: Sequence[float], relevant: int, most: int) -> float:
    """The share of the relevant pages among the best `most` by confidence (B21)."""
    order = np.argsort(-np.asarray(confidences, np.float64), kind="stable")[:most]
    return float(np.asarray(hits, np.float64)[order].sum()) / max(relevant, 1)


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its standard error, which is 0 where there is one value only."""
    if not len(values):
        return 0.0, 0.0
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return float(np.mean(values)), error


def paired_t(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Student's t for pairs and the one-tailed p that ours are no better (P11); (0, 1) where nothing can be said."""
    differences = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    if len(differences) < 2 or float(np.ptp(differences)) < 1e-12:
        return 0.0, 1.0
    found = stats.ttest_1samp(differences, 0.0, alternative="greater")
    return float(found.statistic), float(found.pvalue)
