"""The zip file of a WACZ: members with their digests, and the two files that tell of them all.

What is compressed already is stored as it is, so that a reader can fetch a record from the middle of the file.
"""

import contextlib
import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import IO, Any, BinaryIO

import msgspec

VERSION = "1.1.1"
_FIRST_YEAR = 1980  # that a zip file knows


class Member:
    """A file in the package that is being written."""

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
    def hash(self) -> str:
        """The digest of what was written."""
        return f"sha256:{self._digest.hexdigest()}"


class Package:
    """A WACZ that is being written; `created` is the date of all that is in it."""

    def __init__(self, out: BinaryIO, created: float) -> None:
        self._out = out
        self._zip = zipfile.ZipFile(out, "w")
        self.created = datetime.fromtimestamp(created, UTC)
        self.resources: list[dict[str, Any]] = []

    def __enter__(self) -> "Package":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, ValueError):  # it may have failed for what keeps it from being closed
            self._zip.close()

    @contextlib.contextmanager
    def member(self, path: str, squeeze: bool = False) -> Iterator[Member]:
        """Write a file of the package; `squeeze` those that are plain text and long."""
        with self._open(path, zipfile.ZIP_DEFLATED if squeeze else zipfile.ZIP_STORED) as out:
            member = Member(out)
            yield member
        name = path.rpartition("/")[2].lower()  # the Data Package rules know no capitals in names
        self.resources.append({"name": name, "path": path, "hash": member.hash, "bytes": member.length})

    @property
    def length(self) -> int:
        """How long it is by now."""
        return self._out.tell()

    def finish(self, about: Mapping[str, str]) -> None:
        """Write what the package is about, with the digests of all that is in it, and the digest of that."""
        date = self.created.strftime("%Y-%m-%dT%H:%M:%SZ")
        said = {"profile": "data-package", "wacz_version": VERSION, "created": date, "modified": date}
        said |= {name: value for name, value in about.items() if value}
        manifest = msgspec.json.format(msgspec.json.encode(said | {"resources": self.resources}), indent=2)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(manifest).hexdigest()}"}
        for path, data in (("datapackage.json", manifest), ("datapackage-digest.json", msgspec.json.encode(digest))):
            with self._open(path, zipfile.ZIP_STORED) as out:
                out.write(data)
        self._zip.close()

    def _open(self, path: str, how: int) -> IO[bytes]:
        when = self.created.timetuple()[:6] if self.created.year >= _FIRST_YEAR else (_FIRST_YEAR, 1, 1, 0, 0, 0)
        info = zipfile.ZipInfo(path, when)
        info.compress_type = how
        info.external_attr = 0o644 << 16
        info.create_system = 3  # Unix: the same bytes wherever it is made
        return self._zip.open(info, "w", force_zip64=True)
