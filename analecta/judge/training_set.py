"""Examples made ready to learn from: in an order of their own, with stock pages added, not more than can be handled."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from analecta.judge.negatives import stock_examples
from analecta.model import MET, Example

MOST = 3000  # examples of all topics together: their scalar products take 72 MB


class Material(NamedTuple):
    """Examples with their topics and weights; `stock` are the pages that we made up."""

    examples: list[Example]
    labels: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    stock: npt.NDArray[np.bool_]


def material(examples: Sequence[Example], topics: int, stock: int, most: int = MOST) -> Material:
    """All that is learnt from; the order in which examples came does not matter."""
    ordered = sorted((e for e in examples if e.topic < topics and e.weight > 0), key=_digest)
    share = min(1.0, most / max(len(ordered), 1))
    if share < 1:  # each topic gives up alike
        ordered = sorted((e for t in range(MET, topics) for e in _some(ordered, t, share)), key=_digest)
    made = stock_examples(ordered, stock) if stock and any(e.topic >= 0 for e in ordered) else []
    return Material(
        ordered + made,
        np.array([e.topic for e in ordered + made], np.int64),
        np.array([e.weight for e in ordered + made], np.float64),
        np.arange(len(ordered) + len(made)) >= len(ordered),
    )


def _some(ordered: list[Example], topic: int, share: float) -> list[Example]:
    own = [e for e in ordered if e.topic == topic]
    return own[: max(int(len(own) * share), 1)]


def _digest(example: Example) -> tuple[int, int, str, float]:
    content = "\0".join((example.text, example.anchors, example.neighbours))
    return xxhash.xxh3_64_intdigest(content.encode("utf-8", "replace")), example.topic, example.url, example.weight
