"""An index over WARC files: which record answers a URL, and that record read on demand.

http and https are alike here: a crawl over loopback speaks plain HTTP, whatever the archived page said.
"""

import contextlib
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from fastwarc.warc import ArchiveIterator, WarcRecordType
from isal import isal_zlib

from analecta.errors import UsageError
from analecta.testweb.server import ServedResponse
from analecta.urls import canonical

KEPT = 500  # answers kept; hot pages are asked for again by several crawls
_KEPT_SIZE = 1_000_000  # bytes of the largest answer that is kept
_LARGEST = 256 << 20  # bytes of a record: what is larger, or inflates to more, is not served
_LONGEST_HEAD = 1 << 20
BLOCK = 32_768  # bytes read at a time: most records need one read
_OFFSET = 48  # a place is file number and offset in one integer: a quarter of a tuple's memory
# The stub of isal calls its error a value.
_UNREADABLE: tuple[type[Exception], ...] = (isal_zlib.error, OSError, ValueError)  # type: ignore[assignment]
_STATUS = re.compile(rb"HTTP/[\d.]+ (\d{3})")
_HEAD_END = re.compile(rb"\r?\n\r?\n")  # some servers end lines with LF only
_GONE = (b"transfer-encoding", b"connection", b"keep-alive", b"content-length", b"proxy-connection", b"upgrade")
_KINDS = WarcRecordType.response | WarcRecordType.revisit | WarcRecordType.resource


def key_of(url: str) -> int:
    """The identity of a URL without its scheme; 0 where it is none."""
    target = canonical(url)
    return target.id if target else 0


