"""Files in a zip, written with the same bytes wherever and whenever that is done; their sizes and digests."""

import contextlib
import hashlib
import zipfile
from collections.abc import Iterator
from typing import IO

Date = tuple[int, int, int, int, int, int]
LONG_AGO: Date = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file knows


class ZipMember:
    """A file that is being written."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._digest = hashlib.sha256()
        self.length = 0

    def write(self, data: bytes) -> None:
        """Append."""
        self._out.write(data)
        self._digest.update(data)
        self.length += len(data)

    @property
    def sha256(self) -> str:
        """The digest of what was written."""
        return self._digest.hexdigest()


@contextlib.contextmanager
def zip_member(file: zipfile.ZipFile, name: str, date: Date, how: int, mode: int) -> Iterator[ZipMember]:
    """Write a file; `how` it is compressed and its `mode` are numbers of `zipfile` and of Unix."""
    info = zipfile.ZipInfo(name, date)
    info.compress_type, info.external_attr, info.create_system = how, mode << 16, 3  # Unix, whatever this is
    with file.open(info, "w", force_zip64=True) as out:
        yield ZipMember(out)
