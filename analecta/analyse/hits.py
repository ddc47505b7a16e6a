"""Hubs and authorities (B12, P8): of any graph, of a topic's pages, and of clusters."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from analecta.arrays import Float32s, Floats, Ints

_ABROAD = 0.1  # of the pages that have links to them: so many must have one from another host
_SETTLED = 1e-12  # a step that moves no score by more than this was the last


def hits(
    src: npt.ArrayLike,
    dst: npt.ArrayLike,
    nodes: int,
    weights: npt.ArrayLike | None = None,
    hosts: npt.ArrayLike | None = None,
    iterations: int = 100,
) -> tuple[Floats, Floats]:
    """Hub and authority scores of pages 0 to nodes - 1; each of length 1, or all 0 where no link counts.

    With `weights`, the relevance of each page (P8: its cosine to the centre of a cluster; below 0 counts as 0), a page
    speaks as loudly as it is relevant. With `hosts`, the number of each page's host, k links from one host to one page
    weigh 1/k for its authority, l links from one page to one host 1/l for its hub score, and links within a host are
    left out. A link that is there twice counts once; a page's link to itself does not count.
    """
    start, end = _distinct(src, dst, nodes)
    for_authorities = for_hubs = np.ones(len(start))
    if hosts is not None:
        host = np.unique(np.asarray(hosts, np.int64), return_inverse=True)[1]
        abroad = host[start] != host[end]
        start, end = start[abroad], end[abroad]
        for_authorities = 1.0 / _times(host[start] * nodes + end)
        for_hubs = 1.0 / _times(start * nodes + host[end])
    if weights is not None:
        loud = _loudness(weights)
        for_authorities, for_hubs = for_authorities * loud[start], for_hubs * loud[end]
    source, target = start.astype(np.int32), end.astype(np.int32)  # half the memory to walk through
    return _iterate(
        csr_array((for_hubs, (source, target)), (nodes, nodes)),
        csr_array((for_authorities, (target, source)), (nodes, nodes)),
        iterations,
    )


def one_voice(src: npt.ArrayLike, dst: npt.ArrayLike, hosts: npt.ArrayLike) -> Ints | None:
    """The hosts, where a host is to have one voice about a page (B12); None where hardly a link leaves its host.

    That remedy leaves out links within a host. In a library of one large site nothing would be left.
    """
    start, end, host = (np.asarray(given, np.int64) for given in (src, dst, hosts))
    linked, abroad = (np.unique(end[which]) for which in (start != end, host[start] != host[end]))
    return host if len(abroad) >= max(_ABROAD * len(linked), 1) else None


def _iterate(onward: csr_array, back: csr_array, iterations: int) -> tuple[Floats, Floats]:
    """Equations 4 and 5 of Panorama: the power method, from 1 for every page."""
    hubs = authorities = np.ones(onward.shape[0])
    for _ in range(iterations):
        before = hubs
        authorities = _unit(back @ hubs)
        hubs = _unit(onward @ authorities)
        if not len(hubs) or float(np.abs(hubs - before).max()) < _SETTLED:
            break
    return hubs, authorities


def base_set(start: npt.ArrayLike, src: npt.ArrayLike, dst: npt.ArrayLike, predecessors: int = 50) -> Ints:
    """The pages to analyse for a topic: its own, all that they link to, and some that link to them; in order.

    Of the pages that link to one of its own, the first `predecessors` by number come along: a page that the whole web
    links to must not bring the whole web in (Kleinberg takes 50).
    """
    own, src, dst = (np.asarray(array, np.int64) for array in (start, src, dst))
    nodes = int(max(array.max(initial=-1) for array in (own, src, dst))) + 1
    inside = np.zeros(nodes, bool)
    inside[own] = True
    after = dst[inside[src]]
    source, target = _distinct(src[inside[dst]], dst[inside[dst]], nodes)
    order = np.lexsort((source, target))
    source, target = source[order], target[order]
    place = np.arange(len(target)) - np.searchsorted(target, target)  # among those that link to the same page
    inside[after] = True
    inside[source[place < predecessors]] = True
    return np.flatnonzero(inside).astype(np.int64)


def settled(stands_at: npt.ArrayLike) -> Ints:
    """Where each page's redirects end: `stands_at[i]` is the page that i leads to, or i itself.

    `settled(stands_at)[dst]` are links that lead to the pages themselves. Pages of a ring lead to one another, and
    stay in it.
    """
    to = np.asarray(stands_at, np.int64)
    for _ in range(max(len(to), 1).bit_length()):  # each step doubles the redirects that are followed
        to = to[to]
    return to


def _distinct(src: npt.ArrayLike, dst: npt.ArrayLike, nodes: int) -> tuple[Ints, Ints]:
    """Each link once, none from a page to itself."""
    source, target = np.asarray(src, np.int64), np.asarray(dst, np.int64)
    keys = np.sort(source * nodes + target)
    keys = keys[np.diff(keys, prepend=-1) != 0]
    source, target = np.divmod(keys, max(nodes, 1))
    other = source != target
    return source[other], target[other]


def _times(keys: Ints) -> Floats:
    """How often each key is there."""
    _, place, count = np.unique(keys, return_inverse=True, return_counts=True)
    return count[place].astype(np.float64)


def _loudness(weights: npt.ArrayLike) -> Floats:
    """Weights from 0 to 1: only their ratios matter."""
    loud = np.maximum(np.nan_to_num(np.asarray(weights, np.float64), nan=0.0), 0.0)
    most = loud.max(initial=0.0)
    return loud / most if most else loud


def _unit(scores: Floats) -> Floats:
    """The same direction at length 1; the largest is made 1 first, so that very small scores do not vanish."""
    most = scores.max(initial=0.0)
    if not most:
        return np.zeros_like(scores)
    scores = scores / most
    # Not `scores @ scores`: BLAS would use all cores for it, and sum up in an order that depends on their number.
    return np.asarray(scores / np.sqrt(np.square(scores).sum()), np.float64)


# --- The graph of pages and links, and the hubs and authorities of a topic in it (B12) -------------------------------

PageLinks = tuple[int, int, bytes | None]  # id, number of its host, ids it links to as packed 64-bit numbers


class LinkGraph(msgspec.Struct):
    """The pages kept and the links between them; page i has id ids[i] and is on host hosts[i]."""

    ids: list[int]
    hosts: Ints
    src: Ints
    dst: Ints

    def among(self, members: Ints) -> "LinkGraph":
        """These pages and the links between them, each numbered by its place among them."""
        place = np.full(len(self.ids), -1, np.int64)
        place[members] = np.arange(len(members))
        src, dst = place[self.src], place[self.dst]
        both = (src >= 0) & (dst >= 0)
        return LinkGraph([self.ids[i] for i in members.tolist()], self.hosts[members], src[both], dst[both])


def link_graph(pages: Sequence[PageLinks], moves: Sequence[tuple[int, int]]) -> LinkGraph:
    """Build it; a link to a page that has moved, or that another stands for, leads to where that is."""
    ids, hosts = (np.array([page[i] for page in pages], np.int64) for i in (0, 1))
    links = [np.frombuffer(page[2] or b"", np.int64) for page in pages]
    src = np.repeat(np.arange(len(pages)), [len(of_page) for of_page in links])
    dst = _places(np.concatenate([*links, np.zeros(0, np.int64)]), ids, np.array(moves, np.int64).reshape(-1, 2))
    return LinkGraph(ids.tolist(), hosts, src[dst >= 0], dst[dst >= 0])


def _places(links: Ints, ids: Ints, moves: Ints) -> Ints:
    """Where among `ids` each link ends, after all moves; -1 for nowhere."""
    known = np.unique(np.concatenate([ids, moves.ravel()]))
    if not len(known):
        return np.full(len(links), -1, np.int64)
    stands_at, place = np.arange(len(known)), np.full(len(known), -1, np.int64)
    stands_at[np.searchsorted(known, moves[:, 0])] = np.searchsorted(known, moves[:, 1])
    place[np.searchsorted(known, ids)] = np.arange(len(ids))
    at = np.minimum(np.searchsorted(known, links), len(known) - 1)
    return np.where(known[at] == links, place[settled(stands_at)[at]], -1)


def hubs_and_authorities(
    graph: LinkGraph, own: Iterable[int], within_hosts: bool = False
) -> tuple[dict[int, float], dict[int, float]]:
    """Hub and authority scores around a topic's own pages (Bharat and Henzinger), by id.

    Links within a host do not count; with `within_hosts` they do where hardly one leaves its host.
    """
    start = np.flatnonzero(np.isin(graph.ids, list(own)))
    if not len(start):
        return {}, {}
    web = graph.among(base_set(start, graph.src, graph.dst))
    hosts = one_voice(web.src, web.dst, web.hosts) if within_hosts else web.hosts
    scores = hits(web.src, web.dst, len(web.ids), hosts=hosts)
    hubs, authorities = ({id: v for id, v in zip(web.ids, s.tolist(), strict=True) if v > 0} for s in scores)
    return hubs, authorities


# --- Links seen from clusters: the hubs and authorities of each (P8), and how clusters link to one another -----------


def hubs_and_authorities_of(web: LinkGraph, cosines: Float32s) -> list[tuple[Floats, Floats]]:
    """Hub and authority scores of all pages for each cluster; column c has the cosines of pages to its centre.

    A page speaks as loudly as it is nearer to this centre than to the mean of the centres: with plain cosines, which
    hardly differ on pages of one topic, the densest part of the web wins in all clusters. For the same reason its own
    scores count by that too: all pages on birds link to the one on animals, which is about more than birds.
    """
    hosts = one_voice(web.src, web.dst, web.hosts)
    loud = np.maximum(cosines - cosines.mean(axis=1, keepdims=True), 0) if cosines.shape[1] > 1 else cosines
    scores = [hits(web.src, web.dst, len(web.ids), weights=column, hosts=hosts) for column in loud.T]
    return [(_full(hubs * own), _full(good * own)) for (hubs, good), own in zip(scores, loud.T, strict=True)]


def links_between(web: LinkGraph, of: Ints, clusters: int) -> Ints:
    """How many links lead from pages of each cluster to pages of each other; `of` is -1 for pages of none."""
    source, target = (of[ends] for ends in _distinct(web.src, web.dst, len(web.ids)))
    counted = (source >= 0) & (target >= 0)
    keys = source[counted] * clusters + target[counted]
    return np.bincount(keys, minlength=clusters * clusters).reshape(clusters, clusters)


def _full(scores: Floats) -> Floats:
    """Scores from 0 to 1."""
    return scores / max(float(scores.max(initial=0.0)), 1e-300)
