"""Does a page cost the same at the beginning and after half a million? Generated pages at delay 0, default recipe.

At every step: CPU of all processes of the crawl per page, memory and memory per URL, open files, disk per page. The
server's share of a core says whether it was the bottleneck.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from generated import GeneratedWeb
from measure import keep, machine, show
from processes import Usage, kill, usage
from soak_library import known_urls, page_count
from soak_pages import TOPICS

from analecta.store.library import LibraryFolder
from analecta.testweb.process import ServerProcess

OUT = Path(__file__).parent / "out" / "scale.json"
COLUMNS = {
    "pages": "pages:,d",
    "URLs known": "urls:,d",
    "CPU ms/page": "cpu_ms:.2f",
    "pages/s": "rate:.0f",
    "memory MB": "mb:.0f",
    "bytes/new URL": "per_url:.0f",
    "open files": "files:d",
    "disk KB/page": "disk_kb:.2f",
    "server": "server:.2f",
}


def make_library(folder: Path, web: GeneratedWeb) -> None:
    """A library about two topics, with no other setting than its examples."""
    parts = [f'[[topics]]\nname = "{topic}"\nseeds = {json.dumps(web.seeds(topic))}\n' for topic in TOPICS]
    LibraryFolder.create(folder, "\n".join(parts))


def disk(folder: Path) -> int:
    """Bytes on disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def step(library: Path, pages: int, now: Usage, last: dict[str, Any], server: float) -> dict[str, Any]:
    """The figures since the last step."""
    at, urls, size = time.monotonic(), known_urls(library), disk(library)
    took, more = at - last["at"], max(pages - last["pages"], 1)
    return {
        "at": at,
        "pages": pages,
        "urls": urls,
        "cpu": now.cpu,
        "cpu_ms": 1000 * (now.cpu - last["cpu"]) / more,
        "rate": more / took,
        "mb": now.rss / 1e6,
        "per_url": 1e6 * (now.rss / 1e6 - last["mb"]) / max(urls - last["urls"], 1) if last["mb"] else None,
        "files": now.files,
        "disk": size,
        "disk_kb": (size - last["disk"]) / more / 1024,
        "server_cpu": server,
        "server": (server - last["server_cpu"]) / took,
    }


def crawl(pages: int, every: int, workers: int, folder: Path) -> tuple[list[dict[str, Any]], int]:
    """The steps of one crawl, and its exit code."""
    steps: list[dict[str, Any]] = []
    last = {"at": time.monotonic(), **dict.fromkeys(("pages", "urls", "cpu", "mb", "disk", "server_cpu"), 0)}
    with ServerProcess("generated:GeneratedWeb", {"pages": 2 * pages}) as server:
        make_library(folder, GeneratedWeb(2 * pages))
        options = ["--pages", str(pages), "--workers", str(workers), "--delay", "0", "--connect-to", server.address]
        command = [sys.executable, "-m", "analecta", "crawl", str(folder), *options]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            now = usage(process.pid)
            while process.poll() is None or page_count(folder) >= last["pages"] + every:
                time.sleep(0.2)
                count, latest = page_count(folder), usage(process.pid)
                now = latest if latest.processes >= now.processes else now  # at the end they go one by one
                if count >= last["pages"] + every:
                    last = step(folder, count, now, last, usage(server.pid).cpu)
                    steps.append(last)
                    show(f"{count:,} pages", [last], COLUMNS)
        finally:
            kill(process)
    return steps, process.returncode


def growing(steps: list[dict[str, Any]]) -> list[str]:
    """What is not flat: the last step beside the second (in the first the crawl starts up).

    A URL takes 40 bytes in queue and seen set, a page 48 in the index of near-duplicates.
    """
    first, last = steps[min(1, len(steps) - 1)], steps[-1]
    room = 20 + (40 * (last["urls"] - first["urls"]) + 48 * (last["pages"] - first["pages"])) / 1e6
    limits = {"cpu_ms": 1.2 * first["cpu_ms"], "mb": first["mb"] + room, "files": first["files"] + 16}
    limits["disk_kb"] = 1.2 * first["disk_kb"]
    return [f"{name} {last[name]:.2f}, more than {limit:.2f}" for name, limit in limits.items() if last[name] > limit]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=500_000)
    parser.add_argument("--every", type=int, default=50_000, help="pages between two lines of figures")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="3,000 pages; whether it is flat is only printed")
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    if given.quick:
        given.pages, given.every = 3000, 900
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        steps, code = crawl(given.pages, given.every, given.workers, Path(folder) / "library")
    show("All steps", steps, COLUMNS)
    found = growing(steps) if len(steps) > 1 else []
    print("; ".join(found) or "flat")
    keep(given.o, {"machine": machine(), "steps": steps, "growing": found, "exit": code})
    return 1 if code or not steps or (found and not given.quick) else 0


if __name__ == "__main__":
    sys.exit(main())
