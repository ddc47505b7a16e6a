"""Pages kept last, judged again by a new model; and what waits, valued again."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.frontier.policy import Focus
from analecta.frontier.traps import DEMOTED
from analecta.model import Verdict
from analecta.protocols import Judge
from analecta.store.sqlite import Connection
from analecta.store.urls import Source, Waiting, host_names, sources, waiting
from analecta.text.tokens import Bags, Words

Hashes = npt.NDArray[np.uint64]
Bag = tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]  # buckets of a page's words, and how often each is met
_NONE = np.zeros(0, np.uint64)
_CHUNK = 128


class Remembered(msgspec.Struct):
    """A page: its row, its URL's id, its words, and those of links to it and of pages that link to it, if needed."""

    seq: int
    id: int
    hashes: Hashes
    anchors: Hashes = _NONE
    neighbours: Hashes = _NONE
    hidden: bool = False  # says noindex, or is none: on no topic, whatever its words
    bag: Bag | None = None  # of its own words, where they were counted


class Memory:
    """Remembers the last `window` pages: some 5 kB each, and 3 kB where their words were counted."""

    def __init__(self, window: int) -> None:
        self.pages: deque[Remembered] = deque(maxlen=window)

    def judge(self, judge: Judge) -> Iterator[tuple[Remembered, Verdict]]:
        """What a judge says of them."""
        pages = iter(self.pages)
        while part := list(islice(pages, _CHUNK)):
            anchors = joined([page.anchors for page in part]) if "anchors" in judge.needs else None
            around = joined([page.neighbours for page in part]) if "neighbours" in judge.needs else None
            verdicts = judge.judge_words(
                joined([page.hashes for page in part], [page.bag for page in part]), anchors, around
            )
            yield from zip(part, verdicts, strict=True)


def joined(texts: Sequence[Hashes], bags: Sequence[Bag | None] = ()) -> Words:
    """The words of texts that were cut one by one, as one batch (without the strings), with their `bags` if known."""
    starts = np.cumsum([0, *map(len, texts)])
    nothing = np.zeros(0, np.int64)
    return Words(np.concatenate([_NONE, *texts]), starts, b"", nothing, nothing, nothing, _as_one(bags))


def _as_one(bags: Sequence[Bag | None]) -> Bags | None:
    known = [bag for bag in bags if bag is not None]
    if not known or len(known) < len(bags):
        return None
    starts = np.cumsum([0, *(len(buckets) for buckets, _ in known)], dtype=np.int32)
    return Bags(np.concatenate([one for one, _ in known]), np.concatenate([many for _, many in known]), starts)


def apart(batch: Words) -> list[Hashes]:
    """The words of each text of a batch."""
    return [batch.hashes[i:j].copy() for i, j in zip(batch.starts, batch.starts[1:], strict=False)]


# --- What waits is valued again by what is said of the pages now that link to it: the best of them counts ------------
# For policies by which links are worth what their page is. A judge of links does so for itself (judge/link_judge.py).


_UNKNOWN = 0.5  # the most that a URL is worth when the harvest begins, if the page that links to it is not here

_LOW = (1 << 20) - 1

Ids = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


def review(
    db: Connection, focus: Focus, remembered: Iterable[int], cold: bool = False, new_phase: bool = False
) -> dict[int, float]:
    """New priorities by id for URLs in the frontier's memory (or for the cold ones, outside it).

    Looked at are the pages that they were found on and those `remembered`. What no page here links to keeps its
    priority, but for the change that a `new_phase` brings.
    """
    queue = waiting(db, cold)
    if not queue:
        return {}
    pages = sources(db, {one.page for one in queue} | {*remembered})
    names = host_names(db) if focus.choosy or new_phase else {}
    if new_phase:
        for one in queue:
            one.priority = _moved(one.priority, focus, focus.near.holds(names[one.host], one.depth))
    best = _best(queue, pages, focus, names)
    pairs = zip(queue, best.tolist(), strict=True)
    return {one.id: worth if worth >= 0 else one.priority for one, worth in pairs if worth >= 0 or new_phase}


def _moved(priority: float, focus: Focus, near: bool) -> float:
    """A priority of the other phase as one of this: all that can be said where another partition has the page."""
    if focus.course.learning:
        return priority if near else priority * DEMOTED
    return min(priority if near else priority / DEMOTED, _UNKNOWN)


def _best(queue: Sequence[Waiting], pages: Sequence[Source], focus: Focus, names: dict[int, str]) -> Numbers:
    """For each URL the best that a page which links to it makes it worth; -1 where there is no such page."""
    ids = np.array([one.id for one in queue], np.int64)
    values = np.array([focus.value_again(page.verdict, page.lease, page.twin) for page in pages])
    counts = [len(page.links) // 8 for page in pages]
    links = np.frombuffer(b"".join(page.links for page in pages), np.int64)
    which, to = _matches(links, ids)
    by = np.repeat(np.arange(len(pages)), counts)[which]
    worth = values[by]
    if focus.choosy:
        pairs = zip(by.tolist(), to.tolist(), strict=True)
        worth *= [_factor(pages[i].lease.host, queue[k], names[queue[k].host], focus) for i, k in pairs]
    best = np.full(len(ids), -1.0)
    np.maximum.at(best, to, worth)
    return best


def _matches(links: Ids, ids: Ids) -> tuple[Places, Places]:
    """Which of some links lead to one of `ids`, and to which: positions in both."""
    marked = np.zeros(_LOW + 1, np.bool_)  # most links lead to what was fetched long ago: this sifts them out
    marked[ids & _LOW] = True
    which = np.flatnonzero(marked[links & _LOW])
    order = np.argsort(ids)
    place = order[np.searchsorted(ids, links[which], sorter=order) % len(ids)]
    same = ids[place] == links[which]
    return which[same], place[same]


def _factor(host: str, one: Waiting, to: str, focus: Focus) -> float:
    """The factor for a link from a page on `host` to what waits on the host `to`."""
    factor = focus.leaving(host, to) * focus.outside(to, one.depth)
    behind = focus.one_entry and host != to and one.priority < DEMOTED  # it is not the one that was let in
    return factor * DEMOTED if behind else factor
