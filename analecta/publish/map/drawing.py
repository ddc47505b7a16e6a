"""The map as SVG: lines below, then circles with a dot for each page, labels under them. Circles are links."""

from collections.abc import Iterator

from analecta.publish.analysis import Analysis, Cluster
from analecta.publish.health_drawing import safe
from analecta.publish.map.labels import MARK
from analecta.publish.map.layout import Circle, Layout, dots, lines
from analecta.publish.plain import many, plain

COLOURS = 8  # in the style sheet
_WIDTH = 0.5  # of a line, were two clusters the same, and of that for the most links; in sizes of type
_MOST_LINKS = 1.5  # lines of links drawn for each cluster
_DOT = 0.42  # radius, of the room a page has
_BIGGEST = 4.0
_BEND = 0.09  # of its length: how far a line is bent
_TARGET = 13.0  # the smallest radius that a finger hits


def draw(analysis: Analysis, layout: Layout, colours: list[int]) -> str:
    """One map; which of the maps is seen is the style sheet's choice."""
    size = f"0 0 {layout.width:.0f} {layout.height:.0f}"
    about = f'role="group" aria-label="Map of {many(len(layout.circles), "group")} of pages"'
    parts = [
        f'<svg class="map {layout.name}" viewBox="{size}" font-size="{layout.type:g}" {about}>',
        '<g class="alike">',
        *_alike(analysis, layout),
        '</g><g class="links">',
        *_links(analysis, layout),
        "</g>",
        *(_circle(analysis, n, circle, colours[n]) for n, circle in enumerate(layout.circles)),
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


def _alike(analysis: Analysis, layout: Layout) -> Iterator[str]:
    for a, b, cosine in lines(analysis.similar):
        yield _line(layout, a, b, _WIDTH * layout.type * cosine)


def _links(analysis: Analysis, layout: Layout) -> Iterator[str]:
    """The lines of the most links, both ways together."""
    n = len(layout.circles)
    both = [(analysis.links[a][b] + analysis.links[b][a], a, b) for b in range(n) for a in range(b)]
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


def _circle(analysis: Analysis, n: int, circle: Circle, colour: int) -> str:
    cluster, r = analysis.clusters[n], circle.r
    return (
        f'<a class="circle k{colour}" href="#g{n + 1}" data-r="{r:.1f}" data-x="{circle.x:.1f}" data-y="{circle.y:.1f}"'
        f' transform="translate({circle.x:.1f} {circle.y:.1f})" aria-label="{safe(_name(cluster, circle))}">'
        f'<circle class="target" r="{max(r, _TARGET):.1f}"/>'
        f'<circle class="disc" vector-effect="non-scaling-stroke" r="{r:.1f}"/>'
        f"{_dots(len(cluster.members), r)}"
        f'<text class="label" paint-order="stroke" y="{r:.1f}">{_label(circle)}</text></a>'
    )


def _name(cluster: Cluster, circle: Circle) -> str:
    """What a screen reader says: it begins with what is seen, so that voice commands find it."""
    seen = " ".join(circle.label)
    full = "" if _words(seen) == _words(cluster.label) else f": {cluster.label}"
    return f"{seen} {many(cluster.size, 'page')}{full}"


def _words(label: str) -> list[str]:
    return [plain(word) for word in label.split() if word != MARK]


def _label(circle: Circle) -> str:
    lines = [f'<tspan x="0" dy="1.25em">{safe(line)}</tspan>' for line in circle.label]
    count = f'<tspan class="count" x="0" dy="1.3em">{circle.count}</tspan>' if circle.count else ""
    return " ".join([*lines, count])


def _dots(count: int, r: float) -> str:
    """All pages of a circle as one path of round points, which costs ten bytes a page."""
    if not count:
        return ""
    wide = 2 * min(_DOT * r / count**0.5, _BIGGEST)
    path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in dots(count, r))
    return f'<path class="dots" stroke-width="{wide:.2f}" d="{path}"/>'


def _distance(one: Circle, other: Circle) -> float:
    return (one.x - other.x) ** 2 + (one.y - other.y) ** 2
