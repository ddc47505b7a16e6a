"""Topics by the names that people say."""

from collections.abc import Sequence

from analecta.errors import BadUse
from analecta.judge.tree import BELOW
from analecta.settings import suggest
from analecta.store.library import Library


def topic_numbers(library: Library, topics: Sequence[str] | None, below: bool = True) -> list[int]:
    """The numbers of these topics, or of all for None, in the library's order; with `below` also of those below."""
    names = library.topic_names()
    if topics is None:
        return list(range(len(names)))
    return sorted({number for topic in topics for number in _numbers(names, topic, below)})


def _numbers(names: list[str], topic: str, below: bool) -> list[int]:
    found = [n for n, name in enumerate(names) if name == topic or (below and name.startswith(topic + BELOW))]
    if not found:
        known = suggest(topic, names) if names else " yet: crawl it first"
        raise BadUse(f"the library has no topic {topic!r}{known}")
    return found
