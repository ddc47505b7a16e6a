"""What is thought of the pages of an index: how surely each is on its topics, and how much its topic's hubs link to it.

This changes with every crawl, for nearly all pages, and is therefore kept beside the index and not inside it.
"""

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.analyse.hits import hubs_and_authorities, link_graph
from analecta.model import OTHERS
from analecta.store.links import page_links
from analecta.views.ranking import scaled

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
NAME = "standing.npz"


class Standing(msgspec.Struct, frozen=True):
    """Page i has ids[i], ascending; its digest tells whether it has changed; pair j: page pages[j] is on topics[j]."""

    ids: Numbers
    digests: Numbers
    first: Numbers  # the topic that comes first; OTHERS where it is on none
    confidence: Floats  # for it, or for the nearest
    authority: Floats  # 0 to 1, against the best of that topic
    pages: Numbers
    topics: Numbers
    sure: Floats

    def places(self, ids: Sequence[int]) -> Numbers:
        """Where these pages are; -1 for those that are not here."""
        wanted = np.array(ids, np.int64)
        if not len(self.ids):
            return np.full(len(wanted), -1, np.int64)
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return np.where(self.ids[at] == wanted, at, -1)

    def confidence_for(self, topics: Sequence[int]) -> Floats:
        """How sure it is that each page is on one of these topics; 0 where that was never said."""
        found = np.zeros(len(self.ids))
        pairs = np.isin(self.topics, topics)
        np.maximum.at(found, self.pages[pairs], self.sure[pairs])
        return found

    def save(self, path: Path) -> None:
        """Write it; whole or not at all."""
        part = path.with_name(f".{path.name}.part")
        with part.open("wb") as out:
            np.savez(out, **msgspec.structs.asdict(self))
        part.replace(path)


def load(path: Path) -> Standing:
    """What `save` wrote; OSError, KeyError or ValueError where it is not whole."""
    with np.load(path, allow_pickle=False) as kept:
        return Standing(*(kept[name] for name in Standing.__struct_fields__))


class Gathering:
    """Takes pages one by one; eight bytes a number."""

    def __init__(self) -> None:
        self._columns: dict[str, array[Any]] = {
            name: array("d" if name in ("confidence", "sure") else "q") for name in _GATHERED
        }

    def add(self, id: int, digest: int, topic: int, confidence: float, topics: Sequence[tuple[int, float]]) -> None:
        """Take one page."""
        here = self._columns
        for number, sure in topics:
            here["pages"].append(len(here["ids"]))
            here["topics"].append(number)
            here["sure"].append(sure)
        for name, value in zip(_GATHERED, (id, digest, topic, confidence), strict=False):
            here[name].append(value)

    def standing(self, shards: Sequence[sqlite3.Connection]) -> Standing:
        """All pages in order, with the authorities that the library's links give them."""
        found = {name: np.array(values) for name, values in self._columns.items()}
        order = np.argsort(found["ids"], kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        ids, first = found["ids"][order], found["first"][order]
        return Standing(
            ids, found["digests"][order], first, found["confidence"][order], _authorities(shards, ids, first),
            place[found["pages"]], found["topics"], found["sure"],
        )  # fmt: skip


_GATHERED = ("ids", "digests", "first", "confidence", "pages", "topics", "sure")


def _authorities(shards: Sequence[sqlite3.Connection], ids: Numbers, first: Numbers) -> Floats:
    """Of each page among those of its first topic, as in collections; pages on no topic have none."""
    own: dict[int, list[int]] = defaultdict(list)
    for id, topic in zip(ids.tolist(), first.tolist(), strict=True):
        if topic != OTHERS:
            own[topic].append(id)
    graph = link_graph(*page_links(shards))
    found: dict[int, float] = {}
    for pages in own.values():
        found |= scaled(hubs_and_authorities(graph, pages, within_hosts=True)[1], pages)
    return np.array([found.get(id, 0.0) for id in ids.tolist()])
