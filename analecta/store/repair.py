"""Repairs a shard and its archive from what `verify` found. Nothing is deleted: what is taken out is put aside."""

import contextlib
import os
import re
import sqlite3
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from analecta.store.archive import Place, new_id, read_record, stored_member, trim, warc_date
from analecta.store.partition import UNREAD, Shard
from analecta.store.schema import unpack_text
from analecta.store.verify import Damage
from analecta.store.verify_rows import BAD_WORDS, bad_urls, present, unreadable
from analecta.urls import canonical

_DROP_PAGE = "DELETE FROM pages WHERE seq = ?"
_QUEUE_PAGE = (
    "UPDATE urls SET state = 0, cold = 0, tries = 0, page = NULL, elsewhere = NULL, reason = NULL, detail = NULL"
    " WHERE id = ? AND page = ?"
)


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


def count_queued(shard: Shard) -> None:
    """Count the queued URLs again, after other repairs; to be committed."""
    for check in present(shard.db):
        if check.kind == "counts":
            for statement in check.cure:
                shard.db.execute(statement)


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
        db.execute(raise_counter, (f"posted-{dest}", last))


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
            return read_record(archive / name, Place(*place)).partition(b"\r\n\r\n")[0]
    return b""


def forget_page(db: sqlite3.Connection, seq: int, quarantine: Path) -> None:
    """Take a page row out and queue its URL; the row goes to pages.jsonl in the quarantine."""
    cursor = db.execute("SELECT p.*, u.url FROM pages p LEFT JOIN urls u ON u.id = p.id WHERE p.seq = ?", (seq,))
    found = cursor.fetchone()
    if found is None:
        return
    row = dict(zip((column[0] for column in cursor.description), found, strict=True))
    _put_aside(row, quarantine)
    db.execute(_QUEUE_PAGE, (row["id"], seq))
    db.execute(_DROP_PAGE, (seq,))


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
    head = b"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <%b>\r\nWARC-Date: %b\r\nContent-Length:" % (
        new_id().encode(),
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
    """Have the page rows on changed pages of the file read again from the archive; to be committed."""
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
