"""The seen test: every URL id ever met, in a numpy hash table of 8 bytes a slot (134 MB for 10 million).

SQLite holds the truth; this stands in front of it because most links of a page were seen before and a
look-up must cost less than a microsecond. Ints are hashes already, so their low bits are the slot.
"""

from collections.abc import Iterable

import numpy as np

from analecta.arrays import Bools, Ints

_FULL = 0.7  # grow beyond this load: linear probing stays near two probes a look-up


class SeenSet:
    """A set of 64-bit ids that answers for whole batches. Id 0 is never given to a URL: it marks a free slot."""

    def __init__(self, capacity: int = 1 << 16) -> None:
        self._table: Ints = np.zeros(max(16, 1 << (capacity - 1).bit_length()), np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def contains(self, ids: Ints) -> Bools:
        """Which of the ids have been added."""
        table = self._table
        mask = np.int64(len(table) - 1)
        found = np.zeros(len(ids), np.bool_)
        left = np.arange(len(ids))
        slots = ids & mask
        while left.size:
            there = table[slots]
            hit = there == ids[left]
            found[left[hit]] = True
            going = ~hit & (there != 0)
            left = left[going]
            slots = (slots[going] + 1) & mask
        return found

    def add_new(self, ids: Ints) -> Ints:
        """Add the ids; the positions of those that were new, first occurrences only, in order."""
        _, first = np.unique(ids, return_index=True)
        first.sort()
        fresh: Ints = first[~self.contains(ids[first])]
        self._insert(ids[fresh])
        return fresh

    def load(self, pieces: Iterable[Ints], count: int) -> None:
        """Fill an empty sieve with about `count` distinct ids, piece by piece, without growing on the way."""
        while count > _FULL * len(self._table):
            self._table = np.zeros(2 * len(self._table), np.int64)
        for piece in pieces:
            self._insert(piece)

    def _insert(self, ids: Ints) -> None:
        while self._size + len(ids) > _FULL * len(self._table):
            self._grow()
        self._place(ids)
        self._size += len(ids)

    def _place(self, ids: Ints) -> None:
        """Put distinct new ids into free slots: where several want one slot, the last wins and the others go on."""
        table = self._table
        mask = np.int64(len(table) - 1)
        slots = ids & mask
        while ids.size:
            free = table[slots] == 0
            table[slots[free]] = ids[free]
            lost = table[slots] != ids
            ids = ids[lost]
            slots = (slots[lost] + 1) & mask

    def _grow(self) -> None:
        old = self._table
        self._table = np.zeros(2 * len(old), np.int64)
        for start in range(0, len(old), 1 << 20):  # in pieces, so that growing needs no third copy
            piece = old[start : start + (1 << 20)]
            self._place(piece[piece != 0])
