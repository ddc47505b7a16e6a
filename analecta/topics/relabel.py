"""Pages, URLs and examples that follow the topics when a person splits one or takes that back.

What a crawl has written down names topics by number. When a topic is split or a split is undone, the pages move with
it at once, and so do the examples (learning/examples.py). The next crawl learns anew, and its judge looks at the pages
again.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from analecta.learning.examples import follow
from analecta.model import BELOW, NO_TOPIC
from analecta.settings.schema import Settings
from analecta.store.library import LibraryFolder
from analecta.store.library_db import forget_topics
from analecta.store.outbox import has_letters
from analecta.store.pages import move_page, refers_to_topic, renumber_topics
from analecta.store.partition import Shard


def replant(library: LibraryFolder, settings: Settings, moved: Mapping[int, tuple[str, str]]) -> None:
    """Let what was crawled agree with the topics of the settings; `moved` are pages by id: from which topic to which.

    Pages of a topic that is gone go to the nearest one above it. The caller holds the library.
    """
    names = library.topic_names(tuple(topic.name for topic in settings.topics))
    number = {name: n for n, name in enumerate(names)}
    homes = _homes(number, {topic.name for topic in settings.topics})
    ways = {id: (number[old], number[new]) for id, (old, new) in moved.items()}
    with library.writers() as shards:
        # With nothing above, pages stay as they are.
        above = {old: new for old, new in homes.items() if new != NO_TOPIC}
        for shard in shards:
            if above:
                renumber_topics(shard, above)
            for id, (old, new) in ways.items():  # what the judge has put elsewhere since stays there
                move_page(shard, id, old, new)
        follow(shards, settings, names)
        gone = [] if any(map(has_letters, shards)) else _unused(shards, names, homes)
        for shard in shards:
            shard.commit()
    if gone:
        forget_topics(library, gone)


def _homes(numbers: Mapping[str, int], wanted: set[str]) -> dict[int, int]:
    """Of topics that are gone, the number of the nearest topic above; OTHERS where there is none."""
    found = {}
    for name, n in numbers.items():
        above = name
        while above and above not in wanted:
            above = above.rpartition(BELOW)[0]
        if above != name:
            found[n] = numbers[above] if above else NO_TOPIC
    return found


# --- topics that are gone --------------------------------------------------------------------------------------------


def _unused(shards: Sequence[Shard], names: Sequence[str], homes: Mapping[int, int]) -> list[int]:
    """Topics at the end of the list that are gone and to which nothing refers: their numbers may be given anew."""

    def is_unused(n: int) -> bool:
        return n in homes and not any(refers_to_topic(shard, n) for shard in shards)

    return list(takewhile(is_unused, reversed(range(len(names)))))
