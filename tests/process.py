"""Commands as processes of their own, started with the signals and limits that a test wants."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

COMMAND = (sys.executable, "-m", "analecta")
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heed() -> None:
    """As `preexec_fn`: signals mean to a child what they mean in the foreground, however the tests were started."""
    for number in STOPS:
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def interrupt_on_sigint() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt in this process, however the tests were started."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run(*words: object, before: Callable[[], None] = heed, **options: object) -> "subprocess.CompletedProcess[bytes]":
    """A command to its end; `before` is done in the process first."""
    command = [*COMMAND, *map(_word, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
    return subprocess.run(command, preexec_fn=before, timeout=100, **pipes)


@contextlib.contextmanager
def running(
    *words: object, before: Callable[[], None] = heed, **options: object
) -> Iterator["subprocess.Popen[bytes]"]:
    """A command under way, with all that it says in pipes."""
    command = [*COMMAND, *map(_word, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
    process = subprocess.Popen(command, preexec_fn=before, **pipes)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    """Wait for its end: exit code and standard error."""
    _, err = process.communicate(timeout=60)
    return process.returncode, (err or b"").decode("utf-8", "backslashreplace")


def limited(number: int, most: int) -> Callable[[], None]:
    """As `before`: a limit of the system (resource.RLIMIT_*)."""

    def limit() -> None:
        heed()
        resource.setrlimit(number, (most, most))

    return limit


def closing(*numbers: int) -> Callable[[], None]:
    """As `before`: standard streams that are closed, as by `>&-` in a shell."""

    def close() -> None:
        heed()
        for number in numbers:
            os.close(number)

    return close


def _word(word: object) -> str | bytes:
    return os.fsencode(word) if isinstance(word, Path) else str(word)
