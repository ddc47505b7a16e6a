"""Does a crawl hold on a hostile web, at the delay that people use, for a long time?

Hundreds of hosts, half of them honest, are served from one process of ours. The crawl is the real command with the
default recipe. Judged by the server's log: every honest host gets 90 % of what it allows, no request comes early,
none twice. And by the processes: memory and open files stay flat, Ctrl-C ends it soon. With `--kills` the whole crawl
is killed that often at random moments, and nothing may be lost or recorded twice.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measure import machine
from processes import kill, usage
from rich.console import Console
from rich.table import Table
from soak_checks import Line, Sample, resources, traffic
from soak_hosts import HONEST, articles_of
from soak_library import known_urls, recorded, survival, whole_library
from soak_pages import TOPICS
from soak_web import SoakServer

from analecta.settings.schema import FetchSettings
from analecta.store.library import LibraryFolder

OUT = Path(__file__).parent / "out" / "soak.json"
DELAY = 1.0
SEEDS = 5  # hosts whose first pages are the examples of a topic
INTERRUPTED = 130


def make_library(folder: Path, web: SoakServer) -> None:
    """A library about two topics that begins at every host."""
    hosts = list(web.web.hosts.values())
    lines = []
    for n, topic in enumerate(TOPICS):
        shown = [host for host in hosts if host.kind == HONEST and host.topic == topic][:SEEDS]
        seeds = [f"http://{host.name}{articles_of(web.web.seed, host).path(i)}" for host in shown for i in (0, 1)]
        starts = [f"http://{host.name}/" for host in hosts[n :: len(TOPICS)]]
        lines.append(f'[[topics]]\nname = "{topic}"\nseeds = {json.dumps(seeds)}\nstarts = {json.dumps(starts)}\n')
    LibraryFolder.create(folder, "\n".join(lines))


class Crawl:
    """The command, started again after each kill, with samples of what it takes."""

    def __init__(self, library: Path, web: SoakServer, workers: int) -> None:
        self.library = library
        options = ["--workers", str(workers), "--delay", f"{DELAY:g}", "--connect-to", web.address, "--json"]
        self._command = [sys.executable, "-m", "analecta", "crawl", str(library), *options]
        self.samples: list[Sample] = []
        self.said = ""

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Runs while the block lasts; whatever is left of it then is killed."""
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(self._command, start_new_session=True, stdout=output, stderr=subprocess.STDOUT)
            try:
                yield process
            finally:
                kill(process)
                output.seek(0)
                self.said = output.read().decode(errors="replace")

    def watch(self, process: subprocess.Popen[bytes], until: float, every: float) -> None:
        """Take samples until a moment, or until the crawl ends by itself."""
        while time.monotonic() < until and process.poll() is None:
            time.sleep(max(0.0, min(every, until - time.monotonic())))
            self.samples.append(Sample(time.monotonic(), usage(process.pid), known_urls(self.library)))


def interrupt(process: subprocess.Popen[bytes]) -> tuple[float, int]:
    """Ctrl-C: seconds until it ended, and its exit code."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        process.wait(90)
    except subprocess.TimeoutExpired:
        return time.monotonic() - began, -9
    return time.monotonic() - began, process.returncode


def run(web: SoakServer, crawl: Crawl, given: argparse.Namespace) -> Iterator[Line]:
    """One long run; then Ctrl-C."""
    began = time.monotonic()
    with crawl.running() as process:
        crawl.watch(process, began + 60 * given.minutes, 0.5 if given.minutes < 5 else 2.0)
        until = time.monotonic()
        alive = process.poll() is None
        took, code = interrupt(process) if alive else (0.0, process.returncode)
    yield Line("minutes", (until - began) / 60, "", alive)
    yield from traffic(web.requests(), web.web.hosts, web.web.seed, DELAY, until)
    yield from resources(crawl.samples, 150.0 if given.quick else 0.0)
    yield Line("exit code after Ctrl-C", code, f"= {INTERRUPTED}", code == INTERRUPTED)
    yield Line("seconds until it ended", took, "<= 10", took <= 10, rate=True)
    yield from whole_library(crawl.library)


def run_with_kills(web: SoakServer, crawl: Crawl, given: argparse.Namespace) -> Iterator[Line]:
    """Killed at random moments and started again, as often as told; then Ctrl-C."""
    rng = random.Random(given.seed)
    kills: list[float] = []
    ended = 0
    lost: set[str] = set()
    before: set[str] = set()
    for _ in range(given.kills):
        with crawl.running() as process:
            moment = time.monotonic() + 60 * given.minutes / given.kills * rng.uniform(0.2, 1.8)
            crawl.watch(process, moment, 0.5)
            ended += process.poll() is not None
        kills.append(time.monotonic())  # all are dead by now: some answered a little longer than others
        now = set(recorded(crawl.library))
        lost |= before - now
        before = now
    with crawl.running() as process:
        crawl.watch(process, time.monotonic() + 20, 0.5)
        until = time.monotonic()
        _, code = interrupt(process)
    lost |= before - set(recorded(crawl.library))
    in_flight = FetchSettings().parallel * given.workers
    yield from survival(web.requests(), web.web.hosts, crawl.library, kills, lost, in_flight, until)
    yield Line("runs that ended by themselves", ended, "= 0", not ended)
    yield Line("exit code after Ctrl-C", code, f"= {INTERRUPTED}", code == INTERRUPTED)
    yield from whole_library(crawl.library)


def show(lines: list[Line], quick: bool) -> bool:
    """Print the table; whether all lines hold that this form asserts."""
    table = Table("", "measured", "limit", "", title="Hostile mixture", title_justify="left")
    passed = True
    for line in lines:
        asserted = bool(line.limit) and not (quick and line.rate)
        passed &= line.holds or not asserted
        value = f"{line.value:,.3f}".rstrip("0").rstrip(".") if isinstance(line.value, float) else str(line.value)
        word = ("ok" if line.holds else "FAILS") if asserted else ("" if line.holds else "(fails)")
        table.add_row(line.name, value, line.limit, word)
    console = Console()
    console.width = max(console.width, 120)
    console.print(table)
    return passed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=0, help="kill -9 all of it so often, and start it again")
    parser.add_argument("--quick", action="store_true", help="2 minutes; rates and latencies are only printed")
    parser.add_argument("--folder", type=Path, help="keep the library and the server's log there")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, too")
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    if given.quick:
        given.minutes = min(given.minutes, 2.0)
    return given


def main() -> int:
    given = arguments()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # if it is ignored here (nohup), so it is in the crawl
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        with SoakServer(given.hosts, given.seed, DELAY, folder / "requests.tsv") as web:
            make_library(folder / "library", web)
            crawl = Crawl(folder / "library", web, given.workers)
            lines = list((run_with_kills if given.kills else run)(web, crawl, given))
    passed = show(lines, given.quick)
    if not passed:
        print(crawl.said[-2000:], file=sys.stderr)
    figures: dict[str, Any] = {"machine": machine(), "given": vars(given) | {"folder": None, "o": None}}
    figures["lines"] = [line._asdict() for line in lines]
    figures["samples"] = [(s.at - crawl.samples[0].at, *s.usage, s.urls) for s in crawl.samples]
    given.o.parent.mkdir(parents=True, exist_ok=True)
    given.o.write_text(json.dumps(figures))
    if given.json:
        print(json.dumps(figures["lines"], indent=2))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
