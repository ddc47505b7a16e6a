"""Pages by the words in them: BM25 over titles and texts; words in quotes must stand one after the other.

Texts go in once, numbers of pages come out; the texts themselves are not kept, only asked for again where a phrase
has to be looked up. `find` is all that others know of it, so that an index on disk can take its place.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from analecta.arrays import Float32s, Int32s, Ints

CHECKED = 500  # pages that hold all words of a phrase are looked through for it, the best so many
K1, B = 1.2, 0.75  # the usual constants of BM25
TITLE = 3  # a word of the title counts as this many

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r'"([^"]+)"')


class WordHits(NamedTuple):
    """How many pages match, and the best of them with their scores."""

    total: int
    best: list[tuple[int, float]]


class WordSearch:
    """Finds pages by words; page i is the i-th that was given, and `text_of(i)` its title and text."""

    def __init__(self, pages: Iterable[tuple[str, str]], text_of: Callable[[int], str]) -> None:
        self.text_of = text_of
        # Postings word by word: pages and weights in two arrays, `_starts` says where each word's begin.
        self._words: dict[str, int] = {}
        number = self._words
        rows: list[Int32s] = []
        counts: list[Float32s] = []
        for title, text in pages:
            tally = Counter(_WORD.findall(text.lower()))
            for word in _WORD.findall(title.lower()):
                tally[word] += TITLE
            rows.append(np.fromiter((number.setdefault(word, len(number)) for word in tally), np.int32, len(tally)))
            counts.append(np.fromiter(tally.values(), np.float32, len(tally)))
        self._size = len(rows)
        lengths = np.array([count.sum() for count in counts], np.float32)
        words = np.concatenate([*rows, np.empty(0, np.int32)])
        numbers = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row) for row in rows])
        order = np.argsort(words, kind="stable")
        self._pages: Int32s = numbers[order]
        often = np.concatenate([*counts, np.empty(0, np.float32)])[order]
        norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()) if len(lengths) else 1.0, 1.0))
        self._weights = often * (K1 + 1) / (often + norm[self._pages])
        self._starts = np.searchsorted(words[order], np.arange(len(number) + 1))

    def find(self, query: str, n: int) -> WordHits:
        """The best `n` pages for a query."""
        scores = np.zeros(self._size, np.float32)
        for word in dict.fromkeys(_WORD.findall(query.lower())):
            span = self._span(word)
            share = span.stop - span.start
            scores[self._pages[span]] += self._weights[span] * np.log1p((len(scores) - share + 0.5) / (share + 0.5))
        phrases = [words for inner in _QUOTED.findall(query) if (words := _WORD.findall(inner.lower()))]
        if phrases:
            best = self._with_phrases(scores, phrases)
        else:
            best = np.argsort(-scores, kind="stable")[: int(np.count_nonzero(scores))]
        return WordHits(len(best), [(int(page), float(scores[page])) for page in best[:n]])

    def _span(self, word: str) -> slice:
        at = self._words.get(word)
        return slice(0, 0) if at is None else slice(int(self._starts[at]), int(self._starts[at + 1]))

    def _with_phrases(self, scores: Float32s, phrases: list[list[str]]) -> Ints:
        """The pages that hold all these phrases, best first."""
        wanted = {word for words in phrases for word in words}
        held = np.zeros(self._size, np.int32)  # how many of the words each page holds
        for word in wanted:
            held[self._pages[self._span(word)]] += 1
        able = np.flatnonzero(held == len(wanted))
        able = able[np.argsort(-scores[able], kind="stable")][:CHECKED]
        return np.array([page for page in able.tolist() if self._holds(page, phrases)], np.int64)

    def _holds(self, page: int, phrases: list[list[str]]) -> bool:
        text = f" {' '.join(_WORD.findall(self.text_of(page).lower()))} "
        return all(f" {' '.join(words)} " in text for words in phrases)


def snippet(text: str, query: str, width: int = 240) -> str:
    """The part of a text around the first of a query's words that it holds."""
    low = text.lower()
    places = [place for place in (low.find(word) for word in _WORD.findall(query.lower())) if place >= 0]
    start = max(0, min(places, default=0) - width // 4)
    return ("… " if start else "") + text[start : start + width].strip() + (" …" if start + width < len(text) else "")


# --- Which pages link to a URL: the links of pages turned round ------------------------------------------------------

MOST = 10_000_000  # links held: 12 bytes each, and as much again for a moment while they are sorted


class InLinks:
    """Knows the pages that link to a URL's id; page i is the i-th whose links were given."""

    def __init__(self, pages: Iterable[Sequence[int] | Ints], most: int = MOST) -> None:
        targets: list[Ints] = []
        sizes: list[int] = []
        left = most
        for links in pages:
            once = np.unique(np.asarray(links, np.int64))
            if len(once) > left:
                break
            left -= len(once)
            targets.append(once)
            sizes.append(len(once))
        every = np.concatenate([*targets, np.empty(0, np.int64)])
        order = np.argsort(every, kind="stable")
        self._targets = every[order]
        self._pages = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[order]

    def of(self, ids: Iterable[int]) -> list[int]:
        """The pages that link to any of these, each once, in the order in which they were given."""
        found: set[int] = set()
        for id in ids:
            start, end = np.searchsorted(self._targets, id, "left"), np.searchsorted(self._targets, id, "right")
            found.update(self._pages[start:end].tolist())
        return sorted(found)
