"""The pages kept last, as words: what a new model judges again at once, without reading anything."""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.model import Verdict
from analecta.seams import Judge
from analecta.terms import Words

Hashes = npt.NDArray[np.uint64]
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


class Memory:
    """Remembers the last `window` pages: some 5 kB each."""

    def __init__(self, window: int) -> None:
        self.pages: deque[Remembered] = deque(maxlen=window)

    def judge(self, judge: Judge) -> Iterator[tuple[Remembered, Verdict]]:
        """What a judge says of them."""
        pages = iter(self.pages)
        while part := list(islice(pages, _CHUNK)):
            anchors = joined([page.anchors for page in part]) if "anchors" in judge.needs else None
            around = joined([page.neighbours for page in part]) if "neighbours" in judge.needs else None
            verdicts = judge.judge_words(joined([page.hashes for page in part]), anchors, around)
            yield from zip(part, verdicts, strict=True)


def joined(texts: Sequence[Hashes]) -> Words:
    """The words of texts that were cut one by one, as one batch (without the strings)."""
    starts = np.cumsum([0, *map(len, texts)])
    nothing = np.zeros(0, np.int64)
    return Words(np.concatenate([_NONE, *texts]), starts, b"", nothing, nothing, nothing)


def apart(batch: Words) -> list[Hashes]:
    """The words of each text of a batch."""
    return [batch.hashes[i:j].copy() for i, j in zip(batch.starts, batch.starts[1:], strict=False)]
