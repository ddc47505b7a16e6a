"""Word's old .doc to Document: the text lies in pieces all over the file, which a table puts in order ([MS-DOC])."""

import re
import struct

from analecta.parse.documents.document import Document, Stopped
from analecta.parse.documents.docx import FIELD_LINK
from analecta.parse.documents.ole import Ole
from analecta.parse.documents.properties import read_properties

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
        raise Stopped("encrypted")
    stream = ole.stream("WordDocument")
    if len(stream) < _CLX + 8:
        raise Stopped("broken: no Word document")
    (flags,) = struct.unpack_from("<H", stream, 10)
    if flags & _ENCRYPTED:
        raise Stopped("encrypted")
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
        raise Stopped("broken: no table of pieces")
    count = min((struct.unpack_from("<I", table, at + 1)[0] - 4) // 12, (len(table) - at - 9) // 12, _MAX_PIECES)
    if count < 1:
        raise Stopped("broken: no table of pieces")
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
        if found := FIELD_LINK.match(field[1]):
            document.link(found[1], document.since(mark), mark.at)
    _plain(text[done:], document)


def _plain(text: str, document: Document) -> None:
    document.add(_CODE.sub("", text).translate(_PLAIN))