def warc_files(paths: Iterable[Path]) -> list[Path]:
    """The WARC files that paths (files or folders) name."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.name.endswith((".warc", ".warc.gz")))
            if not inside:
                raise UsageError(f"There are no .warc or .warc.gz files in {path}.")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise UsageError(f"There is no file or folder {path}.")
    if not found:
        raise UsageError("Name at least one WARC file or a folder of them.")
    return found


class IndexEntry(msgspec.Struct):
    """A record while the index is made."""

    url: str
    offset: int
    kind: str
    status: int
    digest: str
    refers: str


class WarcIndex:
    """Answers from WARC files."""

    def __init__(self, paths: Iterable[Path], step: Callable[[int], None] = lambda done: None) -> None:
        self.files = warc_files(paths)
        self.warnings: list[str] = []
        self.hosts: dict[str, int] = {}
        self._open = [os.open(path, os.O_RDONLY) for path in self.files]
        self._places: dict[int, int] = {}
        self._redirects: set[int] = set()
        self._kept: OrderedDict[int, ServedResponse] = OrderedDict()
        try:
            self._load(step)
        except UsageError:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._places)

    def close(self) -> None:
        """Close the files."""
        for file in self._open:
            os.close(file)
        self._open = []

    def answer(self, url: str) -> ServedResponse | None:
        """The archived answer for a URL, or None."""
        key = key_of(url)
        place = self._places.get(key)
        if place is None:
            return None
        found = self._kept.get(place)
        if found is None:
            try:
                found = response(self.record(place))
            except _UNREADABLE:
                return None
            if len(found.body) <= _KEPT_SIZE:
                self._kept[place] = found
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return None if key in self._redirects and _to_itself(found, url, key) else found

    def pages(self) -> Iterator[tuple[str, ServedResponse]]:
        """Every URL with its answer, in the order of the files."""
        for place in sorted(set(self._places.values())):
            try:
                record = self.record(place)
                found = response(record)
            except _UNREADABLE:
                continue
            url = _header(record, b"warc-target-uri").strip("<>")
            if self._places.get(key_of(url)) == place:
                yield url, found

    def record(self, place: int) -> bytes:
        """A whole record with its headers; ValueError or an error of gzip where it cannot be had."""
        file, offset = self._open[place >> _OFFSET], place & ((1 << _OFFSET) - 1)
        data = os.pread(file, BLOCK, offset)
        if data[:2] != b"\x1f\x8b":
            return _plain(file, offset, data)
        inflate = isal_zlib.decompressobj(31)  # 31: one gzip member
        parts: list[bytes] = []
        size = 0
        while data:
            parts.append(inflate.decompress(data))
            size += len(parts[-1])
            if size > _LARGEST:
                raise ValueError("the record is too large")
            offset += len(data)
            data = b"" if inflate.eof else os.pread(file, BLOCK * 4, offset)
        return b"".join(parts)

    def _load(self, step: Callable[[int], None]) -> None:
        digests: dict[str, int] = {}
        revisits: list[IndexEntry] = []
        before = 0
        for number, path in enumerate(self.files):
            last, first, start = -1, True, before
            before += path.stat().st_size
            for entry in self._entries(path, lambda done, start=start: step(start + done)):  # type: ignore[misc]
                if first and entry.offset:
                    self._check_members(path, number, entry.offset)
                    first = False
                last = number << _OFFSET | entry.offset
                if entry.kind == "revisit":
                    revisits.append(entry)
                else:
                    if entry.digest:
                        digests[entry.digest] = last
                    self._put(entry, last)
            if last < 0:
                empty = f"{path} holds no WARC response that could be served; is it a WARC file?"
                if len(self.files) == 1:
                    raise UsageError(empty)
                self.warnings.append(empty)
                continue
            self._check_end(path, last)
        if not self._places and not revisits:
            raise UsageError("None of the files holds a WARC response that could be served.")
        for entry in revisits:
            original = self._places.get(key_of(entry.refers)) if entry.refers else None
            place = digests.get(entry.digest, original)
            if place is not None and key_of(entry.url) not in self._places:  # what refers to nothing known is 404
                self._put(entry, place)

    def _entries(self, path: Path, step: Callable[[int], None]) -> Iterator[IndexEntry]:
        with path.open("rb") as file:
            try:
                for n, record in enumerate(ArchiveIterator(file, parse_http=False, record_types=_KINDS)):
                    named = {name.lower(): value for name, value in record.headers.items()}
                    url = named.get("warc-target-uri", "").strip("<>")
                    kind = str(named.get("warc-type", "")).lower()
                    line = record.reader.read(13) if kind != "resource" else b"HTTP/1.1 200 "
                    found = _STATUS.match(line)
                    status = int(found[1]) if found and found[1] >= b"200" else 0  # what is less is no answer
                    digest, refers = named.get("warc-payload-digest", ""), named.get("warc-refers-to-target-uri", "")
                    if url.startswith("http") and (status or kind == "revisit"):
                        yield IndexEntry(url, record.stream_pos, kind, status, digest, refers.strip("<>"))
                    if n % 200 == 0:
                        step(record.stream_pos)
            except (OSError, ValueError) as error:
                if file.tell() == 0 or not self._places:
                    raise UsageError(f"{path} is not a WARC file ({error}).") from error
                self.warnings.append(f"{path} is damaged ({error}); what stands before the damage is served.")
        step(path.stat().st_size)

    def _put(self, entry: IndexEntry, place: int) -> None:
        """Later answers stand for earlier ones, but a redirect never for a page: http often leads to https."""
        target, redirect = canonical(entry.url), 300 <= entry.status < 400
        key = target.id if target else 0
        if target is None or (redirect and key in self._places and key not in self._redirects):
            return
        if key not in self._places:
            self.hosts[target.host] = self.hosts.get(target.host, 0) + 1
        self._places[key] = place
        (self._redirects.add if redirect else self._redirects.discard)(key)

    def _check_members(self, path: Path, number: int, offset: int) -> None:
        if os.pread(self._open[number], 2, 0) != b"\x1f\x8b":
            return
        with contextlib.suppress(*_UNREADABLE):
            if self.record(number << _OFFSET | offset).startswith(b"WARC/"):
                return
        raise UsageError(f"{path} is not compressed record by record; `warcio recompress` makes it so.")

    def _check_end(self, path: Path, last: int) -> None:
        """fastwarc does not say when a file ends within a record: look at the last one."""
        with contextlib.suppress(*_UNREADABLE):
            record = self.record(last)
            head, _, block = record.partition(b"\r\n\r\n")
            if len(block) >= _length(record) and head:
                return
        self._places = {key: place for key, place in self._places.items() if place != last}
        self.warnings.append(f"{path} ends within a record; the records before it are served.")


def response(record: bytes) -> ServedResponse:
    """What a record's server said, with the headers that belong to the connection put right."""
    head, _, block = record.partition(b"\r\n\r\n")
    length = _length(record)
    block = block[:length] if len(block) >= length else block.removesuffix(b"\r\n\r\n")
    if not block.startswith(b"HTTP/"):  # a resource record is the bare body
        kind = _header(record, b"content-type").encode()
        return ServedResponse(200, b"Content-Type: %b\r\n" % _one_line(kind), block)
    end = _HEAD_END.search(block)
    top, body = (block[: end.start()], block[end.end() :]) if end else (block, b"")
    first, *lines = top.replace(b"\r\n", b"\n").split(b"\n")
    parts = first.split(None, 2)
    kept = [line for line in lines if b":" in line and line.partition(b":")[0].strip().lower() not in _GONE]
    chunked = any(line.lower().replace(b" ", b"").startswith(b"transfer-encoding:chunked") for line in lines)
    body = _whole(body) if chunked else body
    head = b"".join([_one_line(line) + b"\r\n" for line in kept])
    return ServedResponse(int(parts[1][:3]), head, body, _one_line(parts[2]) if len(parts) > 2 else b"")


