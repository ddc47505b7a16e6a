"""What does a page cost, beside other crawlers? The same pages from the same server in the same run.

The others follow links and parse; ours also judges 30 topics, keeps text, fingerprints and verdicts, a frontier
that survives a kill, and a WARC archive. CPU is that of each crawler's whole process tree, the server's is not in
it; pages are counted by the server. Each runs at its best: no delay, no robots, no retries, no cache, no log.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import limit
import measure
import webroot
from rich.progress import track

from analecta.store.library import LibraryFolder

HERE = Path(__file__).parent
IN_FLIGHT = 48  # requests under way, for all that can
TOPICS = {"breadth-first": 30, "adaptive": 26}
MOST = 1.35  # times the CPU of breadth-first that the default recipe may cost
LEAST = 5.2  # times the CPU of the default recipe that Scrapy costs
SLOW = 600  # pages are enough for a crawler that fetches one at a time


@dataclass(frozen=True)
class Job:
    """One crawl to be done; `folder` is empty and the crawler's own."""

    web: webroot.Web
    seeds: list[str]
    pages: int
    folder: Path

    @property
    def proxy(self) -> str:
        """The server as an HTTP proxy: that is how the others reach hosts which no name server knows."""
        return f"http://{self.web.address}"


def spider(name: str) -> Callable[[Job], list[str]]:
    """A crawler that is a Python script in spiders/ and takes its job as JSON."""

    def command(job: Job) -> list[str]:
        order = {"seeds": job.seeds, "hosts": job.web.hosts, "pages": job.pages}
        order |= {"proxy": job.proxy, "in_flight": IN_FLIGHT}
        return [sys.executable, str(HERE / "spiders" / f"{name}.py"), json.dumps(order)]

    return command


def wget(job: Job) -> list[str]:
    """wget -r goes through one seed's web before the next, so it starts from a page that links to all of them."""
    start = job.web.folder / "www" / f"seeds-{len(job.seeds)}.test" / "index.html"
    start.parent.mkdir(exist_ok=True)
    start.write_text("".join(f'<a href="{seed}">seed</a>\n' for seed in job.seeds))
    scope = ["-H", "-D", ",".join(job.web.hosts), "--follow-tags=a,area"]  # no images, no style sheets
    quiet = ["-q", "-e", "robots=off", "-t", "1", "--no-cookies", "--no-hsts"]
    return [webroot.require("wget"), "-r", "-l", "inf", *scope, *quiet, f"http://{start.parent.name}/"]


def bare_loop(job: Job) -> list[str]:
    """The floor: see limit.py."""
    return limit.command(job.web, job.seeds, job.pages)


def ours(workers: int, recipe: str = "breadth-first") -> Callable[[Job], list[str]]:
    """Analecta, with a new library whose topics share out the seeds; breadth-first as the others, or by default."""

    def command(job: Job) -> list[str]:
        library, topics = job.folder / "library", TOPICS[recipe]
        lines = [f'recipe = "{recipe}"\n[scope]\nhosts = {json.dumps(job.web.hosts)}\n']
        for number in range(topics):
            seeds = job.seeds[number::topics]
            lines.append(f'[[topics]]\nname = "Topic {number + 1}"\nseeds = {json.dumps(seeds)}\n')
        LibraryFolder.create(library, "\n".join(lines))
        options = ["--pages", str(job.pages), "--workers", str(workers), "--delay", "0", "--json"]
        reach = ["--connect-to", job.web.address]
        return [sys.executable, "-m", "analecta", "crawl", str(library), *options, *reach]

    return command


@dataclass(frozen=True)
class Crawler:
    """A row of the table."""

    name: str
    command: Callable[[Job], list[str]]
    proxied: bool = True
    most: int = sys.maxsize  # pages, for those that are too slow for the full number
    stopped: bool = False  # it has no limit of its own: it is ended when the server has counted enough


OURS = "Analecta"
ADAPTIVE = f"{OURS}, adaptive"
CRAWLERS = (
    Crawler(OURS, ours(1), proxied=False),
    Crawler(ADAPTIVE, ours(1, "adaptive"), proxied=False),
    Crawler(f"{OURS}, 2 workers", ours(2), proxied=False),
    Crawler("bare loop", bare_loop, proxied=False),
    Crawler("wget -r", wget, stopped=True),
    Crawler("Crawlee (Parsel)", spider("with_crawlee")),
    Crawler("Scrapy", spider("with_scrapy")),
    Crawler("trafilatura", spider("with_trafilatura"), most=SLOW),
)


