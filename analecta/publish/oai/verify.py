"""Whether the records that harvesters see are what the pages say; one that is not is written again."""

import contextlib
from collections.abc import Iterator

from analecta.errors import LibraryBusy
from analecta.publish.oai.answers import sets_of
from analecta.publish.oai.sync import batches, keeping, record_of
from analecta.store import oai_records
from analecta.store.change_watch import one_writer
from analecta.store.checksums import seal
from analecta.store.library import LibraryFolder
from analecta.store.sqlite import Connection


def wrong_records(library: LibraryFolder, db: Connection) -> Iterator[tuple[int, str, bool]]:
    """Every record of a page that has not changed since: its id, the URL, and whether its metadata is wrong."""
    names = library.topic_names()
    sets = sets_of(names)
    with library.snapshot() as snapshot:
        for batch in batches(snapshot.shown_pages()):
            known = oai_records.live(db, [item.id for item in batch])
            for item in batch:
                made = record_of(snapshot, item, names, sets)
                if made and made.digest == known.get(item.id):
                    stored = oai_records.record(db, item.id)
                    yield item.id, item.url, stored is None or stored.metadata != made.metadata


def seal_records(library: LibraryFolder) -> None:
    """Write checksums of oai.db, unless it is being served."""
    path = library.folder / "oai.db"
    if path.exists():
        with contextlib.suppress(OSError, LibraryBusy), one_writer(library.folder / "oai.lock", "it is served"):
            seal(path)


def write_again(library: LibraryFolder, now: float, wrong: list[int]) -> None:
    """Have wrong records made again: a digest that no record has lets the next look see them as changed."""
    with keeping(library, lambda: now, "") as keeper:
        oai_records.mark_wrong(keeper.db, wrong)
        keeper.sync()
