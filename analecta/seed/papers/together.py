"""Several papers at once: what they share, and what to ask a search engine (P2)."""

import re
import unicodedata
from collections.abc import Iterable

from analecta.seed.papers.model import Paper

_NOT_WORD = re.compile(r"[\W_]+")
_FEWEST, _MOST = 2, 25  # words of a phrase: one word finds everything, engines refuse very long ones


def same_title(title: str) -> str:
    """What titles have in common that differ in case, accents, hyphens and signs only."""
    letters = unicodedata.normalize("NFKD", title.casefold().replace("-", ""))
    return " ".join(_NOT_WORD.sub(" ", "".join(char for char in letters if not unicodedata.combining(char))).split())


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


def queries(papers: Iterable[Paper]) -> list[str]:
    """Exact-phrase queries, best first: titles of the papers, then of their references, shared ones before others."""
    papers = list(papers)
    titles = [paper.title for paper in papers] + [title for title, _ in shared(papers)]
    found: dict[str, str] = {}
    for title in titles:
        words = title.replace('"', " ").replace("“", " ").replace("”", " ").split()
        if len(words) >= _FEWEST:
            found.setdefault(same_title(title), '"' + " ".join(words[:_MOST]) + '"')
    return list(found.values())
