"""How much memory do ten million queued URLs take, how fast is the seen test, and how long does a resume take?

Builds a real shard and frontier (the ones a crawl uses), in a process of its own so that the figures are clean;
then opens the library again in another process, as the next crawl would.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np

from analecta.crawl.build import frontier_of, manners
from analecta.model import Candidate, UrlRef
from analecta.settings.schema import Settings
from analecta.store.partition import Shard
from analecta.urls import url_id

OUT = Path(__file__).parent / "out" / "memory.json"


def rss() -> float:
    """Resident megabytes now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def candidates(start: int, count: int, hosts: int, rng: random.Random) -> list[Candidate]:
    found = []
    for i in range(start, start + count):
        host = f"www.site-{rng.randrange(hosts)}.example"
        url = f"https://{host}/articles/section-{i % 97}/page-{i}.html"
        found.append(Candidate(UrlRef(url, url_id(url), host), rng.random(), 0, 3, 12345, anchor="a page to read"))
    return found


def build(folder: Path, urls: int, hosts: int, batch: int = 5000) -> dict[str, float]:
    """Push `urls` URLs as a crawl would; what it took."""
    before = rss()
    shard = Shard(folder / "p00.db")
    frontier = frontier_of(Settings(), shard, Counter(), manners(Settings().fetch))
    rng = random.Random(1)
    began = time.monotonic()
    for start in range(0, urls, batch):
        found = candidates(start, min(batch, urls - start), hosts, rng)
        fresh = frontier.fresh([candidate.target.id for candidate in found])
        frontier.push([found[i] for i in fresh])
        shard.put("queued", msgspec.json.encode(frontier.queued))
        shard.commit()
    took = time.monotonic() - began
    figures = {"urls": len(frontier), "insert_us": took / urls * 1e6, "rss_mb": rss(), "frontier_mb": rss() - before}
    figures |= seen_test(frontier, urls, hosts)
    began = time.monotonic()
    popped = len(frontier.pop(2000, time.monotonic() + 1e6))
    figures["pop_us"] = (time.monotonic() - began) / popped * 1e6
    shard.put("queued", msgspec.json.encode(frontier.queued))
    shard.commit()
    shard.close()
    return figures


def seen_test(frontier, urls: int, hosts: int) -> dict[str, float]:
    """Percentiles of the seen test for the links of a batch of pages (500 ids), half of them new."""
    rng = np.random.default_rng(2)
    known = frontier.sieve._table[frontier.sieve._table != 0]
    times = []
    for _ in range(2000):
        ids = np.concatenate([rng.choice(known, 250), rng.integers(-(2**62), 2**62, 250)])
        began = time.perf_counter()
        frontier.sieve.contains(ids)
        times.append(time.perf_counter() - began)
    return {f"seen_p{p}_ms": float(np.percentile(times, p)) * 1e3 for p in (50, 99)}


def resume(folder: Path) -> dict[str, float]:
    """Open the shard again and take the first URLs."""
    before = rss()
    began = time.monotonic()
    shard = Shard(folder / "p00.db")
    frontier = frontier_of(Settings(), shard, shard.release_leases(0, 3), manners(Settings().fetch))
    urls = len(frontier)
    frontier.pop(16, time.monotonic() + 1e6)
    figures = {"resume_s": time.monotonic() - began, "resume_rss_mb": rss(), "resume_frontier_mb": rss() - before}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    shard.close()
    return figures | {"resume_peak_mb": peak, "resumed_urls": urls}


def apart(step: str, *args: str) -> dict[str, float]:
    """Run one step in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--step", step, *args], capture_output=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=10_000_000)
    parser.add_argument("--hosts", type=int, default=50_000)
    parser.add_argument("--quick", action="store_true", help="200,000 URLs on 1,000 hosts")
    parser.add_argument("--step", choices=["build", "resume"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    urls, hosts = (200_000, 1000) if given.quick else (given.urls, given.hosts)
    if given.step == "build":
        print(json.dumps(build(given.folder, urls, hosts)))
    elif given.step == "resume":
        print(json.dumps(resume(given.folder)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            size = ["--urls", str(urls), "--hosts", str(hosts), "--folder", folder]
            figures = apart("build", *size) | apart("resume", *size)
            figures["disk_mb"] = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
        given.o.parent.mkdir(parents=True, exist_ok=True)
        given.o.write_text(json.dumps(figures, indent=2))
        for name, value in figures.items():
            print(f"{name:20} {value:14,.2f}")


if __name__ == "__main__":
    main()
