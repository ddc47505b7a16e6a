"""What a person sees while a crawl runs, or an evaluation: a live picture on a terminal, else a line now and then."""

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text

from analecta.cli.render import LINE_EVERY, FittingText, SlowLines, shown
from analecta.crawl.coordinator import CrawlStatus
from analecta.settings.schema import Settings
from analecta.store.library import LibraryFolder
from analecta.store.revisits import OUTCOMES
from analecta.text.display import many, plain
from analecta.views.reasons import NO_REFUSALS

_EVERY = 0.25  # seconds between two pictures
_WINDOW = 5.0  # seconds over which the speed of the moment is taken
_TITLES = 5
_DRY_SAMPLE = 1000  # pages, the last of a run, of which
_DRY = 0.01  # so many are on topic at least, where there is more to be found
_LONG = 3.0  # seconds; a shorter pause needs no word


@contextlib.contextmanager
def progress(console: Console, name: str) -> Iterator[Callable[[CrawlStatus], None]]:
    """A function to call often during a crawl of library `name`; it shows something only when it is time."""
    if not console.is_terminal:
        yield ProgressLines(console, name)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield LivePicture(live, name)


class Speed:
    """Pages a second over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def __call__(self, now: float, pages: int) -> float:
        self._seen.append((now, pages))
        while len(self._seen) > 2 and self._seen[0][0] < now - _WINDOW:
            self._seen.popleft()
        since, before = self._seen[0]
        return (pages - before) / (now - since) if now > since else 0.0


class ProgressLines:
    """A line every ten seconds, and one whenever the crawl is told to end."""

    def __init__(self, console: Console, name: str) -> None:
        self.console, self.name = console, name
        self._next = 0.0
        self._interrupts = 0
        self._speed = Speed()

    def __call__(self, status: CrawlStatus) -> None:
        passed = status.seconds
        if status.interrupts > self._interrupts:
            self._interrupts = status.interrupts
            self.console.print(f"{clock(passed)} {doing(status, self.name)}")
        if passed < self._next:
            return
        self._next = passed + LINE_EVERY
        if status.only_examples:
            self.console.print(f"{clock(passed)} {doing(status, self.name)}{_waiting(status)}")
            return
        tally = status.tally
        self.console.print(
            f"{clock(passed)} {many(tally.pages, 'page')}, {share(tally.on_topic, tally.pages)} on topic,"
            f" {self._speed(passed, tally.pages):.1f} pages/s, {many(tally.hosts, 'host')}, {status.queued:,} queued,"
            f" {tally.refused:,} refused, {tally.failed:,} failed{_waiting(status)}"
        )


class LivePicture:
    """The live picture."""

    def __init__(self, live: Live, name: str) -> None:
        self.live, self.name = live, name
        self._next = 0.0
        self._speed = Speed()
        self._titles: deque[tuple[str, str, float]] = deque(maxlen=_TITLES)

    def __call__(self, status: CrawlStatus) -> None:
        if status.seconds < self._next:
            return
        self._next = status.seconds + _EVERY
        self.live.update(self._draw(status), refresh=True)

    def _draw(self, status: CrawlStatus) -> RenderableType:
        tally = status.tally
        sides = Column(ratio=1, no_wrap=True, overflow="ellipsis"), Column(justify="right", no_wrap=True)
        head = Table.grid(*sides, expand=True)
        head.add_row(Text(doing(status, self.name), style="bold"), clock(status.seconds))
        if status.only_examples:  # figures are of a crawl, and this is none
            return head
        parts: list[RenderableType] = [head]
        if status.limit:
            bar = Table.grid(expand=True)  # a bar alone ends no line
            bar.add_row(ProgressBar(status.limit, min(tally.pages, status.limit)))
            parts.append(bar)
        parts += [figures(status, self._speed(status.seconds, tally.pages)), *_reasons(tally.reasons)]
        for title in status.titles:
            if title not in self._titles:
                self._titles.append(title)
        if self._titles:
            parts += ["", _titles(self._titles)]
        return Group(*parts, "")  # an empty line, for the ^C that terminals show


def figures(status: CrawlStatus, speed: float) -> RenderableType:
    """What was counted, with the pages per second."""
    tally = status.tally
    of = f"of {status.limit:,}  " if status.limit else ""
    cells = [
        ("Pages", tally.pages, f"{of}{speed:.1f}/s"),
        ("On topic", tally.on_topic, share(tally.on_topic, tally.pages)),
        ("Queue", status.queued, f"{status.in_flight} under way"),
        ("Hosts", tally.hosts, ""),
        ("Refused", tally.refused, ""),
        ("Failed", tally.failed, f"{tally.bytes / 1e6:,.1f} MB read"),
    ]
    return FittingText(_grid(cells), _grid(cells, remarks=False))


def _reasons(reasons: Mapping[str, int]) -> list[RenderableType]:
    text = why(reasons)
    return [Text(f"because of: {text}", style="dim", no_wrap=True, overflow="ellipsis")] if text else []


def doing(status: CrawlStatus, name: str) -> str:
    """What the crawl of library `name` is at."""
    if status.interrupts > 1:
        return "Stopping now"
    if status.interrupts:
        return "Finishing what is under way (Ctrl-C again stops now)"
    if status.unread and not status.in_flight:
        return f"Reading {many(status.unread, 'document')} that had to wait"
    if seconds := pause(status):
        return f"Waiting for hosts that want a pause: {_next_host(status)} in {clock(seconds)}"
    if not status.model:
        return "Fetching the examples to learn from"
    if status.only_examples:
        return "Looking at the examples"
    return f"Crawling {plain(name)}"


def pause(status: CrawlStatus) -> float:
    """Seconds until some host may be asked, where nothing is under way because all of them want a pause; else 0."""
    if any(engine.in_flight or (engine.queued and engine.wait < _LONG) for engine in status.engines):
        return 0.0
    return min((engine.wait for engine in status.engines if engine.queued), default=0.0)


def _waiting(status: CrawlStatus) -> str:
    seconds = pause(status)
    return f"; its hosts want a pause: {_next_host(status)} in {clock(seconds)}" if seconds else ""


def _next_host(status: CrawlStatus) -> str:
    """The host that may be asked next."""
    waits = [(engine.wait, engine.next_host) for engine in status.engines if engine.next_host]
    return plain(min(waits, default=(0.0, "the next"))[1])


def why(reasons: Mapping[str, int], most: int = 8) -> str:
    """The reasons of refusals and failures, most frequent first."""
    counted = sorted(((n, word) for word, n in reasons.items() if word not in NO_REFUSALS), reverse=True)
    rest = f", {len(counted) - most} more" if len(counted) > most else ""
    return ", ".join(f"{plain(word)} {n:,}" for n, word in counted[:most]) + rest


def asked_again(counts: Mapping[str, int]) -> str:
    """What became of pages that were asked for again in a run."""
    ends = ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in OUTCOMES if counts.get(outcome))
    return f"{many(sum(counts.values()), 'page')} asked for again: {ends}"


def ran_dry(library: LibraryFolder, settings: Settings, pages: int) -> str:
    """What to do where the last of the `pages` of a run were hardly ever on topic; "" where they were, or were few."""
    if settings.judge.kind == "none" or pages < _DRY_SAMPLE:
        return ""
    with library.snapshot() as snapshot:
        good = sum(snapshot.last_kept(_DRY_SAMPLE))
    if good >= _DRY * _DRY_SAMPLE:
        return ""
    return (
        f"Of the last {_DRY_SAMPLE:,} pages {good:,} were on topic: there may be no more to find from here. More seeds "
        "help (`analecta add`), so may better ones (`analecta health`); policy.cutoff gives up paths that lead nowhere."
    )


def share(part: int, whole: int) -> str:
    """A share in per cent."""
    return f"{part / whole:.0%}" if whole else "0%"


def clock(seconds: float) -> str:
    """Time passed, as on a watch."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _grid(figures: Sequence[tuple[str, int, str]], remarks: bool = True) -> Table:
    """Figures with their names, two on a line; their remarks need room."""
    table = Table.grid(padding=(0, 2))
    cells = [(name, f"{figure:,}", remark)[: 2 + remarks] for name, figure, remark in figures]
    for style in ("dim", "bold", "")[: 2 + remarks] * 2:
        table.add_column(style=style, justify="right" if style == "bold" else "left", no_wrap=True)
    for left, right in zip(cells[::2], cells[1::2], strict=True):
        table.add_row(*left, *right)
    return table


def _titles(titles: deque[tuple[str, str, float]]) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(style="green", justify="right", width=4)
    table.add_column(style="dim", max_width=20, no_wrap=True, overflow="ellipsis")
    table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    for title, topic, confidence in titles:
        table.add_row(f"{confidence:.2f}", shown(topic), shown(title))
    return table


# --- an evaluation ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def step_progress(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A bar that says what is being done; where there is no terminal, a line now and then."""
    if not console.is_terminal:
        line = SlowLines(console)
        yield lambda what, done, of: line(f"{what}: {done:,} of {of:,}" if of else what)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, of: bar.update(task, description=what, completed=done, total=of or None)
