"""Pages that say nearly the same under the same title count once, in an analysis.

Copies are out already; here go those that a crawl has to keep, such as two versions of one article on two sites.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from analecta.store.rows import Item

_SKETCHES = "SELECT seq, simhash FROM pages WHERE topic >= 0 AND simhash IS NOT NULL"
_SIMHASH = (1 << 48) - 1  # the bits of a fingerprint that are of the text
_FAR = 10  # bits; pages that have nothing to do with each other differ in 24
_REACH = 50  # pages of one title that are compared: some sites have one title for all


def once(shards: Sequence[sqlite3.Connection], pages: Iterable[Item]) -> list[Item]:
    """The pages, of those that are nearly the same the first."""
    sketches = [dict(shard.execute(_SKETCHES)) for shard in shards]
    kept: list[Item] = []
    titled: dict[str, list[int]] = {}
    for page in pages:
        sketch = sketches[page.shard].get(page.seq, 0) & _SIMHASH
        title = "".join(filter(str.isalnum, page.title.casefold()))
        before = titled.setdefault(title, [])
        if not (title and sketch and any((sketch ^ other).bit_count() <= _FAR for other in before[-_REACH:])):
            kept.append(page)
            before.append(sketch)
    return kept
