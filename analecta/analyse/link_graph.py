"""The graph of pages and links, and the hubs and authorities of a topic in it (B12)."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.analyse.hits import base_set, hits, one_voice, settled, within

Numbers = npt.NDArray[np.int64]
PageLinks = tuple[int, int, bytes | None]  # id, number of its host, ids it links to as packed 64-bit numbers


class LinkGraph(msgspec.Struct):
    """The pages kept and the links between them; page i has id ids[i] and is on host hosts[i]."""

    ids: list[int]
    hosts: Numbers
    src: Numbers
    dst: Numbers


def link_graph(pages: Sequence[PageLinks], moves: Sequence[tuple[int, int]]) -> LinkGraph:
    """Build it; a link to a page that has moved, or that another stands for, leads to where that is."""
    ids, hosts = (np.array([page[i] for page in pages], np.int64) for i in (0, 1))
    links = [np.frombuffer(page[2] or b"", np.int64) for page in pages]
    src = np.repeat(np.arange(len(pages)), [len(of_page) for of_page in links])
    dst = _places(np.concatenate([*links, np.zeros(0, np.int64)]), ids, np.array(moves, np.int64).reshape(-1, 2))
    return LinkGraph(ids.tolist(), hosts, src[dst >= 0], dst[dst >= 0])


def _places(links: Numbers, ids: Numbers, moves: Numbers) -> Numbers:
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
    members = base_set(start, graph.src, graph.dst)
    src, dst = within(members, graph.src, graph.dst)
    hosts = graph.hosts[members]
    scores = hits(src, dst, len(members), hosts=one_voice(src, dst, hosts) if within_hosts else hosts)
    named = [graph.ids[i] for i in members.tolist()]
    hubs, authorities = ({id: v for id, v in zip(named, s.tolist(), strict=True) if v > 0} for s in scores)
    return hubs, authorities
