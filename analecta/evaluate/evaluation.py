"""The evaluation of recipes: which crawls to do, and their figures together."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from itertools import product
from pathlib import Path

import msgspec

from analecta.errors import UsageError
from analecta.evaluate.crawls import CrawlPool, CrawlTask, check_recipe
from analecta.evaluate.graph import Node, PageGraph, load_nodes, save_nodes
from analecta.evaluate.questions import (
    TOGETHER,
    EvaluationClassifier,
    EvaluationPlan,
    EvaluationTask,
    OnTopic,
    budget,
    choose_topics,
    of_urls,
    pages_of,
    read_examples,
    read_labels,
)
from analecta.evaluate.scores import CrawlScore, score, score_order
from analecta.testweb.webs import StillWeb, open_web

Step = Callable[[str, int, int], None]  # what is being done, how much of it, of how much
BREADTH_FIRST = "breadth-first"
SIMULATED = "breadth-first (simulated)"
ORACLE = "oracle"
BOUNDS = (SIMULATED, ORACLE)


class Evaluation(msgspec.Struct, kw_only=True):
    """What came of it. `bounds` are simulated orders; `alone` crawls of one topic, beside crawls of all together."""

    web: str
    digest: str
    analecta: str
    plan: EvaluationPlan
    runs: list[CrawlScore]
    bounds: list[CrawlScore]
    alone: list[CrawlScore] = []


def evaluate(plan: EvaluationPlan, cache: Path | None = None, step: Step = lambda what, done, of: None) -> Evaluation:
    """Do all crawls of a plan; `cache` is a folder where the links of the web may be kept."""
    check(plan)
    step("Reading the web", 0, 0)
    with (
        contextlib.closing(open_web(plan.web)) as web,
        CrawlPool(web, plan.web, plan.jobs or os.cpu_count() or 1) as pool,
    ):
        step("Following its links", 0, 0)
        graph = PageGraph(_nodes(web, pool, cache))
        questions, alone = ask(plan, web, graph, step)
        runs = _crawl(plan, questions + alone, graph, pool, step)
        return Evaluation(
            web=web.name,
            digest=web.digest,
            analecta=version("analecta"),
            plan=plan,
            runs=[run for question, run in runs if question in questions],
            bounds=bounds(questions, graph),
            alone=[run for question, run in runs if question in alone],
        )


def check(plan: EvaluationPlan) -> None:
    """Say what is wrong before anything is read."""
    if not plan.recipes:
        raise UsageError("name at least one recipe: --recipes adaptive,breadth-first")
    for recipe in plan.recipes:
        check_recipe(recipe, plan.settings)
    budget(plan.budget, 1)
    if plan.examples and (plan.labels or plan.together):
        raise UsageError("--examples are for webs without labels, one topic at a time")


def ask(
    plan: EvaluationPlan, web: StillWeb, graph: PageGraph, step: Step
) -> tuple[list[EvaluationTask], list[EvaluationTask]]:
    """The questions; and of a crawl of all topics together, one topic alone to compare its cost with."""
    if plan.examples:
        given = {topic: read_examples(Path(file), graph) for topic, file in plan.examples.items()}
        worth = EvaluationClassifier(web, graph, given).worth(lambda done: step("Judging every page", done, len(graph)))
        return _each(plan, graph, given, worth), []
    labels = read_labels(Path(plan.labels), graph) if plan.labels else of_urls(web.subjects(), graph)
    if not labels:
        raise UsageError(
            f"{plan.web} does not say what its pages are about: give --labels, or --examples of each topic"
        )
    on_topic = {topic: pages_of(topic, labels) for topic in choose_topics(plan.topics, labels, plan.min_pages)}
    if not plan.together:
        return _each(plan, graph, on_topic), []
    largest = max(on_topic, key=lambda topic: len(on_topic[topic]))
    together = [EvaluationTask(plan, graph, TOGETHER, number, on_topic, on_topic) for number in range(plan.draws)]
    return together, _each(plan, graph, {largest: on_topic[largest]})


def _each(
    plan: EvaluationPlan, graph: PageGraph, examples: OnTopic, worth: Mapping[str, Mapping[int, float]] = {}
) -> list[EvaluationTask]:
    """A question for each topic and draw.

    With `worth` a classifier says what is on topic; seeds are drawn from the examples it learnt from.
    """
    found = []
    for topic, pages in examples.items():
        judged = worth.get(topic)
        on_topic = sorted({*pages, *(n for n, p in judged.items() if p > 0.5)}) if judged is not None else pages
        own, good, draws = {topic: pages}, {topic: on_topic}, range(plan.draws)
        found += [EvaluationTask(plan, graph, topic, number, own, good, judged) for number in draws]
    return found


def bounds(questions: Sequence[EvaluationTask], graph: PageGraph) -> list[CrawlScore]:
    """What a crawl that looks at nothing and one that knows everything would give."""
    found = []
    for q in questions:
        found.append(score_order(SIMULATED, q, graph.breadth_first(q.all_seeds, q.budget), graph))
        found.append(score_order(ORACLE, q, graph.oracle(q.all_seeds, q.all_relevant, q.budget), graph))
    return found


def _crawl(
    plan: EvaluationPlan, questions: Sequence[EvaluationTask], graph: PageGraph, pool: CrawlPool, step: Step
) -> list[tuple[EvaluationTask, CrawlScore]]:
    """All recipes on all questions, in that order."""
    asked = []
    for recipe, question in product(plan.recipes, questions):
        topics = {topic: tuple(graph.urls[n] for n in pages) for topic, pages in question.seeds.items()}
        asked.append((question, CrawlTask(recipe, topics, question.draw, question.budget, plan.settings)))
    runs: dict[int, CrawlScore] = {}
    step("Crawling", 0, len(asked))
    for n, trace in pool.crawls([task for _, task in asked]):
        question, task = asked[n]
        runs[n] = score(task, trace, question, graph)
        step("Crawling", len(runs), len(asked))
    return [(asked[n][0], runs[n]) for n in sorted(runs)]


def _nodes(web: StillWeb, pool: CrawlPool, cache: Path | None) -> list[Node]:
    """The nodes of the web, read once."""
    kept = cache / f"links-{web.digest.replace(':', '-')[:16]}-{version('analecta')}.msgpack" if cache else None
    nodes = load_nodes(kept) if kept else None
    if nodes is None:
        nodes = pool.nodes()
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            save_nodes(kept, nodes)
    return nodes
