"""How well communities are found (C6): graphs to find them in, global clustering, and both measured."""

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import msgspec
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from analecta.analyse.clustering import kmeans
from analecta.arrays import Floats, Ints
from analecta.communities.claims import OUT_LINK
from analecta.communities.growth import WT, Communities
from analecta.errors import UsageError
from analecta.testweb.community_web import CommunityWeb

# --- spanning --------------------------------------------------------------------------------------------------------
# The baselines of the paper (C6): global clustering by a minimum spanning tree, and the measures to compare by.


class CommunityQuality(msgspec.Struct, frozen=True):
    """Means of precision, recall and f-value (equations 6 to 8)."""

    precision: float
    recall: float
    f: float
    clusters: int


def spanning_clusters(src: Ints, dst: Ints, weight: Floats, sites: int, k: int) -> Ints:
    """The cluster of each site: the tree of heaviest links, cut at the lightest to have k.

    A tree is the same whichever way its links point, so of two directions the heavier one counts.
    """
    low, high = np.minimum(src, dst), np.maximum(src, dst)
    order = np.argsort(-weight, kind="stable")
    _, first = np.unique((low * sites + high)[order], return_index=True)
    kept = order[first]
    graph = coo_array((1 / weight[kept], (low[kept], high[kept])), shape=(sites, sites)).tocsr()
    tree = minimum_spanning_tree(graph).tocoo()
    stay = np.argsort(tree.data, kind="stable")[: max(sites - k, 0)]
    cut = coo_array((tree.data[stay], (tree.coords[0][stay], tree.coords[1][stay])), shape=(sites, sites))
    return np.asarray(connected_components(cut, directed=False)[1], np.int64)


def quality(true: Sequence[Collection[Hashable]], found: Sequence[Collection[Hashable]]) -> CommunityQuality:
    """Precision, recall and f-value of the found cluster that overlaps most with each true one (equations 2 to 8)."""
    owner = {site: place for place, cluster in enumerate(found) for site in cluster}
    rows = [_overlap(cluster, owner, found) for cluster in true]
    precision, recall, f = np.mean(rows or [(0.0, 0.0, 0.0)], axis=0).tolist()
    return CommunityQuality(precision, recall, f, len(found))


def _overlap(
    true: Collection[Hashable], owner: Mapping[Hashable, int], found: Sequence[Collection[Hashable]]
) -> tuple[float, float, float]:
    best = Counter(owner[site] for site in true if site in owner).most_common(1)
    if not best:
        return 0.0, 0.0, 0.0
    place, common = best[0]
    precision, recall = common / len(found[place]), common / len(true)
    return precision, recall, 2 * precision * recall / (precision + recall)


# --- communities graphs ----------------------------------------------------------------------------------------------
# Graphs of sites to find communities in: a made-up one, or a GML file such as that of the political blogs.


SITES = 11_000
_LARGEST = 100_000_000  # bytes of a GML file
_TOKEN = re.compile(r'"[^"]*"|\[|\]|[^\s\[\]"]+|"')


class LabelledSites(msgspec.Struct, frozen=True):
    """Links between sites, and the community of each site that has one."""

    name: str
    links: dict[str, dict[str, int]]
    truth: dict[str, int]


def open_graph(web: str, file: Path | None) -> LabelledSites:
    """The graph of a GML file, or of `villages[:SITES]`."""
    return read_gml(file) if file is not None else made_up(web)


def made_up(web: str, usual: int = SITES) -> LabelledSites:
    """The graph of `villages[:SITES]`, which is also called `pocket[:SITES]`."""
    kind, _, size = web.partition(":")
    if kind not in ("villages", "pocket") or (size and not (size.isdecimal() and int(size) >= 200)):
        raise UsageError(f"--web wants villages or villages:SITES with 200 sites or more, not {web!r}")
    sites = int(size or usual)
    villages = CommunityWeb(sites)
    return LabelledSites(f"villages:{sites}", villages.graph, villages.truth)


def read_gml(path: Path) -> LabelledSites:
    """A graph of nodes with `id`, `label` and `value` (which community) and edges from `source` to `target`."""
    try:
        if path.stat().st_size > _LARGEST:
            raise UsageError(f"{path} has more than {_LARGEST // 1_000_000} MB")
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    names, truth, links = dict[str, str](), dict[str, int](), dict[str, dict[str, int]]()
    records = list(_records(text))
    for kind, record in records:
        if kind == "node" and "id" in record:
            label = record.get("label", "").strip('"') or record["id"]
            name = names[record["id"]] = label if label not in links else f"{label} ({record['id']})"
            links[name] = {}
            if re.fullmatch(r"-?\d{1,9}", record.get("value", "").strip('"')):
                truth[name] = int(record["value"].strip('"'))
    for kind, record in records:
        ends = (names.get(record.get("source", "")), names.get(record.get("target", "")))
        if kind == "edge" and ends[0] and ends[1]:
            links[ends[0]][ends[1]] = links[ends[0]].get(ends[1], 0) + 1
    if not links:
        raise UsageError(f"{path} has no nodes: is it GML?")
    return LabelledSites(path.name, links, truth)


