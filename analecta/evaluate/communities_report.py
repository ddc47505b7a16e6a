"""An evaluation of communities to read: the paper's figures 9 to 11 as tables and pictures."""

import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path

from analecta.evaluate.communities import CommunityQuality, CommunityTrials, Trial
from analecta.evaluate.report import in_markdown, write_all
from analecta.evaluate.summary import Rows
from analecta.publish.charts import ChartLine, line_chart

_LEGEND = """P, R and f are precision, recall and f-value against the tree, or against the truth. A true community is
held against the found one that overlaps most with it; only communities that have a seed count. `tree` is global
clustering by a spanning tree over the same sites, cut to as many clusters. The time of the crawler is what it spends on
communities while it crawls; the tree is made once, when all is known, by compiled code. `a site` is what it costs to
have communities up to date after one more site: the tree has to be made again."""


def found_rows(found: CommunityTrials) -> Rows:
    """What there is to measure."""
    rows = [["seeds", "crawled", "sites", "clusters", "everywhere", "purity"]]
    for one in found.by_seeds:
        counts = [f"{n:,}" for n in (one.seeds, one.crawled, one.sites, one.clusters, one.everywhere)]
        rows.append([*counts, f"{one.purity:.3f}"])
    return rows


def quality_rows(found: CommunityTrials) -> Rows:
    """Figure 9, and the truth beside it."""
    rows = [["seeds", "tree: P", "R", "f", "truth: P", "R", "f", "tree to truth: f", "K-means to truth: f"]]
    for one in found.by_seeds:
        kmeans = f"{one.kmeans_against_truth.f:.3f}" if one.kmeans_against_truth else ""
        figures = [*_three(one.against_mst), *_three(one.against_truth), f"{one.mst_against_truth.f:.3f}", kmeans]
        rows.append([f"{one.seeds:,}", *figures])
    return rows


def threshold_rows(found: CommunityTrials) -> Rows:
    """Figure 10."""
    rows = [
        [f"{one.wt:g}", f"{one.seeds:,}", f"{one.clusters:,}", f"{one.size:.1f}", *_three(one.against_truth)]
        for one in found.by_threshold
    ]
    return [["wt", "seeds", "clusters", "mean size", "P", "R", "f"], *rows]


def time_rows(found: CommunityTrials) -> Rows:
    """Figure 11."""
    rows = [["seeds", "crawled", "crawler, s", "tree, s", "K-means, s", "crawler, ms a site", "tree, ms a site"]]
    for one in found.by_seeds:
        seconds = [f"{s:.3f}" for s in (one.seconds, one.mst_seconds, one.kmeans_seconds)]
        each = [f"{1000 * one.seconds / max(one.crawled, 1):.3f}", f"{1000 * one.mst_seconds:.3f}"]
        rows.append([f"{one.seeds:,}", f"{one.crawled:,}", *seconds, *each])
    return rows


# Each table with its title, and the pictures of the same.
TABLES: list[tuple[str, Callable[[CommunityTrials], Rows], str]] = [
    ("Found, by number of seeds", found_rows, ""),
    (
        "How right it is, by number of seeds", quality_rows,
        "![Against the spanning tree](figure-9.svg)\n![Against the truth](truth.svg)",
    ),
    (
        "Size, and how right against the truth, by threshold", threshold_rows,
        "![Mean size](figure-10-size.svg)\n![Precision](figure-10-precision.svg)",
    ),
    ("Time, by number of seeds", time_rows, "![Time](figure-11.svg)"),
]  # fmt: skip


def write(found: CommunityTrials, folder: Path) -> None:
    """Write everything into a folder."""
    write_all(folder, "communities", found, page(found), pictures(found))


def page(found: CommunityTrials) -> str:
    """All tables and pictures as one page of Markdown."""
    about = f"{found.sites:,} sites, {found.links:,} links; metric {found.metric}."
    parts = [f"# Communities of {found.graph}", about, _LEGEND]
    for title, rows, drawn in TABLES:
        parts += [f"## {title}", in_markdown(rows(found)), *filter(None, (drawn,))]
    return "\n\n".join(parts) + "\n"


def pictures(found: CommunityTrials) -> dict[str, str]:
    """The pictures by file name."""
    seeds, wts = found.by_seeds, found.by_threshold
    ticks = [(math.log10(n), f"{n:,}") for n in dict.fromkeys(one.seeds for one in seeds)]
    tree = [_line(name, seeds, _by_seeds, attrgetter(f"against_mst.{field}")) for name, field in _QUALITY.items()]
    truth = [_line(name, seeds, _by_seeds, attrgetter(f"against_truth.{field}")) for name, field in _QUALITY.items()]
    marks = [(math.log10(one.wt), f"{one.wt:g}") for one in wts]
    sizes = [_line("sites", wts, _by_wt, lambda one: one.size)]
    right = [_line("precision", wts, _by_wt, lambda one: one.against_truth.precision)]
    times = [
        _line("crawler", seeds, _by_seeds, lambda one: _microseconds(one.seconds / max(one.crawled, 1))),
        _line("spanning tree", seeds, _by_seeds, lambda one: _microseconds(one.mst_seconds)),
    ]
    asked, least = "seeds", "weight threshold"
    return {
        "figure-9.svg": line_chart("Against the spanning tree", tree, asked, "share", ticks, 1.0),
        "truth.svg": line_chart("Against the truth", truth, asked, "share", ticks, 1.0),
        "figure-10-size.svg": line_chart("Mean size of communities", sizes, least, "sites", marks),
        "figure-10-precision.svg": line_chart("Precision against the truth", right, least, "precision", marks, 1.0),
        "figure-11.svg": line_chart("Time for one more site", times, asked, "microseconds, as a power of 10", ticks),
    }


Figure = Callable[[Trial], float]
_QUALITY = {"precision": "precision", "recall": "recall", "f-value": "f"}


def _line(name: str, trials: Sequence[Trial], x: Figure, y: Figure) -> ChartLine:
    ordered = sorted(trials, key=x)
    return ChartLine(name, [x(one) for one in ordered], [y(one) for one in ordered])


def _by_seeds(one: Trial) -> float:
    return math.log10(max(one.seeds, 1))


def _by_wt(one: Trial) -> float:
    return math.log10(one.wt)


def _microseconds(seconds: float) -> float:
    return math.log10(max(seconds * 1e6, 1))


def _three(found: CommunityQuality) -> list[str]:
    return [f"{figure:.3f}" for figure in (found.precision, found.recall, found.f)]
