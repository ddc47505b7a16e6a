"""Rows as JSON lines or CSV, written as they come: of pages, links, refusals, history and collections."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from analecta.communities.view import CommunityIndex, index_communities
from analecta.errors import UsageError
from analecta.export import TABLES, ExportRequest, load_writer
from analecta.store.library import LibraryFolder
from analecta.store.output import output
from analecta.text.display import iso, many
from analecta.views.collections import MOST, PER_HOST, RANKED, Collection, collections
from analecta.views.rows import COLUMNS, KINDS, LeftOut, Row, row_of

Columns = Mapping[str, type]

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


def write(rows: Iterable[Row], columns: Columns, format: str, path: Path | None, force: bool = False) -> int:
    """Write rows to a file (whole or not at all), or to standard output; how many there were."""
    if path is None and format == "parquet":
        raise UsageError("Parquet is not for a terminal or pipe: say where to write it with -o FILE")
    with output(path, format, force) as out:
        count: int = load_writer(TABLES[format])(rows, columns, out)
        return count


def flat(value: Any) -> Any:
    """A value that a cell can hold: what is nested as JSON."""
    return orjson.dumps(value).decode() if isinstance(value, dict) else value


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    cell = flat(value)
    return safe_cell(cell) if isinstance(cell, str) else cell


# --- what can be exported as a table ---------------------------------------------------------------------------------


def export_rows(library: LibraryFolder, request: ExportRequest) -> list[str]:
    """Pages, links, refusals or history, as the command `export` asks for them."""
    kind, left = request.kind, LeftOut()
    options = {"everything": request.all, "for_training": request.for_training} if kind == "pages" else {}
    count = write(KINDS[kind](library, left, **options), COLUMNS[kind], request.format, request.path, request.force)
    return [f"{many(count, 'moment' if kind == 'history' else kind.removesuffix('s'))}.", *_tell_left(request, left)]


def _tell_left(request: ExportRequest, left: LeftOut) -> Iterator[str]:
    if left.noindex:
        more = " (--all has them)" if request.kind == "pages" else ""
        yield f"Left out: {many(left.noindex, 'page')} with noindex{more}."
    if request.for_training:
        yield f"Left out: {many(left.reserved, 'page')} whose owners reserve them against use for training."
    if left.unknown:
        yield f"Left out: {many(left.unknown, 'link')} not followed, so that nothing is known of what they lead to."


def export_collection(library: LibraryFolder, request: ExportRequest) -> list[str]:
    """Collections, as the command `export` asks for them."""
    found, homes = requested_collections(library, request)
    rows = collection_rows(library, found, homes)
    return [f"{many(write(rows, COLLECTION, request.format, request.path, request.force), 'item')}."]


def requested_collections(library: LibraryFolder, request: ExportRequest) -> tuple[list[Collection], CommunityIndex]:
    """The collections that are asked for, and the communities of their items."""
    homes = index_communities(library, request.community or "")
    topics = [request.topic] if request.topic else None
    per_host = PER_HOST if request.per_host is None else request.per_host
    return collections(library, topics, request.top or MOST, per_host, homes=homes), homes


COLLECTION: dict[str, type] = {
    "topic": str, "rank": int, "url": str, "title": str, "host": str, "confidence": float, "authority": float,
    "score": float, "kind": str, "author": str, "date": str, "lang": str, "mime": str, "words": int, "parent": str,
    "anchor": str, "context": str, "fetched_at": str, "digest": str, "warc_file": str, "warc_offset": int,
    "noarchive": bool, "reserved": str, "community": str,
}  # fmt: skip


def collection_rows(library: LibraryFolder, found: Iterable[Collection], homes: CommunityIndex) -> Iterator[Row]:
    """The items of collections; a page is there once for each topic that it is among the best of."""
    with library.snapshot() as snapshot:
        hidden = snapshot.hidden_ids()
        for collection in found:
            snapshot.look_up(ranked.item.parent for ranked in collection.items)
            for ranked in collection.items:
                item = ranked.item
                home = homes.of(item.url, item.host)
                told = item.parent not in hidden
                yield row_of(
                    COLLECTION,
                    item,
                    topic=collection.topic,
                    **row_of(RANKED, ranked),
                    parent=snapshot.address(item.parent) if told else "",
                    anchor=item.anchor if told else "",
                    context=item.context if told else "",
                    fetched_at=iso(item.fetched_at),
                    warc_file=item.warc,
                    warc_offset=item.offset,
                    community=home.name if home else "",
                )
