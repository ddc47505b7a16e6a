"""Hubs and authorities of each topic, at retraining (B12): the link graph of a library, read from its shards."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.analyse.hits import base_set, hits, settled, within

Numbers = npt.NDArray[np.int64]


class LinkGraph(msgspec.Struct):
    """The pages kept and the links between them; page i has id ids[i] and is on host hosts[i]."""

    ids: list[int]
    hosts: Numbers
    src: Numbers
    dst: Numbers


def link_graph(shards: Sequence[Any]) -> LinkGraph:
    """Read it; a link to a page that has moved, or that another stands for, leads to where that is."""
    query = "SELECT p.id, u.host, p.links FROM pages p JOIN urls u ON u.id = p.id WHERE p.duplicate_of IS NULL"
    rows = [(id, host * len(shards) + i, links) for i, s in enumerate(shards) for id, host, links in s.execute(query)]
    moves = [row for s in shards for row in s.execute("SELECT id, elsewhere FROM urls WHERE elsewhere IS NOT NULL")]
    ids, hosts = (np.array([row[i] for row in rows], np.int64) for i in (0, 1))
    links = [np.frombuffer(row[2] or b"", np.int64) for row in rows]
    src = np.repeat(np.arange(len(rows)), [len(of_page) for of_page in links])
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


def hubs_and_authorities(graph: LinkGraph, own: Iterable[int]) -> tuple[dict[int, float], dict[int, float]]:
    """Hub and authority scores around a topic's own pages (Bharat and Henzinger), by id."""
    start = np.flatnonzero(np.isin(graph.ids, list(own)))
    if not len(start):
        return {}, {}
    members = base_set(start, graph.src, graph.dst)
    src, dst = within(members, graph.src, graph.dst)
    scores = hits(src, dst, len(members), hosts=graph.hosts[members])
    named = [graph.ids[i] for i in members.tolist()]
    hubs, authorities = ({id: v for id, v in zip(named, s.tolist(), strict=True) if v > 0} for s in scores)
    return hubs, authorities
