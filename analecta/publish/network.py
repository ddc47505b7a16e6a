"""Circles joined by lines, as SVG: the topics of a library (S14), and maps of groups of pages or of communities."""

from collections.abc import Collection, Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

from markupsafe import Markup

from analecta.judge.health import BACK, ENOUGH, Health, TopicHealth
from analecta.model import BELOW
from analecta.publish.layout import MARK, Circle, GroupCircle, GroupNetwork, Layout, Pair, dots, lines, places
from analecta.publish.templates import render_xml
from analecta.text.display import cell_width, many, plain
from analecta.views.health import short, verdict

# --- The topics of a library: each joined with the two nearest to it, those too close marked -------------------------

WIDTH = 1000
_LEAST = 120  # the height of a drawing of few topics
_MARGIN, _LEGEND = 16, 78
_LETTER = 8.0  # about the width of a bold letter of 12 px
_LABEL = 20  # letters in a line of a name
_LINE = 14  # height of a line
_SMALLEST, _LARGEST = 9.0, 34.0  # radii
_PAGE = 6.0  # the radius of a topic of one example, were it drawn
_GAP, _BETWEEN = 16, 30  # beside and below a topic: a mark on a line has room there
_BADGE = 11.0  # half the size of the mark on a line
_FAIR = 0.7  # share of examples that come back, below which a topic hardly holds together


class TopicLook(NamedTuple):
    """How topics of a kind are drawn: colours on light and dark paper, a mark, and what the legend says of them."""

    kind: str
    mark: str
    light: str
    dark: str
    words: str


# Okabe and Ito's colours, which also people who do not see red or green tell apart; each with a mark of its own.
_LOOKS = {
    look.kind: look
    for look in (
        TopicLook(
            "well", "✓", "#00805e", "#2fc79c", f"{BACK:.0%} or more of its examples are nearest to it (come back)"
        ),
        TopicLook("fair", "~", "#8a6100", "#e6b422", f"{_FAIR:.0%} or more"),
        TopicLook("poor", "!", "#b84a00", "#ff8c42", "less"),
        TopicLook("unknown", "?", "#666666", "#a8a8a8", "not known: too few examples, or no other topic"),
    )
}


def draw_topics(found: Health) -> str:
    """An SVG picture that stands for itself; a pointer on a circle shows the topic's words."""
    radii = _radii(found)
    labels = [_label(topic) for topic in found.topics]
    boxes = [
        (max(2 * r, *(_LETTER * cell_width(line) for line in lines)) + _GAP, 2 * r + _LINE * len(lines) + _BETWEEN)
        for r, lines in zip(radii, labels, strict=True)
    ]
    middles, inner = places(found.similarities, boxes, WIDTH - 2 * _MARGIN, _LEAST)
    at = [(_MARGIN + x, _MARGIN + y - _LINE * len(lines) / 2) for (x, y), lines in zip(middles, labels, strict=True)]
    height = inner + 2 * _MARGIN + _LEGEND
    close = _close(found)
    covered = [(x, y, *box) for (x, y), box in zip(middles, boxes, strict=True)]
    return render_xml(
        "health.svg",
        health=found,
        width=WIDTH,
        height=height,
        kinds=_LOOKS,
        lines=[*((i, j, "edge") for i, j in _edges(found, close)), *((i, j, "edge close") for i, j in close)],
        at=at,
        circles=list(zip(found.topics, radii, labels, at, strict=True)),
        badges=[(i, j, _badge(at[i], at[j], covered)) for i, j in close],
        legend=_legend(),
        line_height=_LINE,
        kind_of=_kind,
        below=_below,
        verdict=verdict,
    )


def _radii(found: Health) -> list[float]:
    """Areas as the numbers of examples; only very few and very many are drawn larger or smaller than they are."""
    most = max((topic.examples for topic in found.topics), default=1)
    page = min(_PAGE, _LARGEST / max(most, 1) ** 0.5)
    return [max(_SMALLEST, page * topic.examples**0.5) for topic in found.topics]


def _label(topic: TopicHealth) -> list[str]:
    """What stands below a circle: the name, or as much of its last part as two lines hold; then the figures."""
    name = short(topic.name, _LABEL)
    if not name.endswith("…"):
        return [name or "(no name)", _below(topic)]
    first, *rest = wrap(plain(topic.name.split(BELOW)[-1]), _LABEL)
    return [first, *([short(" ".join(rest), _LABEL)] if rest else []), _below(topic)]


def _below(topic: TopicHealth) -> str:
    if not topic.examples:
        return "no examples"
    if topic.back is None:
        return many(topic.examples, "example")
    return f"{round(topic.back * topic.examples)} of {topic.examples} come back"


def _kind(topic: TopicHealth) -> str:
    if topic.back is None or topic.examples < ENOUGH:
        return "unknown"
    return "well" if topic.back >= BACK else "fair" if topic.back >= _FAIR else "poor"


def _close(found: Health) -> list[tuple[int, int]]:
    number = {topic.name: i for i, topic in enumerate(found.topics)}
    return sorted((number[pair.one], number[pair.other]) for pair in found.close)


