"""Where the circles, lines and labels of drawings go: like things near one another, none on top of another.

The same input always gives the same places.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from analecta.arrays import Floats
from analecta.text.display import cell_width, plain

# --- Places on a sheet for things with labels ------------------------------------------------------------------------
# Distances become places in the plane (classical multidimensional scaling), springs between each thing and the two most
# like it and a push between all of them fill the sheet, and at last boxes that lie on one another are moved apart.

Pair = tuple[float, float]

_ROUNDS, _PUSHES = 300, 1500
_PULL = 0.4  # of a spring, against the push of things that have no spring
_ROOM = 2.0  # sheet for each bit of it that is covered, so that lines can be seen
_EVEN = 0.5  # how much of a place is its rank
_FLAT = 0.05  # of the longer side: less is no second dimension
_SIDEWAYS = np.array([0.5, 1.0])  # a way to the side counts half: a sheet is scrolled from top to bottom
_FULL = 8  # things from which on the whole width is used


def places(
    similarities: Sequence[Sequence[float]], boxes: Sequence[Pair], width: float, least: float
) -> tuple[list[Pair], float]:
    """The middle of each box (its width and height) on a sheet of this width, and how high that is."""
    if not boxes:
        return [], least
    size = np.array(boxes, np.float64)
    height = max(least, _ROOM * float(size.prod(axis=1).sum()) / width, float(size[:, 1].max()))
    sheet = np.array([width, height])
    alike = np.array(similarities, np.float64)
    aspect = width / height * float(size[:, 1].mean() / size[:, 0].mean())  # in boxes, which are broad
    loose = _even(_settled(_scaled(1 - alike), _nearest_two(alike), aspect))
    margin = np.array([max(0.0, 1 - len(boxes) / _FULL) * width / 2, 0.0])
    low, high = size / 2, np.maximum(sheet - size / 2, size / 2)
    at = low + margin + np.maximum(high - low - 2 * margin, 0) * loose
    high[:, 1] = np.inf  # where there is no room the sheet grows
    for _ in range(_PUSHES):
        pushed = _pushed(at, size)
        if not pushed.any():
            break
        at = np.clip(at + pushed, low, high)
    at[:, 1] -= (at - low)[:, 1].min()
    return [(float(x), float(y)) for x, y in at], max(least, float((at + size / 2)[:, 1].max()))


def _scaled(distances: Floats) -> Floats:
    """Points in the plane whose distances are about these."""
    n = len(distances)
    centred = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-centred @ distances**2 @ centred / 2)
    points = np.zeros((n, 2))
    points[:, : min(n, 2)] = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    points = np.round(points, 6)  # the last bits differ from machine to machine
    farthest = points[np.abs(points).argmax(axis=0), (0, 1)]  # which way is up is anybody's choice: let it be theirs
    return np.asarray(points * np.where(farthest < 0, -1, 1))


def _nearest_two(alike: Floats) -> Floats:
    """The likeness of each thing with the two most like it, else 0; the same both ways."""
    others = alike - np.eye(len(alike)) * 2
    rank = np.argsort(np.argsort(-others, axis=1, kind="stable"), axis=1, kind="stable")
    near = np.where(rank < 2, np.maximum(others, 0), 0)
    return np.maximum(near, near.T)


def _settled(points: Floats, springs: Floats, aspect: float) -> Floats:
    """Points in the unit square after springs have pulled and all have pushed one another (Fruchterman-Reingold)."""
    n = len(points)
    turn = np.arange(n) * 2.4  # the golden angle: what lies in one place is parted
    at = _unit_square(points) + 0.01 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    at[:, 0] *= aspect
    free = float(np.sqrt(aspect / n))
    for step in range(_ROUNDS):
        apart = at[:, None] - at[None]
        far = np.sqrt((apart**2).sum(axis=2)) + np.eye(n)
        force = (free / far) ** 2 - _PULL * springs * far / free
        move = (apart * force[:, :, None]).sum(axis=1) + 0.1 * (at.mean(axis=0) - at)
        length = np.maximum(np.sqrt((move**2).sum(axis=1, keepdims=True)), 1e-9)
        at = at + move / length * np.minimum(length, 0.1 * (1 - step / _ROUNDS))
    return _unit_square(at)


def _unit_square(points: Floats) -> Floats:
    """The points stretched to fill a square; what lies on a line stays on one, in the middle."""
    extent = np.ptp(points, axis=0)
    flat = extent <= max(_FLAT * float(extent.max()), 1e-6)
    return np.asarray(np.where(flat, 0.5, (points - points.min(axis=0)) / np.where(flat, 1, extent)))


def _even(points: Floats) -> Floats:
    """The points moved towards their ranks from left to right and from top to bottom, so that no corner is empty."""
    if len(points) < _FULL:
        return points
    ranks = np.argsort(np.argsort(points, axis=0, kind="stable"), axis=0, kind="stable") / (len(points) - 1)
    return np.asarray((1 - _EVEN) * points + _EVEN * ranks)


def _pushed(at: Floats, size: Floats) -> Floats:
    """How far each box is pushed by those that lie on it: along the shorter way out, each of the two by a third."""
    apart = at[:, None] - at[None]
    over = (size[:, None] + size[None]) / 2 - np.abs(apart)
    both = (over > 0.5).all(axis=2) & ~np.eye(len(at), dtype=np.bool_)
    along = (over * _SIDEWAYS).argmin(axis=2)[:, :, None] == np.arange(2)
    later = np.sign(np.arange(len(at))[:, None] - np.arange(len(at)))[:, :, None]
    way = np.where(apart == 0, later, np.sign(apart))  # of two in one place the later one goes right and down
    return np.asarray((way * over * along * both[:, :, None]).sum(axis=1) / 3)


# --- Labels in lines: as wide as a circle, of any script -------------------------------------------------------------

MARK = "·"  # between the terms of a label; at the end of a line the break says as much
_ENDLESS = 24  # letters of a word that may be broken


def wrapped(label: str, width: float, lines: int) -> list[str]:
    """A label in so many lines of about this many letters; what is left over becomes an ellipsis."""
    found = [""]
    for piece in _pieces(label):
        if found[-1] and piece.strip() != MARK and cell_width(found[-1] + piece.rstrip()) > width:
            found.append("")
        found[-1] += piece if found[-1] else piece.lstrip()
    found = [short for line in found if (short := line.strip(f" {MARK}"))]
    if len(found) > lines:
        return [*found[: lines - 1], _cut(found[lines - 1] + " ", width - 1).rstrip(f" ,;{MARK}") + "…"]
    return found


def _pieces(label: str) -> Iterator[str]:
    """Where a line may end: after a space, and after any letter of a wide script or of an endless word."""
    for word in map(plain, label.split()):
        if len(word) > _ENDLESS or cell_width(word) > len(word):
            yield from word
            yield " "
        else:
            yield word + " "


def _cut(text: str, width: float) -> str:
    while cell_width(text) > width:
        text = text[:-1]
    return text


# --- What is drawn as circles joined by lines: groups of pages on the map, communities of sites on a site ------------


class GroupCircle(msgspec.Struct, frozen=True):
    """What becomes a circle, which is a link; each of `dots` has the number of a community, 0 for none."""

    label: str
    size: int  # pages: its area
    href: str
    dots: Sequence[int]


class GroupNetwork(msgspec.Struct, frozen=True):
    """All of them, how alike each is to each other (0 to 1), and how many links lead from each to each."""

    bodies: list[GroupCircle]
    similar: Sequence[Sequence[float]]
    links: Sequence[Sequence[int]]
    tones: Mapping[int, int] = {}  # colours of communities, by their numbers


# --- The layout of a map: areas as pages, like near like, nothing on top of another thing ----------------------------
# A map is laid out once for each shape of window, so that its words keep a size that can be read.

_FILL = 0.24  # of the sheet that circles cover
_LARGEST = 0.19  # radius, of the shorter side
_SMALLER, _SMALLEST = 0.95, 2.0  # circles shrink until there is room for all, the largest to twice the type
_LEAST = 0.75  # of the height: less would look flat
_MARGIN = 14.0
_LAST_PUSHES = 600
_FEW, _MANY = 7, 16  # clusters from which on type is smaller
_SHORTEST = 17  # letters that a line of a label may always have
_LETTER = 0.6  # width of a letter, in heights of type
_LINE = 1.25  # height of a line, the same
_TURN = np.pi * (3 - np.sqrt(5))  # the golden angle: seeds of a sunflower stand so, evenly
_RIM = 0.94  # of the radius: dots keep off the edge


class WindowShape(msgspec.Struct, frozen=True):
    """A kind of window: its name in the style sheet, its size, and sizes of type for few, some and many labels."""

    name: str
    width: float
    height: float
    type: tuple[float, float, float]
    each: float = 0.0  # height for each cluster, where a page is scrolled


SHAPES = (
    WindowShape("wide", 1040, 790, (18, 15.5, 12.5)),
    WindowShape("square", 690, 660, (16, 13.5, 11.5)),
    WindowShape("tall", 390, 540, (14, 12.5, 11.5), 36),
)


class Circle(msgspec.Struct, frozen=True):
    """A cluster as it is drawn."""

    x: float
    y: float
    r: float
    label: list[str]
    count: str  # of pages, as it stands below the label; "" where there are too many circles


class Layout(msgspec.Struct, frozen=True):
    """A map on its sheet."""

    name: str
    width: float
    height: float
    type: float
    circles: list[Circle]


def lay_out(net: GroupNetwork, shape: WindowShape) -> Layout:
    """The map for one shape of window."""
    count = len(net.bodies)
    type = shape.type[int(np.searchsorted((_FEW, _MANY), count, "right"))]
    height = max(shape.height, shape.each * count)
    radii = _radii(np.array([body.size for body in net.bodies], np.float64), shape.width, height)
    boxes = _boxes(net, radii, type)
    while (need := _needed(boxes, shape.width, height)) > 1 and radii.max() > _SMALLEST * type:
        radii = radii * _SMALLER
        boxes = _boxes(net, radii, type)
    # What still has no room makes the sheet larger: as it was, or only higher where it is scrolled.
    width = shape.width if shape.each else shape.width * max(1.0, need) ** 0.5
    sizes = [box[1:] for box in boxes]
    wider = max(1.0, 0.8 * 8 / max(count, 1))  # few circles take only the middle of the sheet
    loose, _ = places(net.similar, sizes, wider * (width - 2 * _MARGIN), _LEAST * height)
    middles = _apart(loose, sizes)
    circles = [
        Circle(x, y - (tall - type) / 2 + r, r, label, f"{body.size:,}" if count < _MANY else "")
        for (x, y), r, (label, _, tall), body in zip(middles, radii.tolist(), boxes, net.bodies, strict=True)
    ]
    return _centred(Layout(shape.name, shape.width, height, type, circles), middles, sizes)


def dots(count: int, r: float) -> list[Pair]:
    """Places for pages around the middle of a circle, the first in the middle; all have the same room."""
    n = np.arange(count)
    far, turn = _RIM * r * np.sqrt((n + 0.5) / max(count, 1)), n * _TURN
    return [(float(x), float(y)) for x, y in zip(far * np.cos(turn), far * np.sin(turn), strict=True)]


def lines(similar: Sequence[Sequence[float]]) -> list[tuple[int, int, float]]:
    """The pairs worth a line, with their cosines: a tree that joins all (of greatest weight), and each one's nearest.

    All pairs would be a ball of wool: 40 clusters have 780.
    """
    n = len(similar)
    pairs = sorted(((similar[a][b], a, b) for a in range(n) for b in range(a)), key=lambda pair: (-pair[0], pair[1:]))
    chosen = set(_tree(pairs, n))
    strong = [(b, a) for cosine, a, b in pairs if cosine > 0][: n // 2]
    chosen.update(strong)
    return [(b, a, cosine) for cosine, a, b in pairs if (b, a) in chosen and cosine > 0]


def _radii(sizes: Floats, width: float, height: float) -> Floats:
    """Areas as pages; the sheet is filled so far, and no circle is larger than so much of it."""
    root = np.sqrt(np.maximum(sizes, 1))
    by_area = np.sqrt(_FILL * width * height / (np.pi * max(float((root**2).sum()), 1)))
    return np.asarray(root * min(by_area, _LARGEST * min(width, height) / float(root.max(initial=1))))


def _boxes(net: GroupNetwork, radii: Floats, type: float) -> list[tuple[list[str], float, float]]:
    """The lines of each label, and how wide and high a circle is with them below it."""
    letter, count = type * _LETTER, len(radii)
    found = []
    for body, r in zip(net.bodies, radii.tolist(), strict=True):
        label = wrapped(body.label, max(2 * r / letter, _SHORTEST), 3 if count < _FEW else 2)
        wide = max(2 * r, 0.0, *(letter * cell_width(line) for line in label))
        lines = len(label) + (count < _MANY)
        found.append((label, wide + type, 2 * r + _LINE * type * lines + 1.5 * type))
    return found


def _needed(boxes: Sequence[tuple[list[str], float, float]], width: float, height: float) -> float:
    """How many times the sheet's area all of them need."""
    return _ROOM * sum(wide * high for _, wide, high in boxes) / (width * height)


