"""A topic or the whole library in one file that replays in a browser: WACZ 1.1.1 (docs/wacz.md)."""

import contextlib
import hashlib
import time
import uuid
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, BinaryIO

import msgspec

from analecta import __version__
from analecta.errors import ResourceError, UsageError
from analecta.export import ExportRequest
from analecta.export.cdxj import check_some, tell_left
from analecta.store.archive import stored_member, warc_date
from analecta.store.library import LibraryFolder
from analecta.store.output import check_output, output
from analecta.store.record_index import Catalogue, catalogue
from analecta.store.snapshot import Snapshot
from analecta.text.display import many

# --- The zip file of a WACZ: members with their digests, and the two files that tell of them all ---------------------
# What is compressed already is stored as it is, so that a reader can fetch a record from the middle of the file.

VERSION = "1.1.1"
_FIRST_YEAR = 1980  # that a zip file knows


class PackageMember:
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
    def member(self, path: str, squeeze: bool = False) -> Iterator[PackageMember]:
        """Write a file of the package; `squeeze` those that are plain text and long."""
        with self._open(path, zipfile.ZIP_DEFLATED if squeeze else zipfile.ZIP_STORED) as out:
            member = PackageMember(out)
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


# --- The pages of a package, as WACZ lists them: those on a topic, and apart from them the others --------------------


