"""Keeps the records in step with the library: what is new, changed, no longer to be shown, or back again.

All pages are looked at, for any of them may have changed, but only by a digest of what their records are made of. Where
nothing was written to the library since the last look, there is no look.
"""

import contextlib
import itertools
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
import xxhash

from analecta.errors import AnalectaError
from analecta.publish.oai.answers import Sets, oai_dc, sets_of
from analecta.publish.oai.tokens import Clock
from analecta.store import SqliteError, oai_records
from analecta.store.change_watch import Watch, one_writer
from analecta.store.library import LibraryFolder
from analecta.store.oai_records import RecordChange, with_above
from analecta.store.rows import PageRow
from analecta.store.schema import MetaKey
from analecta.store.snapshot import Snapshot
from analecta.store.sqlite import Connection, meta_value

T = TypeVar("T")
EVERY = 5.0  # seconds between two looks at least
_SHARE = 10  # a look takes at most one part in so many of the time
_AT_ONCE = 500
_MADE = 2  # raise it when records are made otherwise: all are made anew


class OaiUpdate(msgspec.Struct, frozen=True):
    """What a look at the library brought."""

    records: int  # pages that have records now
    changed: int  # new, changed or back again
    deleted: int


@contextlib.contextmanager
def keeping(library: LibraryFolder, now: Callable[[], float], repository: str) -> Iterator["OaiSync"]:
    """The one keeper of a library's records; Busy where another process has it."""
    busy = f"the records of {library.folder} are already served by another process"
    with one_writer(library.derived("oai.lock"), busy):
        path = library.derived("oai.db")
        with oai_records.writing(path, now(), repository) as db, contextlib.closing(Watch()) as watch:
            clock = Clock(now, int(meta_value(db, MetaKey.OAI_CLOCK, 0)))
            try:
                yield OaiSync(library, path, db, clock, watch)
            finally:
                with contextlib.suppress(SqliteError):  # a full disk: what was written before holds
                    oai_records.put_clock(db, clock.last)


class OaiSync:
    """Brings the records up to date when asked; to be used in the thread that made it."""

    def __init__(self, library: LibraryFolder, path: Path, db: Connection, clock: Clock, watch: Watch) -> None:
        self.library, self.path, self.db, self.clock = library, path, db, clock
        self._watch = watch
        self._seen: dict[Path, int] = {}

    def sync(self) -> OaiUpdate | None:
        """Take over what has changed in the library; None where nothing was written to it."""
        oai_records.put_clock(self.db, self.clock.date())
        settings = self.library.settings_path  # they say which topics are listed
        versions = self._watch.versions(self.library.databases) | {settings: settings.stat().st_mtime_ns}
        if versions == self._seen:
            return None
        met, changed = array("q"), 0  # ids of eight bytes each
        with self.library.snapshot() as snapshot:
            shown, names = snapshot.listed_topics(), snapshot.topic_names()
            sets = sets_of(names)
            listed = with_above(sets.of_topic[number] for number in shown)
            oai_records.put_sets(self.db, {spec: name for spec, name in sets.names.items() if spec in listed})
            for batch in batches(snapshot.shown_pages()):
                met.extend(item.id for item in batch)
                changed += self._take(snapshot, batch, names, sets)
        deleted = self._forget(np.setdiff1d(oai_records.live_ids(self.db), np.frombuffer(met, np.int64)).tolist())
        oai_records.drop_sets(self.db, listed)
        self._seen = versions  # of before the look: what was written meanwhile is looked at next time
        return OaiUpdate(len(met), changed, deleted)

    def run(self, stop: threading.Event, trouble: Callable[[str], None]) -> None:
        """Sync again and again until told to stop."""
        pause = EVERY
        while not stop.wait(pause):
            began = time.monotonic()
            try:
                self.sync()
            except (AnalectaError, OSError, SqliteError) as error:
                trouble(f"the library could not be read, and will be tried again: {error}")
            pause = max(EVERY, _SHARE * (time.monotonic() - began))

    def _take(self, snapshot: Snapshot, batch: list[PageRow], names: list[str], sets: Sets) -> int:
        """Write the records of those pages of a batch that are new or changed; how many."""
        known = oai_records.live(self.db, [item.id for item in batch])
        found = (record_of(snapshot, item, names, sets, known.get(item.id)) for item in batch)
        return self._write([change for change in found if change])

    def _forget(self, gone: list[int]) -> int:
        """Mark records as deleted; they keep their sets."""
        for ids in batches(iter(gone)):
            known = (oai_records.record(self.db, id) for id in ids)
            self._write([RecordChange(one.id, 0, one.sets, None) for one in known if one])
        return len(gone)

    def _write(self, changes: list[RecordChange]) -> int:
        if changes:
            with self.clock.stamping() as stamp:
                oai_records.put(self.db, changes, stamp)
        return len(changes)


def record_of(
    snapshot: Snapshot, item: PageRow, names: Sequence[str], sets: Sets, known: int | None = None
) -> RecordChange | None:
    """The record of a page as it should be; None where its digest is the one that is known."""
    topics = [number for number, _ in item.topics if 0 <= number < len(names)]
    specs = tuple(sets.of_topic[number] for number in topics)
    if known == (digest := digest_of(item, specs)):
        return None
    metadata = oai_dc(item, [names[number] for number in topics], snapshot.text(item))
    return RecordChange(item.id, digest, specs, metadata)


def batches(found: Iterator[T]) -> Iterator[list[T]]:
    """Some at a time."""
    while batch := list(itertools.islice(found, _AT_ONCE)):
        yield batch


def digest_of(item: PageRow, specs: tuple[str, ...]) -> int:
    """Differs where the record would: the text is covered by the body's digest and by how many words were read."""
    made_of = (_MADE, item.url, item.title, specs, item.mime, item.lang, item.author, item.date, item.words)
    packed = msgspec.msgpack.encode((*made_of, item.digest, item.reserved))
    return xxhash.xxh3_64_intdigest(packed) >> 1  # SQLite's numbers are signed
