"""A topic or the whole library in one file that replays in a browser: WACZ 1.1.1 (docs/wacz.md)."""

import contextlib
import hashlib
import uuid
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain, count, groupby, islice
from operator import itemgetter
from typing import Any, BinaryIO

import msgspec

from analecta import __version__
from analecta.errors import ResourceError, UsageError
from analecta.export import ExportRequest
from analecta.export.cdxj import asked_records, tell_left
from analecta.export.zip_members import LONG_AGO, ZipMember, zip_member
from analecta.store.archive import stored_member, warc_date, warc_record
from analecta.store.library import LibraryFolder
from analecta.store.output import check_output, output
from analecta.store.record_index import Catalogue
from analecta.store.snapshot import Snapshot
from analecta.text.display import many
from analecta.urls import hex_id

# --- The zip file of a WACZ: members with their digests, and the two files that tell of them all ---------------------
# What is compressed already is stored as it is, so that a reader can fetch a record from the middle of the file.

VERSION = "1.1.1"


class Package:
    """A WACZ that is being written; `created` is the date of all that is in it."""

    def __init__(self, out: BinaryIO, created: float) -> None:
        self._zip = zipfile.ZipFile(out, "w")
        self.created = datetime.fromtimestamp(created, UTC)
        self.resources: list[dict[str, Any]] = []

    def close(self) -> None:
        """Close it, finished or not."""
        with contextlib.suppress(OSError, ValueError):  # it may have failed for what keeps it from being closed
            self._zip.close()

    @contextlib.contextmanager
    def member(self, path: str, squeeze: bool = False) -> Iterator[ZipMember]:
        """Write a file of the package; `squeeze` those that are plain text and long."""
        with self._open(path, zipfile.ZIP_DEFLATED if squeeze else zipfile.ZIP_STORED) as member:
            yield member
        name = path.rpartition("/")[2].lower()  # the Data Package rules know no capitals in names
        self.resources.append({"name": name, "path": path, "hash": f"sha256:{member.sha256}", "bytes": member.length})

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

    def _open(self, path: str, how: int) -> contextlib.AbstractContextManager[ZipMember]:
        return zip_member(self._zip, path, max(self.created.timetuple()[:6], LONG_AGO), how, 0o644)


# --- The pages of a package, as WACZ lists them: those on a topic, and apart from them the others --------------------


