"""Topics as queries: what a topic tree asks a search engine, and the pages that it takes as examples (S2)."""

from collections.abc import Mapping, Sequence

import msgspec

from analecta.sources.engines.engine import Hit

EXAMPLES = 7  # the best hits of a topic's query
FEWEST = 4  # examples that make a centroid


class Examples(msgspec.Struct, frozen=True):
    """The example pages of each topic, and the topics that have too few, each in a sentence."""

    hits: dict[str, tuple[Hit, ...]]
    few: tuple[str, ...] = ()


def topic_queries(topics: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The query of each leaf: its path of names, most specific first. `topics`: names from the root to the topic."""
    paths = {topic: tuple(path) for topic, path in topics.items()}
    inner = {path[:depth] for path in paths.values() for depth in range(1, len(path))}
    return {topic: _query(path or (topic,)) for topic, path in paths.items() if path not in inner}


def _query(path: Sequence[str]) -> str:
    """Each name once; quotes would make a phrase of a name that nobody meant as one."""
    names: dict[str, str] = {}
    for name in reversed(path):
        words = " ".join(name.replace('"', " ").split())
        names.setdefault(words.casefold(), words)
    return " ".join(names.values())


def topic_examples(
    queries: Mapping[str, str], hits: Mapping[str, Sequence[Hit]], results: int = EXAMPLES, fewest: int = FEWEST
) -> Examples:
    """The best hits of each topic's query."""
    found = {topic: tuple(hits.get(query, ())[:results]) for topic, query in queries.items()}
    few = [
        f"{topic}: {len(pages)} of at least {fewest} example pages found for {queries[topic]!r}"
        for topic, pages in found.items()
        if len(pages) < fewest
    ]
    return Examples(found, tuple(few))
