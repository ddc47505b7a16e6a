"""An index of the archive that replay tools read: a line for each answer, sorted by the key of its URL."""

import contextlib
from collections.abc import Iterator

from analecta.errors import UsageError
from analecta.export import ExportRequest
from analecta.store.library import LibraryFolder
from analecta.store.output import output
from analecta.store.record_index import Catalogue, catalogue
from analecta.store.snapshot import Snapshot
from analecta.text.display import many


def export_cdxj(library: LibraryFolder, request: ExportRequest) -> list[str]:
    """Index the records where they lie in the library; to standard output without a path."""
    if request.text:
        raise UsageError("--text is for wacz: an index has no list of pages")
    with library.snapshot() as snapshot, asked_records(library, snapshot, request) as found:
        with output(request.path, "cdxj", request.force) as out:
            out.writelines(line.encode() for line in found.lines())
        return [f"{many(len(found), 'record')}.", *tell_left(found)]


@contextlib.contextmanager
def asked_records(library: LibraryFolder, snapshot: Snapshot, request: ExportRequest) -> Iterator[Catalogue]:
    """The records of the topic that is asked for, or all; says so where there is nothing to write."""
    topics = None if request.topic is None else snapshot.topic_numbers([request.topic])
    with catalogue(library, snapshot, topics, request.all) as found:
        if not len(found):
            if found.left_out:
                raise UsageError(f"nothing to write: the owners of all {found.left_out:,} pages want no copy shown")
            what = "no pages" if request.topic is None else f"no pages on {request.topic!r}"
            raise UsageError(f"the library {library.folder} holds {what} yet: crawl it first")
        yield found


def tell_left(found: Catalogue) -> list[str]:
    """How many pages are left out, if any."""
    pages = found.left_out
    return [f"Left out: {many(pages, 'page')} whose owners want no copy shown (--all has them)."] if pages else []
