"""Reads an archive file record by record, with the digests of what is in each; a damaged one is stepped over.

Every record is one gzip member, whose checksum covers all of it. Pieces of 256 KB are held, never a whole record.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from isal import isal_zlib

from analecta.store.archive import HEAD_END, in_base32
from analecta.store.warc import BAD_ZLIB, fields

_PIECE = 1 << 18
_MEMBER = re.compile(rb"\x1f\x8b\x08\x00\x00\x00\x00\x00[\x00\x02\x04][\x00\x03\xff]")  # as all of ours begin
_MOST_HEAD = 1 << 20  # of an HTTP head; a longer one has no payload that could be told


class ScannedRecord(msgspec.Struct):
    """A record: where it is, its headers in lower case, the digests that were computed; `fault` where it is damaged."""

    offset: int
    length: int
    headers: dict[str, str] = {}
    status: str = ""  # the first line of the HTTP head
    mime: str = ""
    block: str = ""
    payload: str = ""
    size: int = 0  # of the payload
    fault: str = ""

    @property
    def url(self) -> str:
        """What it is about."""
        return self.headers.get("warc-target-uri", "")


def read_records(path: Path, start: int, end: int) -> Iterator[ScannedRecord]:
    """The records of a file from one byte to another; what cannot be read comes as a record with a fault."""
    with path.open("rb") as file:
        while start < end:
            record = _read(file, start, end)
            if record.fault and not record.length:
                record.length = _next_member(file, start + 1, end) - start
            yield record
            start += record.length


def _read(file: BinaryIO, start: int, end: int) -> ScannedRecord:
    file.seek(start)
    inflater: Any = isal_zlib.decompressobj(31)
    reader = _RecordReader()
    place, first = start, True
    while not inflater.eof:
        piece = file.read(min(_PIECE, end - place))
        if not piece:
            return ScannedRecord(start, 0, fault="the file ends within it")
        if first and not _MEMBER.match(piece):
            return ScannedRecord(start, 0, fault="no record begins here")
        first = False
        place += len(piece)
        try:
            reader.feed(inflater.decompress(piece))
        except BAD_ZLIB as error:
            return ScannedRecord(start, 0, fault=f"its bytes were changed ({error})")
    length = place - start - len(inflater.unused_data)
    return reader.finish(start, length)


def _next_member(file: BinaryIO, start: int, end: int) -> int:
    """Where the next whole record begins, or the end."""
    file.seek(start)
    kept = b""
    while start < end and (piece := file.read(min(_PIECE, end - start))):
        found = kept + piece
        base = start - len(kept)
        for match in _MEMBER.finditer(found):
            if not _read(file, base + match.start(), end).fault:
                return base + match.start()
        start += len(piece)
        kept = found[-9:]
        file.seek(start)
    return end


class _RecordReader:
    """Takes the decompressed bytes of one record in pieces."""

    def __init__(self) -> None:
        self.head = b""
        self.http = b""
        self.headers: dict[str, str] | None = None
        self.left = 0  # bytes of the block that are still to come
        self.tail = b""
        self.block = hashlib.sha1(usedforsecurity=False)
        self.payload: Any = None
        self.size = 0

    def feed(self, piece: bytes) -> None:
        if self.headers is None:
            head, found, rest = (self.head + piece).partition(b"\r\n\r\n")
            if not found:
                self.head += piece
                return
            self.head, piece = head, rest
            self.headers = fields(head)
            length = self.headers.get("content-length", "")
            self.left = int(length) if length.isdecimal() else 0
        own, self.tail = piece[: self.left], self.tail + piece[self.left :][:8]
        self.left -= len(own)
        self.block.update(own)
        self._body(own)

    def _body(self, own: bytes) -> None:
        if self.payload is None:
            self.http += own
            end = HEAD_END.search(self.http)
            if end is None:
                self.http = self.http[:_MOST_HEAD]
                return
            self.payload = hashlib.sha1(usedforsecurity=False)
            own, self.http = self.http[end.end() :], self.http[: end.end()]
        self.payload.update(own)
        self.size += len(own)

    def finish(self, offset: int, length: int) -> ScannedRecord:
        if self.headers is None or not self.head.startswith(b"WARC/1."):
            return ScannedRecord(offset, length, fault="it is no WARC record")
        status, _, rest = self.http.partition(b"\n")
        mime = re.search(rb"(?im)^content-type:[ \t]*([^;\s]+)", rest)
        record = ScannedRecord(
            offset,
            length,
            self.headers,
            status.decode("latin-1").strip(),
            mime[1].decode("latin-1").lower() if mime else "",
            in_base32(self.block.digest()),
            in_base32(self.payload.digest()) if self.payload is not None else "",
            self.size,
        )
        record.fault = self._fault(record)
        return record

    def _fault(self, record: ScannedRecord) -> str:
        kind, said = record.headers.get("warc-type", ""), record.headers.get("warc-payload-digest")
        if self.left or self.tail != b"\r\n\r\n":
            return "its length is not what it says"
        if record.headers.get("warc-block-digest") not in (None, record.block):
            return "its block digest does not match"
        if kind == "response" and record.payload and said not in (None, record.payload):
            return "its payload digest does not match"
        return ""


def set_aside(path: Path, quarantine: Path) -> Path:
    """Move a file into a folder of things put aside, under a name that is free."""
    quarantine.mkdir(parents=True, exist_ok=True)
    target, n = quarantine / path.name, 1
    while target.exists():
        target, n = quarantine / f"{path.name}.{n}", n + 1
    os.rename(path, target)
    return target
