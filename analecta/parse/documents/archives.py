"""Archives (zip, tar, gz) to Document: the text of a bundle is the texts of its members, their titles its headings.

What is in a bundle is read, but no bundle in a bundle: only a tar file may be gzipped.
"""

import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import PurePosixPath

from analecta.parse.documents.document import Document, ReadingStopped
from analecta.parse.documents.zip import ZipFile
from analecta.parse.sniff import TAR, sniff_type

MAX_READ = 200  # members that are read
MAX_SEEN = 10_000
MAX_MEMBER = 32 * 1024 * 1024  # bytes
MAX_GZIP = 128 * 1024 * 1024
MAX_RATIO = 200  # of a gz file that unpacks to more than _SMALL; text reaches 10, tables 50
_SMALL = 8 * 1024 * 1024
_CHUNK = 256 * 1024

Reader = Callable[[bytes, Document], None]
# Names that are not worth unpacking.
_NO_DOCUMENTS = frozenset(
    ".png .jpg .jpeg .gif .bmp .tif .tiff .webp .ico .mp3 .mp4 .avi .mov .wav .ogg .exe .dll .so .o .a .class .pyc "
    ".ttf .otf .woff .woff2 .zip .gz .tgz .bz2 .xz .7z .rar .jar .css .js .map .bin .dat .iso .eps".split()
)


def read_zip(readers: Mapping[str, Reader], body: bytes, document: Document) -> None:
    """Read the members of a zip file, by the `readers` of what may be in it."""
    packed = ZipFile(body)
    names = [name for name in packed.members if _may_be(name, packed.members[name].file_size)]
    _read_all(readers, ((name, packed.read(name)) for name in names), document)


def read_tar(readers: Mapping[str, Reader], body: bytes, document: Document) -> None:
    """Read the files of a tar file; links and devices are none."""
    _read_all(readers, _tar_members(body), document)


def read_gzip(readers: Mapping[str, Reader], body: bytes, document: Document) -> None:
    """Read what is in a gz file, a tar file or a document of any kind."""
    inner = gunzip(body)
    mime = sniff_type("", inner)
    if mime == TAR:
        read_tar(readers, inner, document)
    elif reader := readers.get(mime):
        reader(inner, document)
    else:
        raise ReadingStopped(f"no document inside: {mime}")


def _read_all(readers: Mapping[str, Reader], members: Iterator[tuple[str, bytes]], document: Document) -> None:
    read, wrong = 0, ""
    for name, body in members:
        reader = readers.get(sniff_type("", body))
        if reader is None:
            continue
        read += 1
        if read > MAX_READ:
            raise ReadingStopped(f"only the first {MAX_READ} documents of the archive")
        part = Document()
        try:
            reader(body, part)
        except ReadingStopped as stop:  # one broken member is no reason to leave out the others
            wrong = wrong or f"{PurePosixPath(name).name[:100]}: {stop}"
        title = part.title or PurePosixPath(name).stem
        document.heading(title)
        document.add(title)
        document.end_line()
        document.lang = document.lang or part.lang
        document.date = max(document.date, part.date)
        document.take(part)
    if wrong:
        raise ReadingStopped(wrong)
    if not read:
        raise ReadingStopped("no documents inside")


def _may_be(name: str, size: int) -> bool:
    path = PurePosixPath(name)
    hidden = path.name.startswith(".") or "__MACOSX" in path.parts
    return 0 < size <= MAX_MEMBER and not hidden and path.suffix.lower() not in _NO_DOCUMENTS


def _tar_members(body: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=BytesIO(body), mode="r:") as tar:
            for seen, member in enumerate(tar):
                if seen >= MAX_SEEN:
                    raise ReadingStopped(f"more than {MAX_SEEN} members")
                if not member.isreg() or member.sparse is not None or not _may_be(member.name, member.size):
                    continue
                file = tar.extractfile(member)
                if file is not None:
                    yield member.name, file.read(MAX_MEMBER)
    except (tarfile.TarError, ValueError, OverflowError, EOFError, OSError, IndexError) as wrong:
        raise ReadingStopped(f"broken tar: {wrong}") from wrong


def gunzip(body: bytes) -> bytes:
    """All that is in a gz file, which may be several one after another."""
    parts: list[bytes] = []
    total, rest = 0, body
    try:
        while rest[:2] == b"\x1f\x8b":
            unpack = zlib.decompressobj(31)
            while rest and not unpack.eof:
                parts.append(unpack.decompress(rest, _CHUNK))
                rest = unpack.unconsumed_tail
                total += len(parts[-1])
                if total > MAX_GZIP or (total > _SMALL and total > MAX_RATIO * len(body)):
                    raise ReadingStopped(f"gz bomb: more than {total - len(parts[-1])} bytes")
            rest = unpack.unused_data
    except zlib.error as wrong:
        raise ReadingStopped(f"broken gz: {wrong}") from wrong
    return b"".join(parts)
