"""Duplicates across partitions: no page body crosses a process, so each partition knows only its own pages.

When the partitions have stopped, the fingerprints of the pages that are new since the last time are compared over
all of them, in the order in which they were kept; the earlier page stands for the later one, as within a partition.
"""

import numpy as np

from analecta.store.library import LibraryFolder
from analecta.store.pages import new_fingerprints, note_compared, old_fingerprints, point_copy
from analecta.text.fingerprint import NearDuplicates

_BATCH = 4096  # pages that are compared at once: half a million take a few seconds


def settle_twins(library: LibraryFolder) -> int:
    """Point pages at their twins in other partitions; how many were found."""
    with library.writers() as shards:
        new = sorted(row for i, shard in enumerate(shards) for row in new_fingerprints(shard, i))  # by time
        if not new:
            return 0
        old = sorted(row for shard in shards for row in old_fingerprints(shard))
        bodies = {body: id for _, id, body, *_ in reversed(old)}
        prints = np.array([row[3] for row in (*old, *new)], np.int64)
        ids = np.array([row[1] for row in (*old, *new)], np.int64)
        near = NearDuplicates.load(prints[: len(old)], ids[: len(old)], room=len(ids))
        found = 0
        for start in range(0, len(new), _BATCH):
            batch = slice(len(old) + start, len(old) + start + _BATCH)
            likes = near.sift(prints[batch], ids[batch])
            for (_, id, body, _, seq, i), alike in zip(new[start : start + _BATCH], likes, strict=True):
                twin = bodies.setdefault(body, id)
                if twin == id and alike is not None:
                    twin = alike
                if twin != id:
                    point_copy(shards[i], seq, id, twin)
                    found += 1
        for shard in shards:
            note_compared(shard)
            shard.commit()
        return found
