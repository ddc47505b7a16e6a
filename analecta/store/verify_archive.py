"""Checks of an archive file: every record's digests, and that each page's record is where and what its row says."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from analecta.store.verify import Damage, Part
from analecta.store.warc_scan import Record, read_records

RECORDS, PLACES = "archive records", "pages and their records"
_REFETCH = "the bytes are put into archive/quarantine and the page is queued to be fetched again"
_MISSING = "the pages whose records are lost are queued to be fetched again"
_PAGES = (
    "SELECT p.seq, u.url, p.offset, p.length, p.digest FROM pages p LEFT JOIN urls u ON u.id = p.id"
    " WHERE p.file = ? AND p.offset >= ? ORDER BY p.offset"
)
_KINDS = ("response", "revisit")


class _Row(msgspec.Struct, frozen=True):
    """A page as its row places it."""

    seq: int
    url: str | None
    offset: int
    length: int
    digest: str


def verify_file(db: sqlite3.Connection, archive: Path, n: int, name: str, running: bool, part: Part) -> Iterator[int]:
    """One file that a shard has committed; goes on at the part's place. `running`: a crawl may be writing to it."""
    path = archive / name
    committed = db.execute("SELECT length FROM files WHERE n = ?", (n,)).fetchone()[0]
    size = path.stat().st_size if path.exists() else -1
    if size < committed:
        what = "is missing" if size < 0 else f"has lost its last {committed - size} bytes"
        part.find(RECORDS, f"{name} {what}", _MISSING)
        part.damages.append(Damage(name, max(size, 0)))
    elif size > committed and not running:
        part.note(f"{name}: a crawl was killed and left {size - committed} bytes at its end; the next crawl moves them")
    rows = (_Row(*row) for row in db.execute(_PAGES, (n, part.place)))
    row = next(rows, None)
    for record in read_records(path, part.place, min(size, committed)) if size > 0 else ():
        part.count("records")
        if record.fault:
            part.find(RECORDS, f"{name} at byte {record.offset}: {record.fault}", _REFETCH)
        pages = 0
        while row is not None and row.offset < record.offset + record.length:
            pages = pages or row.seq
            if words := _differs(row, record):
                part.find(PLACES, f"{row.url or f'page row {row.seq}'}: {words}", _REFETCH)
                part.damages.append(Damage(name, row.offset, 0, row.seq))
            row = next(rows, None)
        if record.fault:
            part.damages.append(Damage(name, record.offset, record.length))
        part.place = record.offset + record.length
        yield record.length
    while row is not None:
        if size >= committed:
            part.find(PLACES, f"{row.url or f'page row {row.seq}'}: its record is beyond the end of {name}", _REFETCH)
            part.damages.append(Damage(name, row.offset, 0, row.seq))
        row = next(rows, None)


def verify_places(db: sqlite3.Connection, name: str, part: Part) -> Iterator[int]:
    """Pages whose rows name no archive file at all."""
    for seq, url in db.execute(
        "SELECT p.seq, u.url FROM pages p LEFT JOIN urls u ON u.id = p.id WHERE p.file IS NULL"
        " OR p.file NOT IN (SELECT n FROM files) OR typeof(p.offset) != 'integer' OR p.offset < 0"
    ):
        part.find(PLACES, f"{url or f'page row {seq}'}: it names no archive file of {name}", _REFETCH)
        part.damages.append(Damage(f"{name.partition('.')[0]}-", 0, 0, seq))
    yield 0


def _differs(row: _Row, record: Record) -> str:
    """How a page's row and the record at its place do not agree."""
    if record.fault:
        return "its archived record is damaged"
    if (row.offset, row.length) != (record.offset, record.length):
        return "no record begins where its row says"
    if record.headers.get("warc-type") not in _KINDS:
        return "there is no response where its row says"
    if row.url is not None and record.url != row.url:
        return f"its row names the record of {record.url}"
    if record.headers.get("warc-payload-digest") != row.digest:
        return "its row has another digest than its record"
    return ""
