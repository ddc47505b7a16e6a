"""How long does an analysis take? 100,000 generated pages clustered, labelled and ranked; HITS on a million links.

The pages are those of the pocket web, written straight into a shard: no crawl. With `--wiki LIB --labels FILE` the
clusters of a library crawled from Wikipedia for Schools are held against the third level of its subject tree.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from measure import keep, machine, show
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from analecta.analyse.hits import hits
from analecta.model import Candidate, UrlRef, UrlState
from analecta.store.library import LibraryFolder
from analecta.store.partition import PageRecord, Shard
from analecta.store.schema import pack_text
from analecta.testweb.plan import PageCard
from analecta.testweb.pocket import PocketWeb
from analecta.urls import canonical
from analecta.views.clusters import survey

OUT = Path(__file__).parent / "out" / "analysis.json"
PAGES, LINKS = 100_000, 1_000_000
BATCH = 2000
_TAG = re.compile(r"<[^>]*>")
_LINK = re.compile(r'<a href="([^"]*)"')


def target(url: str) -> UrlRef:
    found = canonical(url)
    assert found is not None
    return found


def cards(web: PocketWeb, count: int) -> Iterator[PageCard]:
    """So many pages that are about something."""
    return islice((card for card in map(web.plan.card, range(web.plan.count)) if card.topic), count)


def write(folder: Path, count: int) -> None:
    """A library of so many pages, with the links that they have."""
    web = PocketWeb(size=count * 5 // 4)
    library = LibraryFolder.create(folder, 'recipe = "adaptive"\n')
    library.topic_names(web.topics)
    library.put("partitions", 1)
    shard, rng = Shard(library.shard_path(0)), Random(1)
    for n, card in enumerate(cards(web, count), 1):
        own, page = target(card.url), web.writer.page(card)
        hrefs = [href if "://" in href else f"http://{card.site.host}{href}" for href in _LINK.findall(page)]
        links = np.array([found.id for href in hrefs if (found := canonical(href))], np.int64)
        shard.add([(n, Candidate(own, 0.5), UrlState.DONE, False, "")])
        shard.add_page(row(card, own, _TAG.sub("", page), links, web.topics, rng), UrlState.DONE, 0, 0)
        if n % BATCH == 0:
            shard.commit()
    shard.commit()
    shard.close()


def row(card: PageCard, own: UrlRef, text: str, links: Any, topics: tuple[str, ...], rng: Random) -> PageRecord:
    values = {
        "id": own.id, "kept_at": 1.0, "fetched_at": 1.0, "status": 200, "flags": 0, "title": card.title,
        "topic": topics.index(card.topic), "confidence": rng.random(), "links": links.tobytes(),
        "text": pack_text(text), "words": len(text.split()),
    }  # fmt: skip
    return PageRecord(**values)


def analyse(folder: Path, clusters: int) -> dict[str, Any]:
    """What an analysis of all pages costs, in this process."""
    steps: list[tuple[str, float]] = []
    began = time.monotonic()
    found = survey(LibraryFolder(folder), "", clusters, doing=lambda what: steps.append((what, time.process_time())))
    return {
        "pages": found.pages,
        "seconds": time.monotonic() - began,
        "cpu_s": time.process_time(),
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "clusters": len(found.clusters),
        "links": int(np.sum(found.links)),
        "labels": [cluster.label for cluster in found.clusters],
        "cpu_s_before": {what: round(at, 1) for what, at in steps},
        "impurity": found.impurity,
    }


def hits_alone(links: int) -> dict[str, Any]:
    """HITS, 100 iterations, on a random web that does not settle earlier."""
    rng = np.random.default_rng(1)
    nodes = links // 10
    src, dst = rng.integers(0, nodes, links), (nodes * rng.random(links) ** 3).astype(np.int64)
    began = time.monotonic()
    hits(src, dst, nodes, weights=rng.random(nodes), hosts=rng.integers(0, nodes // 20, nodes), iterations=100)
    return {"links": links, "seconds": time.monotonic() - began}


def against_subjects(folder: Path, labels: Path, topic: str, clusters: int, seeds: int = 3) -> list[dict[str, Any]]:
    """Purity and NMI against the third level, of the pages that have one; for several seeds."""
    subjects = dict(line.rstrip("\n").split("\t") for line in labels.open(encoding="utf-8"))
    rows = []
    for seed in range(1, seeds + 1):
        found = survey(LibraryFolder(folder), topic, clusters, seed)
        pairs = [
            (number, subjects[page.url].split("|")[0].split(".")[2])
            for number, cluster in enumerate(found.clusters)
            for page in cluster.members
            if subjects.get(page.url, "").count(".") >= 2
        ]
        of, classes = zip(*pairs, strict=True)
        table = contingency_matrix(of, classes)
        rows.append({
            "seed": seed, "clusters": len(found.clusters), "pages": len(pairs), "subjects": len(set(classes)),
            "purity": float(table.max(axis=1).sum() / table.sum()), "nmi": normalized_mutual_info_score(of, classes),
            "labels": [cluster.label for cluster in found.clusters],
        })  # fmt: skip
    return rows


def apart(*args: str, threads: int = 1) -> dict[str, Any]:
    """Run one step in a process of its own."""
    env = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, __file__, *args], stdout=subprocess.PIPE, check=True, env=env)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5,000 pages, 100,000 links")
    parser.add_argument("--clusters", type=int, default=0, help="0 finds out how many")
    parser.add_argument("--threads", type=int, nargs="+", default=[1], help="of BLAS; the command has 1")
    parser.add_argument("--wiki", type=Path, help="a library crawled from Wikipedia for Schools")
    parser.add_argument("--labels", type=Path, help="its subjects: URL, tab, subject")
    parser.add_argument("--topic", default="Biology")
    parser.add_argument("--step", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    if given.step:
        print(json.dumps(analyse(given.step, given.clusters)))
        return
    figures: dict[str, Any] = {"machine": machine()}
    if given.wiki:
        figures["wiki"] = against_subjects(given.wiki, given.labels, given.topic, given.clusters)
        columns = {"Seed": "seed", "Clusters": "clusters", "Pages": "pages", "Purity": "purity:.3f", "NMI": "nmi:.3f"}
        show(f"{given.topic} against the subject tree", figures["wiki"], columns)
    else:
        pages, links = (PAGES // 20, LINKS // 10) if given.quick else (PAGES, LINKS)
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "lib", pages)
            step = ["--step", f"{folder}/lib", "--clusters", str(given.clusters)]
            figures["survey"] = [{"threads": n, **apart(*step, threads=n)} for n in given.threads]
        figures["hits"] = [hits_alone(links)]
        columns = {"BLAS threads": "threads", "Pages": "pages", "Clusters": "clusters", "Seconds": "seconds:.1f"}
        columns |= {"CPU s": "cpu_s:.1f", "Peak GB": "peak_gb:.2f"}
        show("Clusters, labels, hubs and authorities", figures["survey"], columns)
        show("HITS, 100 iterations", figures["hits"], {"Links": "links", "Seconds": "seconds:.2f"})
    keep(given.o, figures)


if __name__ == "__main__":
    main()