def measured(crawler: Crawler, web: webroot.Web, pages: int, seeds: list[str]) -> dict[str, Any]:
    """The figures of one run in a fresh folder; what a failed one printed is shown."""
    pages = min(pages, crawler.most)
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        job = Job(web, seeds, pages, folder)
        # https goes to the server too, which refuses it: a link out of the web ends there, not in a name server.
        env = {"http_proxy": job.proxy, "https_proxy": job.proxy, "no_proxy": ""} if crawler.proxied else {}
        said = folder / "output"
        stop_at = pages if crawler.stopped else 0
        figures = measure.crawl(web, crawler.command(job), env, folder, said, stop_at)
        if figures["pages"] < pages:
            figures["trouble"] = said.read_text(errors="replace")[-2000:]
    return figures


def contest(web: webroot.Web, crawlers: list[Crawler], pages: int, repeat: int) -> list[dict[str, Any]]:
    """Each crawler's best run; they take turns, so that a busy minute of the machine falls on all."""
    startup = {crawler.name: measured(crawler, web, 1, web.seeds[:1])["cpu_s"] for crawler in crawlers}
    runs: dict[str, list[dict[str, Any]]] = {crawler.name: [] for crawler in crawlers}
    turns = [crawler for _ in range(repeat) for crawler in crawlers]
    for crawler in track(turns, "crawling", transient=True):
        runs[crawler.name].append(measured(crawler, web, pages, web.seeds))
    rows = []
    for name, figures in runs.items():
        best = min(figures, key=lambda run: ("trouble" in run, run["ms_per_page"]))
        everything = [round(run["ms_per_page"], 3) for run in figures]
        rows.append({"name": name, **measure.net_of(best, startup[name]), "all_ms_per_page": everything})
    return rows


def compare(rows: list[dict[str, Any]]) -> None:
    """Add how many times ours each crawler costs, and how many times as fast ours is."""
    own = next((row for row in rows if row["name"] == OURS and row["pages"] and "trouble" not in row), None)
    if own is None:
        return
    for row in rows:
        row["cpu_to_ours"] = row["ms_per_page"] / own["ms_per_page"]
        row["speed_to_ours"] = row["pages_per_s"] / own["pages_per_s"]


def bounds(rows: list[dict[str, Any]]) -> list[str]:
    """Print how the default recipe stands to breadth-first and to Scrapy; what is out of bounds, in words."""
    cost = {row["name"]: row["ms_per_page"] for row in rows if row["pages"] and "trouble" not in row}
    broken = []
    for name, to, held, bound in (
        (ADAPTIVE, OURS, lambda ratio: ratio <= MOST, f"at most {MOST}"),
        ("Scrapy", ADAPTIVE, lambda ratio: ratio >= LEAST, f"at least {LEAST}"),
    ):
        if name in cost and to in cost:
            ratio = cost[name] / cost[to]
            words = f"{name} costs {ratio:.2f} times the CPU of {to} ({bound})"
            print(words)
            broken += [] if held(ratio) else [words]
    return broken


COLUMNS = {
    "crawler": "name:",
    "pages": "pages:,",
    "404 etc.": "other_answers:,",
    "kB/page": "kb_per_page:.1f",
    "CPU ms/page": "ms_per_page:.2f",
    "less startup": "net_ms_per_page:.2f",
    "CPU / ours": "cpu_to_ours:.2f",
    "pages/s": "pages_per_s:.0f",
    "speed / ours": "speed_to_ours:.2f",
    "server": "server_share:.2f",
}


def main() -> None:
    """Run the contest, print the table, keep the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=7500, help="pages for each crawler (%(default)s)")
    options.add_argument("--quick", action="store_true", help="600 pages, once")
    options.add_argument("--repeat", type=int, default=2, help="the best of so many runs is taken (%(default)s)")
    options.add_argument("--only", nargs="*", default=[], help="crawlers whose name contains one of these")
    options.add_argument("-o", "--output", type=Path, default=HERE / "out" / "peers.json")
    chosen = options.parse_args()
    pages, repeat = (600, 1) if chosen.quick else (chosen.pages, chosen.repeat)
    wanted = [c for c in CRAWLERS if not chosen.only or any(o.lower() in c.name.lower() for o in chosen.only)]
    machine = measure.machine()
    with webroot.serve(webroot.pages()) as web:
        rows = contest(web, wanted, pages, repeat)
        about = {"pages": web.pages, "hosts": len(web.hosts)}
    compare(rows)
    note = f"{about['pages']:,} pages of {about['hosts']} hosts, {pages:,} asked for, best of {repeat}"
    measure.show("What a page costs", [row for row in rows if "trouble" not in row], COLUMNS, note)
    measure.keep(chosen.output, {"machine": machine, "web": about, "asked": pages, "crawlers": rows})
    failed = [f"{row['name']} got {row['pages']} pages only:\n{row['trouble']}" for row in rows if "trouble" in row]
    broken = bounds(rows)
    failed += [] if chosen.quick else broken  # a short run is mostly start
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
