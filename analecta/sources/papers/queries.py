"""Several papers at once: which of them are about the same, what they share, and what to ask a search engine (P2)."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from analecta.sources.papers.paper import Paper

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
    counts: dict[str, int] = {}
    for paper in papers:
        for key, title in {same_title(ref.title): ref.title for ref in reversed(paper.references)}.items():
            if key:
                names.setdefault(key, title)
                counts[key] = counts.get(key, 0) + 1
    order = sorted(counts, key=lambda key: -counts[key])  # stable: the order of the papers' lists within
    return [(names[key], counts[key] / len(papers)) for key in order]


def weighed_queries(papers: Iterable[Paper]) -> dict[str, float]:
    """Exact-phrase queries with their weights, best first: titles of the papers, then of what they refer to."""
    papers = list(papers)
    titles = [(paper.title, 1.0) for paper in papers] + shared(papers)
    found: dict[str, tuple[str, float]] = {}
    for title, weight in titles:
        words = title.replace('"', " ").replace("“", " ").replace("”", " ").split()
        if len(words) >= _FEWEST:
            found.setdefault(same_title(title), ('"' + " ".join(words[:_MOST]) + '"', weight))
    return dict(found.values())
