"""Duplicates across partitions: no page body crosses a process, so each partition knows only its own pages.

When the partitions have stopped, the fingerprints of the pages that are new since the last time are compared over
all of them, in the order in which they were kept; the earlier page stands for the later one, as within a partition.
"""

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analecta.store.library import LibraryFolder
from analecta.store.pages import CopyTable
from analecta.text.fingerprint import NearDuplicates

_BATCH = 200  # pages of a batch are compared each with each


def settle_twins(library: LibraryFolder) -> int:
    """Point pages at their twins in other partitions; how many were found."""
    with contextlib.ExitStack() as stack:
        paths = [library.shard_path(i) for i in range(library.partitions) if library.shard_path(i).exists()]
        shards = [stack.enter_context(contextlib.closing(CopyTable(path, i))) for i, path in enumerate(paths)]
        new = sorted(row for shard in shards for row in shard.new())  # by the time they were kept
        if not new:
            return 0
        old = sorted(row for shard in shards for row in shard.old())
        bodies = {page.body: page.id for page in reversed(old)}
        near = NearDuplicates.load(_column(old, 3), _column(old, 1))
        found = 0
        for shard in shards:
            shard.begin()
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            likes = near.sift(_column(batch, 3), _column(batch, 1))
            for (_, id, body, _, seq, i), alike in zip(batch, likes, strict=True):
                twin = bodies.setdefault(body, id)
                if twin == id and alike is not None:
                    twin = alike
                if twin != id:
                    shards[i].point(seq, id, twin)
                    found += 1
        for shard in shards:
            shard.finish()
        return found


def _column(rows: Sequence[tuple[Any, ...]], k: int) -> NDArray[np.int64]:
    return np.array([row[k] for row in rows], np.int64)
