"""The pages kept last, as words: what a new model judges again at once, without reading anything."""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.model import Verdict
from analecta.protocols import Judge
from analecta.text.tokens import Bags, Words

Hashes = npt.NDArray[np.uint64]
Bag = tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]  # buckets of a page's words, and how often each is met
_NONE = np.zeros(0, np.uint64)
_CHUNK = 128


class Remembered(msgspec.Struct):
    """A page: its row, its URL's id, its words, and those of links to it and of pages that link to it, if needed."""

    seq: int
    id: int
    hashes: Hashes
    anchors: Hashes = _NONE
    neighbours: Hashes = _NONE
    hidden: bool = False  # says noindex, or is none: on no topic, whatever its words
    bag: Bag | None = None  # of its own words, where they were counted


class Memory:
    """Remembers the last `window` pages: some 5 kB each, and 3 kB where their words were counted."""

    def __init__(self, window: int) -> None:
        self.pages: deque[Remembered] = deque(maxlen=window)

    def judge(self, judge: Judge) -> Iterator[tuple[Remembered, Verdict]]:
        """What a judge says of them."""
        pages = iter(self.pages)
        while part := list(islice(pages, _CHUNK)):
            anchors = joined([page.anchors for page in part]) if "anchors" in judge.needs else None
            around = joined([page.neighbours for page in part]) if "neighbours" in judge.needs else None
            verdicts = judge.judge_words(
                joined([page.hashes for page in part], [page.bag for page in part]), anchors, around
            )
            yield from zip(part, verdicts, strict=True)


def joined(texts: Sequence[Hashes], bags: Sequence[Bag | None] = ()) -> Words:
    """The words of texts that were cut one by one, as one batch (without the strings), with their `bags` if known."""
    starts = np.cumsum([0, *map(len, texts)])
    nothing = np.zeros(0, np.int64)
    return Words(np.concatenate([_NONE, *texts]), starts, b"", nothing, nothing, nothing, _as_one(bags))


def _as_one(bags: Sequence[Bag | None]) -> Bags | None:
    known = [bag for bag in bags if bag is not None]
    if not known or len(known) < len(bags):
        return None
    starts = np.cumsum([0, *(len(buckets) for buckets, _ in known)], dtype=np.int32)
    return Bags(np.concatenate([one for one, _ in known]), np.concatenate([many for _, many in known]), starts)


def apart(batch: Words) -> list[Hashes]:
    """The words of each text of a batch."""
    return [batch.hashes[i:j].copy() for i, j in zip(batch.starts, batch.starts[1:], strict=False)]
