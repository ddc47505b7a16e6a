"""The runs of an evaluation brought together: means, tests, curves, and the rows of its tables."""

from collections.abc import Callable, Sequence

import msgspec

from analecta.evaluate.evaluation import BOUNDS, BREADTH_FIRST, ORACLE, SIMULATED, Evaluation
from analecta.evaluate.scores import BEST, RANKS, STEP, CrawlScore, mean_and_error, paired_t
from analecta.publish.charts import ChartLine

COMPARED = {"recall_r": "recall@R", "recall_2r": "recall@2R", "recall_4r": "recall@4R", "area": "area",
          "harvest": "harvest"}  # fmt: skip
_DECIDES = "recall_2r"  # which recipe is the best

Curve = Callable[[CrawlScore], Sequence[float]]


class Mean(msgspec.Struct, frozen=True):
    """A mean with its standard error."""

    mean: float
    error: float


class Comparison(msgspec.Struct, frozen=True):
    """Whether a recipe does better than another: Student's t over pairs, one-tailed."""

    recipe: str
    against: str
    figure: str
    better_by: float
    t: float
    p: float
    pairs: int


def recipes(found: Evaluation) -> list[str]:
    """The names of what was compared: recipes, then bounds."""
    names = list(dict.fromkeys(run.recipe for run in found.runs))
    return names + ([] if BREADTH_FIRST in names else [SIMULATED]) + [ORACLE]


def mean(found: Evaluation, recipe: str, figure: str) -> Mean | None:
    """The mean of a figure; its error is that between topics."""
    values = list(by_topic(_runs(found, recipe), figure).values())
    return Mean(*mean_and_error(values)) if values else None


def by_topic(runs: Sequence[CrawlScore], figure: str) -> dict[str, float]:
    """The mean over the draws of each topic."""
    return {topic: sum(values) / len(values) for topic, values in _values(runs, figure).items()}


def comparisons(found: Evaluation) -> list[Comparison]:
    """Each recipe against breadth-first from the same seeds (P11), and the best against each of the others."""
    names = [name for name in recipes(found) if name not in (BREADTH_FIRST, *BOUNDS)]
    base = BREADTH_FIRST if any(run.recipe == BREADTH_FIRST for run in found.runs) else SIMULATED
    compared = [_compare(found, name, base, figure) for name in names for figure in COMPARED]
    means = {name: one.mean for name in names if (one := mean(found, name, _DECIDES))}
    best = max(means, key=means.__getitem__, default="")
    compared += [_compare(found, best, name, _DECIDES) for name in means if name != best]
    return [one for one in compared if one]


def _compare(found: Evaluation, recipe: str, against: str, figure: str) -> Comparison | None:
    """Draws of one topic are much alike: with several topics, their means are the pairs."""
    ours_by, theirs_by = _values(_runs(found, recipe), figure), _values(_runs(found, against), figure)
    topics = [topic for topic in ours_by if len(theirs_by.get(topic, ())) == len(ours_by[topic])]
    if len(topics) > 1:
        a = [sum(ours_by[t]) / len(ours_by[t]) for t in topics]
        b = [sum(theirs_by[t]) / len(theirs_by[t]) for t in topics]
    else:
        a, b = [v for t in topics for v in ours_by[t]], [v for t in topics for v in theirs_by[t]]
    if len(a) < 2:
        return None
    t, p = paired_t(a, b)
    return Comparison(recipe, against, figure, sum(a) / len(a) - sum(b) / len(b), t, p, len(a))


def lines(found: Evaluation, curve: Curve, bounds: bool = True) -> list[ChartLine]:
    """The mean curve of each recipe over fetches in R, with standard errors."""
    names = [name for name in recipes(found) if bounds or name not in BOUNDS]
    return [_line(name, _runs(found, name), curve, STEP, 0.0) for name in names]


def precision_lines(found: Evaluation) -> list[ChartLine]:
    """Precision against rank (S17)."""
    names = [name for name in recipes(found) if name not in BOUNDS]
    return [_line(name, _runs(found, name), lambda run: run.precision_curve, 1.0, RANKS[0]) for name in names]


def _line(name: str, runs: Sequence[CrawlScore], curve: Curve, step: float, first: float) -> ChartLine:
    """The mean over topics, as far as most of them go: a few that go on alone would make it jump."""
    topics = dict.fromkeys(run.topic for run in runs)
    curves = [_mean_curve([curve(run) for run in runs if run.topic == topic]) for topic in topics]
    columns = [[c[i] for c in curves if len(c) > i] for i in range(max(map(len, curves), default=0))]
    means = [mean_and_error(column) for column in columns if 2 * len(column) > len(curves)]
    xs = [first + i * step for i in range(len(means))]
    quiet = name in BOUNDS
    return ChartLine(name, xs, [m for m, _ in means], [] if quiet else [e for _, e in means], quiet)


def _mean_curve(curves: Sequence[Sequence[float]]) -> list[float]:
    """The mean over the draws of a topic, as far as all of them go."""
    return [sum(column) / len(column) for column in zip(*curves, strict=False)]


def _runs(found: Evaluation, recipe: str) -> list[CrawlScore]:
    return [run for run in found.runs + found.bounds if run.recipe == recipe]


def _values(runs: Sequence[CrawlScore], figure: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for run in runs:
        value = getattr(run, figure)
        if value is not None:
            found.setdefault(run.topic, []).append(float(value))
    return found


# --- The tables of an evaluation, as rows of text: the first row names the columns -----------------------------------


FIGURES = COMPARED | {"harvest_cap5": "harvest, 5 a host", "relevant_hosts": "relevant hosts",
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
    figures = {name: by_topic(_runs(found, name), "recall_2r") for name in names}
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
        figures = ("visited", "stored", "positive", "hosts", "depth")
        counts = [f"{sum(getattr(run, figure) or 0 for run in runs) / len(runs):,.1f}" for figure in figures]
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


def _said(value: Mean | None) -> str:
    return f"{value.mean:.3f} ±{value.error:.3f}" if value else ""
