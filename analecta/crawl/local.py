"""A partition in a thread of this process, with a fetch of one's own: for evaluation, which crawls an archive.

A hundred short crawls would otherwise start a hundred processes, each of which reads the archive again.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from typing import IO

import msgspec

from analecta.crawl.processes.pool import WorkerJob, WorkerProcess
from analecta.crawl.processes.worker import work
from analecta.protocols import FetchFunction


class Thread:
    """Looks to the coordinator like a process. It cannot be killed: it ends when the coordinator's line closes."""

    def __init__(self, job: WorkerJob, errors: IO[bytes], fetch: FetchFunction | None) -> None:
        # The thread has its own descriptors, as a process would, and closes them itself.
        own = msgspec.structs.replace(job, ends={peer: os.dup(fd) for peer, fd in job.ends.items()})
        self._code: int | None = None
        self._errors = errors
        self._thread = threading.Thread(target=self._run, args=(own, fetch), daemon=True)
        self._thread.start()

    def _run(self, job: WorkerJob, fetch: FetchFunction | None) -> None:
        try:
            asyncio.run(work(job, fetch))
            self._code = 0
        except Exception as error:  # told by the coordinator, as the last words of a process are
            self._errors.write(f"{type(error).__name__}: {error}\n".encode())
            self._errors.flush()
            self._code = 4

    def poll(self) -> int | None:
        """The exit code, once it is over."""
        return None if self._thread.is_alive() else self._code

    def kill(self) -> None:
        """There is no way to kill a thread."""

    def wait(self) -> int:
        """Until it is over."""
        self._thread.join(30.0)
        return self._code or 0


def in_threads(fetch: FetchFunction | None = None) -> Callable[[WorkerJob, IO[bytes]], WorkerProcess]:
    """How `Crawl` starts partitions beside itself; without a `fetch` they ask the network."""
    return lambda job, errors: Thread(job, errors, fetch)
