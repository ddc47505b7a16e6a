"""Labels (P9): the words and phrases that say what a cluster is about, and set it apart from the others.

Terms are ranked by their weight in the summed vectors of a cluster's pages and by the share that is this cluster's of
all their pages. They are shown as whole words, as they are most often written inside sentences, so that names and
acronyms keep their case; a phrase takes the place of its words where it is what they mostly stand in.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import ceil

import numpy as np
from scipy.sparse import csr_matrix

from analecta.analyse.clustering import weighed
from analecta.analyse.phrases import PhrasePlaces, Prose, find_phrases, prose
from analecta.arrays import Floats, Ints
from analecta.text.tokens import LANGUAGES, stop_words, tally

TERMS = 5
IN_LABEL = 3
_LOOKED_AT = 60  # words of a cluster, best first
_PART = 0.33  # of a word's places, and of its pages, that are in a phrase: then the phrase is what it means
_PAGES = 0.12  # of the cluster's pages that have a term, at least
_FEWEST = 3  # pages that must have a phrase
_FIXED = 0.7  # of a term's places have the same word before, or after: it is from a form, a table, a fixed sentence
_INSIDE = 0.2  # of a phrase's places that are inside a sentence, at least; else it is how sentences begin
_FIRST = 4  # letters that two words have in common at least where one is a variant of the other
_VARIANT = 0.7  # and of the shorter of them


def terms_of_clusters(texts: Sequence[str], of: Ints, clusters: int, most: int = TERMS) -> list[list[str]]:
    """The best terms of each cluster; text i is of a page of cluster `of[i]`."""
    written = prose(texts)
    phrases = find_phrases(written)
    score = _scores(written, of, clusters)
    homes = of[written.pages]
    words, groups = _parted(homes, clusters), _parted(homes[phrases.first], clusters)
    return [_Namer(written, words[c], phrases, groups[c]).terms(score[c], most) for c in range(clusters)]


def _parted(of: Ints, clusters: int) -> list[Ints]:
    """Which numbers belong to each cluster, in order: found at one go, for there may be a thousand clusters."""
    order = np.argsort(of, kind="stable")
    return np.split(order, np.searchsorted(of[order], np.arange(1, clusters)))


def labels_of(terms: Sequence[Sequence[str]]) -> list[str]:
    """A short label for each cluster, no two the same: with more terms, or a number, where the first would not do."""
    labels: dict[str, str] = {}
    for own in terms:
        longer = [" · ".join(own[:length]) for length in range(IN_LABEL, len(own) + 1)] or [" · ".join(own) or "pages"]
        numbered = [f"{longer[0]} ({n})" for n in range(2, len(terms) + 2)]
        label = next(label for label in longer + numbered if label.casefold() not in labels)
        labels[label.casefold()] = label
    return list(labels.values())


def _scores(written: Prose, of: Ints, clusters: int) -> Floats:
    """For each cluster and stem how well it tells the cluster; 0 for what few of its pages have."""
    at = np.flatnonzero(written.telling)
    table = tally(written.pages[at], written.forms[at], len(of), written.stems)
    on = np.bincount(table.indices, minlength=table.shape[1])
    weights = weighed(table, np.log((1 + len(of)) / np.maximum(on, 1)))
    summed, often = (_means(rows, of, clusters) for rows in (weights, table.sign()))
    share = often / np.maximum(often.sum(axis=0), 1e-12)
    return np.where(often >= _PAGES, summed * share * np.sqrt(often), 0.0)


def _means(table: csr_matrix, of: Ints, clusters: int) -> Floats:
    """The mean row of each cluster."""
    which = csr_matrix((np.ones(len(of)), (of, np.arange(len(of)))), shape=(clusters, len(of)))
    return np.asarray((which @ table).toarray() / np.maximum(np.bincount(of, minlength=clusters), 1)[:, None])


class _Namer:
    """Puts the stems of one cluster into words."""

    def __init__(self, written: Prose, places: Ints, phrases: PhrasePlaces, own: Ints) -> None:
        """Know the places of its words, and which phrases are its `own`."""
        self.written, self.places = written, places
        self.of, self.first, self.last = phrases.of[own], phrases.first[own], phrases.last[own]

    def terms(self, score: Floats, most: int) -> list[str]:
        """So many terms, best first; no word is in two of them."""
        found: list[str] = []
        used: set[int] = set()
        for stem in np.lexsort((np.arange(len(score)), -score))[:_LOOKED_AT].tolist():
            if len(found) == most or score[stem] <= 0:
                break
            if stem in used:
                continue
            first, last = self._phrase(stem, used)
            term = self.written.written(first, last)
            if _fit(term) and not self._fixed(first, last) and not any(_variants(term, other) for other in found):
                found.append(term)
                used.update(self.written.forms[first[0] : last[0] + 1].tolist())
        return found

    def _phrase(self, stem: int, used: set[int]) -> tuple[Ints, Ints]:
        """Places of the phrase that the word mostly stands in, or of the word itself."""
        forms, pages = self.written.forms, self.written.pages
        alone = self.places[forms[self.places] == stem]
        middle = np.minimum(self.first + 1, self.last)
        with_it = np.flatnonzero(np.any([forms[at] == stem for at in (self.first, middle, self.last)], axis=0))
        enough = max(_PART * len(np.unique(pages[alone])), _FEWEST)
        for phrase, count in Counter(self.of[with_it].tolist()).most_common():
            at = with_it[self.of[with_it] == phrase]
            first, last = self.first[at], self.last[at]
            if count < _PART * len(alone):
                break
            fresh = used.isdisjoint(forms[first[0] : last[0] + 1].tolist())
            if fresh and len(np.unique(pages[first])) >= enough and self._good(first, last):
                return first, last
        return alone, alone

    def _good(self, first: Ints, last: Ints) -> bool:
        """Whether a phrase is more than a piece of a sentence; with a stop word inside, only names are."""
        written = self.written.written(first, last)
        end = written.split()[-1]
        name = written[:1].isupper() and end[:1].isupper()
        whole = name or bool(self.written.telling[first[0] : last[0] + 1].all())
        begins = float(self.written.free(first).mean()) < _INSIDE
        foreign = len(end) <= 3 and end in _small_words()  # as in "República de"
        return whole and not begins and not foreign and not self._fixed(first, last)

    def _fixed(self, first: Ints, last: Ints) -> bool:
        """Whether it always stands between the same words."""
        return max(self.written.before(first), self.written.after(last)) > _FIXED


@cache
def _small_words() -> frozenset[str]:
    """Stop words of all languages: a phrase does not end with a short one."""
    return frozenset().union(*map(stop_words, LANGUAGES))


def _fit(term: str) -> bool:
    """Whether a term can stand in a label: not a scrap such as "pp" or "2nd"."""
    return bool(term) and not term[0].isdigit() and (len(term) > 2 or term.isupper() or not term.isascii())


def _variants(one: str, other: str) -> bool:
    """Whether two terms have nearly the same word: flavour and flavor, Russia and Russian."""
    return any(_alike(a, b) for a in one.casefold().split() for b in other.casefold().split())


def _alike(one: str, other: str) -> bool:
    needed = max(_FIRST, ceil(_VARIANT * min(len(one), len(other))))
    return len(one) >= needed and one[:needed] == other[:needed]
