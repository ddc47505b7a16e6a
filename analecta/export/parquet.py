"""Rows as Parquet, written as they come."""

from collections.abc import Iterable, Iterator
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from analecta.export.tables import Columns, flat
from analecta.views.rows import Row

_AT_ONCE = 2000  # rows of a row group, which is held in memory,
_ROOM = 16_000_000  # and characters: a text may have millions


def write_parquet(rows: Iterable[Row], columns: Columns, out: IO[bytes]) -> int:
    """Parquet, zstd-compressed; nested values as JSON."""
    types = {str: pa.string(), dict: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    count = 0
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for part in _batches(rows):
            writer.write_table(pa.Table.from_pylist([{k: flat(v) for k, v in row.items()} for row in part], schema))
            count += len(part)
    return count


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    several: list[Row] = []
    room = _ROOM
    for row in rows:
        several.append(row)
        room -= sum(len(value) for value in row.values() if isinstance(value, str))
        if len(several) == _AT_ONCE or room < 0:
            yield several
            several, room = [], _ROOM
    if several:
        yield several
