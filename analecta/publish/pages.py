"""Pages that are one file and need no network: the health of topics (S14), and pictures of collections (S12, S17)."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import msgspec
import numpy as np
from markupsafe import Markup

from analecta.arrays import Floats, Ints
from analecta.judge.health import CLOSE, Health
from analecta.publish.charts import HEIGHT, WIDTH, ChartLine, cut, line_chart
from analecta.publish.network import draw_topics
from analecta.publish.templates import render
from analecta.store.library import HistoryPoint, LibraryFolder
from analecta.text.display import one_line
from analecta.views.collections import Collection
from analecta.views.health import advice, percent, verdict
from analecta.views.precision import Judged, precision_curve

# --- The health of topics: the picture, what to do, and all figures as tables ----------------------------------------


def health_page(found: Health, title: str) -> str:
    """The whole page; `title` is the name of the library."""
    return render(
        "health.html",
        title=f"Topics of {title}",
        health=found,
        drawing=Markup(draw_topics(found)),
        advice=_advice(found),
        verdict=verdict,
        percent=percent,
        close={(pair.one, pair.other) for pair in found.close},
        too_close=CLOSE,
    )


def _advice(found: Health) -> list[tuple[str, list[tuple[str, str]]]]:
    """The same sentences as in a terminal, each with the lines of its list: a URL that it begins with, and the rest."""
    urls = {stray.url for stray in found.strays}
    told: list[tuple[str, list[tuple[str, str]]]] = []
    for line in advice(found):
        words = line.strip()
        first = words.partition(" ")[0]
        url = first if first in urls else ""
        if line.startswith("  "):
            told[-1][1].append((url, words[len(url) :]))
        else:
            told.append((words, []))
    return told


# --- How collections came to be: against pages downloaded, download order, and rank ----------------------------------
# As SVG the charts stand below one another; as HTML each has its figures as a table.

_PARTS = 40  # that the order of download is cut into
_NAME = 24  # letters of a topic at the end of a line
_LEGEND = 8  # lines that one chart can tell apart


class ChartPicture(msgspec.Struct, frozen=True):
    """A chart, with its figures for whoever does not see it: a line of names, and rows."""

    title: str
    svg: str
    names: Sequence[str]
    rows: Sequence[Sequence[float | str]]


def pictures(library: LibraryFolder, found: Sequence[Collection], judged: Judged | None = None) -> list[ChartPicture]:
    """What there is to draw of these collections."""
    drawn = list(_precision(found, judged)) if judged is not None else []
    moments, order = in_one_row(library.history()), download_order(library)
    for collection in found:
        drawn += _history(collection, moments)
        drawn += _order(collection, *order)
    return drawn


def as_svg(drawn: Sequence[ChartPicture]) -> str:
    """All charts in one drawing."""
    inner = "".join(
        picture.svg.replace("<svg ", f'<svg y="{i * (HEIGHT + 20)}" width="{WIDTH}" height="{HEIGHT}" ', 1)
        for i, picture in enumerate(drawn)
    )
    box = f"0 0 {WIDTH} {max(len(drawn) * (HEIGHT + 20) - 20, 1)}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">\n{inner}</svg>\n'


def as_html(drawn: Sequence[ChartPicture], title: str) -> str:
    """All charts on one page, each with its figures."""
    return render("pictures.html", title=f"Collections of {title}", pictures=[(one, Markup(one.svg)) for one in drawn])


def in_one_row(moments: Sequence[HistoryPoint]) -> list[HistoryPoint]:
    """The history of several runs as one: each counts its pages on from where the one before it ended."""
    before, row = 0, []
    for _, of_run in groupby(moments, key=lambda moment: moment.run):
        run = list(of_run)
        row += [moment._replace(pages=moment.pages + before) for moment in run]
        before += max(moment.pages for moment in run)
    return row


def download_order(library: LibraryFolder) -> tuple[Ints, Floats]:
    """Of all pages in the order in which they came: their topics and the judge's confidences."""
    with library.snapshot() as snapshot:
        rows = list(snapshot.kept_verdicts())
    kept, topics, sure = np.array(rows, np.float64).reshape(-1, 3).T
    order = np.argsort(kept, kind="stable")
    return topics[order].astype(np.int64), sure[order]


def _history(collection: Collection, moments: Sequence[HistoryPoint]) -> Iterator[ChartPicture]:
    """Least, mean and most confidence of the best items against pages downloaded."""
    own = [moment for moment in moments if moment.topic == collection.number]
    if len(own) > 1:
        xs = [float(moment.pages) for moment in own]
        names = ("least", "mean", "most")
        lines = [ChartLine(name, xs, [getattr(moment, name) for moment in own], quiet=name != "mean") for name in names]
        title = f"{one_line(collection.topic)}: how sure the judge is of the best items"
        svg = line_chart(title, lines, "pages downloaded", "confidence", _ticks(xs[-1]), top=1.0)
        rows = [(moment.pages, moment.least, moment.mean, moment.most) for moment in own]
        yield ChartPicture(title, svg, ("pages", *names), rows)


def _order(collection: Collection, topics: Ints, sure: Floats) -> Iterator[ChartPicture]:
    """Confidence of the topic's pages, and their share of all, against the order of download."""
    own = topics == collection.number
    if own.sum() < 2:
        return
    edges = np.unique(np.linspace(0, len(topics), min(_PARTS, len(topics)) + 1).astype(int))
    parts = [(int(end), own[start:end], sure[start:end]) for start, end in pairwise(edges)]
    met = [(float(end), confidences[mine]) for end, mine, confidences in parts if mine.any()]
    shares = ChartLine("share of all", [float(p[0]) for p in parts], [float(p[1].mean()) for p in parts], quiet=True)
    means, spread = [float(values.mean()) for _, values in met], [float(values.std()) for _, values in met]
    title = f"{one_line(collection.topic)}: its pages in the order of download"
    lines = [ChartLine("confidence", [end for end, _ in met], means, spread), shares]
    svg = line_chart(title, lines, "pages downloaded", "confidence, share", _ticks(len(topics)), top=1.0)
    rows = [(end, len(values), mean) for (end, values), mean in zip(met, means, strict=True)]
    yield ChartPicture(title, svg, ("up to page", "pages of the topic", "mean confidence"), rows)


def _precision(found: Sequence[Collection], judged: Judged) -> Iterator[ChartPicture]:
    """Precision against rank; topics that were judged, some to a chart."""
    curves = [(one_line(one.topic), [p for p in precision_curve(one, judged) if p.judged]) for one in found]
    curves = [(topic, curve) for topic, curve in curves if curve]
    for start in range(0, len(curves), _LEGEND):
        some = curves[start : start + _LEGEND]
        lines = [ChartLine(cut(topic, _NAME), [p.at for p in c], [p.share or 0.0 for p in c]) for topic, c in some]
        last = max(curve[-1].at for _, curve in some)
        svg = line_chart("Precision against rank", lines, "rank", "precision", _ticks(last), top=1.0)
        rows = [(topic, curve[-1].at, curve[-1].judged, curve[-1].share or 0.0) for topic, curve in some]
        yield ChartPicture("Precision against rank", svg, ("topic", "items", "judged", "precision"), rows)


def _ticks(last: float) -> list[tuple[float, str]]:
    """Five round numbers up to the last."""
    step = max(float(f"{last / 5:.0e}"), 1.0)
    return [(i * step, f"{i * step:,.0f}") for i in range(int(last / step) + 1)]
