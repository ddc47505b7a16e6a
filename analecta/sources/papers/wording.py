"""A paper in its own words: what to ask where exact titles find too little, and its text as an example.

Exact titles often find nothing: few pages on the web quote the titles of a paper's references word for word.
"""

from collections import Counter
from collections.abc import Sequence

from analecta.sources.papers.paper import Paper
from analecta.text.tokens import likely_language, stop_words, words

_MOST = 8  # words of a query: with more, engines find pages that hold all of them, which are none


def in_words(papers: Sequence[Paper]) -> tuple[str, ...]:
    """Queries without quotes, the sharpest first: the words of each title, then keywords or telling words."""
    found = [query for tell in (_title, _keywords) for paper in papers if (query := tell(paper))]
    return tuple(dict.fromkeys(found))


def _title(paper: Paper) -> str:
    return " ".join(paper.title.replace('"', " ").split())


def _keywords(paper: Paper) -> str:
    """A paper's own keywords; where it names none, its most telling words."""
    named = " ".join(" ".join(paper.keywords).replace('"', " ").split()[:_MOST])
    return named or " ".join(telling(paper))


def telling(paper: Paper, most: int = _MOST) -> list[str]:
    """The words that tell most of what a paper is about: of its title, abstract and titles of references."""
    heads = [paper.title, *(reference.title for reference in paper.references)]
    texts = [list(words([text]).strings()) for text in (paper.abstract, *heads)]
    silent = stop_words(likely_language([word for text in texts for word in text]))
    counts = Counter(texts[0])  # the abstract says a word as often as it matters
    for text in texts[1:]:
        counts.update(list(dict.fromkeys(text)))
    counts.update(dict.fromkeys(texts[1], 2))  # the title's count thrice
    known = [word for word in counts if word not in silent]
    return sorted(known, key=lambda word: -counts[word])[:most]


def own_text(paper: Paper) -> str:
    """The paper as a text to learn from: all that was read of it but names of people and places."""
    parts = [paper.title, paper.abstract, ", ".join(paper.keywords)]
    parts += [part for section in paper.sections for part in (section.title, section.text)]
    parts += [reference.title for reference in paper.references]
    return "\n\n".join(part for part in parts if part) + "\n"
