"""An evaluation to read: a page with all tables, JSON and pictures in a folder."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from analecta.evaluate.evaluation import BOUNDS, Evaluation
from analecta.evaluate.summary import (
    Rows,
    comparison_rows,
    comparisons,
    costs,
    lines,
    mean,
    means,
    part_rows,
    portal_rows,
    precision_lines,
    precision_rows,
    recipes,
    topic_rows,
)
from analecta.publish.charts import Bar, bar_chart, line_chart
from analecta.store.output import output

_TICKS = [(0, "0"), (1, "R"), (2, "2R"), (3, "3R"), (4, "4R")]
_RANKS = [(1, "1"), (20, "20"), (40, "40"), (60, "60"), (80, "80"), (100, "100")]

_LEGEND = """R is the number of on-topic pages that can be reached from the seeds. `recall@2R` is the share of them
fetched after 2R pages, `area` lies under the recall curve up to 4R, `harvest` is the share of on-topic pages among all
pages fetched. `±` is the standard error between topics. How it is measured: the manual's page on evaluation."""


def write(found: Evaluation, folder: Path) -> None:
    """Write everything into a folder."""
    write_all(folder, "evaluation", found, page(found), pictures(found))


def write_all(folder: Path, name: str, found: object, page: str, pictures: Mapping[str, str] = {}) -> None:
    """The figures as name.json for machines, as the page name.md to read, and its pictures."""
    figures = msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"
    for file, text in ({f"{name}.json": figures} | dict(pictures) | {f"{name}.md": page}).items():
        with output(folder / file, file.rpartition(".")[2]) as out:
            out.write(text.encode())


def pictures(found: Evaluation) -> dict[str, str]:
    """The pictures by file name."""
    fetched = "pages fetched, in numbers of relevant pages R"
    ranked = precision_lines(found)
    recall = lines(found, lambda run: run.recall_curve)
    harvest = lines(found, lambda run: run.harvest_curve)
    sure = lines(found, lambda run: run.confidence_curve, bounds=False)
    at_2r = [
        Bar(name, m.mean, m.error, name in BOUNDS) for name in recipes(found) if (m := mean(found, name, "recall_2r"))
    ]
    return {
        "recall.svg": line_chart("Recall against pages fetched", recall, fetched, "recall", _TICKS, 1.0),
        "harvest.svg": line_chart("Harvest against pages fetched", harvest, fetched, "share on topic", _TICKS, 1.0),
        "precision.svg": line_chart("Precision against rank", ranked, "rank by confidence", "precision", _RANKS, 1.0),
        "confidence.svg": line_chart("Confidence against order", sure, fetched, "mean confidence", _TICKS, 1.0),
        "recall-2R.svg": bar_chart("Recall after 2R pages", at_2r, "recall", 1.0),
    }


def page(found: Evaluation) -> str:
    """All tables and pictures as one page of Markdown."""
    parts = [
        "# Evaluation",
        "\n".join(f"- {line}" for line in about(found)),
        "## Means",
        _LEGEND,
        in_markdown(means(found)),
        "![Recall against pages fetched](recall.svg)\n![Harvest against pages fetched](harvest.svg)",
    ]
    if comparisons(found):
        parts += ["## Better, or chance?", "One-tailed t-test over pairs from the same seeds.",
                  in_markdown(comparison_rows(found))]  # fmt: skip
    parts += ["## recall@2R by topic", "![Recall after 2R pages](recall-2R.svg)", in_markdown(topic_rows(found))]
    if found.alone:
        parts += ["## All topics in one crawl", "\n".join(f"- {line}" for line in costs(found)),
                  in_markdown(part_rows(found))]  # fmt: skip
    parts += [
        "## Visited, stored, positive",
        "Means of one crawl. `recall in best N` counts pages that the judge put into the right collection.",
        in_markdown(portal_rows(found)),
        "## Precision against rank",
        in_markdown(precision_rows(found)),
        "![Precision against rank](precision.svg)\n![Confidence against download order](confidence.svg)",
    ]
    return "\n\n".join(parts) + "\n"


def about(found: Evaluation) -> list[str]:
    """What was measured, in a few lines."""
    plan, topics = found.plan, list(dict.fromkeys(run.topic for run in found.runs))
    sizes = sorted(run.size for run in found.bounds)
    return [
        f"Web: {found.web} ({found.digest[:16]})",
        f"Crawls: {len(found.runs)}; topics: {len(topics)}, R from {sizes[0]:,} to {sizes[-1]:,}",
        f"Draws: {plan.draws}, of {plan.seeds} seeds; budget: {plan.budget} pages",
    ]


def in_markdown(rows: Rows) -> str:
    """A table in Markdown."""
    lines = ["|" + "|".join(f" {cell.replace('|', '/')} " for cell in row) + "|" for row in rows]
    return "\n".join((lines[0], "|---" + "|--:" * (len(rows[0]) - 1) + "|", *lines[1:]))
