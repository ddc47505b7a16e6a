"""Stems: the words of a collection with their stop words out and their inflected forms put together.

Only words not met before are stemmed, and only when learning: a judge looks up hashes, and a word's hash leads to
the feature of its stem. So that forms which no example had are found as well, each ending (and beginning) that words
of the collection have is tried on every stem, and what the stemmer brings back to the same stem is known beforehand.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import Stemmer

from analecta.arrays import Ints, UInt64s
from analecta.text.tokens import LANGUAGES, LONGEST, Words, stop_words, words

RULES = 10  # ways from stem to word that are tried
Rule = tuple[str, str, str]  # what goes before, what the stem loses at its end, what it gets there
# A few pages show too little of a language; most pages are English, so its commonest endings are known from the start.
ENGLISH: list[Rule] = [("", "", end) for end in ("", "s", "e", "ed", "es", "ing")] + [("", "i", "y")]


@dataclass(frozen=True)
class Lexicon:
    """The stems of a collection: word `hashes[i]` is of stem `features[i]`, which is best shown as `names[...]`."""

    stems: list[str]
    names: list[str]
    languages: list[str]
    hashes: UInt64s
    features: Ints
    rules: dict[str, list[Rule]]

    def words_of(self, kept: Sequence[int] | Ints) -> tuple[UInt64s, Ints]:
        """Word hashes with their features for these stems, renumbered from 0; forms not met are among them."""
        position = np.full(len(self.stems), -1)
        position[kept] = np.arange(len(kept))
        known = position[self.features] >= 0
        seen, numbers = self.hashes[known], position[self.features[known]]
        forms, owners = self._forms(kept)
        hashes = words([" ".join(forms)]).hashes
        fresh = ~np.isin(hashes, self.hashes)
        return np.concatenate([seen, hashes[fresh]]), np.concatenate([numbers, np.array(owners, np.int64)[fresh]])

    def _forms(self, kept: Sequence[int] | Ints) -> tuple[list[str], list[int]]:
        """Every word that can be made of these stems by the rules of their language and stems back to them."""
        tried: dict[str, dict[str, tuple[int, str]]] = defaultdict(dict)
        for number, i in enumerate(np.asarray(kept).tolist()):
            stem, language = self.stems[i], self.languages[i]
            for before, lost, after in self.rules.get(language, ()):
                if stem.endswith(lost):
                    tried[language][before + stem[: len(stem) - len(lost)] + after] = (number, stem)
        made: dict[str, int] = {}
        for language, forms in sorted(tried.items()):
            for form, back in zip(forms, stem_all(list(forms), language), strict=True):
                if back == forms[form][1]:
                    made.setdefault(form, forms[form][0])
        # Those that the tokenizer takes as one word.
        whole = [form for form in made if len(form) > 1 and len(form.encode()) <= LONGEST and not form.isdigit()]
        return whole, [made[form] for form in whole]


def learn_stems(batch: Words, ignored: Iterable[str] = ()) -> Lexicon:
    """The stems of these texts, without stop words and the words `ignored`, in the order of the alphabet."""
    hashes, first, inverse = np.unique(batch.hashes, return_index=True, return_inverse=True)
    strings = batch.strings(first)
    languages = _languages(batch, strings, inverse)
    left_out = frozenset(ignored) | stop_words("en")
    kept = [i for i, w in enumerate(strings) if w not in left_out and w not in stop_words(languages[i])]
    stem = _stems_of(strings, languages, kept)
    amount = np.bincount(inverse, minlength=len(hashes)).tolist()
    best: dict[str, tuple[int, str, str]] = {}
    for i in kept:
        best[stem[i]] = min(best.get(stem[i], (0, "", "")), (-amount[i], strings[i], languages[i]))
    stems = sorted(best)
    number = {one: n for n, one in enumerate(stems)}
    return Lexicon(
        stems,
        [best[one][1] for one in stems],
        [best[one][2] for one in stems],
        hashes[kept],
        np.array([number[stem[i]] for i in kept], np.int64),
        _rules((strings[i], stem[i], languages[i]) for i in kept),
    )


def stem_all(strings: list[str], language: str) -> list[str]:
    """The stems of words of one language; where it has no stemmer, the words themselves."""
    stemmer = _stemmer(language)
    return list(stemmer.stemWords(strings)) if stemmer else strings


@cache
def _stemmer(language: str) -> Stemmer.Stemmer | None:
    try:
        return Stemmer.Stemmer(language, 100_000)  # words kept in its cache
    except KeyError:
        return None


def _languages(batch: Words, strings: list[str], inverse: Ints) -> list[str]:
    """For each different word the language of most of the pages that have it, by their stop words."""
    pages = len(batch)
    score = np.zeros((pages, len(LANGUAGES)))
    for n, language in enumerate(LANGUAGES):
        stop = np.fromiter(map(stop_words(language).__contains__, strings), np.float64, len(strings))
        score[:, n] = np.bincount(batch.pages, weights=stop[inverse], minlength=pages)
    of_page = score.argmax(axis=1) if pages else np.zeros(0, np.int64)
    keys = inverse * len(LANGUAGES) + of_page[batch.pages]
    often = np.bincount(keys, minlength=len(strings) * len(LANGUAGES)).reshape(len(strings), len(LANGUAGES))
    return [LANGUAGES[n] for n in often.argmax(axis=1).tolist()]


def _stems_of(strings: list[str], languages: list[str], kept: list[int]) -> dict[int, str]:
    by_language = defaultdict(list)
    for i in kept:
        by_language[languages[i]].append(i)
    stems: dict[int, str] = {}
    for language, some in by_language.items():
        stems.update(zip(some, stem_all([strings[i] for i in some], language), strict=True))
    return stems


def _rules(words_with_stems: Iterable[tuple[str, str, str]]) -> dict[str, list[Rule]]:
    """The commonest ways in which words differ from their stems, by language."""
    found: dict[str, Counter[Rule]] = defaultdict(Counter)
    for word, stem, language in words_with_stems:
        at = word.find(stem)
        if at >= 0:
            found[language][word[:at], "", word[at + len(stem) :]] += 1
            continue
        same = next((i for i, (a, b) in enumerate(zip(word, stem, strict=False)) if a != b), min(len(word), len(stem)))
        if same > 1:
            found[language]["", stem[same:], word[same:]] += 1
    ranked = {language: sorted(rules, key=lambda rule: (-rules[rule], rule)) for language, rules in found.items()}
    ranked["en"] = list(dict.fromkeys([*ENGLISH, *ranked.get("en", ())]))
    return {language: rules[:RULES] for language, rules in ranked.items()}
