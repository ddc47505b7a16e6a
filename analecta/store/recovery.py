"""What a start does: after a crash, the archive is cut back to what was committed, and what it lost is queued again.

So is what was given up with its host, for it may answer now.
"""

import mmap
from collections import Counter
from pathlib import Path

from analecta.store.archive import trim
from analecta.store.partition import Shard


class CrashMarker:
    """The id of the URL that is being parsed, in eight bytes of shared memory that outlive the process."""

    def __init__(self, path: Path) -> None:
        if not path.exists() or path.stat().st_size != 8:
            path.write_bytes(bytes(8))
        self._file = path.open("r+b")
        self._map = mmap.mmap(self._file.fileno(), 8)

    def set(self, id: int) -> None:
        """Name the URL; 0 clears it."""
        self._map[:8] = id.to_bytes(8, "little", signed=True)

    def get(self) -> int:
        """The URL that was being parsed when the process last ended; 0 for none."""
        return int.from_bytes(self._map[:8], "little", signed=True)

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()
        self._file.close()


def recover(
    shard: Shard, archive: Path, prefix: str, suspect: CrashMarker, poison_after: int
) -> tuple[Counter[int], list[str]]:
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
    for path in sorted(archive.glob(f"{prefix}-*.warc.gz")):
        if path.name not in known:
            quarantine.mkdir(exist_ok=True)
            path.rename(quarantine / path.name)
            notes.append(f"{path.name} was not committed and was put into archive/quarantine")
    culprit = suspect.get()
    if culprit:
        notes.append(f"the process ended while it parsed {shard.url_of(culprit) or culprit}")
    back += shard.release_leases(culprit, poison_after)
    back += shard.try_hosts_again()
    suspect.set(0)
    return back, notes
