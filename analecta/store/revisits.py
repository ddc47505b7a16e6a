"""What became of pages that were asked for again: counted in each shard, over all runs.

The numbers only grow. Who wants those of one run looks before it and after.
"""

import sqlite3
from collections import Counter

from analecta.model import UrlState
from analecta.store.library import LibraryFolder
from analecta.store.schema import MetaKey

UNCHANGED, CHANGED = "unchanged", "changed"
OUTCOMES = (UNCHANGED, CHANGED, "gone", "moved", "refused", "failed")  # in the order in which they are told

_COUNT = "INSERT INTO meta VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET value = value + 1"


def count_revisit(shard: sqlite3.Connection, outcome: str) -> None:
    """Count one page."""
    shard.execute(_COUNT, (MetaKey.AGAIN + outcome,))


def outcome(state: UrlState, reason: str) -> str:
    """What an end without a new page means for the page that there is."""
    if state == UrlState.DONE or reason == "duplicate":  # a copy that is one still
        return UNCHANGED
    if reason in ("http-404", "http-410"):
        return "gone"
    return {UrlState.ALIAS: "moved", UrlState.REFUSED: "refused"}.get(state, "failed")


def revisits(library: LibraryFolder) -> Counter[str]:
    """How many pages came to which end, so far."""
    found: Counter[str] = Counter()
    with library.shards() as shards:
        for shard in shards:
            rows = shard.execute("SELECT key, value FROM meta WHERE key LIKE ?", (f"{MetaKey.AGAIN}%",))
            found.update({key.removeprefix(MetaKey.AGAIN): value for key, value in rows})
    return found
