"""Repairs what `verify` found: rows, archive files, whole shards. What is taken out is put aside, not deleted."""

import contextlib
import itertools
import os
import re
import sqlite3
import time
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from analecta.errors import ResourceError
from analecta.model import FoundBy, UrlState
from analecta.store.archive import RecordPlace, last_whole_member, new_id, read_record, stored_member, trim, warc_date
from analecta.store.checksums import log_path, seal_of
from analecta.store.partition import PageRecord, Shard
from analecta.store.schema import NOINDEX, SHARD_SQL, UNREAD, MetaKey, unpack_text
from analecta.store.shard_ids import restore_id
from analecta.store.sqlite import columns_of, copy_database, readable, remake_indexes
from analecta.store.verify import BAD_WORDS, Damage, bad_urls, is_sound, present, unreadable
from analecta.store.warc_scan import ScannedRecord, read_records, set_aside
from analecta.urls import canonical

# --- salvage ---------------------------------------------------------------------------------------------------------
# Copies every row that can still be read out of a damaged SQLite file into a new one; the old file is put aside.
#
# SQLite's own recovery is a separate program; this needs none. Rows of ordinary tables are read forwards up to the
# first unreadable place, backwards from the end, and one by one in between.


_MOST_FILLED = 1000  # times: a larger size than this was damaged itself
_GAP = 5_000  # row numbers in a row that are tried in vain
_SCHEMA = "SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"


def salvage(path: Path, schema: str, quarantine: Path) -> int:
    """Rebuild a file in place, with at least the tables of `schema`; how many rows were saved."""
    fresh, copy = (path.with_name(f".{path.name}.{end}") for end in ("salvaged", "copy"))
    for left in (*_files(fresh), *_files(copy)):
        left.unlink(missing_ok=True)
    saved = 0
    with contextlib.closing(sqlite3.connect(fresh, isolation_level=None)) as new:
        new.executescript(schema)
        if path.exists() and path.stat().st_size:
            with contextlib.suppress(sqlite3.Error), contextlib.closing(_reading(path, copy)) as old:
                saved = _copy(old, new)
        new.execute("PRAGMA journal_mode = WAL")
    for left in _files(copy):
        left.unlink(missing_ok=True)
    for file in _files(path):
        if file.exists():
            set_aside(file, quarantine)
    os.replace(fresh, path)
    return saved


def _files(path: Path) -> list[Path]:
    return [path, log_path(path), path.with_name(f"{path.name}-shm"), seal_of(path)]


def _reading(path: Path, copy: Path) -> sqlite3.Connection:
    """A connection to a copy with its log: nothing is written to the file itself; a short one is filled up."""
    copy_database(path, copy)
    with copy.open("r+b") as out:
        head = out.read(32)
        size = (int.from_bytes(head[16:18]) or 4096) * int.from_bytes(head[28:32])
        if copy.stat().st_size < size <= _MOST_FILLED * copy.stat().st_size:
            out.truncate(size)
    db = sqlite3.connect(copy, isolation_level=None)
    db.text_factory = readable
    return db


