"""Which pages link to a URL: the links of pages turned round."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

MOST = 10_000_000  # links held: 12 bytes each, and as much again for a moment while they are sorted


class InLinks:
    """Knows the pages that link to a URL's id; page i is the i-th whose links were given."""

    def __init__(self, pages: Iterable[Sequence[int] | NDArray[np.int64]], most: int = MOST) -> None:
        self.cut = False  # whether there were more links than are held
        targets: list[NDArray[np.int64]] = []
        sizes: list[int] = []
        left = most
        for links in pages:
            once = np.unique(np.asarray(links, np.int64))
            if len(once) > left:
                self.cut = True
                break
            left -= len(once)
            targets.append(once)
            sizes.append(len(once))
        every = np.concatenate([*targets, np.empty(0, np.int64)])
        order = np.argsort(every, kind="stable")
        self._targets = every[order]
        self._pages = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[order]

    def __len__(self) -> int:
        return len(self._targets)

    def of(self, ids: Iterable[int]) -> list[int]:
        """The pages that link to any of these, each once, in the order in which they were given."""
        found: set[int] = set()
        for id in ids:
            start, end = np.searchsorted(self._targets, id, "left"), np.searchsorted(self._targets, id, "right")
            found.update(self._pages[start:end].tolist())
        return sorted(found)
