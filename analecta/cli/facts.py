"""Facts with their names before them, for a terminal: lines end between words, so that no URL is broken."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from analecta.text.display import plain

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
