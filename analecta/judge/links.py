"""What a link is worth before it is fetched: learnt from where links have led so far (the apprentice).

Four things are known of a page that was never seen, each learnt as the crawl goes on:

- its parents: how good the pages are that link to it, less what an average page is, by how many they are;
- the words around the links to it, by what such words have led to (the apprentice of Chakrabarti 2002);
- the same words, by how good the pages are that use them;
- its neighbours in lists: how good the pages turned out whose links stand next to its own.

Each is brought to mean 0 and deviation 1 over all that waits, and the worth is their weighted sum. Nothing is
worked out link by link: `refresh` does all at once in numpy, each time the crawl has grown by a tenth, from the
last few thousand pages; what came before is forgotten, and what is old counts less. A link in 64 gets a bonus it
does not deserve, so that the crawl sees what it would not have looked at.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.judge.buckets import BITS, SIZE, buckets
from analecta.terms import words

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

PARENTS, LED, USED, NEXT = range(4)
WEIGHTS = (1.25, 2.0, 1.25, 1.0)
_EXPLORE = 64
_USUAL = 0.1  # words that stand around more than this share of all links tell nothing: "the", "more", "page"
_FEW = 30  # links; a word that stands around fewer is not usual yet
_BESIDE = (1.0, 1 / 2, 1 / 3)  # how much the links before and after count, the nearer the more


class Seen(msgspec.Struct):
    """A page that was judged: its links in order, and the words around some of them (by position)."""

    id: int
    score: float
    hashes: npt.NDArray[np.uint64]
    links: Sequence[int]
    contexts: Mapping[int, str]


class LinkJudge:
    """Learns from pages and their links, and says what links are worth."""

    def __init__(
        self,
        *,
        weights: Sequence[float] = WEIGHTS,
        contexts: int = 12,
        window: int = 5000,
        half_life: float = 4000.0,
        every: int = 16,
        growth: float = 0.1,
        explore: float = 0.3,
        seed: int = 0,
    ) -> None:
        """`contexts` of a target are kept; of pages the last `window`; after `half_life` pages one counts half."""
        self.weights = np.array(weights)
        self.contexts = contexts
        self.window = window
        self.half_life = half_life
        self.every = every
        self.growth = growth
        self.explore = explore
        self.seed = seed
        self.seen = 0
        self._due = 0.0
        self._slots: dict[int, int] = {}
        self._ids: list[int] = []
        self._score: dict[int, float] = {}  # by slot, of pages that were fetched
        self._lost: set[int] = set()  # slots of targets that came to nothing
        self._pages: list[int] = []  # slots
        self._words: list[Numbers] = []  # the different buckets of each page
        self._links: list[Numbers] = []  # the slots each page links to
        self._around: list[Numbers] = []  # the different buckets of contexts, in pieces
        self._lengths: list[Numbers] = []  # how many each context has, in the same pieces
        self._around_of: list[int] = []  # their targets' slots
        self._kept: dict[int, int] = {}  # contexts by target
        self._news: dict[int, tuple[float, int]] = {}  # targets met last: their parents' scores, which context
        self._led = np.zeros(SIZE)
        self._used = np.zeros(SIZE)
        self._telling = np.ones(SIZE)
        self._scale: tuple[Floats, Floats] = (np.zeros(4), np.ones(4))
        self._mean = 0.5

    # --- seeing ----------------------------------------------------------------------------------------------------

    def wants(self, target: int) -> bool:
        """Whether the words around a link to this target should be kept."""
        slot = self._slots.get(target)
        return slot is None or self._kept.get(slot, 0) < self.contexts

    def see(self, pages: Iterable[Seen]) -> None:
        """Take in judged pages."""
        if len(self._pages) > self.window * 1.25:  # before the new ones: `worth` looks at the last piece
            self._forget(len(self._pages) - self.window)
        pages = list(pages)
        used, lengths = _different([buckets(page.hashes) for page in pages])
        self._words += np.split(used, np.cumsum(lengths)[:-1]) if pages else []
        targets: list[int] = []
        texts: list[str] = []
        parents: list[float] = []
        for page in pages:
            slot = self._slot(page.id)
            self._score[slot] = page.score
            self._pages.append(slot)
            self._links.append(np.array([self._slot(link) for link in page.links], np.int64))
            self.seen += 1
            targets += [page.links[i] for i in page.contexts]
            texts += page.contexts.values()
            parents += [page.score] * len(page.contexts)
        self.hear(targets, texts)
        self._news = {id: (parent, i) for i, (id, parent) in enumerate(zip(targets, parents, strict=True))}

    def hear(self, targets: Sequence[int], contexts: Sequence[str]) -> None:
        """Take in the words around links to targets."""
        if not targets:
            return
        cut = words(contexts)
        around, lengths = _different_of(buckets(cut.hashes), cut.pages, len(targets))
        self._around.append(around)
        self._lengths.append(lengths)
        for target in targets:
            slot = self._slot(target)
            self._around_of.append(slot)
            self._kept[slot] = self._kept.get(slot, 0) + 1

    def lost(self, id: int) -> None:
        """A target came to nothing: a dead link, or one that robots may not follow."""
        if (slot := self._slots.get(id)) is not None:
            self._lost.add(slot)

    def score(self, scores: Mapping[int, float]) -> None:
        """Pages were judged anew."""
        for id, score in scores.items():
            if (slot := self._slots.get(id)) is not None:
                self._score[slot] = score

    def _slot(self, id: int) -> int:
        slot = self._slots.get(id)
        if slot is None:
            slot = self._slots[id] = len(self._ids)
            self._ids.append(id)
        return slot

    def _forget(self, count: int) -> None:
        """Drop the oldest pages and what only they knew; the slots are numbered anew."""
        del self._pages[:count], self._words[:count], self._links[:count]
        live = np.unique(np.concatenate([*self._links, np.array(self._pages, np.int64)]))
        new = np.full(len(self._ids), -1, np.int64)
        new[live] = np.arange(len(live))
        self._ids = [self._ids[i] for i in live.tolist()]
        self._slots = {id: i for i, id in enumerate(self._ids)}
        self._pages = new[self._pages].tolist()
        self._links = [new[links] for links in self._links]
        moved = new[self._around_of] if self._around_of else np.zeros(0, np.int64)
        if self._around:
            lengths = np.concatenate(self._lengths)
            self._around = [np.concatenate(self._around)[np.repeat(moved >= 0, lengths)]]
            self._lengths = [lengths[moved >= 0]]
        self._around_of = moved[moved >= 0].tolist()
        self._score = {int(new[slot]): score for slot, score in self._score.items() if new[slot] >= 0}
        self._lost = {int(new[slot]) for slot in self._lost if new[slot] >= 0}
        self._kept = {int(new[slot]): kept for slot, kept in self._kept.items() if new[slot] >= 0}

    # --- judging ---------------------------------------------------------------------------------------------------

    def due(self) -> bool:
        """Whether enough has been seen since the last refresh."""
        return self.seen >= self._due

    def refresh(self) -> dict[int, float]:
        """Work out everything anew: the worth of each target that is known and was not fetched."""
        self._due = self.seen + max(self.every, self.growth * self.seen)
        waits = self._waiting()
        if not len(waits) or not self._pages:
            return {}
        facts = self._facts()
        mean, deviation = facts[waits].mean(axis=0), facts[waits].std(axis=0)
        self._scale = mean, np.where(deviation > 1e-9, deviation, 1.0)
        ids = np.array(self._ids, np.int64)[waits]
        return dict(zip(ids.tolist(), self._value(facts[waits], ids).tolist(), strict=True))

    def worth(self, targets: Sequence[int]) -> list[float]:
        """The worth of targets that were new among those seen last, by what the last refresh has learnt."""
        if not targets:
            return []
        parents, places = zip(*(self._news[target] for target in targets), strict=True)
        facts = np.tile(self._scale[0], (len(targets), 1))
        facts[:, PARENTS] = (np.array(parents) - self._mean) / np.sqrt(2)
        word, lengths = self._around[-1], self._lengths[-1]
        context = np.repeat(np.arange(len(lengths)), lengths)
        led, used = _by_words(word, context, len(lengths), self._led, self._used, self._telling)
        place = np.array(places)
        some = lengths[place] > 0
        facts[some, LED], facts[some, USED] = led[place[some]], used[place[some]]
        return [float(v) for v in self._value(facts, np.array(targets, np.int64))]

    def _value(self, facts: Floats, ids: Numbers) -> Floats:
        """Facts weighed, as a number between 0 and 1."""
        mean, deviation = self._scale
        value = ((facts - mean) / deviation) @ self.weights
        lucky = (ids ^ self.seed) % _EXPLORE == 0
        return np.asarray(1 / (1 + np.exp(-np.clip((value + self.explore * lucky) / 4, -30, 30))), np.float64)

    def _waiting(self) -> Numbers:
        waits = np.ones(len(self._ids), np.bool_)
        waits[list(self._score)] = False
        waits[list(self._lost)] = False
        return np.flatnonzero(waits)

    def _facts(self) -> Floats:
        """What is known of each slot: slots x 4."""
        size = len(self._ids)
        known = np.zeros(size, np.bool_)
        score = np.zeros(size)
        slots = np.fromiter(self._score, np.int64, len(self._score))
        known[slots] = True
        score[slots] = np.fromiter(self._score.values(), np.float64, len(self._score))
        pages = np.array(self._pages, np.int64)
        age = np.arange(len(pages))[::-1]
        trust = 0.5 ** (age / self.half_life)
        self._mean = float(np.clip((score[pages] * trust).sum() / trust.sum(), 0.02, 0.98))
        better = np.where(known, score - self._mean, 0.0)
        self._used = self._yields_of_use(score[pages], trust)
        facts = np.zeros((size, 4))
        facts[:, PARENTS], facts[:, NEXT] = self._by_links(pages, better, known)
        facts[:, LED], facts[:, USED] = self._by_contexts(size, better, known)
        return facts

    def _yields_of_use(self, scores: Floats, trust: Floats) -> Floats:
        """How much likelier a page is good that uses a word: log odds, less sure of words that few pages use."""
        page = np.repeat(np.arange(len(self._words)), [len(w) for w in self._words])
        used = np.concatenate(self._words)
        met = np.bincount(used, weights=trust[page], minlength=SIZE)
        good = np.bincount(used, weights=(trust * scores)[page], minlength=SIZE)
        m = self._mean
        odds = np.log((good + 0.5 * m) / (met - good + 0.5 * (1 - m))) - np.log(m / (1 - m))
        return np.asarray(odds * met / (met + 2), np.float64)

    def _by_links(self, pages: Numbers, better: Floats, known: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """For each slot how good its parents are, and its neighbours in lists."""
        size = len(better)
        to = np.concatenate(self._links)
        source = np.repeat(np.arange(len(pages)), [len(links) for links in self._links])
        parents = np.bincount(to, minlength=size)
        good = np.bincount(to, weights=better[pages[source]], minlength=size)
        beside, heard = np.zeros(len(to)), np.zeros(len(to))
        for k, weight in enumerate(_BESIDE, 1):
            same = np.where(source[k:] == source[:-k], weight, 0.0)
            for here, there in ((slice(k, None), slice(None, -k)), (slice(None, -k), slice(k, None))):
                beside[here] += same * better[to[there]]
                heard[here] += same * known[to[there]]
        around = np.bincount(to, weights=beside, minlength=size)
        return good / np.sqrt(parents + 1), around / (np.bincount(to, weights=heard, minlength=size) + 1)

    def _by_contexts(self, size: int, better: Floats, known: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """For each slot what the words around links to it have led to, and how good the pages are that use them."""
        if not self._around:
            return np.zeros(size), np.zeros(size)
        of = np.array(self._around_of, np.int64)
        kept = np.maximum(np.bincount(of, minlength=size), 1)
        word, context = np.concatenate(self._around), np.repeat(np.arange(len(of)), np.concatenate(self._lengths))
        told = known[of] / kept[of]  # a target with many contexts is still one lesson
        lessons = np.bincount(word, weights=told[context], minlength=SIZE)
        led = np.bincount(word, weights=(told * better[of])[context], minlength=SIZE)
        often = np.bincount(word, minlength=SIZE)
        self._telling = np.where(often < max(_USUAL * len(of), _FEW), np.log1p(len(of) / np.maximum(often, 1)), 0)
        self._led = led / (lessons + 1)
        by_led, by_use = _by_words(word, context, len(of), self._led, self._used, self._telling)
        return (
            np.bincount(of, weights=by_led, minlength=size) / kept,
            np.bincount(of, weights=by_use, minlength=size) / kept,
        )


def _different(texts: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
    """The different buckets of each text, text after text, and how many each has."""
    page = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    return _different_of(np.concatenate([np.zeros(0, np.int64), *texts]), page, len(texts))


def _different_of(numbers: Numbers, text: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """The same, for buckets with the number of the text that each is of."""
    keys = np.sort(text << BITS | numbers)
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return keys & (SIZE - 1), np.bincount(keys >> BITS, minlength=count)


def _by_words(
    word: Numbers, context: Numbers, count: int, led: Floats, used: Floats, telling: Floats
) -> tuple[Floats, Floats]:
    """For each context, by its words: what they led to (the telling ones more), and the mean of their use."""
    weight = telling[word]
    length = np.sqrt(np.bincount(context, weights=weight**2, minlength=count))
    by_led = np.bincount(context, weights=led[word] * weight, minlength=count) / np.where(length > 0, length, 1)
    told = weight > 0
    by_use = np.bincount(context[told], weights=used[word[told]], minlength=count)
    return by_led, by_use / np.maximum(np.bincount(context[told], minlength=count), 1)
