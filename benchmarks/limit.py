"""How fast could it be? The bare loop: fetch, parse, links, words, linear models; no frontier, store or archive.

It has the libraries that the engine has and nothing of what makes a crawl last, so it is the floor that the
engine is held against. URLs come from memory, hosts in turn, and nothing is kept.
"""

import argparse
import gc
import json
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pycurl
from scipy.sparse import csr_array
from turbohtml import parse

from analecta.model import UrlRef
from analecta.text.tokens import words
from analecta.urls import Joiner, canonical

MODELS = 60
BATCH = 16  # pages judged at once
FEATURES = 1 << 16
IN_FLIGHT = 48
OUT = Path(__file__).parent / "out" / "limit.json"


class Rounds:
    """URLs in order of discovery, hosts in turn: then a host's connection is idle when its turn comes again.

    Plain breadth-first order asks one host 48 times at once; 2,000 connections instead of 100 doubled libcurl's
    share.
    """

    def __init__(self, targets: Iterable[UrlRef]) -> None:
        self.hosts: dict[str, deque[str]] = {}
        self.turns: deque[deque[str]] = deque()
        for target in targets:
            self.append(target)

    def append(self, target: UrlRef) -> None:
        queue = self.hosts.setdefault(target.host, deque())
        if not queue:
            self.turns.append(queue)
        queue.append(target.url)

    def popleft(self) -> str:
        queue = self.turns.popleft()
        url = queue.popleft()
        if queue:
            self.turns.append(queue)
        return url

    def __bool__(self) -> bool:
        return bool(self.turns)


def rows(texts: list[str]) -> csr_array:
    """Texts as rows of 1 + log(count), a column for each value of 16 bits of a word's hash."""
    batch = words(texts)
    cells = np.sort(batch.pages * FEATURES + (batch.hashes >> np.uint64(48)).astype(np.int64))
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    values = (1 + np.log(np.diff(first, append=len(cells)))).astype(np.float32)
    of, columns = np.divmod(cells[first], FEATURES)
    starts = np.searchsorted(of, np.arange(len(texts) + 1))
    return csr_array((values, columns, starts), shape=(len(texts), FEATURES))


class Loop:
    """The whole of it, in one process."""

    def __init__(
        self, seeds: list[str], hosts: list[str], pages: int, address: str, in_flight: int = IN_FLIGHT
    ) -> None:
        targets = [target for target in map(canonical, seeds) if target]
        self.hosts, self.budget = set(hosts), pages
        self.queue = Rounds(targets)
        self.seen = {target.id for target in targets}
        self.joiner = Joiner()
        self.models = np.random.default_rng(1).standard_normal((FEATURES, MODELS), np.float32)
        self.waiting: list[str] = []
        self.pages = self.titled = self.topical = 0
        self.multi = pycurl.CurlMulti()
        self.idle = [_handle(address) for _ in range(in_flight)]

    def run(self) -> None:
        """Fetch and look until the budget or the web is used up."""
        multi, idle, queue, in_flight = self.multi, self.idle, self.queue, 0
        while self.pages < self.budget and (queue or in_flight):
            while idle and queue and self.pages + in_flight < self.budget:
                curl = idle.pop()
                curl.url = queue.popleft()
                curl.setopt(pycurl.URL, curl.url)
                multi.add_handle(curl)
                in_flight += 1
            multi.perform()
            for curl in self._landed():
                in_flight -= 1
                multi.remove_handle(curl)
                body = b"".join(curl.chunks)
                curl.chunks.clear()
                idle.append(curl)
                if curl.getinfo(pycurl.RESPONSE_CODE) == 200:
                    self.look(curl.url, body)
            if in_flight:
                multi.select(1.0)
        self.judge()

    def _landed(self) -> Iterator[Any]:
        """The handles whose transfer has ended; a failed one has no status 200."""
        left = 1
        while left:
            left, good, bad = self.multi.info_read()
            yield from good
            yield from (curl for curl, _, _ in bad)

    def look(self, url: str, body: bytes) -> None:
        """Parse a page, queue its new links, have its text judged with the next batch."""
        self.pages += 1
        document = parse(body, positions=False)
        joined, seen, hosts, queue = self.joiner.base(url), self.seen, self.hosts, self.queue
        for href in dict.fromkeys([link.attr("href") for link in document.find_all("a")]):
            if href and href[0] != "#" and (target := joined(href)) and target.id not in seen:
                seen.add(target.id)
                if target.host in hosts:
                    queue.append(target)
        title = document.find("title")
        self.titled += title is not None and bool(title.text)
        self.waiting.append(document.to_text())
        if len(self.waiting) == BATCH:
            self.judge()

    def judge(self) -> None:
        """The models' scores for the pages that wait."""
        if self.waiting:
            scores = rows(self.waiting) @ self.models
            self.topical += int(np.count_nonzero(scores.max(axis=1) > 0))
            self.waiting.clear()


def _handle(address: str) -> Any:
    """A curl handle that writes into its own list and finds every host at one address."""
    curl = pycurl.Curl()
    curl.chunks = []
    curl.setopt(pycurl.WRITEFUNCTION, curl.chunks.append)
    curl.setopt(pycurl.CONNECT_TO, [f"::{address}"])
    curl.setopt(pycurl.PROXY, "")
    curl.setopt(pycurl.NOSIGNAL, 1)
    curl.setopt(pycurl.TIMEOUT, 30)
    return curl


def loop(job: dict[str, Any]) -> None:
    """The measured process."""
    gc.disable()  # no cycles are made here, and the collector would walk the seen URLs again and again
    bare = Loop(**job)
    bare.run()
    print(bare.pages, "pages,", len(bare.seen), "URLs seen,", bare.titled, "titles,", bare.topical, "topical")


def main() -> None:
    """Serve the web, run the loop in a process of its own, print and keep its figures."""
    import measure  # not at the top: what only the parent needs would count as the loop's startup
    import webroot

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=7500)
    options.add_argument("--quick", action="store_true", help="600 pages")
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("-o", "--output", type=Path, default=OUT)
    chosen = options.parse_args()
    pages, machine = 600 if chosen.quick else chosen.pages, measure.machine()
    with webroot.serve(webroot.pages()) as web:
        startup = measure.run(command(web, web.seeds[:1], 1)).cpu
        runs = [measure.crawl(web, command(web, web.seeds, pages)) for _ in range(chosen.repeat)]
    best = measure.net_of(min(runs, key=lambda run: run["ms_per_page"]), startup)
    columns = {"pages": "pages:,", "other answers": "other_answers:,", "kB/page": "kb_per_page:.1f"}
    columns |= {"CPU ms/page": "ms_per_page:.3f", "without startup": "net_ms_per_page:.3f"}
    columns |= {"pages/s": "pages_per_s:.0f", "server's share of a core": "server_share:.2f"}
    measure.show(f"The bare loop, {MODELS} models, best of {chosen.repeat}", [best], columns)
    measure.keep(chosen.output, {"machine": machine, "best": best, "runs": runs})


def command(web: Any, seeds: list[str], pages: int) -> list[str]:
    """The command line of the measured process."""
    job = {"seeds": seeds, "hosts": web.hosts, "pages": pages, "address": web.address}
    return [sys.executable, __file__, "--job", json.dumps(job)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        loop(json.loads(sys.argv[2]))
    else:
        main()
