"""The processes of the partitions: started, started again where they die, ended; and the messages between them and the
coordinator. Nothing else knows sockets, processes and exit codes.
"""

import contextlib
import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from analecta.crawl.control import COORDINATOR, EngineStatus, decode, encode
from analecta.crawl.coordinator import Coordinator, CrawlStatus
from analecta.crawl.processes.transport import PeerGone, SocketTransport, WorkerJob, pair, wait
from analecta.errors import ResourceError
from analecta.settings.schema import Settings
from analecta.store.library import LibraryFolder

_TICK = 0.05  # seconds between two looks around, if no status comes before
_RESTARTS = 50
_ENDING, _HURRY = 25.0, 4.0  # seconds after which who has not stopped is killed; the second at a second interrupt

# A partition has one core, and idle helpers of BLAS would spin. Threads share their heaps, and bodies of a megabyte and
# more go back to the system when they are dropped.
_SPARING = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "1048576"}


class WorkerHandle:
    """One partition's process; it is started again where it dies."""

    def __init__(self, job: WorkerJob, errors: IO[bytes]) -> None:
        self.job = job
        self.errors = errors
        self.restarts = -1
        self.start()

    def start(self) -> None:
        """Start it, for the first time or again."""
        self.restarts += 1
        self.process = subprocess.Popen(
            [sys.executable, "-m", "analecta.crawl.processes.worker"],
            stdin=subprocess.PIPE,
            stderr=self.errors,
            pass_fds=tuple(self.job.ends.values()),
            env=os.environ | _SPARING,
            process_group=0,  # a terminal's Ctrl-C is for us alone
        )
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self.process.stdin:
            self.process.stdin.write(msgspec.json.encode(self.job))

    @property
    def last_words(self) -> str:
        """The last line on standard error."""
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


class WorkerPool:
    """Runs each partition in a process of its own, as the coordinator says."""

    def __init__(self, library: LibraryFolder, settings: Settings, coordinator: Coordinator) -> None:
        self.library = library
        self.settings = settings
        self.coordinator = coordinator
        self.workers: list[WorkerHandle] = []
        self.links: list[SocketTransport] = []

    def run(self, progress: Callable[[CrawlStatus], None]) -> None:
        """Until the crawl is over, and all processes have ended."""
        deadline = math.inf
        with tempfile.TemporaryDirectory() as scratch, self._running(Path(scratch)):
            while True:
                self.receive()
                alive = self.look_after()
                progress(self.coordinator.status())
                now = time.monotonic()
                self.coordinator.step(now)
                if self.coordinator.reason:
                    deadline = min(deadline, now + (_HURRY if self.coordinator.interrupts > 1 else _ENDING))
                    if not alive or now >= deadline:
                        break
                for n, link in enumerate(self.links):
                    link.send(n, encode(self.coordinator.directive(n)))
                wait(self.links, _TICK)
            self.receive()

    def receive(self) -> None:
        """Let the coordinator see what partitions have reported."""
        for link in self.links:
            with contextlib.suppress(PeerGone):
                for message in map(decode, link.receive()):
                    if isinstance(message, EngineStatus):
                        self.coordinator.observe(message)

    def look_after(self) -> int:
        """Start again what was killed or failed, while the crawl goes on. How many processes there are."""
        ended = [(n, code) for n, worker in enumerate(self.workers) if (code := worker.process.poll()) is not None]
        for n, code in ended:
            if self.coordinator.reason:
                self.coordinator.ended(n)
            else:
                self._replace(n, code)
        return len(self.workers) - len(ended)

    def _replace(self, n: int, code: int) -> None:
        """One that gave up for a reason ends the crawl."""
        worker = self.workers[n]
        if code > 1 or worker.restarts >= _RESTARTS:
            raise ResourceError(f"partition {n} ended: {worker.last_words or f'exit code {code}'}")
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else worker.last_words
        self.library.note(f"partition {n} was ended by {cause} and started again")
        self.receive()  # its last status, if that came after the look before: later it would count twice
        self.coordinator.restarted(n)
        worker.start()

    @contextlib.contextmanager
    def _running(self, scratch: Path) -> Iterator[None]:
        """Start the partitions; at the end none is left."""
        count = self.coordinator.partitions
        ends: list[dict[int, socket.socket]] = [{} for _ in range(count)]  # theirs: kept for those started again
        for i in range(count):
            ours, ends[i][COORDINATOR] = pair()
            self.links.append(SocketTransport({i: ours}))
            for j in range(i):
                ends[i][j], ends[j][i] = pair()
        try:
            for i in range(count):
                fds = {peer: end.fileno() for peer, end in ends[i].items()}
                job = WorkerJob(str(self.library.folder), i, count, self.settings, fds)
                self.workers.append(WorkerHandle(job, (scratch / f"p{i:02d}.err").open("w+b")))
            yield
        finally:
            for worker in self.workers:
                if worker.process.poll() is None:
                    worker.process.kill()
            for link in (*self.links, *(SocketTransport(part) for part in ends)):
                link.close()
            for worker in self.workers:
                worker.process.wait()
                worker.errors.close()
