"""The partitions' processes, as the coordinator knows them: what each said, what it may do, what it has done."""

import contextlib
import os
import subprocess
import sys
from collections import deque
from typing import IO, Any, Protocol

import msgspec

from analecta.crawl.control import EngineStatus
from analecta.model import UNLIMITED, Tally
from analecta.settings.schema import Settings


class WorkerJob(msgspec.Struct):
    """What a worker is told at its start, as JSON on standard input; `ends` are its sockets by peer."""

    library: str
    me: int
    partitions: int
    settings: Settings
    ends: dict[int, int]


class WorkerProcess(Protocol):
    """What runs a partition: a process, or a thread (crawl/local.py). As subprocess.Popen."""

    def poll(self) -> int | None: ...
    def kill(self) -> None: ...
    def wait(self) -> int: ...


class WorkerHandle:
    """One partition's process, and the last that it said."""

    def __init__(self, process: WorkerProcess, errors: IO[bytes]) -> None:
        self.process = process
        self.errors = errors
        self.report: EngineStatus | None = None
        self.before = Tally()  # what earlier processes of this partition counted in this run
        self.granted = 0
        self.restarts = 0
        self._told: deque[tuple[int, int]] = deque([(0, 0)])  # grants by order: those it may be acting on

    @property
    def tally(self) -> Tally:
        """What this partition counted in this run."""
        return add(self.before, self.report.tally) if self.report else self.before

    def promised(self) -> int:
        """Pages that this partition has fetched or may fetch in this run: the most that any message allows it."""
        while len(self._told) > 1 and self.report and self._told[1][0] <= self.report.order:
            self._told.popleft()  # it has heard a later word
        return self.before.pages + max(self.granted, self.used(), *(granted for _, granted in self._told))

    def tell(self, serial: int) -> int:
        """The grant that goes out with order number `serial`."""
        if self._told[-1][1] != self.granted:
            self._told.append((serial, self.granted))
        return self.granted

    def used(self) -> int:
        """Pages that its process has fetched, or is about to."""
        return self.report.tally.pages + self.report.flying if self.report else 0

    def unused(self) -> int:
        """Pages that it may still fetch."""
        return self.granted - self.used()

    def idle(self) -> bool:
        """Whether it has nothing to do."""
        return self.report is not None and not self.report.queued and not self.report.flying

    def bury(self) -> None:
        """Its process is gone: what it counted stays, and a new one may fetch only what is left."""
        if self.report and self.granted < UNLIMITED:
            self.granted = max(0, self.granted - self.report.tally.pages)
        self.before, self.report = self.tally, None
        self._told = deque([(0, 0)])
        self.restarts += 1

    def said(self) -> str:
        """The last words on standard error."""
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


# A partition has one core, and idle helpers of BLAS would spin. Threads share their heaps, and bodies of a megabyte and
# more go back to the system when they are dropped.
_SPARING = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "1048576"}


def start_process(job: WorkerJob, errors: IO[bytes]) -> WorkerProcess:
    """A partition in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "analecta.crawl.processes.worker"],
        stdin=subprocess.PIPE,
        stderr=errors,
        pass_fds=tuple(job.ends.values()),
        env=os.environ | _SPARING,
        process_group=0,  # a terminal's Ctrl-C is for us alone
    )
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(msgspec.json.encode(job))
    return process


def add(a: Tally, b: Tally) -> Tally:
    """Two tallies as one."""
    total: dict[str, Any] = {}
    for name in Tally.__struct_fields__:
        left, right = getattr(a, name), getattr(b, name)
        if isinstance(left, dict):
            total[name] = {key: left.get(key, 0) + right.get(key, 0) for key in left | right}
        else:
            total[name] = left + right
    return Tally(**total)
