"""Text from the web made safe to show in a terminal: what could move the cursor or turn the line is made visible."""

import re
import shlex
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.text import Text

# Control characters C0 and C1 with DEL, line and paragraph separators, lone surrogates, everything that sets the
# direction of writing, the byte order mark, and the invisible tag characters.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_ENDLESS = 10_000  # columns
_LIB = re.compile(r"\bLIB\b")


def plain(text: str) -> str:
    """The text with each dangerous character as an escape such as \\x1b or \\u202e."""
    return _HIDDEN.sub(_escape, text)


def shown(text: str, style: str = "") -> Text:
    """The same for rich tables: no markup in it is read, and it keeps to one line."""
    return Text(plain(text), style, no_wrap=True, overflow="ellipsis")


def many(count: int, what: str) -> str:
    """A number with its noun: 1 page, 2 pages."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


class Fitting:
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


def next_steps(folder: Path, *commands: str) -> Text:
    """Commands to copy; LIB in them is the library."""
    quoted = shlex.quote(str(folder))
    ready = [_LIB.sub(lambda _: quoted, command, count=1) for command in commands]  # an address may hold it too
    return Text("\n".join(f"  analecta {command}" for command in ready), style="cyan")


def _escape(match: "re.Match[str]") -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
