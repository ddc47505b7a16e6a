"""Runs a crawler and says what it cost: CPU of its whole process tree, wall time, pages as the server counts them."""

import compileall
import os
import platform
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table
from webroot import Web

CODE = Path(__file__).parent.parent / "analecta"


@dataclass(frozen=True)
class Cost:
    """What a command used. `cpu` is user and system time of the process and all its descendants."""

    cpu: float
    wall: float
    code: int


def run(
    command: Sequence[str],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    output: Path | None = None,
    enough: Callable[[], bool] = lambda: False,
    limit: float = 900.0,
) -> Cost:
    """Run a command to its end, or until `enough` says so (then it is stopped by SIGTERM, and its cost stands)."""
    compileall.compile_dir(str(CODE), quiet=1)  # as an installed package is, which the others are
    began = time.monotonic()
    with open(output or os.devnull, "wb") as log:
        child = subprocess.Popen(
            command, env={**os.environ, **(env or {})}, cwd=cwd, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    told = False
    while True:
        # wait4 and not wait: only it gives the CPU of this one child, with the descendants it has waited for.
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        late = time.monotonic() - began > limit
        if late or (not told and enough()):
            child.send_signal(signal.SIGKILL if late else signal.SIGTERM)
            told = True
        time.sleep(0.02)
    child.returncode = os.waitstatus_to_exitcode(status)
    return Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - began, child.returncode)


def crawl(
    web: Web,
    command: Sequence[str],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    output: Path | None = None,
    stop_at: int = 0,
) -> dict[str, Any]:
    """The figures of one crawl of `web`; `stop_at` ends a crawler that has no such option itself."""
    log, busy = web.log(), web.server_cpu()
    cost = run(command, env, cwd, output, (lambda: log.read().pages >= stop_at) if stop_at else lambda: False)
    answers = log.read()
    pages = max(answers.pages, 1)
    return {
        "pages": answers.pages,
        "other_answers": answers.others,
        "kb_per_page": answers.bytes / pages / 1024,
        "connections": answers.connections,
        "cpu_s": cost.cpu,
        "wall_s": cost.wall,
        "ms_per_page": 1000 * cost.cpu / pages,
        "pages_per_s": answers.pages / cost.wall,
        "server_share": (web.server_cpu() - busy) / cost.wall,
        "exit": cost.code,
    }


def net_of(figures: Mapping[str, Any], startup: float) -> dict[str, Any]:
    """The same figures with the CPU of starting up told apart."""
    net = max(figures["cpu_s"] - startup, 0.0)
    return {**figures, "startup_s": startup, "net_ms_per_page": 1000 * net / max(figures["pages"], 1)}


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def show(title: str, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], note: str = "") -> None:
    """Print rows as a table; `columns` maps a heading to the key and format of its cells ("cpu_s:.2f")."""
    table = Table(title=title, caption=note or None, title_justify="left", caption_justify="left")
    for number, heading in enumerate(columns):
        table.add_column(heading, justify="right" if number else "left")
    for row in rows:
        cells = (spec.partition(":") for spec in columns.values())
        table.add_row(*(format(row[key], form) if row.get(key) is not None else "" for key, _, form in cells))
    console = Console()
    console.width = max(console.width, 120)
    console.print(table)


def keep(path: Path, figures: Mapping[str, Any]) -> None:
    """Write figures as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2))
