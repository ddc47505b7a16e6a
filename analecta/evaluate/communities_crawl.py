"""Whole crawls of a web with planted communities: what they find, and what that costs beside global clustering.

The web is served on this machine and crawled with the recipe `communities` into a library that is thrown away. Global
clustering starts from what that library stores: it has to count the links of all pages first, which a crawl has done.
"""

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import tomlkit
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from analecta.arrays import Floats, Ints
from analecta.communities.view import communities
from analecta.crawl.coordinator import CrawlStatus
from analecta.crawl.run import Crawl
from analecta.errors import ResourceError
from analecta.evaluate.communities import (
    CommunityQuality,
    LabelledSites,
    Step,
    draw,
    grouped,
    planted,
    quality,
    spanning_clusters,
)
from analecta.evaluate.report import in_markdown, write_all
from analecta.evaluate.summary import Rows
from analecta.settings.edit import first_settings
from analecta.settings.load import load
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder
from analecta.store.site_rules import Sites
from analecta.store.sites import count_links
from analecta.testweb.community_web import theme
from analecta.testweb.process import ServerProcess

SITES = 1100
_WORKERS = 2
_WEB = "analecta.testweb.community_web:CommunityWebServer"
_LEGEND = """P, R and f are precision, recall and f-value: of what was found against the truth, and against global
clustering (a spanning tree over the same sites, cut to as many clusters). `its clustering` is what the crawl spends on
communities while it goes on; `global` begins with the stored pages: links are counted and weighed, the tree is made and
cut. A crawl has its communities up to date after every site; global clustering would have to be made anew."""


class CrawlTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What one crawl found, and seconds: of the crawl, of its clustering, and of global clustering by steps."""

    web: str
    seeds: int
    crawled: int
    pages: int
    planted: int  # communities that have a seed
    clusters: int
    sites: int
    everywhere: int
    against_truth: CommunityQuality
    against_mst: CommunityQuality
    mst_against_truth: CommunityQuality
    crawl_seconds: float
    seconds: float
    global_seconds: float  # from the stored pages on
    tree_seconds: float  # of these: tree, cut and components
    scipy_seconds: float  # the minimum spanning tree alone


class SpanningTree(msgspec.Struct, frozen=True):
    """Global clustering of a library's sites."""

    clusters: list[list[str]]
    seconds: float
    tree_seconds: float
    scipy_seconds: float


def crawl_communities(
    graph: LabelledSites,
    seeds: int,
    rules: Mapping[str, Any] = {},
    seed: int = 1,
    step: Step = lambda what, done, of: None,
) -> CrawlTrial:
    """Crawl the web `villages:SITES` of a graph from so many seeds, and hold what is found against everything."""
    begin = draw(graph, seeds, seed)
    with tempfile.TemporaryDirectory() as folder:
        library = LibraryFolder.create(Path(folder) / "library", _settings(graph, begin, rules))
        began = time.perf_counter()
        ending = _crawl(library, int(graph.name.partition(":")[2]), step)
        took = time.perf_counter() - began
        step("Finding communities", 0, 0)
        found = communities(library)
        ours = [[member.site for member in one.members] for one in found.communities]
        tree = spanned(library, [site for cluster in ours for site in cluster], len(ours))
    true = planted(graph, begin)
    return CrawlTrial(
        web=graph.name,
        seeds=len(begin),
        crawled=found.crawled,
        pages=ending.tally.pages,
        planted=len(true),
        clusters=len(ours),
        sites=sum(map(len, ours)),
        everywhere=len(found.everywhere),
        against_truth=quality(true, ours),
        against_mst=quality(tree.clusters, ours),
        mst_against_truth=quality(true, tree.clusters),
        crawl_seconds=took,
        seconds=ending.tally.clustering,
        global_seconds=tree.seconds,
        tree_seconds=tree.tree_seconds,
        scipy_seconds=tree.scipy_seconds,
    )


def spanned(library: LibraryFolder, among: Sequence[str], k: int) -> SpanningTree:
    """Global clustering of these sites from the stored pages: links counted, weighed, a tree made and cut to k."""
    began = time.perf_counter()
    src, dst, weight = _weights(library, among)
    weighed = time.perf_counter()
    of = spanning_clusters(src, dst, weight, len(among), k)
    ended = time.perf_counter()
    return SpanningTree(
        grouped(among, of), ended - began, ended - weighed, _scipy_seconds(src, dst, weight, len(among))
    )


