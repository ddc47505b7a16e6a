"""The heads of HTTP messages: what came, read leniently, and what was sent, byte for byte."""

import re

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
