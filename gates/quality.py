"""What the gates measure: recall of recipes by whole crawls, F1 of judges on unseen pages, communities found."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Set
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from analecta.communities.claims import OUT_LINK
from analecta.communities.growth import WT
from analecta.evaluate.communities import Trial, open_graph, trial
from analecta.evaluate.communities import draw as draw_sites
from analecta.evaluate.evaluation import evaluate
from analecta.evaluate.graph import PageGraph, read_nodes
from analecta.evaluate.questions import EvaluationPlan, choose_topics, draw, of_urls, pages_of, read_labels
from analecta.judge import JUDGES
from analecta.model import Example, Page
from analecta.parse import Parser, ParserDied
from analecta.testweb.webs import StillWeb
from analecta.text.tokens import words
from analecta.urls import canonical

BATCH = 64
FIGURES = {"recall_R": "recall_r", "recall_2R": "recall_2r", "recall_4R": "recall_4r"}


def recalls(gate: Mapping[str, Any], web: str, labels: str, jobs: int = 0) -> dict[str, float]:
    """The mean figure of each recipe of a gate."""
    plan = EvaluationPlan(
        web=web,
        labels=labels,
        recipes=list(gate["floors"]),
        topics=list(gate["topics"]),
        seeds=gate["seeds"],
        draws=gate["draws"],
        budget=gate["budget"],
        jobs=jobs,
        min_pages=1,
    )
    figure = FIGURES.get(gate["figure"], gate["figure"])
    values: dict[str, list[float]] = {}
    for run in evaluate(plan).runs:
        values.setdefault(run.recipe, []).append(getattr(run, figure))
    return {recipe: float(np.mean(figures)) for recipe, figures in values.items()}


def f1s(gate: Mapping[str, Any], web: StillWeb, labels: str) -> dict[str, float]:
    """The mean F1 of each judge of a gate over its topics."""
    graph = PageGraph(read_nodes(web))
    named = read_labels(Path(labels), graph) if labels else of_urls(web.subjects(), graph)
    held = Pages(web, graph)
    topics = {topic: set(pages_of(topic, named)) for topic in choose_topics(gate["topics"], named, 1)}
    return {
        name: float(np.mean([held.f1(JUDGES[name], topic, on, gate["seeds"]) for topic, on in topics.items()]))
        for name in gate["floors"]
    }


def communities(gate: Mapping[str, Any], web: str) -> dict[str, float]:
    """The mean figures of the communities that are found in a graph of sites."""
    graph = open_graph(web, Path(web) if web.endswith(".gml") else None)
    draws = range(1, gate["draws"] + 1)
    trials = [trial(graph, draw_sites(graph, gate["seeds"], n), WT, OUT_LINK, with_kmeans=False) for n in draws]
    figures: dict[str, Callable[[Trial], float]] = {
        "f": lambda one: one.against_truth.f,
        "tree_precision": lambda one: one.against_mst.precision,
        "tree_recall": lambda one: one.against_mst.recall,
        "purity": lambda one: one.purity,
    }
    return {name: float(np.mean([figures[name](one) for one in trials])) for name in gate["floors"]}


class Pages:
    """The pages of a web, their words cut once for all judges."""

    def __init__(self, web: StillWeb, graph: PageGraph) -> None:
        self.graph = graph
        self.pages = dict(_parsed(web, graph))
        self.numbers = list(self.pages)
        texts = [page.text for page in self.pages.values()]
        self.cut = [words(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]

    def f1(self, make: Callable[[], Any], topic: str, on: Set[int], seeds: int) -> float:
        """One topic alone: a judge is taught with some pages and asked about all the others."""
        others = Random(topic).sample(sorted(n for n in self.pages if n not in on), 2 * seeds)
        taught = dict.fromkeys(draw(topic, 0, on & set(self.pages), self.graph, seeds), 0) | dict.fromkeys(others, -1)
        judge = make().fit([Example(t, self.pages[n].url, self.pages[n].text) for n, t in taught.items()], [topic])
        verdicts = [verdict.topic == 0 for batch in self.cut for verdict in judge.judge_words(batch)]
        fresh = [(said, n in on) for said, n in zip(verdicts, self.numbers, strict=True) if n not in taught]
        right = sum(said and true for said, true in fresh)
        return float(2 * right / max(sum(said + true for said, true in fresh), 1))


def _parsed(web: StillWeb, graph: PageGraph) -> Iterator[tuple[int, Page]]:
    with Parser() as parser:
        for answer in web.pages():
            target = canonical(answer.url)
            if target is not None and target.id in graph.number and 200 <= answer.status < 300:
                with contextlib.suppress(ParserDied):
                    yield graph.number[target.id], parser(answer, target)
