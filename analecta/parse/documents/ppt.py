"""PowerPoint's old .ppt to Document: its stream is a tree of records, some of which hold text ([MS-PPT])."""

import struct

from analecta.parse.documents.document import Document, Stopped
from analecta.parse.documents.ole import Ole
from analecta.parse.documents.properties import read_properties

_HEADER, _WIDE, _BYTES = 0x0F9F, 0x0FA0, 0x0FA8
_MASTER = 0x03F8  # a container of "Click to edit" and the like
_TITLES = (0, 6)  # kinds of text
_BREAKS = str.maketrans({"\r": "\n", "\x0b": "\n"})


def read_ppt(body: bytes, document: Document) -> None:
    """Read an old PowerPoint presentation: the text of the outline, slide by slide."""
    ole = Ole(body)
    if "EncryptedPackage" in ole.entries or "EncryptedSummary" in ole.entries:
        raise Stopped("encrypted")
    stream = ole.stream("PowerPoint Document")
    if not stream:
        raise Stopped("broken: no PowerPoint presentation")
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
        elif record in (_WIDE, _BYTES):
            text = data.decode("utf-16-le" if record == _WIDE else "latin-1", "replace").translate(_BREAKS)
            if kind in _TITLES:
                document.heading(text)
            document.add(text)
            document.end_line()
            kind = -1
        at += size
