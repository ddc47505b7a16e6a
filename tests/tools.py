"""Programs that some tests need. Where one is missing the test is skipped, and says so.

With CI=true a test that misses its program fails instead (tests/conftest.py): `.ci/run` installs them.
"""

import contextlib
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
GHOSTSCRIPT = shutil.which("gs") or ""


MISSING = "missing program: "  # how the reason of such a skip begins


def needs(what: object, name: str) -> pytest.MarkDecorator:
    """Marks tests that cannot run without a program of the machine."""
    return pytest.mark.skipif(not what, reason=MISSING + name)


needs_ghostscript = needs(GHOSTSCRIPT, "Ghostscript")


def running(command: str) -> bool:
    """Whether a process was started as this (words parted by NUL)."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(command.encode()):
                return True
    return False


def wait_for(true: Callable[[], bool], seconds: float = 60.0) -> None:
    """Until it is true."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)
