"""The records of archive files, and the keys under which an index lists their URLs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

import msgspec
from isal import isal_zlib

from analecta.errors import ResourceError

_PIECE = 1 << 14  # bytes read at a time: what is read beyond a member is copied once more
_HEAD = 1 << 18  # bytes of a record in which its header and the head of its answer must be
_ENDS = (b"\r\n\r\n", b"\n\n")
_KIND = re.compile(rb"\r\nWARC-Type: ([a-z]+)\r\n")
_TYPE = re.compile(rb"(?im)^content-type[ \t]*:[ \t]*([^\r\n]*)")
BAD_ZLIB: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub calls it a value
_WORD = re.compile(r"[;\s]")


class ArchivedResponse(msgspec.Struct, frozen=True):
    """An answer in the archive. `date` is as the record has it; `whole` are the bytes with the request after it."""

    kind: str  # "response" or "revisit"
    url: str
    date: str
    digest: str
    status: str
    mime: str | None  # None where the server said nothing
    offset: int
    length: int
    whole: int
    refers_to: str  # the URL of the record that has a revisit's payload


def records(path: Path, length: int) -> Iterator[ArchivedResponse]:
    """The answers within the first `length` bytes of a file: what follows may not be whole yet."""
    answer: ArchivedResponse | None = None
    for offset, size, start in members(path, length):
        kind = _kind(start)
        if kind == "request" and answer:
            answer = msgspec.structs.replace(answer, whole=offset + size - answer.offset)
            continue
        if answer:
            yield answer
        answer = _answer(kind, start, offset, size) if kind in ("response", "revisit") else None
    if answer:
        yield answer


def info(path: Path, length: int) -> dict[str, str]:
    """What the first record of a file says of how it was made."""
    for _, _, start in members(path, length):
        return fields(start.partition(b"\r\n\r\n")[2].strip()) if _kind(start) == "warcinfo" else {}
    return {}


def _kind(start: bytes) -> str:
    """What kind of record begins so."""
    found = _KIND.search(start)
    return _text(found[1]) if found else ""


def _answer(kind: str, start: bytes, offset: int, size: int) -> ArchivedResponse:
    header, _, block = start.partition(b"\r\n\r\n")
    named = fields(header)
    head = block[: min((end for mark in _ENDS if (end := block.find(mark)) >= 0), default=len(block))]
    words = head.split(b"\n", 1)[0].split(None, 2)
    return ArchivedResponse(
        kind,
        named.get("warc-target-uri", ""),
        named.get("warc-date", ""),
        named.get("warc-payload-digest", ""),
        _text(words[1]) if len(words) > 1 else "",
        "warc/revisit" if kind == "revisit" else _mime(head),
        offset,
        size,
        size,
        named.get("warc-refers-to-target-uri", ""),
    )


def _mime(head: bytes) -> str | None:
    found = _TYPE.search(head)
    return _WORD.split(_text(found[1]).strip(), maxsplit=1)[0] if found else None


def fields(lines: bytes) -> dict[str, str]:
    """Lines of `Name: value`, the names in lower case."""
    pairs = (line.partition(":") for line in _text(lines).split("\r\n"))
    return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}


def _text(raw: bytes) -> str:
    """Bytes of a header: UTF-8, or else what every byte is in Latin-1."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def members(path: Path, length: int) -> Iterator[tuple[int, int, bytes]]:
    """The gzip members of a file: first byte, length, and the beginning of what they hold."""
    offset = 0
    with path.open("rb") as file:
        rest = b""
        while offset < length:
            start, size, rest = _member(file, rest, path, offset)
            yield offset, size, start
            offset += size


def _member(file: BinaryIO, rest: bytes, path: Path, offset: int) -> tuple[bytes, int, bytes]:
    """The member that begins with `rest`: the beginning of what it holds, its length, what was read beyond it."""
    inflater = isal_zlib.decompressobj(31)
    held, kept, read = [], 0, 0
    while not inflater.eof:
        piece = rest or file.read(_PIECE)
        rest = b""
        try:
            data = inflater.decompress(piece)
        except BAD_ZLIB as error:
            raise ResourceError(f"{path} is damaged at byte {offset:,}: {error}") from error
        if not piece:
            raise ResourceError(f"{path} ends within the record at byte {offset:,}: the next crawl mends it")
        read += len(piece)
        if kept < _HEAD:
            held.append(data)
            kept += len(data)
    beyond: bytes = inflater.unused_data
    return b"".join(held), read - len(beyond), beyond


# --- The keys under which web archives sort URLs: `http://www.example.org/A?b` is `org,example)/a?b` -----------------
# Replay looks a URL up by its key, so a key must be, letter for letter, what other tools make of the URL. What they
# all do: scheme, `www.`, default port, letter case, order of the query and visitors' numbers do not count.


_KEPT = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"  # with letters and digits: all of ASCII that is seen, but # and %
_WWW = re.compile(r"^www\d*\.")
_PORTS = {"http": 80, "https": 443}
# Visitors' numbers: in the path as ASP.NET puts them, and in the query.
_IN_PATH = (r"\((?:[a-z]\([0-9a-z]{24}\))+\)/", r"\([0-9a-z]{24}\)/")
_IN_QUERY = (
    r"jsessionid=[0-9a-z]{32}",
    r"phpsessid=[0-9a-z]{32}",
    r"sid=[0-9a-z]{32}",
    r"aspsessionid[a-z]{8}=[a-z]{24}",
    r"cfid=[^&]+&cftoken=[^&]+",
)
_PATHS = [re.compile(rf"(.*/){number}([^?]+\.aspx.*)", re.I) for number in _IN_PATH]
_QUERIES = [re.compile(rf"(.*){number}(?:&(.*))?", re.I) for number in _IN_QUERY]


def surt_key(url: str) -> str:
    """The key of a canonical http(s) URL."""
    parts = urlsplit(url)
    host = ",".join(reversed(_WWW.sub("", (parts.hostname or "").strip("."), count=1).split(".")))
    port = f":{parts.port}" if parts.port and parts.port != _PORTS[parts.scheme] else ""
    query = _query(parts.query)
    return f"{host}{port}){_path(parts.path)}" + (f"?{query}" if query else "")


def _path(path: str) -> str:
    steps: list[bytes] = []
    for step in _unescaped(path).split(b"/")[1:]:
        if step == b".." and steps:
            steps.pop()
        elif step != b".":
            steps.append(step)
    folders = [step for step in steps[:-1] if step]  # two slashes are one
    text = "/" + _escaped(b"/".join(folders + steps[-1:])).lower()
    for number in _PATHS:
        if found := number.fullmatch(text):
            text = found[1] + found[2]
    return text.removesuffix("/") or "/"


def _query(query: str) -> str:
    text = _escaped(_unescaped(query))
    for number in _QUERIES:
        if found := number.fullmatch(text):
            text = found[1] + (found[2] or "")
    pairs = sorted(tuple(part.split("=", 1)) for part in text.lower().split("&"))
    return "&".join(map("=".join, pairs)) if len(text) > 1 else text.lower()


def _unescaped(text: str) -> bytes:
    """Without escapes, however often they were escaped."""
    raw = text.encode()
    while (plain := unquote_to_bytes(raw)) != raw:
        raw = plain
    return raw


def _escaped(raw: bytes) -> str:
    return quote_from_bytes(raw, safe=_KEPT)
