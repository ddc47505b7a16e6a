"""The model in use: pages judged, the last of them judged again by a new model, what waits valued again."""

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec
import numpy as np

from analecta.arrays import Float32s, Floats, Int32s, Ints
from analecta.frontier.policy import EXAMPLE_PRIORITY, CrawlPhase, Focus
from analecta.frontier.traps import DEMOTED, Hashes
from analecta.judge.base import Judge
from analecta.judge.link_judge import JudgedLinks
from analecta.model import Lease, Verdict, of_hidden
from analecta.store.partition import Shard
from analecta.store.schema import MetaKey, packed_topics, unpack_text, unpacked
from analecta.store.sqlite import Connection
from analecta.store.urls import LinkSource, WaitingUrl, host_names, sources, waiting
from analecta.text.tokens import Bags, Words, excerpt, words

Bag = tuple[Int32s, Float32s]  # buckets of a page's words, and how often each is met
_NONE = np.zeros(0, np.uint64)
_CHUNK = 128
_FRONT = 1.0  # the priority of links of the best hubs
_STRAIGHT_ON = msgspec.msgpack.encode(CrawlPhase())


class RecentPage(msgspec.Struct):
    """A page: its row, its URL's id, its words, and those of links to it and of pages that link to it, if needed."""

    seq: int
    id: int
    hashes: Hashes
    anchors: Hashes = _NONE
    neighbours: Hashes = _NONE
    hidden: bool = False  # says noindex, or is none: on no topic, whatever its words
    bag: Bag | None = None  # of its own words, where they were counted


class JudgedPage(msgspec.Struct):
    """What is said of a page, with what was looked at: its words, those of links to it and of pages that link to it."""

    verdict: Verdict
    words: Hashes
    anchors: Hashes = _NONE
    neighbours: Hashes = _NONE
    bag: Bag | None = None  # its words by buckets, where a judge of links looks at them

    def alone(self) -> "JudgedPage":
        """The same with its own words only."""
        return JudgedPage(self.verdict, self.words, bag=self.bag)


class Revaluation(msgspec.Struct):
    """What waits is worth something else now: what is said of pages for a judge of links, or else priorities by id."""

    scores: Mapping[int, float] | None = None
    waiting: dict[int, float] = {}
    cold: dict[int, float] = {}  # of those outside the frontier's memory


