"""WARC 1.1, one gzip member a record: a request and its response, or a revisit where the payload is known.

Records are built by hand and compressed by isal (0.05 ms a page where a general WARC writer needs 1.3). What would
not shrink (request heads, bodies that came compressed) is wrapped in a stored gzip member.
"""

import contextlib
import hashlib
import os
import random
import re
import struct
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import msgspec
from isal import isal_zlib

from analecta.errors import ResourceError
from analecta.model import Response
from analecta.store.warc import members

_STORED_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_PACKED = (b"%PDF-", b"PK\3\4", b"\x1f\x8b", b"\x89PNG", b"\xff\xd8\xff")  # compressed in themselves
_MAX_STORED = 0xFFFF
_LAST_BLOCK = struct.pack("<BHH", 1, 0, _MAX_STORED)  # an empty one
HEAD_END = re.compile(rb"\n\r?\n")  # some servers end lines with LF only
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE32 = [a + b for a in _LETTERS for b in _LETTERS]
_ids = random.Random(os.urandom(32))
_SAME_PAYLOAD = b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_NOT_MODIFIED = b"http://netpreserve.org/warc/1.1/revisit/server-not-modified"

CERTIFICATE = b"Analecta-Certificate"  # our own field, where a certificate was not checked (fetch.allow_bad_tls)


class RecordPlace(msgspec.Struct, frozen=True):
    """Where a record lies: the file's number in this partition, its first byte, its length."""

    file: int
    offset: int
    length: int


class OriginalRecord(msgspec.Struct, frozen=True):
    """The earlier record that a revisit refers to."""

    url: str
    date: float
    digest: str


def payload_digest(*wire: bytes) -> str:
    """The digest WARC tools compare: SHA-1 of the body as it came, in base 32."""
    digest = hashlib.sha1(usedforsecurity=False)
    for part in wire:
        digest.update(part)
    return in_base32(digest.digest())


def in_base32(sha1: bytes) -> str:
    """A digest as WARC writes it, two letters at a time (the standard library's encoder takes 20 us)."""
    number = int.from_bytes(sha1)
    return "sha1:" + "".join([_BASE32[number >> shift & 1023] for shift in range(150, -1, -10)])


def warc_date(seconds: float) -> bytes:
    """Wall-clock seconds in WARC 1.1's form, with microseconds."""
    whole = int(seconds)
    return b"%b.%06dZ" % (_to_the_second(whole), (seconds - whole) * 1e6)


@lru_cache(64)  # a second has hundreds of records, and strftime costs 18 us
def _to_the_second(whole: int) -> bytes:
    return datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()


def stored_member(*parts: bytes) -> bytes:
    """A gzip member that holds the parts uncompressed, one after another; a large one is copied only once."""
    member: list[bytes | memoryview] = [_STORED_HEAD]
    crc = size = 0
    for part in parts:
        view = memoryview(part)
        for start in range(0, len(part), _MAX_STORED):
            piece = view[start : start + _MAX_STORED]
            member += [struct.pack("<BHH", 0, len(piece), len(piece) ^ _MAX_STORED), piece]
        crc = isal_zlib.crc32(part, crc)
        size += len(part)
    member.append(_LAST_BLOCK + struct.pack("<II", crc, size & 0xFFFFFFFF))
    return b"".join(member)


def deflated_member(data: bytes) -> bytes:
    """A gzip member of `data`, fast rather than small."""
    member: bytes = isal_zlib.compress(data, 1, 31)
    return member


def warc_record(kind: bytes, record_id: bytes, headers: list[tuple[bytes, bytes]], *block: bytes) -> tuple[bytes, ...]:
    """A record, in parts."""
    lines = [b"WARC/1.1", b"WARC-Type: " + kind, b"WARC-Record-ID: " + record_id]
    length = sum(map(len, block))
    if kind == b"response":
        headers.append((b"WARC-Block-Digest", payload_digest(*block).encode()))
    lines += [name + b": " + value for name, value in headers if value]
    lines.append(b"Content-Length: %d" % length)
    return b"\r\n".join(lines) + b"\r\n\r\n", *block, b"\r\n\r\n"


def _http_head(head: bytes) -> bytes:
    """The head as HTTP/1.1 tools expect it; HTTP/2 has no status line of its own."""
    if head.startswith((b"HTTP/2", b"HTTP/3")):
        return b"HTTP/1.1" + head[head.index(b" ") :]
    return head


def new_id() -> bytes:
    """A fresh record id: a random UUID of version 4."""
    digits = f"{_ids.getrandbits(128):032x}"
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}>".encode()


