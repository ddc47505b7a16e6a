"""The tree of topics, read from their names: "Science / Biology" lies below "Science" (B1, B4).

A node competes with its siblings and with a virtual child OTHERS of the same parent. A page goes down from the root,
at each level to the child that is surest of it, until none says yes. Where it stops is its topic; a node that is no
topic itself, being only a part of names, holds none.
"""

from collections.abc import Sequence

import numpy as np

from analecta.arrays import Bools, Floats, Ints
from analecta.model import BELOW, Verdict

ROOT = -1


class Tree:
    """Nodes are numbered so that parents come first; `topics[node]` is -1 for a node that is no topic."""

    def __init__(self, names: Sequence[str]) -> None:
        paths = [tuple(name.split(BELOW)) for name in names]
        order = sorted(range(len(paths)), key=lambda t: (len(paths[t]), t))
        self.topics: list[int] = []
        self.parents: list[int] = []
        self._above: list[list[int]] = []  # of each node itself and those above it
        self.nodes: dict[tuple[str, ...], int] = {}
        self.node_of = np.zeros(len(paths), np.int64)
        for topic in order:
            self.node_of[topic] = self._plant(paths[topic], topic)
        parents = np.array(self.parents, np.int64)
        self.children = {parent: np.flatnonzero(parents == parent) for parent in np.unique(parents).tolist()}
        self._paths = [self._above[node] for node in self.node_of.tolist()]

    def __len__(self) -> int:
        """How many nodes there are."""
        return len(self.topics)

    def inside(self, node: int, labels: Ints) -> Bools:
        """Which examples, given by their topics, are of this node or below it."""
        within = np.array([node in path for path in self._paths] + [False])  # the last is for -1
        return within[labels]

    def rivals(self, node: int, labels: Ints) -> Bools:
        """Which examples speak against this node: its siblings', its parent's own, and those of OTHERS."""
        parent = self.parents[node]
        near = np.ones(len(labels), np.bool_) if parent == ROOT else self.inside(parent, labels) | (labels < 0)
        return near & ~self.inside(node, labels)

    def of_topics(self, nodes: Floats) -> Floats:
        """Confidences of topics from those of nodes: a topic is as sure as the unsurest step that leads to it."""
        if all(len(path) == 1 for path in self._paths):
            return np.asarray(nodes[:, self.node_of])
        return np.stack([nodes[:, path].min(axis=1) for path in self._paths], axis=1)

    def verdicts(self, nodes: Floats, threshold: float, overlap: int = 1) -> list[Verdict]:
        """Where each page stops on its way down; with `overlap`, also what else it belongs to, no surer than that."""
        if not len(self):
            return [Verdict()] * len(nodes)
        topics = self.of_topics(nodes)
        stops, surest = self._descend(nodes, threshold).tolist(), topics.max(axis=1).tolist()
        return [
            Verdict(-1, sure) if stop == ROOT else self._verdict(stop, row, threshold, overlap)
            for stop, row, sure in zip(stops, topics, surest, strict=True)
        ]

    def _verdict(self, stop: int, row: Floats, threshold: float, overlap: int) -> Verdict:
        topic = self.topics[stop]
        if topic < 0:
            inside = [t for t, path in enumerate(self._paths) if stop in path]
            return Verdict(-1, float(row[inside].max()))
        sure = float(row[topic])
        if overlap == 1:
            return Verdict(topic, sure, ((topic, sure),))
        more = [t for t in np.flatnonzero(row >= threshold).tolist() if row[t] <= sure and not self._related(t, topic)]
        more.sort(key=lambda t: -row[t])
        return Verdict(topic, sure, ((topic, sure), *((t, float(row[t])) for t in more[: overlap - 1])))

    def _descend(self, nodes: Floats, threshold: float) -> Ints:
        stops = np.full(len(nodes), ROOT)
        for parent, below in self.children.items():
            here = np.flatnonzero(stops == parent)
            best = below[nodes[here][:, below].argmax(axis=1)]
            yes = nodes[here, best] >= threshold
            stops[here[yes]] = best[yes]
        return stops

    def _related(self, a: int, b: int) -> bool:
        return int(self.node_of[a]) in self._paths[b] or int(self.node_of[b]) in self._paths[a]

    def _plant(self, path: tuple[str, ...], topic: int) -> int:
        parent = ROOT
        for n in range(1, len(path)):
            parent = self.nodes[path[:n]] if path[:n] in self.nodes else self._add(path[:n], parent, -1)
        return self._add(path, parent, topic)

    def _add(self, path: tuple[str, ...], parent: int, topic: int) -> int:
        node = len(self.topics)
        self.topics.append(topic)
        self.parents.append(parent)
        self._above.append([node, *(self._above[parent] if parent != ROOT else ())])
        self.nodes.setdefault(path, node)
        return node
