"""Places on a sheet for things with labels: like things near one another, none on top of another; always the same.

Distances become places in the plane (classical multidimensional scaling), springs between each thing and the two most
like it and a push between all of them fill the sheet, and at last boxes that lie on one another are moved apart.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Box = tuple[float, float]

_ROUNDS, _PUSHES = 300, 1500
_PULL = 0.4  # of a spring, against the push of things that have no spring
_ROOM = 2.0  # sheet for each bit of it that is covered, so that lines can be seen
_EVEN = 0.5  # how much of a place is its rank
_FLAT = 0.05  # of the longer side: less is no second dimension
_SIDEWAYS = np.array([0.5, 1.0])  # a way to the side counts half: a sheet is scrolled from top to bottom
_FULL = 8  # things from which on the whole width is used


def places(
    similarities: Sequence[Sequence[float]], boxes: Sequence[Box], width: float, least: float
) -> tuple[list[tuple[float, float]], float]:
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
