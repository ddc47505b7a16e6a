"""Compound files, the file system inside of Microsoft's old formats ([MS-CFB]): named streams, within bounds."""

import struct

from analecta.parse.documents.document import Stopped

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_END = 0xFFFFFFFA  # sector numbers from here on are marks: free, end of chain, table
_MINI = 4096  # streams shorter than this are kept in the small sectors of one stream
_MAX_ENTRIES = 4096


class Ole:
    """The streams of a compound file by name, wherever in the tree they stand; a broken chain ends where it breaks."""

    def __init__(self, body: bytes) -> None:
        if not body.startswith(MAGIC) or len(body) < 512:
            raise Stopped("broken: no compound file")
        self.body = body
        (shift,) = struct.unpack_from("<H", body, 30)
        if shift not in (9, 12):
            raise Stopped("broken: no compound file")
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
                raise Stopped("broken: a chain of sectors is a loop")
        return b"".join(parts)

    def _read_directory(self, directory: bytes) -> None:
        for at in range(0, min(len(directory) - 127, 128 * _MAX_ENTRIES), 128):
            (length,) = struct.unpack_from("<H", directory, at + 64)
            kind = directory[at + 66]
            name = directory[at : at + min(max(length - 2, 0), 62)].decode("utf-16-le", "replace")
            start, size = struct.unpack_from("<2I", directory, at + 116)
            if kind == 5:
                self.small = self._chain(start)[:size]
            elif kind == 2:
                self.entries.setdefault(name, (start, size))


def _numbers(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
