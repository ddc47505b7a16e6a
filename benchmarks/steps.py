"""Where does a page's CPU time go? A real partition crawls a served web, with a stopwatch on every step.

Time is exclusive: what a step calls and is itself a step counts there, not here. What no stopwatch covers is the
loop. The stopwatches cost about 0.05 ms a page themselves.
"""

import argparse
import asyncio
import functools
import json
import shutil
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

from analecta.crawl import exchange, harvest, offers, pages
from analecta.crawl.messages import Order, Report, decode, encode
from analecta.crawl.partitions import Crawl
from analecta.crawl.recipe import partition
from analecta.crawl.transport import Pipes, pair
from analecta.fetch.http import Http
from analecta.fetch.multi import Multi
from analecta.fetch.transfer import Transfer
from analecta.frontier.queues import Frontier
from analecta.judge.centroid import Centroid
from analecta.parse import Parser
from analecta.parse.fingerprint import NearDuplicates
from analecta.settings import load
from analecta.store.archive import Archive
from analecta.store.library import Library
from analecta.store.shard import Shard
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.process import ServerProcess

WARC = webroot.WARC
OUT = Path(__file__).parent / "out" / "steps.json"
TOPICS = 30

STEPS: dict[str, list[tuple[Any, str]]] = {
    "fetch": [
        (Multi, "_ready"),
        (Multi, "_ring"),
        (Multi, "start"),
        (Http, "_aim"),
        (Transfer, "begin"),
        (Transfer, "head"),
        (Transfer, "wire"),
    ],
    "parse, links, text": [(Parser, "__call__")],
    "words": [(pages, "words")],
    "judge": [(Centroid, "judge_words")],
    "fingerprints": [(pages, "fingerprints"), (NearDuplicates, "sift")],
    "archive": [(Archive, "write"), (Archive, "flush")],
    "store": [(Shard, "add_page"), (Shard, "page_with_body"), (Shard, "settle"), (Shard, "commit")],
    "frontier": [(Frontier, name) for name in ("fresh", "push", "pop", "close", "raise_priority", "refuse")],
    "frontier, on disk": [(Shard, name) for name in ("add", "lease", "spill", "warm", "reprioritise")],
    "link policy": [(offers.Offers, "follow"), (offers.Offers, "admit")],
    "exchange": [(exchange.Exchange, "flush"), (exchange.Exchange, "take")],
    "pages to rows": [(pages.Pages, "_keep"), (pages.Pages, "take"), (harvest.Harvest, "take")],
}


class Stopwatch:
    """Exclusive CPU time by step."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._stack: list[tuple[str, float]] = []

    def around(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            now = time.thread_time()
            if self._stack:
                outer, since = self._stack[-1]
                self.spent[outer] += now - since
            self._stack.append((step, now))
            try:
                return function(*args, **kwargs)
            finally:
                now = time.thread_time()
                _, since = self._stack.pop()
                self.spent[step] += now - since
                if self._stack:
                    self._stack[-1] = (self._stack[-1][0], now)

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
        return ServerProcess("analecta.testweb.replay:make", {"paths": [str(WARC)]}), list(shortest.values())
    web = PocketWeb(6000)
    server = ServerProcess("analecta.testweb.pocket:PocketWeb", {"size": 6000}, moody=False)
    return server, [url for topic in web.topics for url in web.seeds(topic, 3)]


def make_library(folder: Path, seeds: list[str]) -> Library:
    """A library of 30 topics."""
    topics = "".join(f"[[topics]]\nname = 'topic {i}'\nseeds = {seeds[i::TOPICS]!r}\n" for i in range(TOPICS))
    hosts = sorted({url.split("/")[2] for url in seeds})
    return Library.create(folder, f"recipe = 'breadth-first'\n[scope]\nhosts = {hosts!r}\n{topics}")


def lead(ours: Pipes, model: str, pages: int, over: threading.Event) -> None:
    """A coordinator in a thread: one partition, one model, so many pages."""
    stop = ""
    while not over.is_set():
        ours.send(0, encode(Order(pages, model, stop=stop)))
        for message in map(decode, ours.receive()):
            if isinstance(message, Report) and (message.tally.pages >= pages or not message.queued + message.flying):
                stop = "now" if message.tally.pages and not message.flying else stop
        time.sleep(0.02)


def measure(count: int) -> dict[str, Any]:
    server, seeds = serve()
    with tempfile.TemporaryDirectory() as scratch, server:
        override = {"fetch": {"connect_to": server.address}, "stop": {"idle": 1}, "crawl": {"workers": 1}}
        first = make_library(Path(scratch) / "first", seeds)
        few = {**override, "stop": {"pages": len(seeds), "idle": 1}}
        Crawl(first, load(first.settings_path, few)).run()  # for its model
        library = make_library(Path(scratch) / "second", seeds)
        shutil.copytree(first.models, library.models, dirs_exist_ok=True)
        settings = load(library.settings_path, override)
        library.topic_names(tuple(topic.name for topic in settings.topics))
        ours, theirs = pair()
        over = threading.Event()
        leader = threading.Thread(target=lead, args=(Pipes({0: ours}), first.get("model"), count, over))
        watch = Stopwatch()
        watch.attach()

        async def crawl() -> tuple[int, int, float]:
            async with partition(settings, library, 0, 1, Pipes({-1: theirs})) as made:
                began = time.thread_time()
                await made.run()
                return made.harvest.tally.pages, made.harvest.tally.answers, time.thread_time() - began

        leader.start()
        try:
            kept, answers, total = asyncio.run(crawl())
        finally:
            over.set()
            leader.join()
            ours.close()
            theirs.close()
    steps = {step: watch.spent[step] / kept * 1e3 for step in STEPS}
    steps["loop"] = total / kept * 1e3 - sum(steps.values())
    return {"pages": kept, "answers": answers, "ms_per_page": total / kept * 1e3, "steps": steps}


def show(figures: dict[str, Any]) -> None:
    table = Table("step", "CPU ms a page", "share", title=f"{figures['pages']:,} pages, {figures['answers']:,} answers")
    for step, ms in figures["steps"].items():
        table.add_row(step, f"{ms:.3f}", f"{ms / figures['ms_per_page']:.0%}")
    table.add_row("all", f"{figures['ms_per_page']:.3f}", "")
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--quick", action="store_true", help="400 pages")
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    figures = measure(400 if given.quick else given.pages)
    given.o.parent.mkdir(parents=True, exist_ok=True)
    given.o.write_text(json.dumps(figures, indent=2))
    show(figures)


if __name__ == "__main__":
    main()