def _weights(library: LibraryFolder, among: Sequence[str]) -> tuple[Ints, Ints, Floats]:
    """The links among sites, by their places, with their outLink."""
    hosts = Sites()
    units, pairs, links = count_links(library, hosts)
    sites = {site: place for place, site in enumerate(among)}
    of = np.array([sites.setdefault(hosts.of(unit), len(sites)) for unit in units], np.int64)
    src, dst = of[pairs]
    apart = src != dst
    both, back = np.unique(src[apart] * len(sites) + dst[apart], return_inverse=True)  # with www and without are one
    n = np.bincount(back, links[apart])
    src, dst = np.divmod(both, len(sites))
    weight = n / np.bincount(src, n, len(sites))[src]
    inside = (src < len(among)) & (dst < len(among))
    return src[inside], dst[inside], weight[inside]


def _scipy_seconds(src: Ints, dst: Ints, weight: Floats, sites: int) -> float:
    graph = coo_array((1 / weight, (src, dst)), shape=(sites, sites)).tocsr()
    began = time.perf_counter()
    minimum_spanning_tree(graph)
    return time.perf_counter() - began


def _crawl(library: LibraryFolder, sites: int, step: Step) -> CrawlStatus:
    with ServerProcess(_WEB, {"sites": sites}) as server:
        asked = {"fetch": {"connect_to": server.address, "delay": 0}, "crawl": {"workers": _WORKERS}}
        crawl = Crawl(library, load(library.settings_path, asked))
        ending = crawl.run(lambda status: step(f"Crawling: {status.tally.pages:,} pages", 0, 0))
    if ending.code:
        raise ResourceError(f"the crawl ended early: {ending.reason}")
    return ending


def _settings(graph: LabelledSites, seeds: Sequence[str], rules: Mapping[str, Any]) -> str:
    """Those of a library that begins at the front pages of the seeds, by what their communities are about."""
    found: dict[str, list[str]] = {}
    for site in seeds:
        found.setdefault(theme(graph.truth[site]), []).append(f"http://{site}/")
    topics = [Topic(name, tuple(urls)) for name, urls in found.items()]
    return first_settings(topics, "communities") + tomlkit.dumps({"communities": dict(rules)})


def page(trials: Sequence[CrawlTrial]) -> str:
    """The same as a page of Markdown."""
    about = ", ".join(dict.fromkeys(one.web for one in trials))
    parts = [part for title, rows in tables(trials) for part in (f"## {title}", in_markdown(rows))]
    return "\n\n".join((f"# Communities found by crawls of {about}", _LEGEND, *parts)) + "\n"


def tables(trials: Sequence[CrawlTrial]) -> list[tuple[str, Rows]]:
    """All tables with their titles."""
    return [
        ("What was crawled and found", found_rows(trials)),
        ("How right it is", quality_rows(trials)),
        ("Seconds", time_rows(trials)),
        ("Global clustering's time as a multiple of the crawl's clustering", ratio_rows(trials)),
    ]


def found_rows(trials: Sequence[CrawlTrial]) -> Rows:
    """What was crawled and found."""
    rows = [[f"{n:,}" for n in (one.seeds, one.crawled, one.pages, one.planted, one.clusters)] for one in trials]
    return [["seeds", "sites crawled", "pages", "planted", "found"], *rows]


def quality_rows(trials: Sequence[CrawlTrial]) -> Rows:
    """Against the truth, and against global clustering."""
    rows = [["seeds", "truth: P", "R", "f", "tree: P", "R", "f", "tree to truth: f"]]
    for one in trials:
        figures = [f"{x:.3f}" for q in (one.against_truth, one.against_mst) for x in (q.precision, q.recall, q.f)]
        rows.append([f"{one.seeds:,}", *figures, f"{one.mst_against_truth.f:.3f}"])
    return rows


def time_rows(trials: Sequence[CrawlTrial]) -> Rows:
    """What it took."""
    rows = [["seeds", "crawl", "its clustering", "global", "its tree", "scipy's tree alone"]]
    for one in trials:
        seconds = [one.crawl_seconds, one.seconds, one.global_seconds, one.tree_seconds, one.scipy_seconds]
        rows.append([f"{one.seeds:,}", *(f"{s:.3f}" for s in seconds)])
    return rows


def ratio_rows(trials: Sequence[CrawlTrial]) -> Rows:
    """How many times as long global clustering takes."""
    rows = [["seeds", "made once, at the end", "made anew after every site"]]
    for one in trials:
        ratio = one.global_seconds / max(one.seconds, 1e-9)
        rows.append([f"{one.seeds:,}", f"{ratio:.2f}", f"{ratio * one.crawled:,.0f}"])
    return rows


def write(trials: Sequence[CrawlTrial], folder: Path) -> None:
    """Write the figures into a folder, for machines and to read."""
    write_all(folder, "communities-crawled", trials, page(trials))
