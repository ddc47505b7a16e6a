"""A crawl's figures: what it fetched, held against what is on topic and can be reached."""

from collections.abc import Sequence

import msgspec
import numpy as np

from analecta.analyse.measures import (
    Floats,
    after,
    area,
    capped,
    harvest_curve,
    mean_of,
    precision_at,
    recall_curve,
    recall_of_best,
)
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
        recall_r=_reached(curve, 1, question),
        recall_2r=_reached(curve, 2, question),
        recall_4r=_reached(curve, 4, question),
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
        recall_r=_reached(curve, 1, question),
        recall_2r=_reached(curve, 2, question),
        recall_4r=_reached(curve, 4, question),
        positive=len(placed),
        right=sum(n in relevant for n in placed),
    )


def _reached(curve: Floats, times: int, question: EvaluationTask) -> float | None:
    fetches = times * question.size
    return after(curve, fetches) if fetches <= question.budget else None


def _from_one(curve: Floats) -> Floats:
    """A curve that begins with the first page, moved so that it can be read after so many fetches."""
    return np.concatenate((curve[:1], curve))


def _thinned(curve: Floats, question: EvaluationTask) -> list[float]:
    """A curve at 0, R/10, 2R/10, ... as far as the budget goes, 4R at most."""
    points = [question.size * i * STEP for i in range(round(4 / STEP) + 1)]
    return [round(after(curve, t), 5) for t in points if round(t) <= question.budget]
