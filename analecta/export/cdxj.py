"""An index of the archive that replay tools read: a line for each answer, sorted by the key of its URL."""

from pathlib import Path
from typing import IO

import msgspec

from analecta.errors import UsageError
from analecta.export import ExportRequest
from analecta.store.library import LibraryFolder
from analecta.store.output import output
from analecta.store.record_index import Catalogue, catalogue
from analecta.text.display import many


class IndexedResponses(msgspec.Struct, frozen=True):
    """What is in an index: answers, and how many pages are left out because their owners want no copy shown."""

    records: int
    left_out: int


def export_cdxj(library: LibraryFolder, request: ExportRequest) -> list[str]:
    """What the command `export` asks for."""
    if request.text:
        raise UsageError("--text is for wacz: an index has no list of pages")
    made = write_cdxj(library, request.path, request.topic, request.all, request.force)
    return [f"{many(made.records, 'record')}.", *tell_left(made.left_out)]


def write_cdxj(
    library: LibraryFolder, path: Path | None, topic: str | None = None, everything: bool = False, force: bool = False
) -> IndexedResponses:
    """Index the records of a topic, or of all, where they lie in the library; to standard output without a path."""
    with library.snapshot() as snapshot:
        numbers = None if topic is None else snapshot.topic_numbers([topic])
        with catalogue(library, snapshot, numbers, everything) as found:
            check_some(library, topic, found)
            with output(path, "cdxj", force) as out:
                return _write(found, out)


def check_some(library: LibraryFolder, topic: str | None, found: Catalogue) -> None:
    """Say so where there is nothing to write."""
    if len(found):
        return
    if found.left_out:
        raise UsageError(f"nothing to write: the owners of all {found.left_out:,} pages want no copy shown")
    what = f"no pages on {topic!r}" if topic is not None else "no pages"
    raise UsageError(f"the library {library.folder} holds {what} yet: crawl it first")


def tell_left(pages: int) -> list[str]:
    """How many pages are left out, if any."""
    return [f"Left out: {many(pages, 'page')} whose owners want no copy shown (--all has them)."] if pages else []


def _write(found: Catalogue, out: IO[bytes]) -> IndexedResponses:
    count = 0
    for line in found.lines():
        out.write(line.encode())
        count += 1
    return IndexedResponses(count, found.left_out)