class PageJudge:
    """The model in use, and the last pages that were kept: they are judged again when there is another model."""

    def __init__(
        self,
        shard: Shard,
        focus: Focus,
        topics: Sequence[str],
        window: int,
        judges_links: bool,
        load_judge: Callable[[str], Judge],
    ) -> None:
        """Remembers the last `window` pages; with `judges_links` their words are counted for a judge of links.

        `load_judge` gives the judge of a model.
        """
        self.shard = shard
        self.focus = focus
        self.topics = topics
        self.load_judge = load_judge
        self.judge: Judge | None = None
        self.model = ""
        self.judges_links = judges_links
        self.recent: deque[RecentPage] = deque(maxlen=window)  # 5 kB each, and 3 kB where words were counted
        self._valued_by = msgspec.msgpack.decode(shard.get(MetaKey.COURSE, _STRAIGHT_ON), type=CrawlPhase)
        self.focus.turn(self._valued_by)

    def judged(self, cut: Words, leases: Sequence[Lease], unread: Container[int]) -> list[JudgedPage]:
        """What is said of a batch of pages; of those that are `unread`, by the pages that link to them."""
        anchors, neighbours = self._views(leases)
        verdicts = self._verdicts(cut, leases, anchors, neighbours)
        own, bags = apart(cut), self._bags(cut)
        said, around = (apart(view) if view else [own[0][:0]] * len(own) for view in (anchors, neighbours))
        return [
            JudgedPage(self._parents(lease) if i in unread else verdicts[i], own[i], said[i], around[i], bags[i])
            for i, lease in enumerate(leases)
        ]

    def _verdicts(
        self, cut: Words, leases: Sequence[Lease], anchors: Words | None, neighbours: Words | None
    ) -> list[Verdict]:
        """The judge's verdicts; before there is one, examples stand for their topic by definition."""
        if self.judge is None:
            return [Verdict(t, 1.0, ((t, 1.0),)) if (t := lease.topic) >= 0 else Verdict() for lease in leases]
        return self.judge.judge_words(cut, anchors, neighbours)

    def _bags(self, cut: Words) -> Sequence[Bag | None]:
        """The words of each page by buckets, where a judge of links looks at them."""
        return cut.bags.apart() if self.judges_links else [None] * len(cut)

    def _parents(self, lease: Lease) -> Verdict:
        """A document whose text cannot be had is what the page is that links to it (S10)."""
        if (row := self.shard.verdict_of(lease.parent)) is not None:
            return unpacked(*row)
        if lease.topic < 0 or lease.off_topic_steps:  # in another partition, and off topic
            return Verdict()
        sure = min(max(lease.priority, 0.0), 1.0)
        return Verdict(lease.topic, sure, ((lease.topic, sure),))

    def _views(self, leases: Sequence[Lease]) -> tuple[Words | None, Words | None]:
        """What the judge looks at besides a page's own words: how it was linked to, and from where (B6)."""
        needs = self.judge.needs if self.judge else frozenset()
        anchors = words(self.shard.anchors([lease.id for lease in leases])) if "anchors" in needs else None
        if "neighbours" not in needs:
            return anchors, None
        texts = self.shard.texts([lease.parent for lease in leases])
        return anchors, words([excerpt(unpack_text(text)) for text in texts])

    # --- the last pages --------------------------------------------------------------------------------------------

    def remember(self, seq: int, id: int, page: JudgedPage, hidden: bool) -> None:
        """A page was kept in row `seq`; `hidden`: it is on no topic, whatever it says."""
        self.recent.append(RecentPage(seq, id, page.words, page.anchors, page.neighbours, hidden, page.bag))

    def recall(self) -> tuple[list[JudgedLinks], list[tuple[int, str]]]:
        """Take up again what was known at the last stop: pages for a judge of links, and the words around links."""
        window = self.recent.maxlen or 0
        rows = self.shard.last_pages(window, EXAMPLE_PRIORITY) if window else []
        seen = []
        for start in range(0, len(rows), 64):
            part = rows[start : start + 64]
            cut = words([excerpt(unpack_text(text)) for _, _, _, text, _, _ in part])
            own = zip(part, apart(cut), self._bags(cut), strict=True)
            for (seq, id, confidence, _, links, hidden), hashes, bag in own:
                self.recent.append(RecentPage(seq, id, hashes, hidden=hidden, bag=bag))
                if bag is not None:
                    to = np.frombuffer(links or b"", np.int64).tolist()
                    seen.append(JudgedLinks(id, confidence, bag[0], to, {}))
        return seen, self.shard.last_contexts(4 * window) if rows else []

    # --- another model, another course -----------------------------------------------------------------------------

    def adopt(self, model: str) -> Revaluation:
        """Judge with this model from now on, and again the pages that are remembered or were never judged."""
        judge = self.judge = self.load_judge(model)
        self.model = model
        scores: dict[int, float] = {}
        for page, verdict in judged_again(judge, self.recent):
            scores[page.id] = self.focus.open(verdict).confidence
            self._judged(page.seq, of_hidden(verdict, page.hidden))
        rows = self.shard.unjudged(EXAMPLE_PRIORITY)
        for start in range(0, len(rows), 16):
            part = rows[start : start + 16]
            verdicts = judge.judge_words(words([excerpt(unpack_text(text)) for _, text, _ in part]))
            for (seq, _, hidden), verdict in zip(part, verdicts, strict=True):
                self._judged(seq, of_hidden(verdict, hidden))
        return self.revalued(scores)

    def _judged(self, seq: int, verdict: Verdict) -> None:
        self.shard.set_verdict(seq, verdict.topic, verdict.confidence, packed_topics(verdict), self.model)

    def turn(self, course: CrawlPhase) -> bool:
        """Take the course that the coordinator tells; whether it is another than that by which all was valued."""
        self.focus.turn(course)
        return course != self._valued_by

    def revalued(self, scores: Mapping[int, float] | None = None) -> Revaluation:
        """What waits is worth something else now: there is a new model (and `scores`), or another course."""
        seen = [page.id for page in self.recent]
        new_phase = self.focus.course.learning != self._valued_by.learning
        self._valued_by = self.focus.course
        self.shard.put(MetaKey.COURSE, msgspec.msgpack.encode(self._valued_by))
        if self.judges_links:
            if scores is None:
                rows = sources(self.shard.db, seen)
                scores = {row.lease.id: self.focus.open(row.verdict).confidence for row in rows}
            return Revaluation(scores)
        cold = review(self.shard.db, self.focus, seen, cold=True, new_phase=True) if new_phase else {}
        return Revaluation(None, review(self.shard.db, self.focus, seen, new_phase=new_phase), cold)

    def front(self, hubs: Sequence[int]) -> dict[int, float]:
        """Priorities that let the links of these pages come before all others, once the harvest is on (B10, B12)."""
        if self.focus.course.learning:
            return {}
        links = (self.shard.links_of(id) for id in hubs)
        return {id: _FRONT for part in links for id in np.frombuffer(part, np.int64).tolist()}


