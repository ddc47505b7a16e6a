"""The files of a partition together: its shard, its archive, and a mark of what is being parsed.

At a start, after a crash, the archive is cut back to what was committed, and what it lost is queued again. So is what
was given up with its host, for it may answer now.
"""

import contextlib
import mmap
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from analecta.store.archive import Archive, trim
from analecta.store.partition import Shard

_POISON_AFTER = 3  # crashes


class CrashMarker:
    """The id of the URL that is being parsed, in eight bytes of shared memory that outlive the process."""

    def __init__(self, path: Path) -> None:
        if not path.exists() or path.stat().st_size != 8:
            path.write_bytes(bytes(8))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 8)

    def set(self, id: int) -> None:
        """Name the URL; 0 clears it."""
        self._map[:8] = id.to_bytes(8, "little", signed=True)

    def get(self) -> int:
        """The URL that was being parsed when the process last ended; 0 for none."""
        return int.from_bytes(self._map[:8], "little", signed=True)

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()


class Partition(Shard):
    """The writer of a partition: a shard with its archive, committed together.

    `counters` are numbers that are written with each commit, by their keys in the table `meta`.
    """

    def __init__(
        self, path: Path, archive: Path, max_size: int = 1 << 30, info: Mapping[str, str] | None = None
    ) -> None:
        """The shard at `path`, with the files in the folder `archive` that begin with its name.

        A file is full at `max_size` bytes; `info` says in new ones who made them.
        """
        super().__init__(path)
        with contextlib.ExitStack() as opened:
            opened.callback(super().close)
            self.marker = CrashMarker(path.with_suffix(".parsing"))
            opened.callback(self.marker.close)
            self.parsing = self.marker.set  # told which URL is being worked on, so that a crash can be laid at its door
            self.returned, notes = recover(self, archive, self.marker)  # queued again, by topic
            for note in notes:
                self.note(time.time(), note)
            files = self.files()
            self.archive = Archive(archive, path.stem, files[-1][0] if files else 0, max_size, info)
            opened.callback(self.archive.close)
            self._opened = opened.pop_all()
        self.counters: dict[str, Callable[[], object]] = {}

    def commit(self) -> None:
        """Commit what has changed: the archive first, then the transaction that says what is in it."""
        if not self.changed:
            return
        self.archive.flush()
        for file, length in self.archive.written.items():
            self.set_file(file, self.archive.path(file).name, length)
        self.archive.written.clear()
        for key, count in self.counters.items():
            self.put(key, msgspec.json.encode(count()))
        super().commit()

    def close(self) -> None:
        """Close all files, each even if another fails; what was not committed did not happen."""
        self._opened.close()


def recover(shard: Shard, archive: Path, suspect: CrashMarker) -> tuple[Counter[int], list[str]]:
    """Bring a shard and its archive into step: URLs put back into the queue by topic, and what to tell a person."""
    notes: list[str] = []
    back: Counter[int] = Counter()
    quarantine = archive / "quarantine"
    known = set()
    for n, name, committed in shard.files():
        known.add(name)
        path = archive / name
        size = path.stat().st_size if path.exists() else 0
        if size == committed:
            continue
        kept = trim(path, committed, quarantine)
        if kept < committed:
            lost = shard.forget_records(n, kept)
            back.update(topic for _, topic in lost)
            shard.set_file(n, name, kept)
            notes.append(f"{name} had lost its last {committed - kept} bytes: {len(lost)} pages are fetched again")
        if size > kept:
            notes.append(f"{name}: {size - kept} bytes that were not committed were put into archive/quarantine")
    for path in sorted(archive.glob(f"{shard.path.stem}-*.warc.gz")):
        if path.name not in known:
            quarantine.mkdir(exist_ok=True)
            path.rename(quarantine / path.name)
            notes.append(f"{path.name} was not committed and was put into archive/quarantine")
    culprit = suspect.get()
    if culprit:
        notes.append(f"the process ended while it parsed {shard.url_of(culprit) or culprit}")
    back += shard.release_leases(culprit, _POISON_AFTER)
    back += shard.try_hosts_again()
    suspect.set(0)
    return back, notes
