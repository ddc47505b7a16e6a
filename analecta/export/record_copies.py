"""Records copied byte for byte into new WARC files, each with a first record that says what it is."""

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Protocol

from analecta import __version__
from analecta.errors import Environment
from analecta.store.archive import stored_member, warc_date

SOFTWARE = f"Analecta/{__version__}"
_PIECE = 1 << 20  # bytes copied at a time


class Sink(Protocol):
    """Takes bytes."""

    def write(self, data: bytes) -> None:
        """Append."""


class Copier:
    """Copies from one file after another; the one that is open is not opened again."""

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self._path: Path | None = None

    def copy(self, path: Path, offset: int, length: int, out: Sink) -> None:
        """Copy bytes of a file."""
        if self._file is None or path != self._path:
            self.close()
            self._file, self._path = path.open("rb"), path
        self._file.seek(offset)
        while length:
            piece = self._file.read(min(length, _PIECE))
            if not piece:
                raise Environment(f"{path} became shorter while it was read")
            length -= len(piece)
            out.write(piece)

    def close(self) -> None:
        """Close what is open."""
        if self._file:
            self._file.close()


def warcinfo(name: str, title: str, made: Mapping[str, str], created: float) -> bytes:
    """The first record of a WARC file. Its id follows from what it says: the same package has the same bytes."""
    fields = {**made, "software": SOFTWARE, "format": "WARC File Format 1.1", "isPartOf": title}
    block = "".join(f"{key}: {' '.join(value.split())}\r\n" for key, value in fields.items() if value).encode()
    date = warc_date(created)
    head = [
        b"WARC/1.1",
        b"WARC-Type: warcinfo",
        b"WARC-Record-ID: <" + uuid.uuid5(uuid.NAMESPACE_OID, f"{name} {date!r} {block!r}").urn.encode() + b">",
        b"WARC-Date: " + date,
        b"WARC-Filename: " + name.encode(),
        b"Content-Type: application/warc-fields",
        b"Content-Length: %d" % len(block),
    ]
    return stored_member(b"\r\n".join(head) + b"\r\n\r\n", block, b"\r\n\r\n")
