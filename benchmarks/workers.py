"""How much faster are two workers than one? The same crawl of the same nginx-served pages, in turns.

The rate is that of the steady part, between 10 % and 80 % of the pages (starting costs the same with any number of
workers, and at the end one may run dry). The server's share of a core says whether it was the bottleneck.
"""

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import webroot

from analecta.store.library import LibraryFolder

OUT = Path(__file__).parent / "out" / "workers.json"
TOPICS = 30


def steady_rate(library: Path) -> float:
    """Pages a second between 10 % and 80 % of the pages."""
    times: list[float] = []
    for shard in library.glob("shards/p*.db"):
        db = sqlite3.connect(shard)
        times += [row[0] for row in db.execute("SELECT kept_at FROM pages")]
        db.close()
    times.sort()
    first, last = len(times) // 10, len(times) * 8 // 10
    return (last - first) / (times[last] - times[first])


def crawl(web: webroot.Web, workers: int, pages: int, folder: Path) -> dict[str, Any]:
    lines = [f'recipe = "breadth-first"\n[scope]\nhosts = {json.dumps(web.hosts)}\n']
    lines += [f'[[topics]]\nname = "T{n}"\nseeds = {json.dumps(web.seeds[n::TOPICS])}\n' for n in range(TOPICS)]
    LibraryFolder.create(folder, "\n".join(lines))
    options = ["--pages", str(pages), "--workers", str(workers), "--delay", "0", "--connect-to", web.address, "--json"]
    busy = web.server_cpu()
    command = [sys.executable, "-m", "analecta", "crawl", str(folder), *options]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    share = (web.server_cpu() - busy) / said["seconds"]
    return {"workers": workers, "steady": steady_rate(folder), "whole": said["pages_per_second"], "server_share": share}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=6000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    runs = []
    with webroot.serve(webroot.pages()) as web:
        for turn in range(given.repeat):
            for workers in (1, 2):
                with tempfile.TemporaryDirectory() as folder:
                    runs.append(crawl(web, workers, given.pages, Path(folder) / "library"))
                print(turn + 1, {name: round(value, 3) for name, value in runs[-1].items()}, flush=True)
    ratios = [two["steady"] / one["steady"] for one, two in zip(runs[::2], runs[1::2], strict=True)]
    figures = {"runs": runs, "ratios": ratios, "median_ratio": statistics.median(ratios)}
    given.o.parent.mkdir(parents=True, exist_ok=True)
    given.o.write_text(json.dumps(figures, indent=2))
    print(f"two workers are {figures['median_ratio']:.2f} times as fast as one (median of {given.repeat})")


if __name__ == "__main__":
    main()
