"""The tables of an evaluation, as rows of text: the first row names the columns."""

from collections.abc import Sequence

from analecta.evaluate.evaluation import Evaluation
from analecta.evaluate.scoring import BEST, Run
from analecta.evaluate.summary import COMPARED, Mean, by_topic, comparisons, mean, precision_lines, recipes

FIGURES = {"recall_r": "recall@R", "recall_2r": "recall@2R", "recall_4r": "recall@4R", "area": "area",
           "harvest": "harvest", "harvest_cap5": "harvest, 5 a host", "relevant_hosts": "relevant hosts",
           "cpu_ms_per_page": "CPU ms/page"}  # fmt: skip

Rows = list[list[str]]


def means(found: Evaluation) -> Rows:
    """Every figure of every recipe."""
    rows = [[name, *(_said(mean(found, name, figure)) for figure in FIGURES)] for name in recipes(found)]
    return [["", *FIGURES.values()], *rows]


def comparison_rows(found: Evaluation) -> Rows:
    """How much better each recipe is, and whether that could be chance."""
    rows = [["", "against", "figure", "better by", "t", "p", "pairs"]]
    for one in comparisons(found):
        p = f"{one.p:.4f}" if one.p >= 0.0001 else f"{one.p:.1e}"
        figures = [f"{one.better_by:+.3f}", f"{one.t:.2f}", p, str(one.pairs)]
        rows.append([one.recipe, one.against, COMPARED[one.figure], *figures])
    return rows


def topic_rows(found: Evaluation) -> Rows:
    """recall@2R of each topic."""
    names = recipes(found)
    every = found.runs + found.bounds
    figures = {name: by_topic([run for run in every if run.recipe == name], "recall_2r") for name in names}
    sizes = by_topic(found.bounds, "size")
    rows = [["topic", "R", *names]]
    for topic, size in sizes.items():
        cells = (figures[name].get(topic) for name in names)
        rows.append([topic, f"{size:.0f}", *("" if cell is None else f"{cell:.3f}" for cell in cells)])
    return rows


def part_rows(found: Evaluation) -> Rows:
    """The topics of crawls about all of them."""
    rows = [["recipe", "draw", "topic", "R", "recall@R", "@2R", "@4R", "positive", "right"]]
    for run in found.runs:
        for topic, part in run.topics.items():
            recalls = (part.recall_r, part.recall_2r, part.recall_4r)
            cells = ["" if value is None else f"{value:.3f}" for value in recalls]
            rows.append([run.recipe, str(run.draw), topic, str(part.size), *cells, str(part.positive), str(part.right)])
    return rows


def portal_rows(found: Evaluation) -> Rows:
    """B21's table."""
    best = [*(str(most) for most in BEST), "all"]
    rows = [["", "visited", "stored", "positive", "hosts", "depth", *(f"recall in best {n}" for n in best)]]
    for name in dict.fromkeys(run.recipe for run in found.runs):
        runs = [run for run in found.runs if run.recipe == name]
        counts = [_average(runs, figure) for figure in ("visited", "stored", "positive", "hosts", "depth")]
        shares = [f"{sum(run.recall_best[n] for run in runs) / len(runs):.3f}" for n in best]
        rows.append([name, *counts, *shares])
    return rows


def precision_rows(found: Evaluation) -> Rows:
    """Precision of the best 10, 20, 50 and 100 pages."""
    ranks = (10, 20, 50, 100)
    rows = [["", *(f"best {rank}" for rank in ranks)]]
    for line in precision_lines(found):
        cells = [f"{line.ys[r - 1]:.3f} ±{line.errors[r - 1]:.3f}" if len(line.ys) >= r else "" for r in ranks]
        rows.append([line.name, *cells])
    return rows


def costs(found: Evaluation) -> list[str]:
    """What a page costs with all topics and with one."""
    said = []
    for name in dict.fromkeys(run.recipe for run in found.runs):
        costs = []
        for runs in (found.runs, found.alone):
            cpu = by_topic([run for run in runs if run.recipe == name], "cpu_ms_per_page").values()
            costs.append(sum(cpu) / max(len(cpu), 1))
        topics = max(len(run.topics) for run in found.runs)
        said.append(f"{name}: {costs[0]:.2f} ms CPU a page with {topics} topics, {costs[1]:.2f} with one")
    return said


def _average(runs: Sequence[Run], figure: str) -> str:
    return f"{sum(getattr(run, figure) or 0 for run in runs) / max(len(runs), 1):,.1f}"


def _said(value: Mean | None) -> str:
    return f"{value.mean:.3f} ±{value.error:.3f}" if value else ""
