"""Published pages are made anew while a crawl goes on (S13), by a child process that takes little from the crawl.

There is never more than one; after one that took long the next waits longer. One that fails costs its pages, not the
crawl: why is written down once, until one succeeds again.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

from analecta.store.library import LibraryFolder
from analecta.text.display import plain

_NICE = 15  # of 19: the crawl's processes come first
_SHARE = 4  # times as long as the last one took, at least, until the next
_PATIENCE = 5.0  # seconds for a child to end that was asked to


class Child(msgspec.Struct, frozen=True):
    """A process that makes pages, and the file with what it says of what goes wrong."""

    process: "subprocess.Popen[bytes]"
    said: IO[bytes]

    def why(self) -> str:
        """The last line that it wrote."""
        self.said.seek(0)
        lines = self.said.read().decode("utf-8", "replace").strip().splitlines()
        return plain(lines[-1]) if lines else f"it ended with {self.process.returncode}"


def publishing(*words: str | Path) -> Callable[[], Child]:
    """Starts `analecta WORDS` in the background: `publishing("publish", lib, "-o", folder)`."""

    def start() -> Child:
        said = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process lives)
        command = [sys.executable, "-m", "analecta", *map(str, words)]
        # A session of its own: Ctrl-C is for the crawl, which then ends its child.
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": said}
        process = subprocess.Popen(command, start_new_session=True, **quiet)  # type: ignore[call-overload]
        with contextlib.suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
        return Child(process, said)

    return start


class Refresher:
    """Called often during a crawl; now and then it starts `make`. To be closed at the end."""

    def __init__(
        self, library: LibraryFolder, every_seconds: float, clock: Callable[[], float], make: Callable[[], Child]
    ) -> None:
        self.library = library
        self.every = every_seconds
        self.clock = clock
        self.make = make
        self.made = 0  # how often it succeeded
        self._child: Child | None = None
        self._began = clock()
        self._due = self._began + every_seconds
        self._failing = False

    def __call__(self, *_: object) -> None:
        """Look after the one under way, or start one if it is time; takes no time itself."""
        now = self.clock()
        if self._child is not None:
            if self._child.process.poll() is not None:
                self._due = now + max(self.every, _SHARE * (now - self._began))
                self._ended()
        elif now >= self._due:
            self._start()

    def finish(self) -> None:
        """Make the pages a last time, of what the crawl has left, and wait for it."""
        self.close()
        self._start()
        if self._child is not None:
            self._child.process.wait()
            self._ended()

    def close(self) -> None:
        """End the one that is under way, if there is any."""
        if self._child is not None:
            process = self._child.process
            process.terminate()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self._child.said.close()
            self._child = None

    def _start(self) -> None:
        self._began = self.clock()
        try:
            self._child = self.make()
        except OSError as error:
            self._due = self._began + self.every
            self._fail(str(error))

    def _ended(self) -> None:
        child, self._child = self._child, None
        assert child is not None
        with child.said:
            if child.process.returncode:
                self._fail(child.why())
            else:
                self.made += 1
                self._failing = False

    def _fail(self, why: str) -> None:
        if not self._failing:
            self._failing = True
            self.library.note(f"the published pages could not be made anew: {why}")
