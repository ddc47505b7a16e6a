"""Which topics a name stands for in a question: itself and those below; and when asked vaguely, those close to it.

"none" stands for no topic, where no topic is called so.
"""

from collections.abc import Sequence

from analecta.errors import BadUse, suggest
from analecta.model import BELOW, OTHERS
from analecta.store.topic_names import named

NONE = "none"


def first_on(names: Sequence[str], topic: str) -> list[int]:
    """The topics of which one must be a page's first; BadUse where there is no such topic."""
    found = named(names, topic)
    if not found and topic.casefold() == NONE:
        return [OTHERS]
    if not found:
        raise BadUse(f"the library has no topic {topic!r}{suggest(topic, _known(names)) if names else ' yet'}")
    return found


def _known(names: Sequence[str]) -> list[str]:
    """All that may be said for a topic: names, and those above them."""
    places = (name.split(BELOW) for name in names)
    return list(dict.fromkeys(BELOW.join(parts[:end]) for parts in places for end in range(1, len(parts) + 1)))


def also_on(names: Sequence[str], topic: str, vague: bool = False) -> list[int]:
    """The topics of which, asked vaguely, one may be any of a page's: those that were nearly the first.

    The one right above is among them: of a page that stopped there the judge could not say which way to go on.
    """
    if not vague:
        return []
    above = topic.casefold().rpartition(BELOW)[0]
    return [*first_on(names, topic), *(n for n, name in enumerate(names) if above and name.casefold() == above)]
