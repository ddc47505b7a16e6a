"""HTTP messages: their heads, and their content codings undone under a cap."""

import re
from collections.abc import Callable, Iterator
from typing import IO, cast

import brotli
import zstandard
from isal import isal_zlib

# --- The heads of HTTP messages: what came, read leniently, and what was sent, byte for byte -------------------------


_TRANSFER = re.compile(rb"^transfer-encoding(?=[ \t]*:)", re.IGNORECASE | re.MULTILINE)
_STATUS = re.compile(rb"HTTP/[\d.]+[ \t]+(\d{3})")
_INTERIM = re.compile(rb"HTTP/[\d.]+[ \t]+1\d\d")  # "HTTP/1.1 103 Early Hints", "HTTP/2 103"
_BLANK = (b"\r\n", b"\n")


def final_block(lines: list[bytes]) -> list[bytes] | None:
    """The lines of the last complete header block, without 1xx blocks before it and trailers after it."""
    start = 0
    while True:
        end = _blank_line(lines, start)
        if end < 0:
            return None
        if not _INTERIM.match(lines[start]):
            return lines[start : end + 1]
        start = end + 1


def _blank_line(lines: list[bytes], start: int) -> int:
    try:
        return lines.index(b"\r\n", start)
    except ValueError:
        return next((n for n in range(start, len(lines)) if lines[n] in _BLANK), -1)


def parse_head(block: list[bytes]) -> tuple[int, bytes, dict[str, str]] | None:
    """Status, raw head and headers of a block; the head tells of the body as kept, which is no longer chunked.

    An HTTP/2 status line is written as HTTP/1.1, the only form that WARC readers agree on.
    """
    found = _STATUS.match(block[0])
    if found is None:
        return None
    headers: dict[str, str] = {}
    head = b"".join(block)
    for line in head.decode("latin-1").split("\n")[1:-2]:
        name, _, value = line.partition(":")
        name = name.rstrip().lower()
        headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    if "location" in headers:
        headers["location"] = _in_utf8(headers["location"])
    if "transfer-encoding" in headers:
        head = _TRANSFER.sub(b"X-Archive-Orig-Transfer-Encoding", head)
    if not head.startswith(b"HTTP/1"):
        head = b"HTTP/1.1 " + head[found.start(1) :]
    return int(found[1]), head, headers


