"""Makes a library, crawls it, kills the crawl, and looks at what is left: what whole-crawl tests are made of."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import tomlkit

from analecta.crawl.coordinator import CrawlStatus
from analecta.crawl.run import Crawl
from analecta.model import FoundBy, UrlState
from analecta.settings.load import load, merge
from analecta.store.library import LibraryFolder

# A test has no time to be patient. Everything else is as a person would have it.
QUICK: dict[str, Any] = {
    "recipe": "breadth-first",
    "judge": {"kind": "none"},
    "fetch": {"connect_timeout": 3.0, "first_byte_timeout": 3.0, "deadline": 6.0, "back_off": 0.2},
    "stop": {"idle": 2.0, "free_disk": 0},
    "crawl": {"workers": 1},
}

Seeds = Sequence[str] | Mapping[str, Sequence[str]]


def make_library(folder: Path, seeds: Seeds, connect_to: str = "", **override: Any) -> LibraryFolder:
    """A new library; `override` holds tables of settings (`fetch={"delay": 0.2}`) or plain values."""
    topics = dict(seeds) if isinstance(seeds, Mapping) else {"all": list(seeds)}
    settings = merge(QUICK, override)
    if connect_to:
        settings = merge(settings, {"fetch": {"connect_to": connect_to}})
    settings["topics"] = [{"name": name, "seeds": list(urls)} for name, urls in topics.items()]
    return LibraryFolder.create(folder, tomlkit.dumps(settings))


def crawl(
    library: LibraryFolder, progress: Callable[[CrawlStatus], None] = lambda _: None, **override: Any
) -> CrawlStatus:
    """Crawl in this process (the partitions are children all the same) until it is over."""
    return Crawl(library, load(library.settings_path, override)).run(progress)


class Memory:
    """Watches the memory of the partitions of a crawl: give it as `progress`."""

    def __init__(self) -> None:
        self.first: dict[int, int] = {}
        self.most: dict[int, int] = {}

    def __call__(self, status: CrawlStatus) -> None:
        if not status.engines or not all(engine.tally.answers for engine in status.engines):
            return
        for pid in children(os.getpid()):
            if b"analecta.crawl.processes.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                self.first.setdefault(pid, resident(pid, "VmRSS"))
                self.most[pid] = max(self.most.get(pid, 0), resident(pid, "VmHWM"))

    @property
    def growth(self) -> int:
        """The most bytes that a partition needed beyond those it had after its first answer."""
        return max(self.most[pid] - first for pid, first in self.first.items())


def resident(pid: int, field: str = "VmRSS") -> int:
    """Bytes of memory that a process has (VmRSS) or had at most (VmHWM)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(field)), 0)


# --- a crawl in a process of its own ---------------------------------------------------------------------------------


@contextmanager
def started(library: LibraryFolder) -> Iterator[subprocess.Popen[bytes]]:
    """A crawl that may be killed; whatever is left of it at the end is ended."""
    command = [sys.executable, "-m", "analecta", "crawl", str(library.folder)]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        kill_tree(process)
        assert process.stdout is not None
        process.stdout.close()


def said(process: subprocess.Popen[bytes]) -> str:
    """What a crawl that is over has printed."""
    assert process.stdout is not None
    return process.stdout.read().decode()


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """kill -9 of a crawl and of all that it started."""
    tree = [process.pid]
    for pid in tree:  # grows while it is walked: workers are groups of their own
        tree += children(pid)
    for pid in tree:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    while any(alive(pid) for pid in tree):
        time.sleep(0.005)


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(what: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Wait until something is true, and return it."""
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)
    return found


# --- what is left ----------------------------------------------------------------------------------------------------


def rows(library: LibraryFolder, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """What a query gives in all partitions."""
    with library.shards() as shards:
        return [row for shard in shards for row in shard.execute(query, values)]


def states(library: LibraryFolder) -> dict[str, tuple[UrlState, str]]:
    """Every URL with its state and the reason."""
    found = rows(library, "SELECT url, state, reason FROM urls WHERE found != ?", int(FoundBy.PROBE))
    return {url: (UrlState(state), reason or "") for url, state, reason in found}


def pages(library: LibraryFolder) -> list[dict[str, Any]]:
    """The rows of pages with their URLs, in the order in which they were kept (by partition)."""
    with library.shards() as shards:
        found = []
        for shard in shards:
            cursor = shard.execute("SELECT u.url, p.* FROM pages p JOIN urls u ON u.id = p.id ORDER BY p.seq")
            names = [column[0] for column in cursor.description]
            found += [dict(zip(names, row, strict=True)) for row in cursor]
    return found


def kept(library: LibraryFolder) -> set[str]:
    """The URLs of all pages."""
    return {page["url"] for page in pages(library)}


def journal(library: LibraryFolder) -> str:
    """What was written down for a person, by partitions and coordinator."""
    events = [event for (event,) in rows(library, "SELECT event FROM journal")]
    with library.database(readonly=True) as db:
        return "\n".join(events + [note for (note,) in db.execute("SELECT note FROM notes")])


def page_text(*links: str, title: str = "", words: str = "", head: str = "") -> bytes:
    """A small HTML page with links."""
    anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
    top = f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head>"
    return f"{top}<body><p>{words}</p>{anchors}</body></html>".encode()
