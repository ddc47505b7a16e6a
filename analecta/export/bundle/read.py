"""A bundle that somebody sent is opened: everything about it is checked before anything of it is used (F41).

Names that lead elsewhere, links, what is not listed or not as it was listed, and files that blow up are refused.
Nothing in it is ever run, and models are not even loaded: whoever repeats a crawl learns them anew.
"""

import contextlib
import hashlib
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from analecta.errors import UsageError
from analecta.export import bundle
from analecta.export.bundle import BundleFile, BundleRun, Decision, Manifest, allowed, in_the_way

_MOST_FILES = 100_000
_LARGEST = 500_000_000  # bytes of a file that is read whole
_MOST = 20_000_000_000  # bytes of all that is compressed
_RATIO = 200  # lists of URLs are compressed to a tenth; a bomb to a thousandth
_SMALL = 1_000_000  # bytes that do no harm
_BLOCK = 1 << 20
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)
Value = TypeVar("Value")


class Bundle:
    """An open bundle, checked; files are read from it on demand."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self.path = path
        self._zip = file
        self._infos = self._checked_names()
        self.manifest = self._checked_manifest()
        self._listed = {entry.name: entry for entry in self.manifest.files}
        for name in self._listed:
            if not name.startswith(bundle.ARCHIVE):  # those are looked at when they are taken out
                for _ in self._blocks(name):
                    pass

    def settings(self) -> str:
        """The settings as a person wrote them."""
        return self._read(bundle.SETTINGS).decode("utf-8-sig", "replace")

    def runs(self) -> list[BundleRun]:
        """The crawls, in order."""
        return [self._decode(line, BundleRun, bundle.RUNS) for line in self._read(bundle.RUNS).splitlines()]

    def decisions(self) -> Iterator[Decision]:
        """What became of each URL."""
        rest = b""
        for block in self._blocks(bundle.DECISIONS):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                yield self._decode(line, Decision, bundle.DECISIONS)

    def names(self) -> list[str]:
        """Where the files that are examples stand in the library."""
        return [name.removeprefix(bundle.FILES) for name in self._listed if name.startswith(bundle.FILES)]

    def file(self, name: str) -> bytes:
        """One of them."""
        return self._read(bundle.FILES + name)

    def take_archive(self, folder: Path) -> list[Path]:
        """Write the WARC files into a folder."""
        taken = []
        for name in sorted(name for name in self._listed if name.startswith(bundle.ARCHIVE)):
            target = folder / name.removeprefix(bundle.ARCHIVE)
            with target.open("xb") as file:
                for block in self._blocks(name):
                    file.write(block)
            taken.append(target)
        return taken

    def _checked_names(self) -> dict[str, zipfile.ZipInfo]:
        infos = self._zip.infolist()
        names = {info.filename: info for info in infos}
        if len(infos) > _MOST_FILES:
            raise self._bad(f"it holds more than {_MOST_FILES:,} files")
        if name := in_the_way(info.filename for info in infos):
            raise self._bad(f"it holds two files of one name, or one below another: {name!r}")
        for info in infos:
            kind = stat.S_IFMT(info.external_attr >> 16)  # 0 where it does not say
            if not (info.filename == bundle.MANIFEST or allowed(info.filename)) or info.orig_filename != info.filename:
                raise self._bad(f"{info.filename!r} is no file of a bundle")
            if info.is_dir() or kind not in (0, stat.S_IFREG):
                raise self._bad(f"{info.filename!r} is no ordinary file")
            if info.flag_bits & 0x1:
                raise self._bad(f"{info.filename!r} is encrypted")
            self._check_size(info)
        packed = [info for info in infos if info.compress_type != zipfile.ZIP_STORED]
        if sum(info.file_size for info in packed) > _MOST or self._overlaps(infos):
            raise self._bad("it would be far too large")
        if not {bundle.MANIFEST, bundle.SETTINGS, bundle.RUNS, bundle.DECISIONS} <= names.keys():
            raise self._bad("it lacks its manifest, settings, runs or decisions")
        return names

    def _check_size(self, info: zipfile.ZipInfo) -> None:
        archived = info.filename.startswith(bundle.ARCHIVE)
        if archived and info.compress_type != zipfile.ZIP_STORED:
            raise self._bad(f"{info.filename!r} is compressed twice")
        if info.file_size > max(_SMALL, _RATIO * info.compress_size):
            raise self._bad(f"{info.filename!r} would be far larger than it looks")
        if info.file_size > _LARGEST and not archived and info.filename != bundle.DECISIONS:
            raise self._bad(f"{info.filename!r} is larger than {_LARGEST // 1_000_000} MB")

    def _overlaps(self, infos: list[zipfile.ZipInfo]) -> bool:
        """Whether files share their bytes, as in a bomb that needs no ratio."""
        return sum(info.compress_size for info in infos) > self.path.stat().st_size

    def _checked_manifest(self) -> Manifest:
        found = self._decode(self._raw(self._infos[bundle.MANIFEST]), Manifest, bundle.MANIFEST)
        if found.format != bundle.FORMAT or found.version != bundle.VERSION:
            raise self._bad(f"it is no bundle of version {bundle.VERSION}, the one that is known here")
        listed = {entry.name for entry in found.files}
        if len(listed) < len(found.files) or listed != self._infos.keys() - {bundle.MANIFEST}:
            raise self._bad("its files are not those of its manifest")
        inside = {entry for entry in found.files if entry.name.startswith(bundle.ARCHIVE)}
        if inside != (set(found.archive) if found.archived else set()):
            raise self._bad("its archive is not that of its manifest")
        return found

    def _read(self, name: str) -> bytes:
        return b"".join(self._blocks(name))

    def _raw(self, info: zipfile.ZipInfo) -> bytes:
        try:
            with self._zip.open(info) as file:
                return file.read(_LARGEST)
        except _BROKEN as error:
            raise self._bad(f"{info.filename!r} cannot be read: {error}") from error

    def _blocks(self, name: str) -> Iterator[bytes]:
        """A file piece by piece; at its end it is known whether it is what the manifest says."""
        entry, found, size = self._listed[name], hashlib.sha256(), 0
        try:
            with self._zip.open(self._infos[name]) as file:
                while size <= entry.size and (block := file.read(_BLOCK)):
                    found.update(block)
                    size += len(block)
                    yield block
        except _BROKEN as error:
            raise self._bad(f"{name!r} cannot be read: {error}") from error
        if BundleFile(name, size, found.hexdigest()) != entry:
            raise self._bad(f"{name!r} is not what the manifest says: it was changed or damaged")

    def _decode(self, data: bytes, kind: type[Value], name: str) -> Value:
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._bad(f"{name!r} makes no sense: {error}") from error

    def _bad(self, why: str) -> UsageError:
        return UsageError(f"the bundle {self.path} is refused: {why}")


@contextlib.contextmanager
def open_bundle(path: Path) -> Iterator[Bundle]:
    """A bundle, checked; closed at the end."""
    try:
        file = zipfile.ZipFile(path)
    except _BROKEN as error:
        raise UsageError(f"{path} is no bundle: {getattr(error, 'strerror', None) or error}") from error
    with file:
        yield Bundle(path, file)