def _in_utf8(value: str) -> str:
    """A value that was read as Latin-1 as the UTF-8 that it may be; else with its bytes beyond ASCII as escapes."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError:
        return "".join(char if char.isascii() else f"%{ord(char):02X}" for char in value)


def request_head(host: str, path: str, fields: list[str]) -> bytes:
    """What libcurl sends when it is given these header fields."""
    return "\r\n".join((f"GET {path} HTTP/1.1", f"Host: {host}", *fields, "", "")).encode("latin-1")


# --- Content codings undone under a cap: a bomb costs no more than a page of the allowed size ------------------------
# Each decoder turns small pieces into small pieces, so codings stack and nothing grows before the cap is looked at.


ACCEPTED = "gzip, deflate, br, zstd"  # what to ask servers for: all that is decoded here

PIECE_IN = 16 * 1024
PIECE_OUT = 128 * 1024
MAX_CODINGS = 3
MAX_MEMBERS = 1000  # gzip members in one body; more is an attack, each costs a new decoder
ZSTD_WINDOW = 8 * 1024 * 1024  # RFC 9659: what a server may use in the "zstd" content coding

Pieces = Iterator[bytes]
_ISAL_ERROR = cast(type[Exception], isal_zlib.error)  # its stubs say that it is an instance


class BrokenCoding(Exception):
    """The coded bytes make no sense from here on."""


_BROKEN = (BrokenCoding, _ISAL_ERROR, brotli.error, zstandard.ZstdError)


def decode(wire: bytes, coding: str, cap: int) -> tuple[bytes, bool]:
    """The body that `wire` holds, at most `cap` bytes of it, and whether that is all of it.

    A body in plain text that its coding makes no sense of is given back as it is: servers do forget to encode.
    """
    names = [name for name in (part.strip().lower() for part in coding.split(",")) if name not in PLAIN]
    if not names or not wire:
        return wire[:cap], len(wire) <= cap
    if len(names) > MAX_CODINGS or any(name not in DECODERS for name in names):
        return wire[:cap], False
    pieces: Pieces = (wire[start : start + PIECE_IN] for start in range(0, len(wire), PIECE_IN))
    for name in reversed(names):
        pieces = DECODERS[name](pieces)
    body, whole = _collect(pieces, cap)
    if not body and not whole and wire[:256].isascii():
        return wire[:cap], False
    return body, whole


def _collect(pieces: Pieces, cap: int) -> tuple[bytes, bool]:
    body = bytearray()
    try:
        for piece in pieces:
            body += piece[: cap - len(body)]
            if len(body) == cap:
                return bytes(body), next(pieces, None) is None and len(piece) <= cap
    except _BROKEN:
        return bytes(body), False
    return bytes(body), True


def _gzip(pieces: Pieces) -> Pieces:
    decoder = isal_zlib.decompressobj(31)
    members, began, data = 1, False, b""
    for fresh in pieces:
        data = fresh
        while data:
            if decoder.eof:
                if data.strip(b"\0") == b"":  # padding, as tape and some servers leave it
                    break
                decoder, members, began = isal_zlib.decompressobj(31), members + 1, False
                if members > MAX_MEMBERS:
                    raise BrokenCoding("too many gzip members")
            try:
                out = decoder.decompress(data, PIECE_OUT)
            except _ISAL_ERROR:
                if members > 1 and not began:
                    return  # bytes after the last member that start no other one: every browser ignores them
                raise
            began = began or bool(out)
            if out:
                yield out
            data = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
    yield from _rest(decoder)


def _rest(decoder: "isal_zlib.Decompress") -> Pieces:
    """What an inflater still holds when its input has ended."""
    while not decoder.eof:
        out = decoder.decompress(b"", PIECE_OUT)
        if not out:
            raise BrokenCoding("the coded body is cut short")
        yield out


def _deflate(pieces: Pieces) -> Pieces:
    """Deflate with the zlib wrapper, as RFC 9110 has it, or without, as many servers have it."""
    decoder = None
    for data in pieces:
        if decoder is None:
            wrapped = len(data) > 1 and data[0] & 15 == 8 and (data[0] * 256 + data[1]) % 31 == 0
            decoder = isal_zlib.decompressobj(15 if wrapped else -15)
        while data and not decoder.eof:
            out = decoder.decompress(data, PIECE_OUT)
            if out:
                yield out
            data = decoder.unconsumed_tail
    if decoder is not None:
        yield from _rest(decoder)


def _brotli(pieces: Pieces) -> Pieces:
    decoder = brotli.Decompressor()
    for data in pieces:
        out = decoder.process(data, output_buffer_limit=PIECE_OUT)
        while out or not decoder.can_accept_more_data():  # all input may be taken while output still waits
            yield out
            out = decoder.process(b"", output_buffer_limit=PIECE_OUT)
        if decoder.is_finished():
            return
    raise BrokenCoding("the coded body is cut short")


class _Source:
    """Pieces as a file to read from, which is what zstandard wants."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces

    def read(self, _size: int = -1) -> bytes:
        """The next piece, whatever its size; empty at the end."""
        return next(self.pieces, b"")


def _zstd(pieces: Pieces) -> Pieces:
    """The reader does not tell a cut frame from its end, so only one that gives nothing at all counts as cut."""
    some = False
    decoder = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    with decoder.stream_reader(cast(IO[bytes], _Source(pieces)), read_across_frames=True) as reader:
        while out := reader.read(PIECE_OUT):
            some = True
            yield out
    if not some:
        raise BrokenCoding("the coded body is cut short")


PLAIN = frozenset(("", "identity", "none", "utf-8", "binary", "7bit", "8bit"))  # the last five by mistake
DECODERS: dict[str, Callable[[Pieces], Pieces]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
