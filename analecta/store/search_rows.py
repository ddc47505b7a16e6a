"""The pages that were found, as they are now."""

import sqlite3
from collections.abc import Sequence

import msgspec

from analecta.model import OTHERS
from analecta.store.partition import SHOWN
from analecta.store.schema import unpack_text

_ROWS = f"""SELECT p.id, u.url, h.name, coalesce(p.title, ''), p.topic, coalesce(p.confidence, 0), coalesce(p.mime, ''),
  coalesce(p.lang, ''), coalesce(p.date, ''), p.fetched_at, p.text
  FROM urls u JOIN pages p ON p.seq = u.page JOIN hosts h ON h.n = u.host
  WHERE {SHOWN} AND p.topic >= ? AND u.id IN """


class Row(msgspec.Struct, frozen=True):
    """A page that may be shown."""

    id: int
    url: str
    host: str
    title: str
    topic: int
    confidence: float
    mime: str
    lang: str
    date: str
    fetched_at: float


def rows(shards: Sequence[sqlite3.Connection], ids: Sequence[int], every: bool = False) -> dict[int, tuple[Row, str]]:
    """Those of these pages that may be shown at this moment, with their texts; with `every` also those on no topic."""
    asked = f"{_ROWS}({','.join('?' * len(ids))})"
    found = (row for shard in shards for row in shard.execute(asked, [OTHERS if every else 0, *ids]))
    return {row[0]: (Row(*row[:-1]), unpack_text(row[-1])) for row in found}
