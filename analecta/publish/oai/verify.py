"""Whether the records that harvesters see are what the pages say; one that is not is written again."""

import contextlib
import fcntl
import itertools
from collections.abc import Iterator

from analecta.publish.oai.answers import oai_dc, sets_of
from analecta.publish.oai.sync import digest_of, keeping
from analecta.store import oai_records
from analecta.store.checksums import seal
from analecta.store.library import LibraryFolder

_AT_ONCE = 500


def wrong_records(library: LibraryFolder, db: oai_records.Database) -> Iterator[tuple[int, str, bool]]:
    """Every record of a page that has not changed since: its id, the URL, and whether its metadata is wrong."""
    names = library.topic_names()
    sets = sets_of(names)
    with library.snapshot() as snapshot:
        found = snapshot.shown_pages()
        while batch := list(itertools.islice(found, _AT_ONCE)):
            known = oai_records.live(db, [item.id for item in batch])
            for item in batch:
                topics = [number for number, _ in item.topics if 0 <= number < len(names)]
                specs = tuple(sets.of_topic[number] for number in topics)
                if known.get(item.id) == digest_of(item, specs):
                    made = oai_dc(item, [names[number] for number in topics], snapshot.text(item))
                    stored = oai_records.record(db, item.id)
                    yield item.id, item.url, stored is None or stored.metadata != made


def seal_records(library: LibraryFolder) -> None:
    """Write checksums of oai.db, unless it is being served."""
    path = library.folder / "oai.db"
    if path.exists():
        with contextlib.suppress(OSError), (library.folder / "oai.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            seal(path)


def write_again(library: LibraryFolder, now: float, wrong: list[int]) -> None:
    """Have wrong records made again: a digest that no record has lets the next look see them as changed."""
    with keeping(library, lambda: now, "") as keeper:
        oai_records.mark_wrong(keeper.db, wrong)
        keeper.sync()
