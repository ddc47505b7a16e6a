"""What a link is worth before it is fetched: learnt from where links have led so far (the apprentice).

Four things are known of a page that was never seen, each learnt as the crawl goes on:

- its parents: how good the pages are that link to it, less what an average page is, by how many they are;
- the words around the links to it, by what such words have led to (the apprentice of Chakrabarti 2002);
- the same words, by how good the pages are that use them;
- its neighbours in lists: how good the pages turned out whose links stand next to its own.

Each is brought to mean 0 and deviation 1 over all that waits, and the worth is their weighted sum. Nothing is
worked out link by link: `refresh` does all at once in numpy, every few pages, from the last few thousand; what came
before is forgotten, and what is old counts less. A link in 64 gets a bonus it does not deserve, so that the crawl
sees what it would not have looked at.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from analecta.arrays import Bools, Floats, Int32s, Ints
from analecta.judge.link_context import LinkContexts, WordUse

PARENTS, LED, USED, NEXT = range(4)
WEIGHTS = (1.25, 2.0, 1.25, 1.0)
_EVERY = 12  # pages at least from one refresh to the next
_GROWTH = 0.09  # and as a share of those seen
_EXPLORE = 64
_SOFTER = 2.5  # a crawl is led better by scores that tell a fair page from a bad one than by a judge's yes and no
_BESIDE = (1.0, 1 / 2, 1 / 3)  # how much the links before and after count, the nearer the more


class JudgedLinks(msgspec.Struct):
    """A page that was judged: the buckets of its words, its links in order, the words around some (by position)."""

    id: int
    score: float
    buckets: Int32s
    links: Sequence[int]
    contexts: Mapping[int, str]


class LinkJudge:
    """Learns from pages and their links, and says what links are worth."""

    def __init__(
        self,
        *,
        weights: Sequence[float] = WEIGHTS,
        contexts: int = 6,
        window: int = 5000,
        explore: float = 0.3,
        seed: int = 0,
    ) -> None:
        """`contexts` of a target are kept; of pages the last `window`."""
        self.weights = np.array(weights)
        self.contexts = contexts
        self.window = window
        self.explore = explore
        self.seed = seed
        self.seen = 0
        self._due = 0.0
        self._slots: dict[int, int] = {}  # every page and target has one, in this order
        self._score: dict[int, float] = {}  # by slot, of pages that were fetched
        self._lost: set[int] = set()  # slots of targets that came to nothing
        self._pages: list[int] = []  # slots
        self._links: list[Ints] = []  # the slots each page links to
        self._use = WordUse()
        self._around = LinkContexts(self._use.odds)
        self._news: dict[int, tuple[float, int]] = {}  # targets met last: their parents' scores, which context
        self._scale: tuple[Floats, Floats] = (np.zeros(4), np.ones(4))

    # --- seeing ----------------------------------------------------------------------------------------------------

    def wanted(self, targets: Sequence[int], new: Container[int]) -> list[int]:
        """Positions of targets of which the words around a link should be kept; in any case those that are `new`."""
        slot, kept, most, lost = self._slots.get, self._around.kept.get, self.contexts, self._lost
        return [
            i for i, id in enumerate(targets) if id in new or (kept(at := slot(id, -1), 0) < most and at not in lost)
        ]

    def see(self, pages: Iterable[JudgedLinks]) -> None:
        """Take in judged pages."""
        if len(self._pages) > self.window * 1.25:  # before the new ones: `worth` looks at those heard last
            self._forget(len(self._pages) - self.window)
        pages = list(pages)
        scores = [_soft(page.score) for page in pages]
        self._use.see([page.buckets for page in pages], scores)
        targets: list[int] = []
        texts: list[str] = []
        parents: list[float] = []
        slots = self._slots
        for page, score in zip(pages, scores, strict=True):
            slot = slots.setdefault(page.id, len(slots))
            self._score[slot] = score
            self._pages.append(slot)
            self._links.append(np.array([slots.setdefault(link, len(slots)) for link in page.links], np.int64))
            self.seen += 1
            targets += [page.links[i] for i in page.contexts]
            texts += page.contexts.values()
            parents += [score] * len(page.contexts)
        self.hear(targets, texts)
        self._news = {id: (parent, i) for i, (id, parent) in enumerate(zip(targets, parents, strict=True))}

    def hear(self, targets: Sequence[int], contexts: Sequence[str]) -> None:
        """Take in the words around links to targets."""
        slots = self._slots
        if targets:
            self._around.hear([slots.setdefault(target, len(slots)) for target in targets], contexts)

    def lost(self, *ids: int) -> None:
        """Targets came to nothing: dead links, and such as are out of scope or robots may not follow."""
        self._lost.update(slot for id in ids if (slot := self._slots.get(id)) is not None)

    def score(self, scores: Mapping[int, float]) -> None:
        """Pages were judged anew."""
        for id, score in scores.items():
            if (slot := self._slots.get(id)) is not None:
                self._score[slot] = _soft(score)
        self._use.score(np.array([self._score[slot] for slot in self._pages]))

    def _forget(self, count: int) -> None:
        """Drop the oldest pages and what only they knew; the slots are numbered anew."""
        self._use.score(np.array([self._score[slot] for slot in self._pages]), forget=count)
        del self._pages[:count], self._links[:count]
        live = np.unique(np.concatenate([*self._links, np.array(self._pages, np.int64)]))
        new = np.full(len(self._slots), -1, np.int64)
        new[live] = np.arange(len(live))
        self._slots = {id: i for i, id in enumerate(self._ids()[live].tolist())}
        self._pages = new[self._pages].tolist()
        self._links = [new[links] for links in self._links]
        self._around.forget(new)
        self._score = {int(new[slot]): score for slot, score in self._score.items() if new[slot] >= 0}
        self._lost = {int(new[slot]) for slot in self._lost if new[slot] >= 0}

    # --- judging ---------------------------------------------------------------------------------------------------

    def due(self) -> bool:
        """Whether enough has been seen since the last refresh."""
        return self.seen >= self._due

    def refresh(self) -> dict[int, float]:
        """Work out everything anew: the worth of each target that is known and was not fetched."""
        self._due = self.seen + max(_EVERY, _GROWTH * self.seen)
        waiting = np.ones(len(self._slots), np.bool_)
        waiting[[*self._score, *self._lost]] = False
        waits = np.flatnonzero(waiting)
        if not len(waits) or not self._pages:
            return {}
        facts = self._facts()[waits]
        deviation = facts.std(axis=0)
        self._scale = facts.mean(axis=0), np.where(deviation > 1e-9, deviation, 1.0)
        ids = self._ids()[waits]
        return dict(zip(ids.tolist(), self._value(facts, ids).tolist(), strict=True))

    def worth(self, targets: Sequence[int]) -> list[float]:
        """The worth of targets that were new among those seen last, by what the last refresh has learnt."""
        if not targets:
            return []
        parents, places = zip(*(self._news[target] for target in targets), strict=True)
        facts = np.tile(self._scale[0], (len(targets), 1))
        facts[:, PARENTS] = (np.array(parents) - self._use.mean) / np.sqrt(2)
        led, used, lengths = self._around.last()
        place = np.array(places)
        some = lengths[place] > 0
        facts[some, LED], facts[some, USED] = led[place[some]], used[place[some]]
        return list(self._value(facts, np.array(targets, np.int64)).tolist())

    def _value(self, facts: Floats, ids: Ints) -> Floats:
        """Facts weighed, as a number between 0 and 1."""
        mean, deviation = self._scale
        value = ((facts - mean) / deviation) @ self.weights
        lucky = (ids ^ self.seed) % _EXPLORE == 0
        return np.asarray(1 / (1 + np.exp(-np.clip((value + self.explore * lucky) / 4, -30, 30))), np.float64)

    def _ids(self) -> Ints:
        return np.fromiter(self._slots, np.int64, len(self._slots))

    def _facts(self) -> Floats:
        """What is known of each slot: slots x 4."""
        size = len(self._slots)
        fetched = np.zeros(size, np.bool_)
        better = np.zeros(size)
        slots = np.fromiter(self._score, np.int64, len(self._score))
        fetched[slots] = True
        better[slots] = np.fromiter(self._score.values(), np.float64, len(self._score)) - self._use.mean
        facts = np.zeros((size, 4))
        facts[:, PARENTS], facts[:, NEXT] = self._by_links(better, fetched)
        facts[:, LED], facts[:, USED] = self._around.learn(better, fetched)
        return facts

    def _by_links(self, better: Floats, fetched: Bools) -> tuple[Floats, Floats]:
        """For each slot how good its parents are, and its neighbours in lists."""
        size = len(better)
        to = np.concatenate(self._links)
        source = np.repeat(np.arange(len(self._links)), [len(links) for links in self._links])
        dead = np.zeros(size, np.bool_)
        dead[list(self._lost)] = True
        to, source = to[~dead[to]], source[~dead[to]]
        parents = np.bincount(to, minlength=size)
        good = np.bincount(to, weights=better[np.array(self._pages, np.int64)[source]], minlength=size)
        there, known = better[to], fetched[to].astype(np.float64)
        beside, heard = np.zeros(len(to)), np.zeros(len(to))
        for k, weight in enumerate(_BESIDE, 1):
            same = np.where(source[k:] == source[:-k], weight, 0.0)
            beside[k:] += same * there[:-k]
            beside[:-k] += same * there[k:]
            heard[k:] += same * known[:-k]
            heard[:-k] += same * known[k:]
        around = np.bincount(to, weights=beside, minlength=size)
        return good / np.sqrt(parents + 1), around / (np.bincount(to, weights=heard, minlength=size) + 1)


def _soft(confidence: float) -> float:
    """A confidence brought nearer to one half: its log odds, divided."""
    sure = min(max(confidence, 1e-6), 1 - 1e-6)
    return float(1 / (1 + ((1 - sure) / sure) ** (1 / _SOFTER)))
