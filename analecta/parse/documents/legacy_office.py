"""Word's and PowerPoint's old files, .doc and .ppt, to Document: a small file system (OLE) with streams in it."""

import re
import struct
from datetime import UTC, datetime

from analecta.parse.documents.document import Document, ReadingStopped, field_link, tidy, title_of

# --- ole -------------------------------------------------------------------------------------------------------------
# Compound files, the file system inside of Microsoft's old formats ([MS-CFB]): named streams, within bounds.


MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_END = 0xFFFFFFFA  # sector numbers from here on are marks: free, end of chain, table
_MINI = 4096  # streams shorter than this are kept in the small sectors of one stream
_MAX_ENTRIES = 4096


class Ole:
    """The streams of a compound file by name, wherever in the tree they stand; a broken chain ends where it breaks."""

    def __init__(self, body: bytes) -> None:
        if not body.startswith(MAGIC) or len(body) < 512:
            raise ReadingStopped("broken: no compound file")
        self.body = body
        (shift,) = struct.unpack_from("<H", body, 30)
        if shift not in (9, 12):
            raise ReadingStopped("broken: no compound file")
        self.size = 1 << shift
        _, directory, _, _, mini, _, more, _ = struct.unpack_from("<8I", body, 44)
        self.table = self._table(more)
        self.entries: dict[str, tuple[int, int]] = {}
        self.small = b""
        self._read_directory(self._chain(directory))
        self.small_table = _numbers(self._chain(mini))

    def stream(self, name: str) -> bytes:
        """The bytes of a stream; none if it is not there."""
        start, size = self.entries.get(name, (_END, 0))
        if size >= _MINI:
            return self._chain(start)[:size]
        parts: list[bytes] = []
        while start < len(self.small_table) and len(parts) * 64 < size:
            parts.append(self.small[start * 64 : start * 64 + 64])
            start = self.small_table[start]
        return b"".join(parts)[:size]

    def _sector(self, number: int) -> bytes:
        start = (number + 1) * self.size
        return self.body[start : start + self.size]

    def _table(self, more: int) -> tuple[int, ...]:
        """Which sector follows which; the list of the table's own sectors goes on in further sectors."""
        places = list(struct.unpack_from("<109I", self.body, 76))
        per = self.size // 4
        for _ in range(len(self.body) // self.size):
            if more >= _END:
                break
            numbers = _numbers(self._sector(more))
            if len(numbers) < per:
                break
            places += numbers[:-1]
            more = numbers[-1]
        held = len(self.body) // self.size  # no honest file lists a sector twice
        return _numbers(b"".join(self._sector(place) for place in list(dict.fromkeys(places))[:held] if place < _END))

    def _chain(self, start: int) -> bytes:
        parts: list[bytes] = []
        number = start
        while number < len(self.table):
            parts.append(self._sector(number))
            number = self.table[number]
            if len(parts) * self.size > len(self.body):
                raise ReadingStopped("broken: a chain of sectors is a loop")
        return b"".join(parts)

    def _read_directory(self, directory: bytes) -> None:
        whole = directory[: 128 * min(len(directory) // 128, _MAX_ENTRIES)]
        for name, length, kind, start, size in struct.iter_unpack("<64sHB49x2I4x", whole):
            if kind == 5:
                self.small = self._chain(start)[:size]
            elif kind == 2:
                called = name[: min(max(length - 2, 0), 62)].decode("utf-16-le", "replace")
                self.entries.setdefault(called, (start, size))


def _numbers(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])


# --- properties ------------------------------------------------------------------------------------------------------
# The properties of old Office files: title, author and date in the stream "SummaryInformation" ([MS-OLEPS]).


_TITLE, _AUTHOR, _CREATED, _SAVED = 2, 4, 12, 13
_CODEPAGE = 1
_NUMBER, _BYTES, _WIDE, _TIME = 2, 30, 31, 64  # types of values
_TICKS = 10_000_000  # a second
_EPOCH = 11_644_473_600  # seconds from 1601 to 1970


def read_properties(ole: Ole, document: Document) -> None:
    """Take what the summary says; nothing if it is broken."""
    data = ole.stream("\x05SummaryInformation")
    try:
        values = _values(data)
    except (struct.error, LookupError, ValueError, OverflowError):
        return
    document.title = title_of(str(values.get(_TITLE, "")))
    document.author = tidy(str(values.get(_AUTHOR, "")))
    document.date = str(values.get(_SAVED) or values.get(_CREATED) or "")


def _values(data: bytes) -> dict[int, str | int]:
    (start,) = struct.unpack_from("<I", data, 44)
    (count,) = struct.unpack_from("<I", data, start + 4)
    found: dict[int, str | int] = {}
    charset = "cp1252"
    for i in range(min(count, 64)):
        key, at = struct.unpack_from("<2I", data, start + 8 + 8 * i)
        (kind,) = struct.unpack_from("<I", data, start + at)
        if key == _CODEPAGE and kind == _NUMBER:
            (page,) = struct.unpack_from("<H", data, start + at + 4)
            charset = "utf-8" if page == 65001 else f"cp{page}"
        elif kind in (_BYTES, _WIDE):
            (size,) = struct.unpack_from("<I", data, start + at + 4)
            raw = data[start + at + 8 :][: min(2 * size if kind == _WIDE else size, 4000)]
            found[key] = raw.decode("utf-16-le" if kind == _WIDE else charset, "replace").partition("\0")[0]
        elif kind == _TIME:
            (ticks,) = struct.unpack_from("<Q", data, start + at + 4)
            seconds = ticks // _TICKS - _EPOCH
            if 0 < seconds < 1 << 32:
                found[key] = datetime.fromtimestamp(seconds, UTC).date().isoformat()
    return found


# --- legacy office ---------------------------------------------------------------------------------------------------
# Word's old .doc to Document: the text lies in pieces all over the file, which a table puts in order ([MS-DOC]).


_ENCRYPTED = 0x0100
_TABLE = 0x0200  # which of the two table streams is in use
_CLX = 0x01A2  # where the header says where the table of pieces is
_MAX_PIECES = 100_000

# A field: 0x13, its code, 0x14, what it shows, 0x15. Only innermost ones match, and a link holds no further field.
_FIELD = re.compile("\x13([^\x13\x14\x15]{0,3000})\x14([^\x13\x14\x15]{0,3000})\x15")
_CODE = re.compile("\x13[^\x13\x14\x15]{0,3000}[\x14\x15]")
_PLAIN = str.maketrans({"\r": "\n", "\x0b": "\n", "\x0c": "\n", "\x07": "\n", "\x1e": "-", "\x1f": None, "\xa0": " "})


def read_doc(body: bytes, document: Document) -> None:
    """Read an old Word document; one that some program calls .doc and is none says so."""
    ole = Ole(body)
    if "EncryptedPackage" in ole.entries:
        raise ReadingStopped("encrypted")
    stream = ole.stream("WordDocument")
    if len(stream) < _CLX + 8:
        raise ReadingStopped("broken: no Word document")
    (flags,) = struct.unpack_from("<H", stream, 10)
    if flags & _ENCRYPTED:
        raise ReadingStopped("encrypted")
    read_properties(ole, document)
    start, size = struct.unpack_from("<2I", stream, _CLX)
    table = ole.stream("1Table" if flags & _TABLE else "0Table")[start : start + size]
    _write("".join(_pieces(stream, table)), document)


def _pieces(stream: bytes, table: bytes) -> list[str]:
    """The text: n+1 character positions, then n descriptors of 8 bytes that say where each piece is."""
    at = 0
    while at + 3 <= len(table) and table[at] == 1:  # formats, each with its length
        at += 3 + struct.unpack_from("<H", table, at + 1)[0]
    if at + 5 > len(table) or table[at] != 2:
        raise ReadingStopped("broken: no table of pieces")
    count = min((struct.unpack_from("<I", table, at + 1)[0] - 4) // 12, (len(table) - at - 9) // 12, _MAX_PIECES)
    if count < 1:
        raise ReadingStopped("broken: no table of pieces")
    at += 5
    positions = struct.unpack_from(f"<{count + 1}I", table, at)
    found, left = [], len(stream)  # characters: pieces that overlap beyond reason are no text
    for i in range(count):
        (where,) = struct.unpack_from("<I", table, at + 4 * (count + 1) + 8 * i + 2)
        length = min(max(positions[i + 1] - positions[i], 0), left)
        left -= length
        if where & 0x40000000:  # one byte a character
            start = (where & 0x3FFFFFFF) // 2
            found.append(stream[start : start + length].decode("cp1252", "replace"))
        else:
            found.append(stream[where : where + 2 * length].decode("utf-16-le", "replace"))
    return found


def _write(text: str, document: Document) -> None:
    done = 0
    for field in _FIELD.finditer(text):
        _plain(text[done : field.start()], document)
        mark, done = document.here, field.end()
        _plain(field[2], document)
        if url := field_link(field[1]):
            document.link(url, document.since(mark), mark.at)
    _plain(text[done:], document)


def _plain(text: str, document: Document) -> None:
    document.add(_CODE.sub("", text).translate(_PLAIN))


# --- ppt -------------------------------------------------------------------------------------------------------------
# PowerPoint's old .ppt to Document: its stream is a tree of records, some of which hold text ([MS-PPT]).


_HEADER, _WIDE_TEXT, _BYTE_TEXT = 0x0F9F, 0x0FA0, 0x0FA8
_MASTER = 0x03F8  # a container of "Click to edit" and the like
_TITLES = (0, 6)  # kinds of text
_BREAKS = str.maketrans({"\r": "\n", "\x0b": "\n"})


def read_ppt(body: bytes, document: Document) -> None:
    """Read an old PowerPoint presentation: the text of the outline, slide by slide."""
    ole = Ole(body)
    if "EncryptedPackage" in ole.entries or "EncryptedSummary" in ole.entries:
        raise ReadingStopped("encrypted")
    stream = ole.stream("PowerPoint Document")
    if not stream:
        raise ReadingStopped("broken: no PowerPoint presentation")
    read_properties(ole, document)
    at, kind = 0, -1
    while at + 8 <= len(stream):
        version, record, size = struct.unpack_from("<HHI", stream, at)
        at += 8
        if version & 0xF == 0xF:  # a container: its records follow
            at += size if record == _MASTER else 0
            continue
        data = stream[at : at + size]
        if record == _HEADER and size >= 4:
            (kind,) = struct.unpack_from("<I", data)
        elif record in (_WIDE_TEXT, _BYTE_TEXT):
            text = data.decode("utf-16-le" if record == _WIDE_TEXT else "latin-1", "replace").translate(_BREAKS)
            if kind in _TITLES:
                document.heading(text)
            document.add(text)
            document.end_line()
            kind = -1
        at += size
