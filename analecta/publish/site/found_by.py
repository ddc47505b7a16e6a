"""How an item was come by: the page that links to it, and the words of the link (S13).

A page that says noindex is shown nowhere, neither as an item nor as the page that led to one (F35).
"""

import sqlite3
from collections.abc import Iterable, Sequence

import msgspec

from analecta.model import Found
from analecta.store.partition import NOINDEX
from analecta.store.rows import Item
from analecta.store.url_lookup import Known, Url

_AT_ONCE = 500
_PARENTS = f"""SELECT u.id, u.url, h.name, coalesce(p.title, ''), coalesce(p.lang, '')
  FROM urls u JOIN pages p ON p.seq = u.page JOIN hosts h ON h.n = u.host WHERE p.flags & {NOINDEX} = 0 AND u.id IN """


class Parent(msgspec.Struct, frozen=True):
    """A page that links to items."""

    id: int
    url: str
    host: str
    title: str
    lang: str


class Finding(msgspec.Struct, frozen=True):
    """Where an item was found: `how` is "example", "link", "sitemap" or "unlisted" (on a page that is not shown)."""

    how: str
    parent: Parent | None = None
    anchor: str = ""
    context: str = ""


def findings(shards: Sequence[sqlite3.Connection], items: Sequence[Item]) -> dict[int, Finding]:
    """How each of these items was come by, by its id. Redirects are followed back to the link that led to them."""
    known = Known(shards, remember=4 * len(items) + 20_000)
    known.look_up(item.id for item in items)
    starts = {item.id: known.start(url) for item in items if (url := known.get(item.id))}
    parents = _parents(shards, {start.parent for start in starts.values()})
    return {id: _finding(start, parents.get(start.parent)) for id, start in starts.items()}


def _finding(start: Url, parent: Parent | None) -> Finding:
    if start.found == Found.SEED:
        return Finding("example")
    if start.found == Found.SITEMAP:
        return Finding("sitemap")
    if parent is None:
        return Finding("unlisted")
    return Finding("link", parent, start.anchor, start.context)


def _parents(shards: Sequence[sqlite3.Connection], ids: Iterable[int]) -> dict[int, Parent]:
    wanted, found = sorted(ids), {}
    for begin in range(0, len(wanted), _AT_ONCE):
        some = wanted[begin : begin + _AT_ONCE]
        for shard in shards:
            for row in shard.execute(f"{_PARENTS}({','.join('?' * len(some))})", some):
                found[row[0]] = Parent(*row)
    return found
