"""A crawl's figures: what it fetched, held against what is on topic and can be reached."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from scipy import stats

from analecta.arrays import Floats
from analecta.evaluate.crawls import CrawlTask, CrawlTrace, recipe_label
from analecta.evaluate.graph import PageGraph
from analecta.evaluate.questions import EvaluationTask

STEP = 0.1  # curves have a point every tenth of R
RANKS = tuple(range(1, 101))
BEST = (1000, 5000)  # B21
_NAMES = {"size": "R", "recall_r": "recall_R", "recall_2r": "recall_2R", "recall_4r": "recall_4R"}


class TopicScore(msgspec.Struct, kw_only=True, rename=_NAMES):
    """The figures of one topic of a crawl of several. Fetches are counted in R of the whole crawl."""

    size: int
    recall_r: float | None
    recall_2r: float | None
    recall_4r: float | None
    positive: int  # pages that the judge put there
    right: int  # and those of them that belong there


class CrawlScore(msgspec.Struct, kw_only=True, rename=_NAMES):
    """The figures of one crawl. A recall that the budget does not reach is null."""

    recipe: str
    topic: str
    draw: int
    size: int
    recall_r: float | None
    recall_2r: float | None
    recall_4r: float | None
    area: float
    harvest: float
    harvest_cap5: float
    relevant_hosts: int
    pages: int
    cpu_ms_per_page: float | None = None
    seconds: float | None = None
    seeds: int
    budget: int
    reason: str = ""
    visited: int | None = None
    stored: int | None = None
    positive: int | None = None
    hosts: int = 0
    depth: int | None = None
    precision_at_10: float | None = None
    precision_at_50: float | None = None
    recall_best: dict[str, float] = {}
    topics: dict[str, TopicScore] = {}
    recall_curve: list[float] = []
    harvest_curve: list[float] = []
    confidence_curve: list[float] = []
    precision_curve: list[float] = []


def score_order(name: str, question: EvaluationTask, order: Sequence[int], graph: PageGraph) -> CrawlScore:
    """The figures of pages fetched in an order, of which nothing else is known (breadth-first, oracle)."""
    hosts = [graph.hosts[page] for page in order]
    return _figures(name, question, order, hosts)


def score(task: CrawlTask, trace: CrawlTrace, question: EvaluationTask, graph: PageGraph) -> CrawlScore:
    """The figures of a crawl."""
    fetched = trace.fetched[: question.budget]
    pages = [graph.number.get(page.id, -1) for page in fetched]
    run = _figures(recipe_label(task.recipe), question, pages, [page.host for page in fetched])
    run.cpu_ms_per_page = 1000 * trace.cpu / max(len(trace.fetched), 1)
    run.seconds, run.reason = trace.seconds, trace.reason
    run.visited, run.stored = trace.tally.answers, sum(not page.twin for page in fetched)
    run.positive = sum(bool(page.topic) for page in fetched)
    run.depth = max((page.depth for page in fetched), default=0)
    _rank(run, trace, question, pages)
    if len(question.relevant) > 1:
        run.topics = {name: _part(name, question, trace, pages) for name in question.relevant}
    return run


def _figures(name: str, question: EvaluationTask, pages: Sequence[int], hosts: Sequence[str]) -> CrawlScore:
    relevant, size = question.all_relevant, question.size
    hits = [page in relevant for page in pages]
    worth = [float(hit) for hit in hits]
    if question.worth is not None:
        worth = [question.worth.get(page, 0.0) for page in pages]
    curve = recall_curve(hits, size)
    return CrawlScore(
        recipe=name,
        topic=question.topic,
        draw=question.draw,
        size=size,
        **_recalls(curve, question),
        area=area(curve, min(4 * size, question.budget)),
        harvest=mean_of(worth),
        harvest_cap5=capped(hits, hosts),
        relevant_hosts=len({host for hit, host in zip(hits, hosts, strict=True) if hit}),
        pages=len(hits),
        seeds=len(question.all_seeds),
        budget=question.budget,
        hosts=len(set(hosts)),
        recall_curve=_thinned(curve, question),
        harvest_curve=_thinned(_from_one(harvest_curve(worth)), question),
    )


def _rank(run: CrawlScore, trace: CrawlTrace, question: EvaluationTask, pages: Sequence[int]) -> None:
    """Pages ranked by confidence, in the collection that the judge put them in (S17, B21)."""
    fetched, seeds = trace.fetched[: len(pages)], set(question.all_seeds)
    right = [n in question.relevant.get(page.topic, ()) for n, page in zip(pages, fetched, strict=True)]
    sure = [page.confidence if page.topic else 0.0 for page in fetched]
    found = [i for i, n in enumerate(pages) if n not in seeds]  # the seeds were given: to rank them high is no feat
    run.precision_curve = precision_at([right[i] for i in found], [sure[i] for i in found], RANKS)
    run.precision_at_10, run.precision_at_50 = run.precision_curve[9], run.precision_curve[49]
    run.recall_best = {str(most): recall_of_best(right, sure, question.size, most) for most in BEST}
    run.recall_best["all"] = recall_of_best(right, sure, question.size, len(right))
    run.confidence_curve = _thinned(_from_one(harvest_curve(sure)), question)


def _part(name: str, question: EvaluationTask, trace: CrawlTrace, pages: Sequence[int]) -> TopicScore:
    relevant = question.relevant[name]
    curve = recall_curve([page in relevant for page in pages], len(relevant))
    placed = [n for n, page in zip(pages, trace.fetched, strict=False) if page.topic == name]
    return TopicScore(
        size=len(relevant),
        **_recalls(curve, question),
        positive=len(placed),
        right=sum(n in relevant for n in placed),
    )


def _recalls(curve: Floats, question: EvaluationTask) -> dict[str, Any]:
    """What a recall curve has reached after R, 2R and 4R fetches."""
    reached = {"recall_r": question.size, "recall_2r": 2 * question.size, "recall_4r": 4 * question.size}
    return {name: after(curve, n) if n <= question.budget else None for name, n in reached.items()}


def _from_one(curve: Floats) -> Floats:
    """A curve that begins with the first page, moved so that it can be read after so many fetches."""
    return np.concatenate((curve[:1], curve))


def _thinned(curve: Floats, question: EvaluationTask) -> list[float]:
    """A curve at 0, R/10, 2R/10, ... as far as the budget goes, 4R at most."""
    points = [question.size * i * STEP for i in range(round(4 / STEP) + 1)]
    return [round(after(curve, t), 5) for t in points if round(t) <= question.budget]


# --- How good a crawl was: recall, harvest, area, precision by rank, and whether one way beats another ---------------
# A crawl is an array with one entry for each page, in the order of fetching: whether it was on topic, or how probably.


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
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return mean_of(values), error


def paired_t(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Student's t for pairs and the one-tailed p that ours are no better (P11); (0, 1) where nothing can be said."""
    differences = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    if len(differences) < 2 or float(np.ptp(differences)) < 1e-12:
        return 0.0, 1.0
    found = stats.ttest_1samp(differences, 0.0, alternative="greater")
    return float(found.statistic), float(found.pvalue)
