"""The properties of old Office files: title, author and date in the stream "SummaryInformation" ([MS-OLEPS])."""

import struct
from datetime import UTC, datetime

from analecta.parse.documents.document import Document, tidy, title_of
from analecta.parse.documents.ole import Ole

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
