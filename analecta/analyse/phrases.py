"""Texts as running words, and the phrases in them: words that stand together more often than chance would have it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analecta.arrays import Bools, Ints
from analecta.text.stems import learn_stems
from analecta.text.tokens import Vocabulary, words

# --- Texts as they are written: words that know their stem, the page they are on, and how they look there ------------


_JOINS = np.frombuffer(b" -", np.uint8)  # what may stand between the words of a phrase; lines are often cells of tables
_FREE = np.frombuffer(b" \n", np.uint8)
_LOOKED_AT = 3000  # places of a term, to see how it is written


@dataclass(frozen=True)
class Prose:
    """Word i is `raw[begins[i]:ends[i]]` on page `pages[i]`; `forms[i]` is its stem, or a stop word from `stems` on."""

    raw: bytes
    begins: Ints
    ends: Ints
    pages: Ints
    forms: Ints
    stems: int

    @cached_property
    def telling(self) -> Bools:
        """Which words are no stop words."""
        return self.forms < self.stems

    def together(self) -> Bools:
        """Whether each word goes together with the next: a space or hyphen between, or none, as in Chinese."""
        raw, begins, ends = np.frombuffer(self.raw, np.uint8), self.begins, self.ends
        gap = begins[1:] - ends[:-1]
        joined = (gap <= 0) | ((gap == 1) & np.isin(raw[ends[:-1]], _JOINS))
        return np.append(joined & (self.pages[1:] == self.pages[:-1]), False)

    def before(self, first: Ints) -> float:
        """The share of these places that have the same word before them; stop words do not count ("the Nile")."""
        words = self.forms[first[first > 0] - 1]
        return _commonest(words[words < self.stems]) / len(first)

    def after(self, last: Ints) -> float:
        """The share of these places that have the same word after them."""
        return _commonest(self.forms[last[last + 1 < len(self.forms)] + 1]) / len(last)

    def free(self, first: Ints) -> Bools:
        """Which of these words stand inside a sentence, as far as one can see."""
        raw, at = np.frombuffer(self.raw, np.uint8), self.begins[first]
        return np.asarray(np.isin(raw[at - 1], _FREE) & ((raw[at - 2] >= ord("0")) | (raw[at - 2] == ord(","))))

    def written(self, first: Ints, last: Ints) -> str:
        """How the words from `first[i]` to `last[i]` are most often written, where no sentence begins with them."""
        free = self.free(first)
        if free.any():
            first, last = first[free], last[free]
        spans = zip(self.begins[first[:_LOOKED_AT]].tolist(), self.ends[last[:_LOOKED_AT]].tolist(), strict=True)
        seen = Counter(" ".join(self.raw[begin:end].decode("utf-8", "replace").split()) for begin, end in spans)
        return min(seen, key=lambda form: (-seen[form], form), default="")


def prose(texts: Sequence[str]) -> Prose:
    """Cut these texts into words."""
    # A few letters are longer in lower case: texts that have them are taken as that, so that places stay the same.
    level = [text if len(_bytes(text)) == len(_bytes(text.lower())) else text.lower() for text in texts]
    batch = words(level)
    raw = b"".join((b"\0", b"\0".join(map(_bytes, level)), b"\0"))
    lexicon = learn_stems(batch)
    at, stems = Vocabulary(lexicon.hashes, lexicon.features).find(batch.hashes)
    forms = len(lexicon.stems) + np.unique(batch.hashes, return_inverse=True)[1].astype(np.int64)
    forms[at] = stems
    return Prose(raw, batch.begins, batch.ends, batch.pages, forms, len(lexicon.stems))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _commonest(words: Ints) -> float:
    return float(np.unique(words, return_counts=True)[1].max(initial=0))


# --- Phrases: two or three words that stand together more often than chance would have it ----------------------------
# A phrase neither begins nor ends with a stop word; between them one may stand ("Bank of England"). The forms of a
# word count as one word, as in "bird nest" and "bird nests".


_FEWEST = 4  # times that a phrase must be there
_SURE = 10.83  # chi-squared at one in a thousand


@dataclass(frozen=True)
class PhrasePlaces:
    """Places of phrases: place i is of phrase `of[i]`, spans the words `first[i]` to `last[i]`."""

    of: Ints
    first: Ints
    last: Ints


def find_phrases(prose: Prose) -> PhrasePlaces:
    """The phrases of these texts, of two words and of three."""
    places, together = np.arange(len(prose.forms)), prose.together()
    run, begin = prose.forms, places  # what stands at the places where a run of one word begins
    found: list[tuple[Ints, Ints, Ints]] = []
    for length in (2, 3):
        on = together[begin + length - 2]
        before, begin = run[on], begin[on]
        next_ = prose.forms[begin + length - 1]
        run = _numbered(before * (int(prose.forms.max(initial=0)) + 1) + next_)
        whole = prose.telling[begin] & prose.telling[begin + length - 1]
        sure = whole & _significant(run, _times(before), _times(prose.forms)[begin + length - 1], len(places))
        found.append((run[sure], begin[sure], begin[sure] + length - 1))
    (two, *_), (three, *_) = found
    of = _numbered(np.concatenate([two, three + int(two.max(initial=0)) + 1]))
    return PhrasePlaces(of, *(np.concatenate([one[i] for one in found]) for i in (1, 2)))


def _significant(run: Ints, before: Ints, after: Ints, words: int) -> Bools:
    """Whether a run is there more often than its first part and its last word would meet by chance (Dunning's G²)."""
    both = _times(run).astype(np.float64)
    first, last, total = (np.asarray(n, np.float64) for n in (before, after, words))
    cells = (both, first - both, last - both, total - first - last + both)
    expected = (first * last, first * (total - last), last * (total - first), (total - first) * (total - last))
    with np.errstate(divide="ignore", invalid="ignore"):
        g = sum(np.where(n > 0, 2 * n * np.log(n * total / e), 0.0) for n, e in zip(cells, expected, strict=True))
    return np.asarray((both >= _FEWEST) & (both * total > first * last) & (g > _SURE))


def _numbered(keys: Ints) -> Ints:
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _times(keys: Ints) -> Ints:
    """How often each key is there."""
    return np.bincount(keys)[keys] if len(keys) else keys