class Archive:
    """The WARC files of one partition: append, flush, and start a new file when one is full."""

    def __init__(
        self,
        folder: Path,
        prefix: str,
        file: int = 0,
        max_size: int = 1 << 30,
        info: Mapping[str, str] | None = None,
    ) -> None:
        """Go on in file number `file` (made if missing); `info` fills the warcinfo record of new files."""
        self.folder = folder
        self.prefix = prefix
        self.file = file
        self.max_size = max_size
        self.info = dict(info or {})
        self.written: dict[int, int] = {}  # lengths of the files written to, until somebody has taken note
        self.length = 0  # bytes in the file that is being written
        self._out = self._open()

    def path(self, file: int) -> Path:
        """The path of file number `file`."""
        return self.folder / f"{self.prefix}-{file:05d}.warc.gz"

    def write(self, answer: Response, digest: str = "", original: OriginalRecord | None = None) -> RecordPlace:
        """Append the exchange; only a reference where `original` already holds the same payload."""
        digest = digest or payload_digest(answer.wire)
        if self.length > self.max_size:
            self.close()
            self.file += 1
            self._out = self._open()
        url, date = answer.url.encode(), warc_date(answer.began)
        response_id = new_id()
        headers = [
            (b"WARC-Target-URI", url),
            (b"WARC-Date", date),
            (b"WARC-IP-Address", answer.ip.encode()),
            (b"Content-Type", b"application/http; msgtype=response"),
            (b"WARC-Truncated", answer.truncated.encode()),
            (b"WARC-Payload-Digest", digest.encode()),
            (CERTIFICATE, answer.certificate.encode()),
        ]
        if original is None:
            record = warc_record(b"response", response_id, headers, _http_head(answer.head), answer.wire)
        else:
            headers += [
                (b"WARC-Profile", _NOT_MODIFIED if answer.status == 304 else _SAME_PAYLOAD),
                (b"WARC-Refers-To-Target-URI", original.url.encode()),
                (b"WARC-Refers-To-Date", warc_date(original.date)),
            ]
            record = warc_record(b"revisit", response_id, headers, _http_head(answer.head))
        offset = self.length
        coded = answer.headers.get("content-encoding", "identity") != "identity"
        compressed = coded or answer.wire.startswith(_PACKED)
        member = stored_member(*record) if compressed else deflated_member(b"".join(record))
        self._append(member)
        if answer.asked:
            self._write_request(answer.asked, url, date, response_id)
        return RecordPlace(self.file, offset, len(member))

    def _write_request(self, asked: bytes, url: bytes, date: bytes, response_id: bytes) -> None:
        headers = [
            (b"WARC-Target-URI", url),
            (b"WARC-Date", date),
            (b"WARC-Concurrent-To", response_id),
            (b"Content-Type", b"application/http; msgtype=request"),
        ]
        self._append(stored_member(*warc_record(b"request", new_id(), headers, asked)))

    def _append(self, member: bytes) -> None:
        self._out.write(member)
        self.length += len(member)
        self.written[self.file] = self.length

    def flush(self) -> None:
        """Hand all that was written to the operating system."""
        self._out.flush()

    def close(self) -> None:
        """Flush to the disk and close."""
        self._out.flush()
        os.fsync(self._out.fileno())
        self._out.close()

    def _open(self) -> BinaryIO:
        path = self.path(self.file)
        out = path.open("ab", buffering=1 << 20)
        self.length = out.tell()
        if self.length == 0:
            self.length = out.write(stored_member(*self._warcinfo(path.name)))
            self.written[self.file] = self.length
        return out

    def _warcinfo(self, name: str) -> tuple[bytes, ...]:
        fields = {"format": "WARC File Format 1.1", **self.info}
        block = "".join(f"{key}: {value}\r\n" for key, value in fields.items()).encode()
        headers = [
            (b"WARC-Date", warc_date(datetime.now(UTC).timestamp())),
            (b"WARC-Filename", name.encode()),
            (b"Content-Type", b"application/warc-fields"),
        ]
        return warc_record(b"warcinfo", new_id(), headers, block)


def trim(path: Path, committed: int, quarantine: Path) -> int:
    """Cut a file back to whole committed records; the length kept. What is cut off is put aside, not lost."""
    size = path.stat().st_size if path.exists() else 0
    keep = committed if size >= committed else last_whole_member(path, size)
    if size > keep:
        quarantine.mkdir(parents=True, exist_ok=True)
        with path.open("r+b") as file:
            file.seek(keep)
            (quarantine / f"{path.name}.{keep}.tail").write_bytes(file.read())
            file.truncate(keep)
    return keep


def last_whole_member(path: Path, size: int) -> int:
    """The end of the last whole gzip member within the first `size` bytes."""
    end = 0
    with contextlib.suppress(ResourceError):  # what follows is damaged or was cut off
        for offset, length, _ in members(path, size) if size else ():
            end = offset + length
    return end


def read_record(path: Path, place: RecordPlace) -> bytes:
    """The record at `place`, decompressed: WARC header, HTTP head and body."""
    with path.open("rb") as file:
        left = os.fstat(file.fileno()).st_size - place.offset
        if place.offset < 0 or not 0 < place.length <= left:
            raise zlib.error(f"{path} has no record of {place.length} bytes at {place.offset}")
        file.seek(place.offset)
        return zlib.decompress(file.read(place.length), 31)


def read_field(path: Path, place: RecordPlace, name: bytes) -> str:
    """A field of the WARC header of a record; "" where it has none, or cannot be read."""
    try:
        header = read_record(path, place).partition(b"\r\n\r\n")[0]
    except (OSError, zlib.error):
        return ""
    values = [line[len(name) + 2 :] for line in header.split(b"\r\n") if line.startswith(name + b": ")]
    return values[0].decode("utf-8", "replace") if values else ""


def read_answer(path: Path, place: RecordPlace) -> tuple[bytes, bytes] | None:
    """The HTTP head and the body as it came of a record that we wrote; None where there is none (or not any more)."""
    try:
        header, _, block = read_record(path, place).partition(b"\r\n\r\n")
    except (OSError, zlib.error):
        return None
    end = HEAD_END.search(block)
    if end is None or b"\r\nWARC-Type: response\r\n" not in header:
        return None
    return block[: end.end()], block[end.end() : -4]
