"""What a process and all its descendants take: memory, open files, CPU; and how to end them."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGESIZE")


class Usage(NamedTuple):
    """Of a process tree: bytes of resident memory together and of the largest, open files, CPU seconds, processes."""

    rss: int
    largest: int
    files: int
    cpu: float
    processes: int


def tree(pid: int) -> list[int]:
    """A process and all its descendants."""
    found = [pid]
    for each in found:  # grows while it is walked
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, task.read_text().split())
    return found


def usage(pid: int) -> Usage:
    """What the tree of a process takes now; CPU is that of living processes and of those they waited for."""
    sizes, files, cpu = [], 0, 0.0
    for each in tree(pid):
        with suppress(OSError, IndexError):
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            sizes.append(int(fields[21]) * PAGE)
            cpu += sum(map(int, fields[11:15])) / TICKS
            files += len(os.listdir(f"/proc/{each}/fd"))
    return Usage(sum(sizes), max(sizes, default=0), files, cpu, len(sizes))


def kill(process: subprocess.Popen[bytes]) -> None:
    """kill -9 of a process and of all that it started."""
    members = tree(process.pid)
    for pid in members:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    while any(_alive(pid) for pid in members):
        time.sleep(0.005)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