def _records(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The nodes and edges of a GML text as flat records; what is nested deeper is left out."""
    open_kinds, record, key = list[str](), dict[str, str](), ""
    for token in _TOKEN.findall(text):
        if token == "[":
            open_kinds.append(key)
            if key in ("node", "edge"):
                record = {}
            key = ""
        elif token == "]":
            kind = open_kinds.pop() if open_kinds else ""
            if kind in ("node", "edge"):
                yield kind, record
            key = ""
        elif key:
            if open_kinds and open_kinds[-1] in ("node", "edge"):
                record[key] = token
            key = ""
        else:
            key = token


# --- How well communities are found (C6): against the truth, against global clustering, and in what time -------------


THRESHOLDS = (0.002, 0.005, 0.01, 0.02, 0.05)
_WIDTH = 64  # numbers that stand for the links of a site in K-means
Step = Callable[[str, int, int], None]
Edges = tuple[Ints, Ints, Floats]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """Communities found from so many seeds, beside those of a spanning tree cut to as many, and of K-means."""

    seeds: int
    wt: float
    crawled: int
    sites: int
    clusters: int
    everywhere: int
    size: float
    against_mst: CommunityQuality
    against_truth: CommunityQuality
    mst_against_truth: CommunityQuality
    kmeans_against_truth: CommunityQuality | None
    purity: float
    seconds: float
    mst_seconds: float
    kmeans_seconds: float


class CommunityTrials(msgspec.Struct, frozen=True):
    """All trials of an evaluation: by number of seeds (figures 9 and 11), and by threshold (figure 10)."""

    graph: str
    sites: int
    links: int
    metric: str
    by_seeds: list[Trial]
    by_threshold: list[Trial]


def evaluate_communities(
    graph: LabelledSites,
    seeds: Sequence[int],
    wt: float = WT,
    metric: str = OUT_LINK,
    seed: int = 1,
    step: Step = lambda what, done, of: None,
) -> CommunityTrials:
    """Try all numbers of seeds, and all thresholds with the number that is nearest to 100."""
    if not graph.truth:
        raise UsageError("no site of this graph has a known community (value)")
    middle = min(seeds, key=lambda n: abs(n - 100))
    todo = [(n, wt) for n in seeds] + [(middle, threshold) for threshold in THRESHOLDS]
    done = []
    for place, (n, threshold) in enumerate(todo):
        step("Finding communities", place, len(todo))
        done.append(trial(graph, draw(graph, n, seed), threshold, metric, with_kmeans=place < len(seeds)))
    links = sum(map(len, graph.links.values()))
    return CommunityTrials(graph.name, len(graph.links), links, metric, done[: len(seeds)], done[len(seeds) :])


def draw(graph: LabelledSites, seeds: int, seed: int) -> list[str]:
    """Seeds drawn from the sites that link somewhere: as many of each community where there are few communities."""
    rng = Random(seed)
    known = sorted(site for site in graph.truth if graph.links.get(site))
    communities = sorted(set(graph.truth.values()))
    if seeds < len(communities) or len(communities) > 10:
        return rng.sample(known, min(seeds, len(known)))
    share = seeds // len(communities)
    of = {one: [site for site in known if graph.truth[site] == one] for one in communities}
    return [site for one in communities for site in rng.sample(of[one], min(share, len(of[one])))]


def trial(graph: LabelledSites, seeds: Sequence[str], wt: float, metric: str, with_kmeans: bool = True) -> Trial:
    """Find communities from these seeds as a crawl would, without one, and hold them against everything."""
    found = Communities(seeds, wt, metric)
    while waiting := found.next():
        for site in waiting:
            found.crawled(site, graph.links.get(site, {}))
    ours = [cluster.sites for cluster in found.clusters()]
    sites = [site for cluster in ours for site in cluster]
    true = planted(graph, seeds)
    edges = _edges(graph, sites)  # before the clock: the crawler has its links counted already too
    began = time.perf_counter()
    of = spanning_clusters(*edges, len(sites), len(ours))
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


def by_kmeans(edges: Edges, sites: Sequence[str], k: int) -> list[list[str]]:
    """The clusters of K-means over the links of sites, each a direction in a space of random axes."""
    src, dst, weight = edges
    rng = np.random.default_rng(1)
    links = coo_array((weight, (src, dst)), shape=(len(sites),) * 2).tocsr()
    rows = np.asarray((links + links.T) @ rng.standard_normal((len(sites), _WIDTH)), np.float32)
    rows /= np.maximum(np.sqrt(np.square(rows).sum(axis=1, keepdims=True)), 1e-12)
    return grouped(sites, kmeans(rows, k, rng, starts=2).of)


def purity(graph: LabelledSites, clusters: Sequence[Collection[str]]) -> float:
    """The share of sites that are of the community that most sites of their cluster are of."""
    counted = [Counter(graph.truth[site] for site in cluster if site in graph.truth) for cluster in clusters]
    every = sum(map(Counter.total, counted))
    return sum(max(one.values(), default=0) for one in counted) / every if every else 0.0


def planted(graph: LabelledSites, seeds: Sequence[str]) -> list[list[str]]:
    """The communities that have a seed: no others can be found."""
    wanted = {graph.truth[seed] for seed in seeds}
    found: dict[int, list[str]] = {one: [] for one in sorted(wanted)}
    for site, one in graph.truth.items():
        if one in wanted:
            found[one].append(site)
    return list(found.values())


def _edges(graph: LabelledSites, sites: Sequence[str]) -> Edges:
    """The links among these sites, by their places, with their outLink."""
    place = {site: i for i, site in enumerate(sites)}
    rows = [(i, j, n / total) for site, i in place.items() for row in (graph.links.get(site, {}),)
            for total in (sum(row.values()),) for other, n in row.items()
            if (j := place.get(other)) is not None and i != j]  # fmt: skip
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    return np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], np.float64)


def grouped(sites: Sequence[str], of: Ints) -> list[list[str]]:
    """The sites of each cluster."""
    found: dict[int, list[str]] = {}
    for site, cluster in zip(sites, of.tolist(), strict=True):
        found.setdefault(cluster, []).append(site)
    return list(found.values())
