"""Topics by the names that people say, and which of them people see.

A topic keeps its number for ever, also when it was renamed or taken out of the settings. It is no longer shown when it
is not in them and no page is of it.
"""

from collections.abc import Sequence

import msgspec

from analecta.errors import BadUse, suggest
from analecta.model import BELOW
from analecta.settings.load import load
from analecta.store.library import Library

_PAGES = "SELECT DISTINCT topic, topics FROM pages WHERE topic >= 0"


def shown_topics(library: Library) -> list[int]:
    """The numbers of the topics that people see; all where the settings cannot be read, or name none."""
    names = library.topic_names()
    asked = _asked(library) or set(names)
    had = set() if asked.issuperset(names) else _with_pages(library)
    return [n for n, name in enumerate(names) if name in asked or n in had]


def topic_numbers(library: Library, topics: Sequence[str] | None, below: bool = True) -> list[int]:
    """The numbers of these topics, or of all that are shown for None, in order; with `below` also of those below."""
    names = library.topic_names()
    if topics is None:
        return shown_topics(library)
    return sorted({number for topic in topics for number in _numbers(library, names, topic, below)})


def named(names: Sequence[str], topic: str, below: bool = True) -> list[int]:
    """The numbers of those called so, with `below` also of those below; capitals matter only where they must."""
    wanted = topic if topic in names else topic.casefold()  # two names may differ in their capitals alone
    same = names if topic in names else [name.casefold() for name in names]
    return [n for n, name in enumerate(same) if name == wanted or (below and name.startswith(wanted + BELOW))]


def _asked(library: Library) -> set[str]:
    try:
        return {topic.name for topic in load(library.settings_path).topics}
    except BadUse:
        return set()


def _with_pages(library: Library) -> set[int]:
    """The topics that pages are of, also where another is the first of a page."""
    found: set[int] = set()
    with library.shards() as shards:
        for shard in shards:
            for topic, packed in shard.execute(_PAGES):
                found.update([topic], (n for n, _ in msgspec.msgpack.decode(packed)) if packed else ())
    return found


def _numbers(library: Library, names: list[str], topic: str, below: bool) -> list[int]:
    found = named(names, topic, below)
    if not found:
        listed = [names[number] for number in shown_topics(library)]
        known = suggest(topic, listed) if listed else " yet: crawl it first"
        raise BadUse(f"the library has no topic {topic!r}{known}")
    return found
