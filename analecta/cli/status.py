"""The command that shows how a library stands."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import FittingText, console, print_json, shown, table
from analecta.store.library import LibraryFolder
from analecta.text.display import many, plain
from analecta.views.status import Status
from analecta.views.status import status as status_of

_LAST_NOTES = 5
_BLOCKS = "▁▂▃▄▅▆▇█"
_TREND = 16  # letters wide
_FLAT = 0.02  # a smaller change of confidence is none


@app.command()
def status(lib: Lib, json: Json = False) -> None:
    """Show how a library stands; works while a crawl runs."""
    found = status_of(LibraryFolder(lib))
    print_json(found) if json else console().print(show(found))


def show(found: Status) -> RenderableType:
    """The figures, the topics, what was not fetched or read, and the last notes."""
    figures = Table.grid(Column(style="bold", no_wrap=True), Column(), padding=(0, 2))
    for name, value in _lines(found):
        figures.add_row(name, Text(value))
    parts: list[RenderableType] = [figures]
    if found.topics:
        parts += ["", FittingText(_topics(found), _topics(found, drawn=False))]
        if found.collections:
            parts.append(Text("(least, mean and most: how sure the judge is of a topic's best items)", style="dim"))
    if found.reasons:
        parts += ["", _counts("not fetched, or failed", "URLs", found.reasons)]
    if found.limits:
        parts += ["", _counts("not read, or not wholly", "pages", found.limits)]
    if found.notes:
        parts += ["", Text("Notes", style="bold"), *(Text(f"  {plain(note)}") for note in found.notes[-_LAST_NOTES:])]
        if len(found.notes) > _LAST_NOTES:
            parts.append(Text(f"  ({len(found.notes) - _LAST_NOTES} older ones: analecta status --json)", style="dim"))
    return Group(*parts)


def _lines(found: Status) -> list[tuple[str, str]]:
    urls = found.urls
    share = f", {found.on_topic / found.pages:.0%} on topic by now" if found.pages else ""
    besides = {"noindex": found.noindex, "soft 404": found.soft404, "reserved against training": found.reserved}
    counts = [many(found.duplicates, "duplicate")] if found.duplicates else []
    extra = ", ".join(counts + [f"{count:,} {name}" for name, count in besides.items() if count])
    lines = [
        ("Library", plain(found.library)),
        ("Now", f"a crawl runs ({plain(found.crawling)})" if found.crawling else "no crawl runs"),
        ("Last run", _last_run(found)),
        ("Pages", f"{found.pages:,}{share}" + (f" ({extra})" if extra else "")),
        ("URLs", ", ".join(f"{count:,} {state}" for state, count in urls.items() if count) or "none yet"),
        ("Queue", f"{found.queue:,} wait"),
        ("Hosts", f"{found.hosts:,}"),
        ("Archive", f"{found.archive_bytes / 1e6:,.1f} MB in {many(found.archive_files, 'WARC file')}"),
    ]
    if found.memory["limit"]:
        now = f"{found.memory['used'] / 1e6:,.1f} MB in use, " if found.crawling else ""
        most, limit = found.memory["peak"] / 1e6, found.memory["limit"] / 1e6
        lines.append(("Memory", f"{now}{most:,.1f} MB at most, of {limit:,.0f} MB for page bodies"))
    if found.settings:
        lines.insert(1, ("Settings", f"cannot be read, so there is no crawling: {plain(found.settings)}"))
    for model in (model for model in found.models if model["hash"] == found.model):
        others = f", {many(len(found.models) - 1, 'other')} kept" if len(found.models) > 1 else ""
        lines.append(("Model", f"{model['hash'][:12]} ({model['kind']}, {model['about']}{others})"))
    if found.feedback or not found.learnt:
        state = "learnt from" if found.learnt else "not learnt from yet: `analecta retrain`, or the next crawl"
        lines.append(("Feedback", f"{many(found.feedback, 'word')} on pages, {state}"))
    return lines


def _last_run(found: Status) -> str:
    run = found.run
    if run is None:
        return "never crawled yet"
    began = run.began[:19].replace("T", " ")
    if run.ended:
        return f"{began} UTC, {many(run.pages, 'page')}; ended: {plain(run.reason)}"
    return f"{began} UTC, " + ("under way" if found.crawling else "ended without a word (killed); crawl again to go on")


def _topics(found: Status, drawn: bool = True) -> Table:
    """The topics with their pages; where a crawl kept watch, how sure the judge is of the best of them.

    Where there is little room the names are cut, never the figures.
    """
    titles = ("pages", "least", "mean", "most") if found.collections else ("pages",)
    topics = table(Column("topic"), *(Column(title, justify="right", no_wrap=True) for title in titles))
    if drawn and found.collections:
        topics.add_column("mean over time", no_wrap=True)
    for name, count in found.topics.items():
        row = [f"{count:,}"]
        if best := found.collections.get(name):
            means = [moment["mean"] for moment in found.history if moment["topic"] == name]
            row += [f"{best.least:.2f}", f"{best.mean:.2f}", f"{best.most:.2f}"]
            row += [sparkline(means)] if drawn else []
        topics.add_row(shown(name), *row)
    return topics


def sparkline(values: Sequence[float], width: int = _TREND) -> str:
    """A line of small blocks, low to high; what hardly changes is flat."""
    if not values:
        return ""
    step = max(len(values) / width, 1)
    picked = [values[min(round((i + 1) * step), len(values)) - 1] for i in range(min(len(values), width))]
    low, high = min(picked), max(picked)
    if high - low < _FLAT:
        return _BLOCKS[3] * len(picked)
    return "".join(_BLOCKS[round((value - low) / (high - low) * (len(_BLOCKS) - 1))] for value in picked)


def _counts(title: str, unit: str, counts: dict[str, int]) -> Table:
    rows = table(Column(title), Column(unit, justify="right", no_wrap=True))
    for name, count in counts.items():
        rows.add_row(shown(name), f"{count:,}")
    return rows
