"""Small charts as SVG: lines and bars with error bars. They follow the reader's light or dark screen by themselves."""

import math
from collections.abc import Sequence
from html import escape

import msgspec

WIDTH, HEIGHT = 760, 420
_LEFT, _TOP, _BOTTOM = 62, 66, 52
_LETTER = 7.6  # about the width of a bold letter of 12 px: the room for the names at the right is made from it
_LEAD = 15  # between two names
# Okabe and Ito's colours, which also people who do not see red or green tell apart; lighter ones on a dark screen.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7f3c8d", "#555555")
_BRIGHT = ("#56a9e8", "#ff8c42", "#2fc79c", "#e8a0c8", "#e6c229", "#8fd0f7", "#c08be0", "#b0b0b0")
_QUIET = len(_COLOURS) - 1

_STYLE = """<style>
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #333 }
.title { font-size: 16px; font-weight: 600 } .label { fill: #666 } .paper { fill: #fff }
.grid { stroke: #e4e4e4 } .axis { stroke: #999 } .ink { stroke: #222 }
.line { fill: none; stroke-width: 2; stroke-linejoin: round }
.error { stroke-width: 1.2 } .dashed { stroke-dasharray: 5 4; stroke-width: 1.6 } .name { font-weight: 600 }
%s
@media (prefers-color-scheme: dark) {
text { fill: #ddd } .label { fill: #aaa } .paper { fill: #16181c } .grid { stroke: #33363c } .axis { stroke: #777 }
.ink { stroke: #eee }
%s
}
</style>"""


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
        self.right = WIDTH - right

    def x(self, value: float) -> float:
        """Pixels from the left."""
        return _LEFT + (value - self.low) / (self.high - self.low) * (self.right - _LEFT)

    def y(self, value: float) -> float:
        """Pixels from the top; what is too high or too low stands at the rim."""
        share = min(max(value / self.top, 0.0), 1.0)
        return HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP)


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
    parts = _frame(title, x_label, y_label, plane)
    for x, words in ticks:
        parts.append(_text(plane.x(x), HEIGHT - _BOTTOM + 18, words, "label", "middle"))
    loud = 0
    ends = []
    for line in lines:
        colour = _QUIET if line.quiet else loud % _QUIET
        loud += not line.quiet
        parts.append(_drawn(line, plane, colour, loud))
        ends.append((plane.y(line.ys[-1]), line.name, colour))
    for y, name, colour in _apart(ends):
        parts.append(_text(plane.right + 8, y + 4, name, f"name f{colour}"))
    return _svg(title, parts)


def bar_chart(title: str, bars: Sequence[Bar], y_label: str, top: float | None = None) -> str:
    """Bars side by side, with their values above and their names below."""
    plane = ChartArea(0, max(len(bars), 1), top or _round_up(max((b.value + b.error for b in bars), default=1)), 24)
    parts = _frame(title, "", y_label, plane)
    width = (plane.right - _LEFT) / max(len(bars), 1)
    for i, bar in enumerate(bars):
        middle, y = plane.x(i + 0.5), plane.y(bar.value)
        half = min(0.32 * width, 40)
        colour = _QUIET if bar.quiet else i % _QUIET
        parts.append(
            f'<rect class="f{colour}" x="{middle - half:.1f}" y="{y:.1f}" width="{2 * half:.1f}" '
            f'height="{plane.y(0) - y:.1f}" rx="2"/>'
        )
        if bar.error:
            parts.append(_error(middle, plane.y(bar.value - bar.error), plane.y(bar.value + bar.error), "ink"))
        above = plane.y(bar.value + bar.error) - 7
        parts.append(_text(middle, above, f"{bar.value:.2f}", "", "middle"))
        parts.append(_text(middle, plane.y(0) + 18, _short(bar.name, width), "label", "middle"))
    return _svg(title, parts)


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


def _frame(title: str, x_label: str, y_label: str, plane: ChartArea) -> list[str]:
    """Title, grid and the words at the axes."""
    parts = [f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="6"/>', _text(_LEFT, 30, title, "title")]
    for i in range(6):
        value = plane.top * i / 5
        y = plane.y(value)
        kind = "grid" if i else "axis"
        parts.append(f'<line class="{kind}" x1="{_LEFT}" x2="{plane.right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{value:.3g}", "label", "end"))
    parts.append(_text((_LEFT + plane.right) / 2, HEIGHT - 14, x_label, "label", "middle"))
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    turned = f'transform="rotate(-90 16 {middle:.0f})"'
    parts.append(f'<text class="label" x="16" y="{middle:.0f}" text-anchor="middle" {turned}>{escape(y_label)}</text>')
    return parts


def _drawn(line: ChartLine, plane: ChartArea, colour: int, turn: int) -> str:
    points = [(plane.x(x), plane.y(y)) for x, y in zip(line.xs, line.ys, strict=True)]
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    parts = [f'<path class="line s{colour}{" dashed" if line.quiet else ""}" d="{path}"/>']
    # Bars at eight places, not the same for all lines: they would lie on one another.
    every = max(1, len(line.errors) // 8)
    for i in range(1 + (2 * turn) % every if every > 1 else 0, len(line.errors), every):
        if line.errors[i] > 0:
            y, error = line.ys[i], line.errors[i]
            parts.append(_error(points[i][0], plane.y(y - error), plane.y(y + error), f"s{colour}"))
    return "".join(parts)


def _error(x: float, low: float, high: float, kind: str) -> str:
    caps = "".join(f"M{x - 3:.1f} {y:.1f} h6 " for y in (low, high))
    return f'<path class="error {kind}" fill="none" d="{caps}M{x:.1f} {low:.1f} V{high:.1f}"/>'


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


def _short(name: str, width: float) -> str:
    most = max(4, int(width / _LETTER))
    return name if len(name) <= most else name[: most - 1] + "…"


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(title: str, parts: Sequence[str]) -> str:
    light = " ".join(f".s{i} {{ stroke: {c} }} .f{i} {{ fill: {c} }}" for i, c in enumerate(_COLOURS))
    dark = " ".join(f".s{i} {{ stroke: {c} }} .f{i} {{ fill: {c} }}" for i, c in enumerate(_BRIGHT))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    return "\n".join((head, f"<title>{escape(title)}</title>", _STYLE % (light, dark), *parts, "</svg>")) + "\n"