class PackagePage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page in a package; `ts` is the date of its record."""

    id: str
    url: str
    ts: str
    title: str
    text: str | None = None


# And how fit it is to be the first that is shown: examples before others, then by confidence.
PageEntry = tuple[PackagePage, tuple[bool, float]]


def page_entries(snapshot: Snapshot, found: Catalogue, main: bool, text: bool = False) -> Iterator[PageEntry]:
    """The pages whose records go along: those on topics (`main`), or copies of those and pages on none."""
    for one in snapshot.recorded_pages(main):
        if (date := found.date(one.id, one.warc, one.offset)) is None:
            continue
        words = snapshot.text(one) if text else None
        page = PackagePage(hex_id(one.id), one.url, date, one.title, words)
        yield page, (one.example, one.confidence)


# --- Records copied byte for byte into new WARC files, each with a first record that says what it is -----------------

SOFTWARE = f"Analecta/{__version__}"
_PIECE = 1 << 20  # bytes copied at a time


def copy(file: BinaryIO, offset: int, length: int, out: ZipMember) -> None:
    """Copy bytes of a file."""
    file.seek(offset)
    while length:
        piece = file.read(min(length, _PIECE))
        if not piece:
            raise ResourceError(f"{file.name} became shorter while it was read")
        length -= len(piece)
        out.write(piece)


def warcinfo(name: str, title: str, made: Mapping[str, str], created: float) -> bytes:
    """The first record of a WARC file. Its id follows from what it says: the same package has the same bytes."""
    fields = {**made, "software": SOFTWARE, "format": "WARC File Format 1.1", "isPartOf": title}
    block = "".join(f"{key}: {' '.join(value.split())}\r\n" for key, value in fields.items() if value).encode()
    date = warc_date(created)
    headers = [
        (b"WARC-Date", date),
        (b"WARC-Filename", name.encode()),
        (b"Content-Type", b"application/warc-fields"),
    ]
    record_id = f"<{uuid.uuid5(uuid.NAMESPACE_OID, f'{name} {date!r} {block!r}').urn}>"
    return stored_member(*warc_record(b"warcinfo", record_id.encode(), headers, block))


# --- A topic or the whole library in one file that replays in a browser: WACZ 1.1.1 (docs/wacz.md) -------------------
# Records are copied byte for byte; a list of pages, an index and digests of it all come with them.

WARC_SIZE = 1 << 30  # bytes after which a new WARC file is begun
_LINES = 300  # of the index that are compressed together, to be fetched at once: about 10 kB
_INDEX = "index.cdx.gz"


def export_wacz(library: LibraryFolder, request: ExportRequest) -> list[str]:
    """Pack the pages of a topic, or all that was fetched; with `text` the list has what was read of each page."""
    path, text = request.path, request.text
    if path is None:
        raise UsageError("a WACZ is a file: say which with -o FILE.wacz")
    if path.suffix != ".wacz":
        raise UsageError(f"{path} has to end in .wacz: that is how readers know what it is")
    check_output(path, "wacz", request.force)
    title = (request.topic or library.folder.resolve().name).encode(errors="replace").decode()
    with contextlib.ExitStack() as held:
        with library.snapshot() as snapshot:
            found = held.enter_context(asked_records(library, snapshot, request))
            out = held.enter_context(output(path, "wacz", request.force))
            package = held.enter_context(contextlib.closing(Package(out, request.now)))
            pages, best = _write_pages(package, "pages", "All pages", page_entries(snapshot, found, True, text), text)
            others = page_entries(snapshot, found, False, text)
            if one := next(others, None):
                pages += _write_pages(package, "extraPages", "Other pages", chain([one], others), text)[0]
        # The shards are let go before the long part: a crawl that goes on can fold its log away.
        _write_archive(package, found, title)
        _write_index(package, found.lines(copied=True))
        about = {"title": title, "description": _describe(pages, found), "software": SOFTWARE}
        if best:
            about |= {"mainPageUrl": best[0].url, "mainPageDate": best[0].ts}
        package.finish(about)
        told = f"{many(pages, 'page')}, {many(len(found), 'record')}, {many(out.tell(), 'byte')}: {path}"
        return [told, *tell_left(found)]


def _write_pages(
    package: Package, name: str, title: str, entries: Iterable[PageEntry], text: bool
) -> tuple[int, PageEntry | None]:
    """Write a list of pages: how many there are, and the one to show first."""
    pages, best = 0, None
    with package.member(f"pages/{name}.jsonl", squeeze=True) as out:
        first = {"format": "json-pages-1.0", "id": name, "title": title, "hasText": text}
        out.write(msgspec.json.encode(first) + b"\n")
        for entry in entries:
            out.write(msgspec.json.encode(entry[0]) + b"\n")
            pages += 1
            best = max(best, entry, key=itemgetter(1)) if best else entry
    return pages, best


def _write_archive(package: Package, found: Catalogue, title: str) -> None:
    """Copy the records, as many files of them as they need; the catalogue learns where each one went."""
    numbers, name, out = count(), "", None
    with contextlib.ExitStack() as member:
        for path, rows in groupby(found.taken(), key=itemgetter(1)):
            with path.open("rb") as file:
                for n, _, offset, whole in rows:
                    if out is None or out.length >= WARC_SIZE:
                        member.close()
                        name = f"data-{next(numbers):05d}.warc.gz"
                        out = member.enter_context(package.member(f"archive/{name}"))
                        out.write(warcinfo(name, title, found.made, package.created.timestamp()))
                    found.place(n, name, out.length)
                    copy(file, offset, whole, out)


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