def _edges(found: Health, close: Collection[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs of topics to join: each with the two nearest to it, but for those that are too close."""
    number = {topic.name: i for i, topic in enumerate(found.topics)}
    pairs = ((i, number[other.topic]) for i, topic in enumerate(found.topics) for other in topic.nearest)
    return sorted({(min(pair), max(pair)) for pair in pairs}.difference(close))


def _badge(one: Pair, other: Pair, boxes: Sequence[tuple[float, float, float, float]]) -> Pair:
    """Where a mark on the line between two topics covers least."""
    spots = [_between(one, other, 0.5 + k / 40 * way) for k in range(16) for way in (1, -1)]
    return min(spots, key=lambda spot: sum(_covers(spot, *box) for box in boxes))


def _between(one: Pair, other: Pair, share: float) -> Pair:
    return one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1])


def _covers(spot: Pair, x: float, y: float, width: float, height: float) -> bool:
    """Whether a mark at this spot lies on what is in a box, a circle and its label."""
    aside, above = abs(spot[0] - _MARGIN - x), abs(spot[1] - _MARGIN - y)
    return aside < (width - _GAP) / 2 + _BADGE and above < (height - _BETWEEN) / 2 + _BADGE


def _legend() -> Iterator[tuple[TopicLook, float]]:
    """All kinds, and where each stands from the left."""
    x = _MARGIN + 12.0
    for look in _LOOKS.values():
        yield look, x
        x += 42 + 6.2 * len(look.words)


# --- A map: lines below, then circles with their dots, labels under them. Circles are links --------------------------

COLOURS = 8  # in the style sheets
_WIDTH = 0.5  # of a line, were two clusters the same, and of that for the most links; in sizes of type
_MOST_LINKS = 1.5  # lines of links drawn for each cluster
_DOT = 0.42  # radius, of the room a page has
_BIGGEST = 4.0
_BEND = 0.09  # of its length: how far a line is bent


class Curve(NamedTuple):
    """A line between the middles of circles a and b, a little bent: through x and y."""

    a: int
    b: int
    one: Circle
    other: Circle
    x: float
    y: float
    width: float


def draw_maps(net: GroupNetwork, layouts: Sequence[Layout], about: str) -> tuple[list[Markup], list[int]]:
    """A map for each layout, of which the style sheet chooses one, and the colours of the circles."""
    tones = colours(layouts[0])
    return [Markup(_drawn(net, layout, tones, about)) for layout in layouts], tones


def _drawn(net: GroupNetwork, layout: Layout, colours: Sequence[int], about: str) -> str:
    return render_xml(
        "circles.svg",
        layout=layout,
        about=about,
        alike=[_curve(layout, a, b, _WIDTH * layout.type * cosine) for a, b, cosine in lines(net.similar)],
        links=_links(net, layout),
        circles=list(zip(net.bodies, layout.circles, colours, strict=True)),
        tones=net.tones,
        name=_name,
        dots=_dots,
    ).rstrip("\n")


def colours(layout: Layout) -> list[int]:
    """A colour for each circle: none of the circles nearest to it has the same, as far as there are enough."""
    chosen: list[int] = []
    for n, circle in enumerate(layout.circles):
        near = sorted(range(n), key=lambda m: _distance(circle, layout.circles[m]))
        free = [colour for colour in range(COLOURS) if colour not in {chosen[m] for m in near[: COLOURS - 1]}]
        chosen.append(min(free, key=lambda colour: (chosen.count(colour), colour)))
    return chosen


def _links(net: GroupNetwork, layout: Layout) -> Iterator[Curve]:
    """The lines of the most links, both ways together."""
    n = len(layout.circles)
    both = [(net.links[a][b] + net.links[b][a], a, b) for b in range(n) for a in range(b)]
    most = sorted((pair for pair in both if pair[0]), key=lambda pair: (-pair[0], pair[1:]))
    for count, a, b in most[: int(_MOST_LINKS * n)]:
        yield _curve(layout, a, b, max(0.75, _WIDTH * layout.type * count / most[0][0]))


def _curve(layout: Layout, a: int, b: int, width: float) -> Curve:
    one, other = layout.circles[a], layout.circles[b]
    dx, dy = other.x - one.x, other.y - one.y
    x, y = (one.x + other.x) / 2 - _BEND * dy, (one.y + other.y) / 2 + _BEND * dx
    return Curve(a, b, one, other, x, y, width)


def _name(body: GroupCircle, circle: Circle) -> str:
    """What a screen reader says: it begins with what is seen, so that voice commands find it."""
    seen = " ".join(circle.label)
    full = "" if _words(seen) == _words(body.label) else f": {body.label}"
    return f"{seen} {many(body.size, 'page')}{full}"


def _words(label: str) -> list[str]:
    return [plain(word) for word in label.split() if word != MARK]


def _dots(body: GroupCircle, r: float) -> Iterator[tuple[int, str, float]]:
    """The dots of a circle as a path of round points for each community, and their width: ten bytes a dot."""
    width = 2 * min(_DOT * r / max(len(body.dots), 1) ** 0.5, _BIGGEST)
    paths: dict[int, list[str]] = {}
    for number, (x, y) in zip(body.dots, dots(len(body.dots), r), strict=True):
        paths.setdefault(number, []).append(f"M{x:.1f} {y:.1f}h0")
    for number, points in paths.items():
        yield number, "".join(points), width


def _distance(one: Circle, other: Circle) -> float:
    return (one.x - other.x) ** 2 + (one.y - other.y) ** 2
