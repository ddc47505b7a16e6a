"""Hubs and authorities of each topic, at retraining (B12): the link graph of a library, read from its shards."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.analyse.hits import base_set, hits, within

_REDIRECTS = 25  # in a row


class LinkGraph(msgspec.Struct):
    """The pages kept and the links between them; page i has id ids[i] and is on host hosts[i]."""

    ids: list[int]
    hosts: npt.NDArray[np.int64]
    src: npt.NDArray[np.int64]
    dst: npt.NDArray[np.int64]


def link_graph(shards: Sequence[Any]) -> LinkGraph:
    """Read it; a link to a page that has moved, or that another stands for, leads to where that is."""
    query = "SELECT p.id, u.host, p.links FROM pages p JOIN urls u ON u.id = p.id WHERE p.duplicate_of IS NULL"
    rows = [(id, host * len(shards) + i, links) for i, s in enumerate(shards) for id, host, links in s.execute(query)]
    moved = dict(row for s in shards for row in s.execute("SELECT id, elsewhere FROM urls WHERE elsewhere IS NOT NULL"))
    place = {row[0]: i for i, row in enumerate(rows)}
    pairs = [
        (i, to)
        for i, (_, _, links) in enumerate(rows)
        for id in np.frombuffer(links or b"", np.int64).tolist()
        if (to := place.get(_end(id, moved))) is not None
    ]
    src, dst = np.array(pairs, np.int64).reshape(-1, 2).T
    return LinkGraph([row[0] for row in rows], np.array([row[1] for row in rows], np.int64), src, dst)


def hubs_and_authorities(graph: LinkGraph, own: Iterable[int]) -> tuple[dict[int, float], dict[int, float]]:
    """Hub and authority scores around a topic's own pages (Bharat and Henzinger), by id."""
    place = {id: i for i, id in enumerate(graph.ids)}
    start = [place[id] for id in own if id in place]
    if not start:
        return {}, {}
    members = base_set(start, graph.src, graph.dst)
    src, dst = within(members, graph.src, graph.dst)
    scores = hits(src, dst, len(members), hosts=graph.hosts[members])
    named = [graph.ids[i] for i in members.tolist()]
    hubs, authorities = ({id: v for id, v in zip(named, s.tolist(), strict=True) if v > 0} for s in scores)
    return hubs, authorities


def _end(id: int, moved: Mapping[int, int]) -> int:
    for _ in range(_REDIRECTS):
        if id not in moved:
            return id
        id = moved[id]
    return id
