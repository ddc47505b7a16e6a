"""The links of all pages, read from the shards."""

import sqlite3
from collections.abc import Sequence

_LINKS = "SELECT p.id, u.host, p.links FROM pages p JOIN urls u ON u.id = p.id WHERE p.duplicate_of IS NULL"
_MOVES = "SELECT id, elsewhere FROM urls WHERE elsewhere IS NOT NULL"


def page_links(
    shards: Sequence[sqlite3.Connection],
) -> tuple[list[tuple[int, int, bytes | None]], list[tuple[int, int]]]:
    """Of each page its id, a number of its host and its links (as packed ids); and the URLs that lead to another."""
    pages = [
        (id, host * len(shards) + i, links)
        for i, shard in enumerate(shards)
        for id, host, links in shard.execute(_LINKS)
    ]
    return pages, [move for shard in shards for move in shard.execute(_MOVES)]
