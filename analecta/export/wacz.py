"""A topic or the whole library in one file that replays in a browser: WACZ 1.1.1 (docs/wacz.md).

Records are copied byte for byte; a list of pages, an index and digests of it all come with them.
"""

import contextlib
import hashlib
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import msgspec

from analecta.errors import BadUse
from analecta.export.cdxj import check_some
from analecta.export.package import Package
from analecta.export.page_list import Entry, header, main_pages, other_pages
from analecta.export.record_copies import SOFTWARE, Copier, warcinfo
from analecta.store.library import Library
from analecta.store.output import check_output, output
from analecta.store.record_index import Catalogue, catalogue
from analecta.store.topic_names import topic_numbers

_WARC_SIZE = 1 << 30  # bytes after which a new WARC file is begun
_LINES = 300  # of the index that are compressed together, to be fetched at once: about 10 kB
_INDEX = "index.cdx.gz"


class Summary(msgspec.Struct, frozen=True):
    """What is in a package: pages, answers, its size, and the pages left out as their owners want no copy shown."""

    pages: int
    records: int
    bytes: int
    left_out: int


def write_wacz(
    library: Library,
    path: Path,
    topic: str | None = None,
    *,
    created: float,
    title: str = "",
    description: str = "",
    text: bool = False,
    everything: bool = False,
    force: bool = False,
    warc_size: int = _WARC_SIZE,
) -> Summary:
    """Pack the pages of a topic, or all that was fetched; with `text` the list has what was read of each page."""
    if path.suffix != ".wacz":
        raise BadUse(f"{path} has to end in .wacz: that is how readers know what it is")
    check_output(path, "wacz", force)
    topics = None if topic is None else topic_numbers(library, [topic])
    title = (title or topic or library.folder.resolve().name).encode(errors="replace").decode()
    with contextlib.ExitStack() as held:
        with library.shards() as shards:
            found = held.enter_context(catalogue(library, shards, topics, everything))
            check_some(library, topic, found)
            package = held.enter_context(Package(held.enter_context(output(path, "wacz", force)), created))
            pages, best = _write_pages(package, "pages", "All pages", main_pages(shards, found, text), text)
            others = other_pages(shards, found, text)
            if one := next(others, None):
                pages += _write_pages(package, "extraPages", "Other pages", chain([one], others), text)[0]
        # The shards are let go before the long part: a crawl that goes on can fold its log away.
        _write_archive(package, found, title, warc_size)
        _write_index(package, found.lines(copied=True))
        about = {"title": title, "description": description or _describe(pages, found), "software": SOFTWARE}
        if best:
            about |= {"mainPageUrl": best.page.url, "mainPageDate": best.page.ts}
        package.finish(about)
        return Summary(pages, len(found), package.length, found.left_out)


def _write_pages(
    package: Package, name: str, title: str, entries: Iterable[Entry], text: bool
) -> tuple[int, Entry | None]:
    """Write a list of pages: how many there are, and the one to show first."""
    count, best = 0, None
    with package.member(f"pages/{name}.jsonl", squeeze=True) as out:
        out.write(header(name, title, text))
        for entry in entries:
            out.write(msgspec.json.encode(entry.page) + b"\n")
            count += 1
            best = max(best, entry, key=lambda one: one.fit) if best else entry
    return count, best


def _write_archive(package: Package, found: Catalogue, title: str, most: int) -> None:
    """Copy the records, as many files of them as they need; the catalogue learns where each one went."""
    taken = found.taken()
    row = next(taken, None)
    file = 0
    with contextlib.closing(Copier()) as copier:
        while row is not None:
            name = f"data-{file:05d}.warc.gz"
            with package.member(f"archive/{name}") as out:
                out.write(warcinfo(name, title, found.made, package.created.timestamp()))
                while row is not None and out.length < most:
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
