"""What commands print: safe text, tables that fit, facts with their names, JSON."""

import contextlib
import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.status import Status
from rich.table import Column, Table
from rich.text import Text

from analecta.files import discard
from analecta.text.display import escape_json, plain

LINE_EVERY = 10.0  # seconds between two lines of progress where there is no terminal
_ENDLESS = 10_000  # columns
_LIB = re.compile(r"\bLIB\b")


def shown(text: str, style: str = "") -> Text:
    """The same for rich tables: no markup in it is read, and it keeps to one line."""
    return Text(plain(text), style, no_wrap=True, overflow="ellipsis")


class Screen(Console):
    """A console on which no text commands the terminal, even where somebody forgot to make it plain."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is to be shown, piece by piece; only line ends and what rich itself asks of the terminal stay."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else piece._replace(text="\n".join(map(plain, piece.text.split("\n"))))

    def on_broken_pipe(self) -> None:
        """Let the rest go nowhere where the reader has seen enough, as `head` has; the command ends as it would."""
        discard(self.file)


class FittingText:
    """What is wide where there is room for all of it, else what is narrow: nothing has to be cut."""

    def __init__(self, wide: RenderableType, narrow: RenderableType) -> None:
        self.wide, self.narrow = wide, narrow

    def _chosen(self, console: Console, options: ConsoleOptions) -> RenderableType:
        needed = console.measure(self.wide, options=options.update(max_width=_ENDLESS)).maximum
        return self.wide if needed <= options.max_width else self.narrow

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """As it fits."""
        yield self._chosen(console, options)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """No wider than what is shown."""
        return console.measure(self._chosen(console, options), options=options)


def table(*columns: Column, **options: Any) -> Table:
    """A table without lines, its columns side by side."""
    return Table(*columns, **{"box": None, "padding": (0, 2, 0, 0), "header_style": "bold"} | options)


def rows_table(rows: Sequence[Sequence[str]]) -> Table:
    """A table whose first row has the names of its columns."""
    found = table(
        *(Column(name, justify="right" if i else "left") for i, name in enumerate(rows[0])), header_style="dim"
    )
    for row in rows[1:]:
        found.add_row(*row)
    return found


def next_steps(folder: Path, *commands: str) -> Text:
    """Commands to copy; LIB in them is the library."""
    quoted = shlex.quote(str(folder))
    ready = [_LIB.sub(lambda _: quoted, command, count=1) for command in commands]  # an address may hold it too
    return Text("\n".join(f"  analecta {command}" for command in ready), style="cyan")


def print_next(folder: Path, *commands: str) -> None:
    """The same on standard error, as they are no part of a result."""
    console(stderr=True).print(next_steps(folder, *commands), soft_wrap=True)


def console(stderr: bool = False) -> Console:
    """Text as it is: nothing that comes from the web is read as markup, and no URL is cut where nobody looks on."""
    on_screen = (sys.stderr if stderr else sys.stdout).isatty()
    return Screen(stderr=stderr, markup=False, highlight=False, emoji=False, width=None if on_screen else 1000)


def busy(what: str) -> Status:
    """Shows that something takes a while."""
    return console(stderr=True).status(what)


@contextlib.contextmanager
def stoppable(told: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C ends what takes a while, with a word on what came of it."""
    try:
        yield
    except KeyboardInterrupt:
        console(stderr=True).print(f"Stopped. {told()}", soft_wrap=True)
        raise


class SlowLines:
    """Prints a line every ten seconds and lets the others go, for what is no terminal."""

    def __init__(self, console: Console) -> None:
        self.console, self._next = console, time.monotonic() + LINE_EVERY

    def __call__(self, words: str) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_EVERY
            self.console.print(words)


def print_json(value: Any) -> None:
    """What a machine reads: one JSON object on a line."""
    try:
        sys.stdout.write(_as_json(value) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)


def _as_json(value: Any) -> str:
    """One line of JSON, which no terminal obeys; what is no character in the name of a file has a sign instead."""
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":"))
        text = text.encode("utf-8", "replace").decode()
    return escape_json(text)


# --- Facts with their names before them, for a terminal: lines end between words, so that no URL is broken -----------

_NARROW = 20  # letters that a line has in any case


class Inset(NamedTuple):
    """A line below another, set in a little, also where it goes on."""

    words: str


Fact = tuple[str, str | Text | Inset]


class Facts:
    """Facts below one another.

    Print it with `crop=False`: a URL that is longer than a line can be copied only where the terminal breaks it.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts = list(facts)
        self.edge = max((len(name) for name, _ in self.facts), default=0) + 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """How rich draws it."""
        for name, value in self.facts:
            edge = self.edge + 2 * isinstance(value, Inset)
            if isinstance(value, Inset):
                value = Text(plain(value.words), "dim")
            elif isinstance(value, str):
                value = Text(plain(value))
            for line in _lines(value, max(options.max_width - edge, _NARROW)):
                yield Text.assemble((name.ljust(edge), "bold"), line, no_wrap=True, overflow="ignore")
                name = ""


def _lines(text: Text, width: int) -> Iterator[Text]:
    """What fits on each line; one word at least."""
    breaks, start = list[int](), 0
    for word in re.finditer(r"\S+", text.plain):
        if word.start() > start and cell_len(text.plain[start : word.end()]) > width:
            start = word.start()
            breaks.append(start)
    for line in text.divide(breaks):
        line.rstrip()
        yield line
