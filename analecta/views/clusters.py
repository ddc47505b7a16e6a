"""Clusters of a topic's pages: found, described, and kept as a JSON file."""

import hashlib
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from scipy.sparse import csr_matrix

from analecta.analyse.clustering import (
    DIRECTIONS,
    Clusters,
    best_number,
    condensed,
    directions,
    impurities,
    kmeans,
    space,
)
from analecta.analyse.hits import LinkGraph, hubs_and_authorities_of, link_graph, links_between
from analecta.analyse.labels import labels_of, terms_of_clusters
from analecta.arrays import Bools, Float32s, Floats, Ints
from analecta.errors import UsageError
from analecta.files import whole_file
from analecta.store.library import LibraryFolder
from analecta.store.rows import PageRow
from analecta.store.snapshot import Snapshot
from analecta.text.display import many

ALL = "all"  # the name of what is of all topics


class ListedPage(msgspec.Struct, frozen=True):
    """A page in an analysis; `score` is its closeness to the centre, or its weight as hub or authority."""

    id: int
    url: str
    title: str
    host: str
    score: float


class ClusterPage(msgspec.Struct, frozen=True):
    """A page of a cluster, as it is drawn: `near` is its cosine to the centre."""

    id: int
    url: str
    title: str
    host: str
    near: float
    confidence: float


class PageCluster(msgspec.Struct, frozen=True):
    """Pages that speak of the same. `label` is unique in its analysis; `terms` are words and phrases, best first."""

    label: str
    terms: list[str]
    size: int  # pages
    near: float  # mean cosine of its pages to the centre
    hosts: list[tuple[str, int]]  # those with the most pages
    examples: list[ListedPage]
    hubs: list[ListedPage]
    authorities: list[ListedPage]
    members: list[ClusterPage]  # nearest first; all, or the nearest thousands


class TopicOrigin(msgspec.Struct, frozen=True):
    """What the topic was begun with: a paper, or pages that a person brought; `url` may be empty."""

    title: str
    url: str = ""


class TopicClusters(msgspec.Struct, frozen=True):
    """The clusters of a topic's pages (of all topics where `topic` is "")."""

    topic: str
    made_at: float
    pages: int  # that were looked at
    dropped: int  # the worst, left out of clusters
    vocabulary: int  # stems
    chosen: str  # how k came about: "given" or "auto"
    impurity: dict[int, float]  # by k, for those that were tried
    clusters: list[PageCluster]  # largest first
    similar: list[list[float]]  # cosine of the centres, cluster by cluster
    links: list[list[int]]  # links from the pages of one cluster to those of another
    origins: list[TopicOrigin] = []


def analysis_path(library: LibraryFolder, topic: str) -> Path:
    """Where the analysis of a topic is kept; a hash tells names apart that are no file names themselves."""
    name = re.sub(r"[^\w.-]+", "-", topic.casefold()).strip("-.")[:40]
    if topic and (name != topic or name == ALL):
        name += f"-{hashlib.sha256(topic.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return library.derived("analysis") / f"{name or ALL}.json"


def save(library: LibraryFolder, found: TopicClusters) -> Path:
    """Keep an analysis; the one before it is replaced."""
    path = analysis_path(library, found.topic)
    path.parent.mkdir(exist_ok=True)
    with whole_file(path) as out:
        out.write(msgspec.json.encode(found))
    return path


def load(library: LibraryFolder, topic: str) -> TopicClusters | None:
    """The analysis of a topic, if there is one."""
    path = analysis_path(library, topic)
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=TopicClusters)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path} cannot be read ({error}): delete it and run `analecta analyse` again") from error


# --- Pages that say nearly the same under the same title count once, in an analysis ----------------------------------
# Copies are out already; here go those that a crawl has to keep, such as two versions of one article on two sites.

_SIMHASH = (1 << 48) - 1  # the bits of a fingerprint that are of the text
_FAR = 10  # bits; pages that have nothing to do with each other differ in 24
_REACH = 50  # pages of one title that are compared: some sites have one title for all


