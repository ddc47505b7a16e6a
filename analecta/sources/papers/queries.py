"""What to ask a search engine for the sake of papers, of one or of several (P2)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from analecta.sources.papers.paper import Paper
from analecta.text.tokens import likely_language, stop_words, words

_NOT_WORD = re.compile(r"[\W_]+")
_FEWEST, _MOST = 2, 25  # words of a phrase: one word finds everything, engines refuse very long ones
_COMMON = 2  # references that two papers of one subject share at least; a single one may be of a mere tool


def same_title(title: str) -> str:
    """What titles have in common that differ in case, accents, hyphens and signs only."""
    letters = unicodedata.normalize("NFKD", title.casefold().replace("-", ""))
    return " ".join(_NOT_WORD.sub(" ", "".join(char for char in letters if not unicodedata.combining(char))).split())


def related(papers: Sequence[Paper]) -> list[list[Paper]]:
    """The papers in groups of one subject each: two that share references, or of which one refers to the other."""
    groups: list[list[int]] = []
    for n, paper in enumerate(papers):
        near = [group for group in groups if any(_near(paper, papers[other]) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append(sorted([*(other for group in near for other in group), n]))
    return [[papers[n] for n in group] for group in sorted(groups)]


def _near(one: Paper, other: Paper) -> bool:
    here, there = _cited(one), _cited(other)
    return len(here & there) >= _COMMON or same_title(one.title) in there or same_title(other.title) in here


def _cited(paper: Paper) -> set[str]:
    return {key for reference in paper.references if (key := same_title(reference.title))}


def shared(papers: Iterable[Paper]) -> list[tuple[str, float]]:
    """Titles of references with their weight, heaviest first: the share of the papers that refer to them."""
    papers = list(papers)
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for paper in papers:
        for key, title in {same_title(ref.title): ref.title for ref in reversed(paper.references)}.items():
            if key:
                names.setdefault(key, title)
                counts[key] += 1
    # Stable: the order of the papers' lists within.
    return [(names[key], count / len(papers)) for key, count in counts.most_common()]


def weighed_queries(papers: Iterable[Paper]) -> dict[str, float]:
    """Exact-phrase queries with their weights, best first: titles of the papers, then of what they refer to."""
    papers = list(papers)
    titles = [(paper.title, 1.0) for paper in papers] + shared(papers)
    found: dict[str, tuple[str, float]] = {}
    for title, weight in titles:
        words = _without_quotes(title.replace("“", " ").replace("”", " "))
        if len(words) >= _FEWEST:
            found.setdefault(same_title(title), ('"' + " ".join(words[:_MOST]) + '"', weight))
    return dict(found.values())


# --- A paper in its own words: what to ask where exact titles find too little, and its text as an example ------------
# Exact titles often find nothing: few pages on the web quote the titles of a paper's references word for word.


_QUERY_WORDS = 8  # words of a query: with more, engines find pages that hold all of them, which are none


def in_words(papers: Sequence[Paper]) -> tuple[str, ...]:
    """Queries without quotes, the sharpest first: the words of each title, then keywords or telling words."""
    titles = [" ".join(_without_quotes(paper.title)) for paper in papers]
    named = [_without_quotes(" ".join(paper.keywords))[:_QUERY_WORDS] or telling(paper) for paper in papers]
    return tuple(dict.fromkeys(filter(None, [*titles, *map(" ".join, named)])))


def _without_quotes(text: str) -> list[str]:
    return text.replace('"', " ").split()


def telling(paper: Paper) -> list[str]:
    """The words that tell most of what a paper is about: of its title, abstract and titles of references."""
    heads = [paper.title, *(reference.title for reference in paper.references)]
    texts = [list(words([text]).strings()) for text in (paper.abstract, *heads)]
    silent = stop_words(likely_language([word for text in texts for word in text]))
    counts = Counter(texts[0])  # the abstract says a word as often as it matters
    for text in texts[1:]:
        counts.update(list(dict.fromkeys(text)))
    counts.update(dict.fromkeys(texts[1], 2))  # the title's count thrice
    known = [word for word in counts if word not in silent]
    return sorted(known, key=lambda word: -counts[word])[:_QUERY_WORDS]


def own_text(paper: Paper) -> str:
    """The paper as a text to learn from: all that was read of it but names of people and places."""
    parts = [paper.title, paper.abstract, ", ".join(paper.keywords)]
    parts += [part for section in paper.sections for part in (section.title, section.text)]
    parts += [reference.title for reference in paper.references]
    return "\n\n".join(part for part in parts if part) + "\n"
