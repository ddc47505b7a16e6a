"""Members of a zip file, read within bounds and never written anywhere (F32).

A zip file is refused before anything is unpacked if its directory is not that of an honest one: too many members,
members that overlap (D. Fifield's bombs) or claim sizes out of all proportion, names that lead elsewhere.
"""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from analecta.parse.documents.document import ReadingStopped

MAX_MEMBERS = 10_000
MAX_TOTAL = 256 * 1024 * 1024  # bytes unpacked of one file
MAX_RATIO = 200  # unpacked to packed, of members above _SMALL; tables of numbers reach 50
_SMALL = 4 * 1024 * 1024
_CHUNK = 64 * 1024
_HEADER = 30  # bytes of a local header without its name

_ELSEWHERE = re.compile(r"(?:^|/)\.\.(?:/|$)|^/|^[a-zA-Z]:")
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,  # also of names in no encoding
    OverflowError,
    NotImplementedError,  # methods and versions that nobody uses
    RuntimeError,  # encrypted, says zipfile
)


class ZipFile:
    """A zip file that has passed the checks; names have forward slashes."""

    def __init__(self, body: bytes) -> None:
        if body.count(b"PK\1\2") > 2 * MAX_MEMBERS:  # looked at first: to read them all would take seconds
            raise ReadingStopped(f"zip bomb: more than {MAX_MEMBERS} members")
        try:
            self._zip = zipfile.ZipFile(BytesIO(body))
        except BROKEN as wrong:
            raise ReadingStopped(f"broken zip: {wrong}") from wrong
        infos = self._zip.infolist()
        _check(infos)
        self.left = MAX_TOTAL
        # A damaged name may be empty, on which is_dir() breaks.
        files = (info for info in infos if info.filename[-1:] not in ("", "/"))
        self.members = {info.filename.replace("\\", "/"): info for info in files}

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def chunks(self, name: str) -> Iterator[bytes]:
        """A member's bytes, a chunk at a time; a member that is not there has none."""
        info = self.members.get(name)
        if info is None:
            return
        if info.flag_bits & 1:
            raise ReadingStopped("encrypted")
        try:
            with self._zip.open(info) as member:
                while chunk := member.read(_CHUNK):
                    self.left -= len(chunk)
                    if self.left < 0:
                        raise ReadingStopped(f"zip bomb: more than {MAX_TOTAL} bytes")
                    yield chunk
        except BROKEN as wrong:
            raise ReadingStopped(f"broken zip: {wrong}") from wrong

    def read(self, name: str) -> bytes:
        """All of a member."""
        return b"".join(self.chunks(name))


def _check(infos: list[zipfile.ZipInfo]) -> None:
    """Raise Stopped where the directory is that of no honest file."""
    if len(infos) > MAX_MEMBERS:
        raise ReadingStopped(f"zip bomb: more than {MAX_MEMBERS} members")
    if sum(info.file_size for info in infos) > MAX_TOTAL:
        raise ReadingStopped(f"zip bomb: more than {MAX_TOTAL} bytes")
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise ReadingStopped("zip bomb: members overlap")
        end = info.header_offset + _HEADER + info.compress_size
        if info.file_size > _SMALL and info.file_size > MAX_RATIO * info.compress_size:
            raise ReadingStopped(f"zip bomb: a member grows more than {MAX_RATIO} times")
        if _ELSEWHERE.search(info.filename.replace("\\", "/")):
            raise ReadingStopped("refused: a member of the zip file has a name that leads out of it")
