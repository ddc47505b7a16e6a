"""Small charts as SVG: lines and bars with error bars. They follow the reader's light or dark screen by themselves."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from analecta.publish.templates import render_xml

WIDTH, HEIGHT = 760, 420
_LEFT, _TOP, _BOTTOM = 62, 66, 52
_LETTER = 7.6  # about the width of a bold letter of 12 px: the room for the names at the right is made from it
_LEAD = 15  # between two names
# Okabe and Ito's colours, which also people who do not see red or green tell apart; lighter ones on a dark screen.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7f3c8d", "#555555")
_BRIGHT = ("#56a9e8", "#ff8c42", "#2fc79c", "#e8a0c8", "#e6c229", "#8fd0f7", "#c08be0", "#b0b0b0")
_QUIET = len(_COLOURS) - 1


class ChartLine(msgspec.Struct, frozen=True):
    """A line of a chart; `errors`, if given, are half the heights of its error bars, one for each point.

    A quiet line is a bound to compare with: dashed, in grey.
    """

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    errors: Sequence[float] = ()
    quiet: bool = False


class Bar(msgspec.Struct, frozen=True):
    """A bar, with half the height of its error bar; a quiet one is a bound to compare with."""

    name: str
    value: float
    error: float = 0.0
    quiet: bool = False


class ChartArea:
    """Where a value stands on the picture: x from `low` to `high`, y from 0 to `top`."""

    def __init__(self, low: float, high: float, top: float, right: float) -> None:
        self.low, self.high, self.top = low, max(high, low + 1e-9), top or 1.0
        self.left, self.right = _LEFT, WIDTH - right
        self.middle = (_TOP + HEIGHT - _BOTTOM) / 2  # of its height

    def x(self, value: float) -> float:
        """Pixels from the left."""
        return _LEFT + (value - self.low) / (self.high - self.low) * (self.right - _LEFT)

    def y(self, value: float) -> float:
        """Pixels from the top; what is too high or too low stands at the rim."""
        share = min(max(value / self.top, 0.0), 1.0)
        return HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP)

    def error_bar(self, x: float, value: float, error: float) -> dict[str, float]:
        """Where an error bar is drawn: half of it above a value, half below."""
        return {"x": x, "low": self.y(value - error), "high": self.y(value + error)}


def line_chart(
    title: str,
    lines: Sequence[ChartLine],
    x_label: str,
    y_label: str,
    ticks: Sequence[tuple[float, str]],
    top: float | None = None,
) -> str:
    """Lines over a common axis, each with its name at its end; `ticks` are marks on the x axis with their words.

    Ticks beyond the last point are left out, so that the names stand at the ends of the lines.
    """
    lines = [line for line in lines if len(line.xs)]
    reach = max((max(line.xs) for line in lines), default=math.inf)
    within = [(x, words) for x, words in ticks if x <= reach + 1e-6]
    ticks = within if len(within) > 1 else ticks
    xs = [x for line in lines for x in line.xs] + [x for x, _ in ticks]
    room = 20 + _LETTER * max((len(line.name) for line in lines), default=0)
    plane = ChartArea(
        min(xs, default=0), max(xs, default=1), top or _round_up(max(map(_highest, lines), default=1)), room
    )
    drawn: list[dict[str, Any]] = []
    loud = 0
    for line in lines:
        colour = _QUIET if line.quiet else loud % _QUIET
        loud += not line.quiet
        xs = [plane.x(x) for x in line.xs]
        # Bars at eight places, not the same for all lines: they would lie on one another.
        every = max(1, len(line.errors) // 8)
        bars = range(1 + (2 * loud) % every if every > 1 else 0, len(line.errors), every)
        drawn.append(
            {
                "colour": colour,
                "quiet": line.quiet,
                "points": list(zip(xs, map(plane.y, line.ys), strict=True)),
                "errors": [plane.error_bar(xs[i], line.ys[i], line.errors[i]) for i in bars if line.errors[i] > 0],
            }
        )
    names = _apart([(plane.y(line.ys[-1]), line.name, one["colour"]) for line, one in zip(lines, drawn, strict=True)])
    return _svg(title, plane, y_label, x_label=x_label, ticks=ticks, lines=drawn, names=names)


def bar_chart(title: str, bars: Sequence[Bar], y_label: str, top: float | None = None) -> str:
    """Bars side by side, with their values above and their names below."""
    plane = ChartArea(0, max(len(bars), 1), top or _round_up(max((b.value + b.error for b in bars), default=1)), 24)
    width = (plane.right - _LEFT) / max(len(bars), 1)
    drawn = [
        {
            "x": (x := plane.x(i + 0.5)),
            "y": plane.y(bar.value),
            "half": min(0.32 * width, 40),
            "colour": _QUIET if bar.quiet else i % _QUIET,
            "error": plane.error_bar(x, bar.value, bar.error) if bar.error else None,
            "above": plane.y(bar.value + bar.error),
            "value": bar.value,
            "name": cut(bar.name, max(4, int(width / _LETTER))),
        }
        for i, bar in enumerate(bars)
    ]
    return _svg(title, plane, y_label, bars=drawn)


def _highest(line: ChartLine) -> float:
    errors = line.errors or [0.0] * len(line.ys)
    return max(y + error for y, error in zip(line.ys, errors, strict=True))


def _round_up(value: float) -> float:
    """The next round number: a share ends at 1, a quarter at 0.25."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 0.75, 1.0):
        if value <= step:
            return step
    scale = 1.0
    while scale * 10 < value:
        scale *= 10
    return next((scale * n for n in (1, 2, 2.5, 5, 7.5, 10) if value <= scale * n), value)


def _apart(ends: Sequence[tuple[float, str, int]]) -> list[tuple[float, str, int]]:
    """The names at the ends of lines, moved so that none lies on another."""
    placed: list[tuple[float, str, int]] = []
    for y, name, colour in sorted(ends):
        placed.append((max(y, placed[-1][0] + _LEAD) if placed else y, name, colour))
    over = placed[-1][0] - (HEIGHT - _BOTTOM) if placed else 0
    if over <= 0:
        return placed
    floor, lifted = float(HEIGHT - _BOTTOM), []
    for y, name, colour in reversed(placed):
        floor = min(y, floor)
        lifted.append((floor, name, colour))
        floor -= _LEAD
    return lifted[::-1]


def cut(name: str, most: int) -> str:
    """A name in so many letters."""
    return name if len(name) <= most else name[: most - 1] + "…"


def _svg(title: str, plane: ChartArea, y_label: str, **drawn: object) -> str:
    nothing: dict[str, object] = {"x_label": "", "ticks": (), "lines": (), "names": (), "bars": ()}
    known = {"title": title, "width": WIDTH, "height": HEIGHT, "area": plane, "y_label": y_label}
    return render_xml("chart.svg", **known, colours=_COLOURS, bright=_BRIGHT, **nothing | drawn)