def judged_again(judge: Judge, recent: Iterable[RecentPage]) -> Iterator[tuple[RecentPage, Verdict]]:
    """What a judge says of pages that are remembered."""
    pages = iter(recent)
    while part := list(islice(pages, _CHUNK)):
        anchors = joined([page.anchors for page in part]) if "anchors" in judge.needs else None
        around = joined([page.neighbours for page in part]) if "neighbours" in judge.needs else None
        own = joined([page.hashes for page in part], [page.bag for page in part])
        yield from zip(part, judge.judge_words(own, anchors, around), strict=True)


def joined(texts: Sequence[Hashes], bags: Sequence[Bag | None] = ()) -> Words:
    """The words of texts that were cut one by one, as one batch (without the strings), with their `bags` if known."""
    starts = np.cumsum([0, *map(len, texts)])
    nothing = np.zeros(0, np.int64)
    return Words(np.concatenate([_NONE, *texts]), starts, b"", b"", nothing, nothing, nothing, _as_one(bags))


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
            one.priority = _moved(one.priority, focus, focus.is_near(names[one.host], one.depth))
    best = _best(queue, pages, focus, names)
    pairs = zip(queue, best.tolist(), strict=True)
    return {one.id: worth if worth >= 0 else one.priority for one, worth in pairs if worth >= 0 or new_phase}


def _moved(priority: float, focus: Focus, near: bool) -> float:
    """A priority of the other phase as one of this: all that can be said where another partition has the page."""
    if focus.course.learning:
        return priority if near else priority * DEMOTED
    return min(priority if near else priority / DEMOTED, _UNKNOWN)


def _best(queue: Sequence[WaitingUrl], pages: Sequence[LinkSource], focus: Focus, names: dict[int, str]) -> Floats:
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


def _matches(links: Ints, ids: Ints) -> tuple[Ints, Ints]:
    """Which of some links lead to one of `ids`, and to which: positions in both."""
    marked = np.zeros(_LOW + 1, np.bool_)  # most links lead to what was fetched long ago: this sifts them out
    marked[ids & _LOW] = True
    which = np.flatnonzero(marked[links & _LOW])
    order = np.argsort(ids)
    place = order[np.searchsorted(ids, links[which], sorter=order) % len(ids)]
    same = ids[place] == links[which]
    return which[same], place[same]


def _factor(host: str, one: WaitingUrl, to: str, focus: Focus) -> float:
    """The factor for a link from a page on `host` to what waits on the host `to`."""
    factor = focus.leaving(host, to) * focus.outside(to, one.depth)
    behind = focus.one_entry and host != to and one.priority < DEMOTED  # it is not the one that was let in
    return factor * DEMOTED if behind else factor