def _copy(old: sqlite3.Connection, new: sqlite3.Connection) -> int:
    saved = 0
    found: list[tuple[str, str]] = []
    with contextlib.suppress(sqlite3.Error):
        found = old.execute(_SCHEMA).fetchall()
    for _, sql in sorted(found, key=lambda one: one[0] != "table"):
        with contextlib.suppress(sqlite3.Error):
            new.execute(sql)
    tables = [name for (name,) in new.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        new.execute("BEGIN")
        saved += _copy_table(old, new, table)
        new.execute("COMMIT")
    return saved


def _copy_table(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> int:
    columns = columns_of(new, table)
    with contextlib.suppress(sqlite3.Error):  # an older version may lack some
        columns = [name for name in columns if name in columns_of(old, table)] or columns
    names = ", ".join(columns)
    insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"
    saved = 0
    for row in _rows(old, table, names, _key(new, table)):
        with contextlib.suppress(sqlite3.Error):  # a value that the table does not allow was damaged
            saved += new.execute(insert, row).rowcount
    return saved


def _key(db: sqlite3.Connection, table: str) -> str:
    """What rows are in the order of: the row number, or the primary key where a table has no such number."""
    try:
        db.execute(f"SELECT rowid FROM {table} LIMIT 1")
    except sqlite3.Error:
        parts = sorted((row[5], row[1]) for row in db.execute(f"PRAGMA table_info({table})") if row[5])
        return ", ".join(name for _, name in parts)
    return "rowid"


def _rows(db: sqlite3.Connection, table: str, names: str, key: str) -> Iterator[Sequence[Any]]:
    """All rows that can be read; some perhaps twice."""
    first = last = None
    whole = False
    with contextlib.suppress(sqlite3.Error):
        for number, *row in db.execute(f"SELECT {key.split(', ')[0]}, {names} FROM {table} NOT INDEXED ORDER BY {key}"):
            first = number
            yield row
        whole = True
    if whole:
        return
    backwards = ", ".join(f"{part} DESC" for part in key.split(", "))
    query = f"SELECT {key.split(', ')[0]}, {names} FROM {table} NOT INDEXED ORDER BY {backwards}"
    with contextlib.suppress(sqlite3.Error):
        for number, *row in db.execute(query):
            last = number
            yield row
    if key == "rowid":
        yield from _one_by_one(db, f"SELECT {names} FROM {table} WHERE rowid = ?", first or 0, last)


def _one_by_one(db: sqlite3.Connection, query: str, first: int, last: int | None) -> Iterator[Sequence[Any]]:
    """Rows between two numbers, as long as some are found."""
    misses = 0
    for number in itertools.count(first + 1):
        if misses > _GAP or (last is not None and number >= last):
            return
        found: list[Sequence[Any]] = []
        with contextlib.suppress(sqlite3.Error):
            found = db.execute(query, (number,)).fetchall()
        misses = 0 if found else misses + 1
        yield from found


# --- rebuild ---------------------------------------------------------------------------------------------------------
# Rebuilds a shard whose database is lost or damaged: rows that can be read, and the pages of its archive files.
#
# A page that is known only from its record is kept unread and hidden; the next crawl reads it, judges it and follows
# its links, which brings the rest of the frontier back.


_ADD_URL = (
    "INSERT INTO urls (n, id, url, host, state, priority, topic, depth, parent, found, astray, hops)"
    " VALUES (?, ?, ?, ?, ?, 0.5, -1, 0, 0, ?, 0, 0)"
)


def rebuild_shard(folder: Path, name: str) -> str:
    """Make a damaged or lost shard usable again; what was done, in words."""
    path, archive = folder / "shards" / name, folder / "archive"
    if path.exists() and path.stat().st_size and reindexed(path):
        return f"{name}: its indexes were rebuilt"
    rows = salvage(path, SHARD_SQL, folder / "shards" / "quarantine")
    with contextlib.closing(Shard(path)) as shard:
        restore_id(folder, name, shard.db)
        pages = 0
        for n, file in enumerate(sorted(archive.glob(f"{path.stem}-*.warc.gz"))):
            pages += _take(shard, n, file)
        shard.commit()
    return f"{name}: rebuilt with {rows:,} rows saved and {pages:,} pages from its archive; the old file was put aside"


def reindexed(path: Path) -> bool:
    """Whether it is enough to rebuild the indexes."""
    with contextlib.suppress(sqlite3.Error, ResourceError):
        remake_indexes(path)
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


def _keep(shard: Shard, file: int, record: ScannedRecord) -> bool:
    """Keep one page, if the record is one and its URL has none."""
    target = canonical(record.url)
    if target is None or record.fault or not _is_page(record):
        return False
    row = shard.db.execute(
        "SELECT p.flags, u.page, u.state FROM urls u LEFT JOIN pages p ON p.seq = u.page WHERE u.id = ?", (target.id,)
    ).fetchone()
    if row and (row[2] != UrlState.DONE or row[0] not in (None, UNREAD | NOINDEX)):
        return False
    if row is None:
        values = (shard.last_n() + 1, target.id, target.url, shard.hosts.number(target.host))
        shard.db.execute(_ADD_URL, (*values, int(UrlState.DONE), int(FoundBy.LINK)))
    shard.add_page(_values(target.id, file, record), UrlState.DONE, 0, row[1] if row and row[0] is not None else 0)
    return True


def _is_page(record: ScannedRecord) -> bool:
    """Whether it is an answer that a crawl would have kept; sitemaps and robots.txt are none."""
    kind, status = record.headers.get("warc-type"), record.status.split(" ")
    is_xml = record.mime.endswith("xml") and "xhtml" not in record.mime
    return kind == "response" and status[1:2] == ["200"] and not is_xml and not record.url.endswith("/robots.txt")


def _values(id: int, file: int, record: ScannedRecord) -> PageRecord:
    when = _seconds(record.headers.get("warc-date", ""))
    return PageRecord(
        id=id, kept_at=when, fetched_at=when, status=200, mime=record.mime or "text/html",
        size=record.size, digest=record.headers.get("warc-payload-digest", record.payload), body=0,
        simhash=0, words=0, flags=UNREAD | NOINDEX, file=file, offset=record.offset,
        length=record.length, topic=-1, confidence=0.0, model="",
    )  # fmt: skip


def _seconds(date: str) -> float:
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return 0.0


# --- repair ----------------------------------------------------------------------------------------------------------
# Repairs a shard and its archive from what `verify` found. Nothing is deleted: what is taken out is put aside.


def repair_rows(shard: Shard, topics: int, archive: Path) -> None:
    """Put right what the rows of a shard say wrongly; to be committed."""
    db, quarantine = shard.db, archive / "quarantine"
    _repair_urls(shard, archive)
    for check in present(db):
        for statement in check.cure:
            db.execute(statement, {"topics": topics} if ":topics" in statement else ())
    orphans = db.execute("SELECT p.seq FROM pages p LEFT JOIN urls u ON u.id = p.id WHERE u.page IS NOT p.seq")
    for (seq,) in orphans.fetchall():
        forget_page(db, seq, quarantine)
    for seq, what in [row for row in unreadable(db) if row[1]]:
        read_again(shard, archive, seq, what)
    _number_messages(db)
    shard.release_leases(0, 3)
    for check in present(db):
        if check.kind == "counts":  # again, after all that is queued now
            for statement in check.cure:
                db.execute(statement)


def _number_messages(db: sqlite3.Connection) -> None:
    """Close gaps between the numbers of messages: a receiver would wait for what is missing for ever."""
    dests = db.execute("SELECT dest, min(seq), max(seq), count(*) FROM outbox GROUP BY dest").fetchall()
    for dest, first, last, count in dests:
        if last - first + 1 != count:
            rows = db.execute("SELECT letter FROM outbox WHERE dest = ? ORDER BY seq", (dest,)).fetchall()
            db.execute("DELETE FROM outbox WHERE dest = ?", (dest,))
            start = last - count + 1  # the last number stays: the receiver may have seen it
            numbered = [(dest, seq, letter) for seq, (letter,) in enumerate(rows, start)]
            db.executemany("INSERT INTO outbox VALUES (?, ?, ?)", numbered)
        raise_counter = (
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)"
        )
        db.execute(raise_counter, (f"{MetaKey.POSTED}{dest}", last))


def _repair_urls(shard: Shard, archive: Path) -> None:
    """Rows whose URL or host is damaged: the record of the page has the URL; without one the row is put aside."""
    db = shard.db
    for n, url, _, fault in [row for row in bad_urls(db) if row[3]]:
        if fault == BAD_WORDS:
            db.execute("UPDATE urls SET anchor = NULL, context = NULL WHERE n = ?", (n,))
            continue
        id, page, parent = db.execute("SELECT id, page, parent FROM urls WHERE n = ?", (n,)).fetchone()
        target = canonical(_archived_url(shard, archive, page) if page else str(url))
        if target is not None and target.id == id:
            values = (target.url, shard.hosts.number(target.host), n)
            db.execute("UPDATE urls SET url = ?, host = ? WHERE n = ?", values)
            continue
        _put_aside({"n": n, "id": id, "url": str(url), "page": page}, archive / "quarantine")
        if page:
            forget_page(db, page, archive / "quarantine")
        db.execute("DELETE FROM urls WHERE n = ?", (n,))
        for (seq,) in db.execute("SELECT page FROM urls WHERE id = ? AND page IS NOT NULL", (parent,)).fetchall():
            read_again(shard, archive, seq, "links")  # it has the link, so that the URL is found again


def _archived_url(shard: Shard, archive: Path, seq: int) -> str:
    """The URL that the record of a page names; "" where it cannot be read."""
    found = re.search(rb"(?m)^WARC-Target-URI: (.*?)\r?$", _record_head(shard, archive, seq))
    return found[1].decode("utf-8", "replace") if found else ""


def _record_head(shard: Shard, archive: Path, seq: int) -> bytes:
    """The WARC headers of the record of a page; b"" where it cannot be read."""
    query = "SELECT f.name, p.file, p.offset, p.length FROM pages p JOIN files f ON f.n = p.file WHERE p.seq = ?"
    for name, *place in shard.db.execute(query, (seq,)).fetchall():
        with contextlib.suppress(OSError, zlib.error):
            return read_record(archive / name, RecordPlace(*place)).partition(b"\r\n\r\n")[0]
    return b""


def forget_page(db: sqlite3.Connection, seq: int, quarantine: Path) -> None:
    """Take a page row out and queue its URL; the row goes to pages.jsonl in the quarantine."""
    cursor = db.execute("SELECT p.*, u.url FROM pages p LEFT JOIN urls u ON u.id = p.id WHERE p.seq = ?", (seq,))
    found = cursor.fetchone()
    if found is None:
        return
    row = dict(zip((column[0] for column in cursor.description), found, strict=True))
    _put_aside(row, quarantine)
    db.execute(
        "UPDATE urls SET state = 0, cold = 0, tries = 0, page = NULL, elsewhere = NULL, reason = NULL, detail = NULL"
        " WHERE id = ? AND page = ?",
        (row["id"], seq),
    )
    db.execute("DELETE FROM pages WHERE seq = ?", (seq,))


def _put_aside(row: dict[str, Any], quarantine: Path) -> None:
    with contextlib.suppress(Exception):
        row["text"] = unpack_text(row["text"])
    plain = {key: value.hex() if isinstance(value, bytes) else value for key, value in row.items()}
    quarantine.mkdir(parents=True, exist_ok=True)
    with (quarantine / "pages.jsonl").open("ab") as out:
        out.write(orjson.dumps(plain) + b"\n")
        out.flush()
        os.fsync(out.fileno())


def read_again(shard: Shard, archive: Path, seq: int, what: str) -> None:
    """Have a page read from its archived record at the next crawl, or judged, where only its verdict is unreadable.

    A page whose record holds no body, as it was the same as another's, is fetched again.
    """
    if what == "topics":
        shard.db.execute("UPDATE pages SET topics = NULL, model = '' WHERE seq = ?", (seq,))
    elif b"WARC-Type: response" not in _record_head(shard, archive, seq):
        forget_page(shard.db, seq, archive / "quarantine")
    else:
        shard.db.execute(
            "UPDATE pages SET text = NULL, anchors = NULL, links = NULL, topics = NULL, title = NULL, author = NULL,"
            f" headings = NULL, flags = flags | {UNREAD} WHERE seq = ?",
            (seq,),
        )


def repair_archive(shard: Shard, archive: Path, damages: Sequence[Damage]) -> None:
    """Put damaged bytes aside and queue the pages whose records they were; to be committed."""
    quarantine = archive / "quarantine"
    files = {name: (n, length) for n, name, length in shard.files()}
    for damage in damages:
        if damage.page:
            forget_page(shard.db, damage.page, quarantine)
        elif damage.length:
            _blank(archive / damage.file, damage.offset, damage.length, quarantine)
        elif damage.file in files:
            n, committed = files[damage.file]
            kept = trim(archive / damage.file, committed, quarantine)
            (archive / damage.file).touch()
            for (seq,) in shard.db.execute(
                "SELECT seq FROM pages WHERE file = ? AND offset + length > ?", (n, kept)
            ).fetchall():
                forget_page(shard.db, seq, quarantine)
            shard.set_file(n, damage.file, kept)


def _blank(path: Path, offset: int, length: int, quarantine: Path) -> None:
    """Copy bytes into the quarantine, and write a record of the same length that says so in their place."""
    quarantine.mkdir(parents=True, exist_ok=True)
    with path.open("r+b") as file:
        file.seek(offset)
        damaged = file.read(length)
        copy = quarantine / f"{path.name}.{offset}.damaged"
        with copy.open("wb") as out:
            out.write(damaged)
            out.flush()
            os.fsync(out.fileno())
        file.seek(offset)
        file.write(filler(length) or damaged)
        file.flush()
        os.fsync(file.fileno())


def filler(length: int) -> bytes:
    """A WARC record of exactly so many bytes, which says that it stands for damaged ones; b"" where it cannot be."""
    head = b"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: %b\r\nWARC-Date: %b\r\nContent-Length:" % (
        new_id(),
        warc_date(time.time()),
    )
    words = b"damaged bytes stood here; they are in archive/quarantine"
    blocks = -(-length // (0xFFFF + 5))  # of a stored member
    for spaces in range(1, 20):  # some lengths cannot be had with one: a digit more is two bytes more
        for more in (0, 1):
            content = length - 23 - 5 * max(blocks - more, 1)
            for digits in range(1, 12):
                size = content - len(head) - spaces - digits - 8
                if size >= 0 and len(str(size)) == digits:
                    block = words[:size].ljust(size)
                    member = stored_member(head + b" " * spaces + b"%d\r\n\r\n" % size + block + b"\r\n\r\n")
                    if len(member) == length:
                        return member
    return b""


def read_changed_again(shard: Shard, archive: Path, pages: Sequence[int]) -> None:
    """Make all indexes again, and have the page rows on changed pages of the file read again from the archive.

    To be committed.
    """
    shard.db.execute("REINDEX")
    for number in pages:
        with contextlib.suppress(sqlite3.Error):  # SQLite may be built without dbstat
            found = shard.db.execute("SELECT name, pagetype FROM dbstat WHERE pageno = ?", (number,)).fetchone()
            for seq in _row_numbers(shard.path, number) if found == ("pages", "leaf") else ():
                read_again(shard, archive, seq, "text")


def _row_numbers(path: Path, page: int) -> list[int]:
    """The row numbers on a leaf page of a table (https://www.sqlite.org/fileformat.html#b_tree_pages)."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(18)[16:18])
        file.seek((page - 1) * size)
        data = file.read(size)
    start = 100 if page == 1 else 0
    cells = (int.from_bytes(data[at : at + 2]) for at in range(start + 8, start + 8 + 2 * int.from_bytes(data[3:5]), 2))
    return [_varint(data, _varint(data, cell)[1])[0] for cell in cells]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number as SQLite writes it, and where the next byte is."""
    value = 0
    for _ in range(8):
        value = value << 7 | data[at] & 0x7F
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    return value << 8 | data[at], at + 1