def once(snapshot: Snapshot, pages: Iterable[PageRow]) -> list[PageRow]:
    """The pages, of those that are nearly the same the first."""
    sketches = snapshot.fingerprints()
    kept: list[PageRow] = []
    titled: dict[str, list[int]] = {}
    for page in pages:
        sketch = sketches[page.shard].get(page.seq, 0) & _SIMHASH
        title = "".join(filter(str.isalnum, page.title.casefold()))
        before = titled.setdefault(title, [])
        if not (title and sketch and any((sketch ^ other).bit_count() <= _FAR for other in before[-_REACH:])):
            kept.append(page)
            before.append(sketch)
    return kept


# --- Looks over the pages of a topic: clusters, their labels, their hubs and authorities (P7, P8, P9, B19) -----------

Doing = Callable[[str], None]

FEWEST = 20  # pages: of fewer a list tells more than clusters
WORST = 0.25  # of the pages, by confidence, are left out of clusters
SHOWN = 10  # examples, hubs, authorities and hosts of a cluster
MEMBERS = 2000  # of a cluster that are kept by name
_READ_FOR_LABELS = 200  # pages of a cluster, those nearest to its centre
_START_OF_TEXT = 10_000  # characters
_ORIGINS = 30


def survey(
    library: LibraryFolder,
    topic: str = "",
    clusters: int = 0,
    seed: int = 1,
    doing: Doing = lambda _: None,
    now: Callable[[], float] = time.time,
) -> TopicClusters:
    """The clusters of a topic's pages, or of all topics' for ""; with 0 the number of clusters is found out."""
    about = f"about {topic}" if topic else "on topic"
    rng = np.random.default_rng(seed)
    with library.snapshot() as snapshot:
        wanted = frozenset(snapshot.topic_numbers([topic] if topic else None))
        doing("Reading pages")
        pages = once(snapshot, (item for item in snapshot.shown_pages() if item.topic in wanted))
        if len(pages) < FEWEST:
            raise UsageError(
                f"{library.folder} has {many(len(pages), 'page')} {about}, too few to analyse: crawl {FEWEST}"
            )
        good = _without_worst(pages)
        seen = space(lambda numbers: [_text(snapshot, pages[i]) for i in numbers.tolist()], len(pages), good)
        own = np.flatnonzero(good & (np.diff(seen.rows.indptr) > 0))
        if not len(own):
            raise UsageError(
                f"the pages of {library.folder} {about} have no words in common: there is nothing to analyse"
            )
        doing("Finding clusters")
        found, impurity = _clusters(seen.rows[own], clusters, rng)
        k = len(found.centres)
        centres = _centres(seen.rows[own], found.of, k)
        cosines = seen.rows @ centres.T
        doing("Finding labels")
        terms = _named(snapshot, pages, own, found.of, cosines, k)
        doing("Following links")
        web = _web(snapshot, pages)
    of = np.full(len(pages), -1, np.int64)
    of[own] = found.of
    ranks = hubs_and_authorities_of(web, cosines)
    made = [
        _cluster(pages, np.flatnonzero(of == c), cosines[:, c], label, terms[c], ranks[c])
        for c, label in enumerate(labels_of(terms))
    ]
    return TopicClusters(
        topic=topic,
        made_at=now(),
        pages=len(pages),
        dropped=len(pages) - len(own),
        vocabulary=len(seen.names),
        chosen="given" if clusters else "auto",
        impurity=impurity,
        clusters=made,
        similar=[[round(value, 4) for value in row] for row in np.clip(centres @ centres.T, 0, 1).tolist()],
        links=links_between(web, of, k).tolist(),
        origins=_origins(library, topic, pages),
    )


def _without_worst(pages: Sequence[PageRow]) -> Bools:
    """Which pages are in clusters: all but the worst quarter; of equals the later ones go."""
    order = np.argsort([-page.confidence for page in pages], kind="stable")
    good = np.zeros(len(pages), bool)
    good[order[: len(pages) - int(WORST * len(pages))]] = True
    return good


def _text(snapshot: Snapshot, page: PageRow) -> str:
    return f"{page.title}\n{snapshot.text(page)}"


