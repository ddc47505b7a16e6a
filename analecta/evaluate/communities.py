"""How well communities are found (C6): against the truth, against global clustering, and in what time."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from random import Random

import msgspec
import numpy as np
from scipy.sparse import coo_array

from analecta.analyse.clustering import kmeans
from analecta.communities.claims import OUT_LINK
from analecta.communities.growth import WT, Cluster, Communities
from analecta.errors import BadUse
from analecta.evaluate.communities_graphs import SiteGraph
from analecta.evaluate.spanning import Floats, Numbers, Quality, quality, spanning_clusters

THRESHOLDS = (0.002, 0.005, 0.01, 0.02, 0.05)
_WIDTH = 64  # numbers that stand for the links of a site in K-means
Step = Callable[[str, int, int], None]
Edges = tuple[Numbers, Numbers, Floats]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """Communities found from so many seeds, beside those of a spanning tree cut to as many, and of K-means."""

    seeds: int
    wt: float
    crawled: int
    sites: int
    clusters: int
    everywhere: int
    size: float
    against_mst: Quality
    against_truth: Quality
    mst_against_truth: Quality
    kmeans_against_truth: Quality | None
    purity: float
    seconds: float
    mst_seconds: float
    kmeans_seconds: float


class Found(msgspec.Struct, frozen=True):
    """All trials of an evaluation: by number of seeds (figures 9 and 11), and by threshold (figure 10)."""

    graph: str
    sites: int
    links: int
    metric: str
    by_seeds: list[Trial]
    by_threshold: list[Trial]


def evaluate_communities(
    graph: SiteGraph,
    seeds: Sequence[int],
    wt: float = WT,
    metric: str = OUT_LINK,
    seed: int = 1,
    step: Step = lambda what, done, of: None,
) -> Found:
    """Try all numbers of seeds, and all thresholds with the number that is nearest to 100."""
    if not graph.truth:
        raise BadUse("no site of this graph has a known community (value)")
    middle = min(seeds, key=lambda n: abs(n - 100))
    todo = [(n, wt) for n in seeds] + [(middle, threshold) for threshold in THRESHOLDS]
    done = []
    for place, (n, threshold) in enumerate(todo):
        step("Finding communities", place, len(todo))
        done.append(trial(graph, draw(graph, n, seed), threshold, metric, with_kmeans=place < len(seeds)))
    links = sum(map(len, graph.links.values()))
    return Found(graph.name, len(graph.links), links, metric, done[: len(seeds)], done[len(seeds) :])


def draw(graph: SiteGraph, seeds: int, seed: int) -> list[str]:
    """Seeds drawn from the sites that link somewhere: as many of each community where there are few communities."""
    rng = Random(seed)
    known = sorted(site for site in graph.truth if graph.links.get(site))
    communities = sorted(set(graph.truth.values()))
    if seeds < len(communities) or len(communities) > 10:
        return rng.sample(known, min(seeds, len(known)))
    share = seeds // len(communities)
    of = {one: [site for site in known if graph.truth[site] == one] for one in communities}
    return [site for one in communities for site in rng.sample(of[one], min(share, len(of[one])))]


def grow(graph: SiteGraph, seeds: Sequence[str], wt: float, metric: str) -> tuple[Communities, list[Cluster]]:
    """What a crawl would find, without one."""
    found = Communities(seeds, wt, metric)
    while sites := found.next():
        for site in sites:
            found.crawled(site, graph.links.get(site, {}))
    return found, found.clusters()


def trial(graph: SiteGraph, seeds: Sequence[str], wt: float, metric: str, with_kmeans: bool = True) -> Trial:
    """Find communities from these seeds and hold them against everything."""
    found, clusters = grow(graph, seeds, wt, metric)
    ours = [cluster.sites for cluster in clusters]
    sites = [site for cluster in ours for site in cluster]
    true = planted(graph, seeds)
    edges = _edges(graph, sites)  # before the clock: the crawler has its links counted already too
    began = time.perf_counter()
    of = spanning_clusters(*edges, len(sites), k=len(ours))
    mst_seconds = time.perf_counter() - began
    spanned = grouped(sites, of)
    began = time.perf_counter()
    means = by_kmeans(edges, sites, len(ours)) if with_kmeans else []
    kmeans_seconds = time.perf_counter() - began
    return Trial(
        seeds=len(seeds),
        wt=wt,
        crawled=len(found.links.out),
        sites=len(sites),
        clusters=len(ours),
        everywhere=len(found.left_out),
        size=len(sites) / max(len(ours), 1),
        against_mst=quality(spanned, ours),
        against_truth=quality(true, ours),
        mst_against_truth=quality(true, spanned),
        kmeans_against_truth=quality(true, means) if with_kmeans else None,
        purity=purity(graph, ours),
        seconds=found.seconds,
        mst_seconds=mst_seconds,
        kmeans_seconds=kmeans_seconds,
    )


def by_kmeans(edges: Edges, sites: Sequence[str], k: int, seed: int = 1) -> list[list[str]]:
    """The clusters of K-means over the links of sites, each a direction in a space of random axes."""
    src, dst, weight = edges
    rng = np.random.default_rng(seed)
    links = coo_array((weight, (src, dst)), shape=(len(sites),) * 2).tocsr()
    rows = np.asarray((links + links.T) @ rng.standard_normal((len(sites), _WIDTH)), np.float32)
    rows /= np.maximum(np.sqrt(np.square(rows).sum(axis=1, keepdims=True)), 1e-12)
    return grouped(sites, kmeans(rows, k, rng, starts=2).of)


def purity(graph: SiteGraph, clusters: Sequence[Collection[str]]) -> float:
    """The share of sites that are of the community that most sites of their cluster are of."""
    counted = [Counter(graph.truth[site] for site in cluster if site in graph.truth) for cluster in clusters]
    every = sum(map(Counter.total, counted))
    return sum(max(one.values(), default=0) for one in counted) / every if every else 0.0


def planted(graph: SiteGraph, seeds: Sequence[str]) -> list[list[str]]:
    """The communities that have a seed: no others can be found."""
    wanted = {graph.truth[seed] for seed in seeds}
    found: dict[int, list[str]] = {one: [] for one in sorted(wanted)}
    for site, one in graph.truth.items():
        if one in wanted:
            found[one].append(site)
    return list(found.values())


def _edges(graph: SiteGraph, sites: Sequence[str]) -> Edges:
    """The links among these sites, by their places, with their outLink."""
    place = {site: i for i, site in enumerate(sites)}
    rows = [(i, j, n / total) for site, i in place.items() for row in (graph.links.get(site, {}),)
            for total in (sum(row.values()),) for other, n in row.items()
            if (j := place.get(other)) is not None and i != j]  # fmt: skip
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    return np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], np.float64)


def grouped(sites: Sequence[str], of: Numbers) -> list[list[str]]:
    """The sites of each cluster."""
    found: dict[int, list[str]] = {}
    for site, cluster in zip(sites, of.tolist(), strict=True):
        found.setdefault(cluster, []).append(site)
    return list(found.values())