def _one_line(raw: bytes) -> bytes:
    return raw.replace(b"\r", b" ").replace(b"\n", b" ").replace(b"\0", b" ").strip()


def _whole(body: bytes) -> bytes:
    """A chunked body put together; as it is where it is not really chunked (some archives undo it themselves)."""
    parts: list[bytes] = []
    rest = body
    while rest:
        line, end, after = rest.partition(b"\r\n")
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:
            return body
        if not end or size < 0:
            return body
        if size == 0:
            return b"".join(parts)
        parts.append(after[:size])
        rest = after[size + 2 :]
    return b"".join(parts)


def _header(record: bytes, name: bytes) -> str:
    """A WARC header of a record."""
    head = record[: record.find(b"\r\n\r\n") + 2]
    at = head.lower().find(b"\r\n" + name + b":")
    return "" if at < 0 else head[at + len(name) + 3 : head.find(b"\r\n", at + 2)].strip().decode("utf-8", "replace")


def _length(record: bytes) -> int:
    """What a record says of its length; whether so much is there is another question."""
    said = _header(record, b"content-length")
    if not (said.isascii() and said.isdigit() and len(said) < 19):
        raise ValueError(f"{said[:40]!r} is no length")
    return int(said)


def _plain(file: int, offset: int, data: bytes) -> bytes:
    """A record of a file that is not compressed; it ends with the file at the latest."""
    while b"\r\n\r\n" not in data:
        more = os.pread(file, BLOCK, offset + len(data))
        if not more or len(data) > _LONGEST_HEAD:
            raise ValueError("the record has no end of its head")
        data += more
    size = min(data.index(b"\r\n\r\n") + 4 + _length(data), os.fstat(file).st_size - offset)
    if size > _LARGEST:
        raise ValueError("the record is too large")
    while len(data) < size:
        more = os.pread(file, size - len(data), offset + len(data))
        if not more:
            break
        data += more
    return data[:size]


def _to_itself(found: ServedResponse, url: str, key: int) -> bool:
    """Whether a redirect leads to its own address but for the scheme: served, it would never end."""
    for line in found.head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"location":
            target = canonical(value.strip().decode("utf-8", "replace"), url)
            return bool(target) and key_of(target.url if target else "") == key
    return False
