"""What the process of a command is given: standard streams that may be closed, and limits that may be too low."""

import contextlib
import io
import os
import resource
import sys

from analecta.errors import ResourceError
from analecta.files import discard

FILES = 64  # that must be allowed to be open at a time; a crawl asks for more (crawl/checks.py)
MEMORY = 1_200_000_000  # bytes of address space; documents are parsed in a child that may have 1 GiB


class Remarks(io.TextIOWrapper):
    """Standard error of which nobody may be reading any more, as when the terminal was closed: that is no failure."""

    def write(self, text: str) -> int:
        """Write it, or let it go."""
        try:
            return super().write(text)
        except OSError:
            discard(self)
            return len(text)

    def flush(self) -> None:
        """The same."""
        try:
            super().flush()
        except OSError:
            discard(self)


def open_streams() -> None:
    """Make standard streams fit to write to; a closed standard output is an error, for results would be lost.

    The numbers 0 to 2 are taken in any case: a database opened as number 1 would be written to by whoever prints.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    closed = sys.stdout is None  # which typing does not know of, nor that of stderr
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (open as long as the process lives)
    if closed:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        raise ResourceError("standard output is closed: let it go to a file, or to /dev/null")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a title must not end the program where the terminal has no letter for it
            stream.reconfigure(errors="backslashreplace")
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        old = sys.stderr
        sys.stderr = Remarks(old.detach(), old.encoding, old.errors, line_buffering=True)


def check_limits() -> None:
    """Say so where the process may open too few files or have too little memory to do anything."""
    if (files := open_files()) < FILES:
        raise ResourceError(f"only {files} files may be open at a time, and {FILES} are needed: raise `ulimit -n`")
    memory, _ = resource.getrlimit(resource.RLIMIT_AS)
    if memory != resource.RLIM_INFINITY and memory < MEMORY:
        words = f"only {memory // 1_000_000} MB of address space are allowed, and {MEMORY // 1_000_000} are needed"
        raise ResourceError(f"{words}: raise `ulimit -v`")


def open_files() -> int:
    """How many files may be open at a time, after asking for as many as the system allows us to."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 1 << 20
    if hard == resource.RLIM_INFINITY or hard > soft:
        most = 1 << 16 if hard == resource.RLIM_INFINITY else min(hard, 1 << 16)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
