"""Rows as JSON lines, CSV or Parquet, written as they come."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from analecta.errors import UsageError
from analecta.store.output import output
from analecta.views.rows import Row

Columns = Mapping[str, type]

_AT_ONCE = 2000  # rows of a Parquet row group, which is held in memory,
_ROOM = 16_000_000  # and characters: a text may have millions
# What a spreadsheet takes for a formula: =, +, -, @ (also full width), tab or CR at the start of a cell or of a line in
# it, also after blanks and what cannot be seen; quotes of our own before it count, so that taking one away always gives
# the cell back.
_UNSEEN = r"(?:[^\S\t\r\n]|[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff])*"
_FORMULA = re.compile(rf"(?:^'*|[\r\n])(?:{_UNSEEN}[=+\-@\t＝＋－＠]|\r)")


def safe_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula: a quote is put before it where need be."""
    return f"'{text}" if _FORMULA.search(text) else text


def write_jsonl(rows: Iterable[Row], columns: Columns, out: IO[bytes]) -> int:
    """One JSON object a line."""
    count = 0
    for row in rows:
        out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        count += 1
    return count


def write_csv(rows: Iterable[Row], columns: Columns, out: IO[bytes]) -> int:
    """RFC 4180 in UTF-8 with a line of names; nested values as JSON."""
    text = io.TextIOWrapper(out, "utf-8", newline="", write_through=False)
    writer = csv.writer(text)
    writer.writerow(columns)
    count = 0
    for row in rows:
        writer.writerow([_cell(row[name]) for name in columns])
        count += 1
    text.flush()
    text.detach()
    return count


def write_parquet(rows: Iterable[Row], columns: Columns, out: IO[bytes]) -> int:
    """Parquet, zstd-compressed; nested values as JSON."""
    # pyarrow takes half a second to import: only who asks for Parquet pays for it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {str: pa.string(), dict: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    count = 0
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for part in _batches(rows):
            writer.write_table(pa.Table.from_pylist([{k: _flat(v) for k, v in row.items()} for row in part], schema))
            count += len(part)
    return count


FORMATS: dict[str, Callable[[Iterable[Row], Columns, IO[bytes]], int]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "parquet": write_parquet,
}


def write(rows: Iterable[Row], columns: Columns, kind: str, path: Path | None, force: bool = False) -> int:
    """Write rows to a file (whole or not at all), or to standard output; how many there were."""
    if path is None and kind == "parquet":
        raise UsageError("Parquet is not for a terminal or pipe: say where to write it with -o FILE")
    with output(path, kind, force) as out:
        return FORMATS[kind](rows, columns, out)


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


def _flat(value: Any) -> Any:
    return orjson.dumps(value).decode() if isinstance(value, dict) else value


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    flat = _flat(value)
    return safe_cell(flat) if isinstance(flat, str) else flat