def _clusters(rows: csr_matrix, wanted: int, rng: np.random.Generator) -> tuple[Clusters, dict[int, float]]:
    """The clusters, largest first, and the impurity of the numbers that were tried."""
    tried = {} if wanted else impurities(rows, rng)
    k = wanted or best_number(tried)
    found = kmeans(condensed(rows, directions(rows, rng, max(DIRECTIONS, k + 4))), k, rng)
    order = np.argsort(-np.bincount(found.of, minlength=len(found.centres)), kind="stable")
    return Clusters(np.argsort(order)[found.of], found.near, found.centres[order]), tried


def _centres(rows: csr_matrix, of: Ints, k: int) -> Float32s:
    """The directions of the clusters in the space of stems."""
    which = csr_matrix((np.ones(len(of), np.float32), (of, np.arange(len(of)))), shape=(k, len(of)))
    sums = (which @ rows).toarray()
    return np.asarray(sums / np.maximum(np.sqrt(np.square(sums).sum(axis=1)), 1e-12)[:, None], np.float32)


def _named(
    snapshot: Snapshot, pages: Sequence[PageRow], own: Ints, of: Ints, cosines: Float32s, k: int
) -> list[list[str]]:
    """The terms of each cluster, from the pages in the midst of it."""
    nearest = [_best(own[of == c], cosines[:, c], _READ_FOR_LABELS) for c in range(k)]
    texts = [_text(snapshot, pages[i])[:_START_OF_TEXT] for some in nearest for i in some.tolist()]
    return terms_of_clusters(texts, np.repeat(np.arange(k), [len(some) for some in nearest]), k)


def _web(snapshot: Snapshot, pages: Sequence[PageRow]) -> LinkGraph:
    """The links between these pages; the worst of them too: lists of links are often among those."""
    graph = link_graph(*snapshot.link_arrays())
    place = {id: i for i, id in enumerate(graph.ids)}
    members = np.array([place[page.id] for page in pages], np.int64)
    return graph.among(members)


def _cluster(
    pages: Sequence[PageRow], own: Ints, near: Float32s, label: str, terms: list[str], ranks: tuple[Floats, Floats]
) -> PageCluster:
    hubs, authorities = (_best(np.flatnonzero(rank > 0), rank, SHOWN).tolist() for rank in ranks)
    inside = _best(own, near, len(own)).tolist()
    hosts = Counter(pages[i].host for i in inside)
    return PageCluster(
        label,
        terms,
        len(own),
        round(float(near[own].mean(dtype=np.float64)), 4),
        hosts.most_common(SHOWN),
        [_shown(pages[i], near[i]) for i in inside[:SHOWN]],
        [_shown(pages[i], ranks[0][i]) for i in hubs],
        [_shown(pages[i], ranks[1][i]) for i in authorities],
        [_member(pages[i], near[i]) for i in inside[:MEMBERS]],
    )


def _best(numbers: Ints, score: Floats | Float32s, most: int) -> Ints:
    """Of these pages those with the highest scores, best first; the earlier of equals."""
    return numbers[np.argsort(-score[numbers], kind="stable")[:most]]


def _shown(page: PageRow, score: np.floating[Any]) -> ListedPage:
    return ListedPage(page.id, page.url, page.title, page.host, round(float(score), 4))


def _member(page: PageRow, near: np.floating[Any]) -> ClusterPage:
    return ClusterPage(page.id, page.url, page.title, page.host, round(float(near), 4), round(page.confidence, 4))


def _origins(library: LibraryFolder, topic: str, pages: Sequence[PageRow]) -> list[TopicOrigin]:
    """What a person began with: the papers that the topic is named after, or all; else the example pages."""
    titles = [_title(path) for path in sorted(library.folder.glob("topics/paper-*.toml"))]
    papers = [TopicOrigin(title) for title in titles if title and topic in ("", title)]
    return papers or [TopicOrigin(page.name, page.url) for page in pages if page.example][:_ORIGINS]


def _title(path: Path) -> str:
    try:
        return str(tomllib.loads(path.read_text("utf-8")).get("title", ""))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
