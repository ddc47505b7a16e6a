"""Where does a page's CPU time go? A real partition crawls a served web, with a stopwatch on every step.

Time is exclusive: what a step calls and is itself a step counts there, not here. What no stopwatch covers is the
loop. The stopwatches cost about 0.05 ms a page themselves.
"""

import argparse
import functools
import json
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import webroot
from rich.console import Console
from rich.table import Table

from analecta.crawl import discovery, ingest, outcomes, page_judge
from analecta.crawl.local import crawl_here
from analecta.crawl.processes import exchange
from analecta.fetch.http import Http
from analecta.fetch.multi import Multi
from analecta.fetch.transfer import Transfer
from analecta.frontier.frontier import Frontier
from analecta.judge.centroid import Centroid
from analecta.judge.link_judge import LinkJudge
from analecta.judge.profile import Profile
from analecta.learning.trainer import Trainer
from analecta.parse import Parser
from analecta.settings.load import load
from analecta.store.archive import Archive
from analecta.store.library import LibraryFolder
from analecta.store.partition import Shard
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.process import ServerProcess
from analecta.text.fingerprint import NearDuplicates

WARC = webroot.WARC
OUT = Path(__file__).parent / "out" / "steps.json"
RUNS = (("breadth-first", 30), ("adaptive", 1), ("adaptive", 26))

STEPS: dict[str, list[tuple[Any, str]]] = {
    "fetch": [
        (Multi, "_ready"),
        (Multi, "_ring"),
        (Multi, "start"),
        (Http, "_aim"),
        (Transfer, "begin"),
        (Transfer, "head"),
        (Transfer, "take_wire"),
    ],
    "parse, links, text": [(Parser, "__call__")],
    "words": [(ingest, "words")],
    "judge": [(Centroid, "judge_words"), (Profile, "judge_words")],
    "fingerprints": [(ingest, "fingerprints"), (NearDuplicates, "sift")],
    "archive": [(Archive, "write"), (Archive, "flush")],
    "store": [(Shard, "add_page"), (Shard, "page_with_body"), (Shard, "settle"), (Shard, "commit")],
    "link judge": [(LinkJudge, "see"), (LinkJudge, "refresh"), (LinkJudge, "worth"), (Frontier, "rescore")],
    "judging again": [(page_judge.PageJudge, "adopt")],
    "learning": [(Trainer, "first"), (Trainer, "again")],
    "frontier": [(Frontier, name) for name in ("fresh", "push", "pop", "close", "raise_priority", "refuse")],
    "frontier, on disk": [(Shard, name) for name in ("add", "lease", "spill", "warm", "reprioritise")],
    "link policy": [(discovery.LinkDiscovery, "follow"), (discovery.LinkDiscovery, "admit")],
    "exchange": [(exchange.LinkExchange, "flush"), (exchange.LinkExchange, "take")],
    "pages to rows": [(ingest.Ingest, "_keep"), (ingest.Ingest, "keep"), (outcomes.Outcomes, "settle")],
}


class Stopwatch:
    """Exclusive CPU time by step."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._local = threading.local()  # learning runs in a thread of its own

    def around(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            now = time.thread_time()
            stack = self._local.__dict__.setdefault("stack", [])
            if stack:
                outer, since = stack[-1]
                self.spent[outer] += now - since
            stack.append((step, now))
            try:
                return function(*args, **kwargs)
            finally:
                now = time.thread_time()
                _, since = stack.pop()
                self.spent[step] += now - since
                if stack:
                    stack[-1] = (stack[-1][0], now)

        return timed

    def attach(self) -> None:
        for step, places in STEPS.items():
            for owner, name in places:
                setattr(owner, name, self.around(step, getattr(owner, name)))


def serve() -> tuple[ServerProcess, list[str]]:
    """The real pages over HTTP with one seed a host, or the pocket web where they are missing."""
    if WARC.exists():
        shortest: dict[str, str] = {}
        for url, _ in webroot.warc_pages(WARC):
            host = url.split("/")[2]
            shortest[host] = min(shortest.get(host, url), url, key=lambda u: (len(u), u))
        return ServerProcess("analecta.testweb.webs:make", {"paths": [str(WARC)]}), list(shortest.values())
    web = PocketWeb(6000)
    server = ServerProcess("analecta.testweb.pocket:PocketWeb", {"size": 6000}, moody=False)
    return server, [url for topic in web.topics for url in web.seeds(topic, 3)]


def make_library(folder: Path, seeds: list[str], recipe: str, topics: int) -> LibraryFolder:
    """A library of so many topics."""
    tables = "".join(f"[[topics]]\nname = 'topic {i}'\nseeds = {seeds[i::topics]!r}\n" for i in range(topics))
    hosts = sorted({url.split("/")[2] for url in seeds})
    return LibraryFolder.create(folder, f"recipe = '{recipe}'\n[scope]\nhosts = {hosts!r}\n{tables}")


def measure(count: int, recipe: str, topics: int, watch: Stopwatch) -> dict[str, Any]:
    """One crawl in this process: the partition with its coordinator, and training beside it."""
    server, seeds = serve()
    with tempfile.TemporaryDirectory() as scratch, server:
        library = make_library(Path(scratch) / "library", seeds, recipe, topics)
        asked = {"fetch": {"connect_to": server.address}, "stop": {"pages": count, "idle": 1}, "crawl": {"workers": 1}}
        watch.spent.clear()
        began = time.process_time()
        tally = crawl_here(library, load(library.settings_path, asked)).tally
        total = time.process_time() - began
    steps = {step: watch.spent[step] / tally.pages * 1e3 for step in STEPS}
    steps["loop, coordinator"] = total / tally.pages * 1e3 - sum(steps.values())
    named = {"recipe": recipe, "topics": topics, "pages": tally.pages, "answers": tally.answers}
    return named | {"ms_per_page": total / tally.pages * 1e3, "steps": steps}


def show(runs: list[dict[str, Any]]) -> None:
    titles = [f"{run['recipe']}, {run['topics']} topics" for run in runs]
    table = Table("CPU ms a page", *titles, title=f"{runs[0]['pages']:,} pages")
    for step in runs[0]["steps"]:
        table.add_row(
            step, *(f"{run['steps'][step]:.3f} {run['steps'][step] / run['ms_per_page']:4.0%}" for run in runs)
        )
    table.add_row("all", *(f"{run['ms_per_page']:.3f}" for run in runs))
    table.add_row("against the first", *(f"{run['ms_per_page'] / runs[0]['ms_per_page']:.2f} x" for run in runs))
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000, help="all there are: then every crawl has the same pages")
    parser.add_argument("--quick", action="store_true", help="400 pages")
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    count = 400 if given.quick else given.pages
    watch = Stopwatch()
    watch.attach()
    runs = [measure(count, *which, watch) for which in RUNS]
    given.o.parent.mkdir(parents=True, exist_ok=True)
    given.o.write_text(json.dumps(runs, indent=2))
    show(runs)


if __name__ == "__main__":
    main()
