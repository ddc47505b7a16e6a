"""A map as SVG: lines below, then circles with their dots, labels under them. Circles are links."""

from collections.abc import Iterator, Mapping, Sequence

from analecta.publish.health_drawing import safe
from analecta.publish.map.layout import MARK, Body, Circle, Layout, Net, dots, lines
from analecta.publish.map.listing import COLOURS
from analecta.text.display import many, plain

_WIDTH = 0.5  # of a line, were two clusters the same, and of that for the most links; in sizes of type
_MOST_LINKS = 1.5  # lines of links drawn for each cluster
_DOT = 0.42  # radius, of the room a page has
_BIGGEST = 4.0
_BEND = 0.09  # of its length: how far a line is bent
_TARGET = 13.0  # the smallest radius that a finger hits


def draw(net: Net, layout: Layout, colours: Sequence[int], about: str) -> str:
    """One map; which of the maps is seen is the style sheet's choice."""
    size = f"0 0 {layout.width:.0f} {layout.height:.0f}"
    said = f'role="group" aria-label="{safe(about)}"'
    parts = [
        f'<svg class="map {layout.name}" viewBox="{size}" font-size="{layout.type:g}" {said}>',
        '<g class="alike">',
        *_alike(net, layout),
        '</g><g class="links">',
        *_links(net, layout),
        "</g>",
        *(_circle(net, n, circle, colours[n]) for n, circle in enumerate(layout.circles)),
        "</svg>",
    ]
    return "\n".join(parts)


def colours(layout: Layout) -> list[int]:
    """A colour for each circle: none of the circles nearest to it has the same, as far as there are enough."""
    chosen: list[int] = []
    for n, circle in enumerate(layout.circles):
        near = sorted(range(n), key=lambda m: _distance(circle, layout.circles[m]))
        free = [colour for colour in range(COLOURS) if colour not in {chosen[m] for m in near[: COLOURS - 1]}]
        chosen.append(min(free, key=lambda colour: (chosen.count(colour), colour)))
    return chosen


def _alike(net: Net, layout: Layout) -> Iterator[str]:
    for a, b, cosine in lines(net.similar):
        yield _line(layout, a, b, _WIDTH * layout.type * cosine)


def _links(net: Net, layout: Layout) -> Iterator[str]:
    """The lines of the most links, both ways together."""
    n = len(layout.circles)
    both = [(net.links[a][b] + net.links[b][a], a, b) for b in range(n) for a in range(b)]
    most = sorted((pair for pair in both if pair[0]), key=lambda pair: (-pair[0], pair[1:]))
    for count, a, b in most[: int(_MOST_LINKS * n)]:
        yield _line(layout, a, b, max(0.75, _WIDTH * layout.type * count / most[0][0]))


def _line(layout: Layout, a: int, b: int, width: float) -> str:
    """A line between the middles of two circles, a little bent."""
    one, other = layout.circles[a], layout.circles[b]
    dx, dy = other.x - one.x, other.y - one.y
    x, y = (one.x + other.x) / 2 - _BEND * dy, (one.y + other.y) / 2 + _BEND * dx
    path = f"M{one.x:.1f} {one.y:.1f}Q{x:.1f} {y:.1f} {other.x:.1f} {other.y:.1f}"
    return f'<path class="line" data-ends="{a + 1} {b + 1}" stroke-width="{width:.2f}" d="{path}"/>'


def _circle(net: Net, n: int, circle: Circle, colour: int) -> str:
    body, r = net.bodies[n], circle.r
    return (
        f'<a class="circle k{colour}" href="{safe(body.href)}" data-r="{r:.1f}" data-x="{circle.x:.1f}"'
        f' data-y="{circle.y:.1f}" transform="translate({circle.x:.1f} {circle.y:.1f})"'
        f' aria-label="{safe(_name(body, circle))}">'
        f'<circle class="target" r="{max(r, _TARGET):.1f}"/>'
        f'<circle class="disc" vector-effect="non-scaling-stroke" r="{r:.1f}"/>'
        f"{_dots(body.dots, r, net.tones)}"
        f'<text class="label" paint-order="stroke" y="{r:.1f}">{_label(circle)}</text></a>'
    )


def _name(body: Body, circle: Circle) -> str:
    """What a screen reader says: it begins with what is seen, so that voice commands find it."""
    seen = " ".join(circle.label)
    full = "" if _words(seen) == _words(body.label) else f": {body.label}"
    return f"{seen} {many(body.size, 'page')}{full}"


def _words(label: str) -> list[str]:
    return [plain(word) for word in label.split() if word != MARK]


def _label(circle: Circle) -> str:
    lines = [f'<tspan x="0" dy="1.25em">{safe(line)}</tspan>' for line in circle.label]
    count = f'<tspan class="count" x="0" dy="1.3em">{circle.count}</tspan>' if circle.count else ""
    return " ".join([*lines, count])


def _dots(of: Sequence[int], r: float, tones: Mapping[int, int]) -> str:
    """The dots of a circle as a path of round points for each community: ten bytes a dot."""
    wide = 2 * min(_DOT * r / max(len(of), 1) ** 0.5, _BIGGEST)
    paths: dict[int, list[str]] = {}
    for number, (x, y) in zip(of, dots(len(of), r), strict=True):
        paths.setdefault(number, []).append(f"M{x:.1f} {y:.1f}h0")
    return "".join(
        f'<path {_kind(number, tones)} stroke-width="{wide:.2f}" d="{"".join(points)}"/>'
        for number, points in paths.items()
    )


def _kind(number: int, tones: Mapping[int, int]) -> str:
    return f'class="dots q{tones[number]}" data-c="{number}"' if number in tones else 'class="dots"'


def _distance(one: Circle, other: Circle) -> float:
    return (one.x - other.x) ** 2 + (one.y - other.y) ** 2
