"""Communities found from different seeds that are one: those with enough links between them (C5).

Pairs merge in the order of the share that the links between them have among all links of the smaller one. Two parts
of one community share half of them or more; two communities a few in a hundred. Where communities are few and large,
that many could also be chance: so there must be at least half as many as if everybody linked to anybody.
"""

import heapq
from collections.abc import Mapping

import msgspec

Pair = tuple[int, int]
OUTSIDE = -1  # stands for all sites that belong nowhere yet
ENOUGH = 0.15  # of the links of the smaller one
CHANCE = 0.5  # of what would be between them by chance


class Merge(msgspec.Struct, frozen=True):
    """Two communities that became one, and why; the second went into the first."""

    into: int
    other: int
    links: int
    share: float

    @property
    def reason(self) -> str:
        """The figures in words."""
        return f"{self.links:,} links between them, {self.share:.0%} of all links of the smaller one".replace("%", " %")


def merged(between: Mapping[Pair, int], enough: float = ENOUGH) -> list[Merge]:
    """What merges, given how many links lead from each community to each (also to itself, and outside)."""
    near, volume = _neighbours(between)
    every = sum(volume.values())
    heap = [
        _entry(a, b, n, volume)
        for a, others in near.items()
        for b, n in others.items()
        if a < b and n >= enough * min(volume[a], volume[b])
    ]
    heapq.heapify(heap)
    done = list[Merge]()
    while heap:
        _, a, b, links, smaller = heapq.heappop(heap)
        if near.get(a, {}).get(b) != links or min(volume[a], volume[b]) != smaller:
            continue  # one of them has merged since
        if links * every < CHANCE * volume[a] * volume[b]:
            continue
        done.append(Merge(a, b, links, links / smaller))
        _unite(a, b, near, volume)
        for other, n in near[a].items():
            if n >= enough * min(volume[a], volume[other]):
                heapq.heappush(heap, _entry(min(a, other), max(a, other), n, volume))
    return done


def roots(merges: list[Merge]) -> dict[int, int]:
    """Into which community each of those that merged went in the end."""
    to = dict[int, int]()
    for merge in reversed(merges):
        to[merge.other] = to.get(merge.into, merge.into)
    return to


def _neighbours(between: Mapping[Pair, int]) -> tuple[dict[int, dict[int, int]], dict[int, int]]:
    """Links between each two in either direction, and all links of each: those within have two ends in it."""
    near, volume = dict[int, dict[int, int]](), dict[int, int]()
    for (a, b), n in between.items():
        volume[a] = volume.get(a, 0) + n
        volume[b] = volume.get(b, 0) + n
        if a != b and b != OUTSIDE:
            for one, other in ((a, b), (b, a)):
                row = near.setdefault(one, {})
                row[other] = row.get(other, 0) + n
    return near, volume


def _entry(a: int, b: int, links: int, volume: Mapping[int, int]) -> tuple[float, int, int, int, int]:
    smaller = min(volume[a], volume[b])
    return -links / smaller, a, b, links, smaller


def _unite(a: int, b: int, near: dict[int, dict[int, int]], volume: dict[int, int]) -> None:
    """Let b go into a."""
    volume[a] += volume.pop(b)
    for other, n in near.pop(b).items():
        near[other].pop(b)
        if other != a:
            near[a][other] = near[other][a] = near[a].get(other, 0) + n
