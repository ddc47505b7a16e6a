"""Rebuilds a shard whose database is lost or damaged: rows that can be read, and the pages of its archive files.

A page that is known only from its record is kept unread and hidden; the next crawl reads it, judges it and follows its
links, which brings the rest of the frontier back.
"""

import contextlib
import sqlite3
from datetime import datetime
from pathlib import Path

from analecta.errors import Environment
from analecta.model import Found, State
from analecta.store.archive import last_whole_member
from analecta.store.partition import NOINDEX, PAGE_COLUMNS, SCHEMA_SQL, UNREAD, Shard
from analecta.store.salvage import salvage
from analecta.store.shard_ids import restore_id
from analecta.store.sqlite import connect
from analecta.store.verify_database import is_sound
from analecta.store.warc_scan import Record, read_records
from analecta.urls import canonical

_ADD_URL = (
    "INSERT INTO urls (n, id, url, host, state, priority, topic, depth, parent, found, astray, hops)"
    " VALUES (?, ?, ?, ?, ?, 0.5, -1, 0, 0, ?, 0, 0)"
)


def rebuild_shard(folder: Path, name: str) -> str:
    """Make a damaged or lost shard usable again; what was done, in words."""
    path, archive = folder / "shards" / name, folder / "archive"
    if path.exists() and path.stat().st_size and reindexed(path):
        return f"{name}: its indexes were rebuilt"
    rows = salvage(path, SCHEMA_SQL, folder / "shards" / "quarantine")
    with contextlib.closing(Shard(path)) as shard:
        restore_id(folder, name, shard.db)
        pages = 0
        for n, file in enumerate(sorted(archive.glob(f"{path.stem}-*.warc.gz"))):
            pages += _take(shard, n, file)
        shard.commit()
    return f"{name}: rebuilt with {rows:,} rows saved and {pages:,} pages from its archive; the old file was put aside"


def reindexed(path: Path) -> bool:
    """Whether it is enough to rebuild the indexes."""
    with contextlib.suppress(sqlite3.Error, Environment), contextlib.closing(connect(path)) as db:
        db.execute("REINDEX")
    return is_sound(path)


def _take(shard: Shard, n: int, path: Path) -> int:
    """Keep the pages of an archive file that are not known; how many."""
    known = {name: (number, length) for number, name, length in shard.files()}
    size = path.stat().st_size
    number, length = known.get(path.name, (n, 0))
    if path.name not in known:
        number = n if n not in {taken for taken, _ in known.values()} else max(t for t, _ in known.values()) + 1
        length = last_whole_member(path, size)
        shard.set_file(number, path.name, length)
    return sum(_keep(shard, number, record) for record in read_records(path, 0, min(size, length)))


def _keep(shard: Shard, file: int, record: Record) -> bool:
    """Keep one page, if the record is one and its URL has none."""
    target = canonical(record.url)
    if target is None or record.fault or not _is_page(record):
        return False
    row = shard.db.execute(
        "SELECT p.flags, u.page, u.state FROM urls u LEFT JOIN pages p ON p.seq = u.page WHERE u.id = ?", (target.id,)
    ).fetchone()
    if row and (row[2] != State.DONE or row[0] not in (None, UNREAD | NOINDEX)):
        return False
    if row is None:
        values = (shard.last_n() + 1, target.id, target.url, shard.hosts.number(target.host))
        shard.db.execute(_ADD_URL, (*values, int(State.DONE), int(Found.LINK)))
    shard.add_page(_values(target.id, file, record), State.DONE, 0, row[1] if row and row[0] is not None else 0)
    return True


def _is_page(record: Record) -> bool:
    """Whether it is an answer that a crawl would have kept; sitemaps and robots.txt are none."""
    kind, status = record.headers.get("warc-type"), record.status.split(" ")
    is_xml = record.mime.endswith("xml") and "xhtml" not in record.mime
    return kind == "response" and status[1:2] == ["200"] and not is_xml and not record.url.endswith("/robots.txt")


def _values(id: int, file: int, record: Record) -> tuple[object, ...]:
    when = _seconds(record.headers.get("warc-date", ""))
    known = {
        "id": id, "kept_at": when, "fetched_at": when, "status": 200, "mime": record.mime or "text/html",
        "size": record.size, "digest": record.headers.get("warc-payload-digest", record.payload), "body": 0,
        "simhash": 0, "words": 0, "flags": UNREAD | NOINDEX, "file": file, "offset": record.offset,
        "length": record.length, "topic": -1, "confidence": 0.0, "model": "",
    }  # fmt: skip
    return tuple(known.get(name) for name in PAGE_COLUMNS)


def _seconds(date: str) -> float:
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return 0.0