class PackagePage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page in a package; `ts` is the date of its record."""

    id: str
    url: str
    ts: str
    title: str
    text: str | None = None


class PageEntry(msgspec.Struct, frozen=True):
    """A page to list, and how fit it is to be the first that is shown: examples before others, then by confidence."""

    page: PackagePage
    fit: tuple[bool, float]


def header(name: str, title: str, text: bool) -> bytes:
    """The first line of a list."""
    said = {"format": "json-pages-1.0", "id": name, "title": title, "hasText": text}
    return msgspec.json.encode(said) + b"\n"


def page_entries(snapshot: Snapshot, found: Catalogue, main: bool, text: bool = False) -> Iterator[PageEntry]:
    """The pages whose records go along: those on topics (`main`), or copies of those and pages on none."""
    for shard, one in snapshot.recorded_pages(main):
        if (date := found.date(one.id, one.warc, one.offset)) is None:
            continue
        words = snapshot.text_at((shard, one.seq)) if text else None
        page = PackagePage(f"{one.id & (1 << 64) - 1:016x}", one.url, date, one.title, words)
        yield PageEntry(page, (bool(one.example), one.confidence))


# --- Records copied byte for byte into new WARC files, each with a first record that says what it is -----------------

SOFTWARE = f"Analecta/{__version__}"
_PIECE = 1 << 20  # bytes copied at a time


class FileCopier:
    """Copies from one file after another; the one that is open is not opened again."""

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self._path: Path | None = None

    def copy(self, path: Path, offset: int, length: int, out: PackageMember) -> None:
        """Copy bytes of a file."""
        if self._file is None or path != self._path:
            self.close()
            self._file, self._path = path.open("rb"), path
        self._file.seek(offset)
        while length:
            piece = self._file.read(min(length, _PIECE))
            if not piece:
                raise ResourceError(f"{path} became shorter while it was read")
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


# --- A topic or the whole library in one file that replays in a browser: WACZ 1.1.1 (docs/wacz.md) -------------------
# Records are copied byte for byte; a list of pages, an index and digests of it all come with them.

WARC_SIZE = 1 << 30  # bytes after which a new WARC file is begun
_LINES = 300  # of the index that are compressed together, to be fetched at once: about 10 kB
_INDEX = "index.cdx.gz"


class Summary(msgspec.Struct, frozen=True):
    """What is in a package: pages, answers, its size, and the pages left out as their owners want no copy shown."""

    pages: int
    records: int
    bytes: int
    left_out: int


def export_wacz(library: LibraryFolder, request: ExportRequest) -> list[str]:
    """What the command `export` asks for."""
    if (path := request.path) is None:
        raise UsageError("a WACZ is a file: say which with -o FILE.wacz")
    made = write_wacz(
        library, path, request.topic,
        created=time.time(), text=request.text, everything=request.all, force=request.force,
    )  # fmt: skip
    about = f"{many(made.pages, 'page')}, {many(made.records, 'record')}, {many(made.bytes, 'byte')}: {path}"
    return [about, *tell_left(made.left_out)]


def write_wacz(
    library: LibraryFolder,
    path: Path,
    topic: str | None = None,
    *,
    created: float,
    title: str = "",
    text: bool = False,
    everything: bool = False,
    force: bool = False,
) -> Summary:
    """Pack the pages of a topic, or all that was fetched; with `text` the list has what was read of each page."""
    if path.suffix != ".wacz":
        raise UsageError(f"{path} has to end in .wacz: that is how readers know what it is")
    check_output(path, "wacz", force)
    title = (title or topic or library.folder.resolve().name).encode(errors="replace").decode()
    with contextlib.ExitStack() as held:
        with library.snapshot() as snapshot:
            topics = None if topic is None else snapshot.topic_numbers([topic])
            found = held.enter_context(catalogue(library, snapshot, topics, everything))
            check_some(library, topic, found)
            package = held.enter_context(Package(held.enter_context(output(path, "wacz", force)), created))
            pages, best = _write_pages(package, "pages", "All pages", page_entries(snapshot, found, True, text), text)
            others = page_entries(snapshot, found, False, text)
            if one := next(others, None):
                pages += _write_pages(package, "extraPages", "Other pages", chain([one], others), text)[0]
        # The shards are let go before the long part: a crawl that goes on can fold its log away.
        _write_archive(package, found, title)
        _write_index(package, found.lines(copied=True))
        about = {"title": title, "description": _describe(pages, found), "software": SOFTWARE}
        if best:
            about |= {"mainPageUrl": best.page.url, "mainPageDate": best.page.ts}
        package.finish(about)
        return Summary(pages, len(found), package.length, found.left_out)


def _write_pages(
    package: Package, name: str, title: str, entries: Iterable[PageEntry], text: bool
) -> tuple[int, PageEntry | None]:
    """Write a list of pages: how many there are, and the one to show first."""
    count, best = 0, None
    with package.member(f"pages/{name}.jsonl", squeeze=True) as out:
        out.write(header(name, title, text))
        for entry in entries:
            out.write(msgspec.json.encode(entry.page) + b"\n")
            count += 1
            best = max(best, entry, key=lambda one: one.fit) if best else entry
    return count, best


def _write_archive(package: Package, found: Catalogue, title: str) -> None:
    """Copy the records, as many files of them as they need; the catalogue learns where each one went."""
    taken = found.taken()
    row = next(taken, None)
    file = 0
    with contextlib.closing(FileCopier()) as copier:
        while row is not None:
            name = f"data-{file:05d}.warc.gz"
            with package.member(f"archive/{name}") as out:
                out.write(warcinfo(name, title, found.made, package.created.timestamp()))
                while row is not None and out.length < WARC_SIZE:
                    n, path, offset, whole = row
                    found.place(n, name, out.length)
                    copier.copy(path, offset, whole, out)
                    row = next(taken, None)
            file += 1


def _write_index(package: Package, lines: Iterator[str]) -> None:
    """Write the index in compressed blocks, and a small one of the blocks that a reader searches first."""
    small = [b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "%b"}\n' % _INDEX.encode()]
    with package.member(f"indexes/{_INDEX}") as out:
        while block := list(islice(lines, _LINES)):
            packed = zlib.compress("".join(block).encode(), wbits=31)
            said = {
                "offset": out.length,
                "length": len(packed),
                "digest": f"sha256:{hashlib.sha256(packed).hexdigest()}",
            }
            key = block[0].partition(" {")[0]
            small.append(key.encode() + b" " + msgspec.json.encode(said) + b"\n")
            out.write(packed)
    with package.member("indexes/index.idx") as out:
        out.write(b"".join(small))


def _describe(pages: int, found: Catalogue) -> str:
    first, last = found.dates()
    said = f"{pages:,} pages, gathered from the web from {first[:10]} to {last[:10]}."
    if found.left_out:
        said += f" {found.left_out:,} pages whose owners want no copy shown are left out."
    return said