def _apart(places: Sequence[Pair], sizes: Sequence[Pair]) -> list[Pair]:
    """Boxes that still lie on one another moved apart, each the shorter way, wherever that leads."""
    at, size = np.array(places).reshape(-1, 2), np.array(sizes).reshape(-1, 2)
    for _ in range(_LAST_PUSHES):
        apart = at[:, None] - at[None]
        over = (size[:, None] + size[None]) / 2 - np.abs(apart)
        over[over.min(axis=2) < 0.5] = 0  # these do not touch
        over[np.diag_indices(len(at))] = 0
        if not over.any():
            break
        shorter = over == over.min(axis=2, keepdims=True)
        at = at + (np.sign(apart) * over * shorter).sum(axis=1) / 3
    return [(float(x), float(y)) for x, y in at]


def _centred(layout: Layout, middles: Sequence[Pair], sizes: Sequence[Pair]) -> Layout:
    """The map in the middle of its sheet, which grows where it is too small."""
    if not middles:
        return layout
    at, half = np.array(middles), np.array(sizes) / 2
    low, high = (at - half).min(axis=0), (at + half).max(axis=0)
    sheet = np.maximum((layout.width, layout.height), high - low + 2 * _MARGIN)
    dx, dy = ((sheet - high - low) / 2).tolist()
    circles = [replace(circle, x=circle.x + dx, y=circle.y + dy) for circle in layout.circles]
    return replace(layout, width=float(sheet[0]), height=float(sheet[1]), circles=circles)


def _tree(pairs: Sequence[tuple[float, int, int]], n: int) -> Iterator[tuple[int, int]]:
    """The pairs of a tree of greatest weight (Kruskal); pairs come heaviest first."""
    part = list(range(n))
    for _, a, b in pairs:
        if part[a] != part[b]:
            old, new = part[a], part[b]
            part = [new if one == old else one for one in part]
            yield b, a
