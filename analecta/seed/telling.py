"""What was understood of what a person brought, in lines for a person."""

from collections.abc import Iterator, Sequence

from analecta.seed.adding import Added
from analecta.seed.combining import tree
from analecta.seed.reading import Reading, Skipped
from analecta.settings import Topic

MOST = 10  # of what is odd; the rest is counted


def tell_reading(reading: Reading) -> Iterator[str]:
    """The tree of topics, and what is odd."""
    yield from tell_topics(reading.topics)
    yield from tell_odd(reading)


def tell_topics(topics: Sequence[Topic]) -> Iterator[str]:
    """The tree of topics with their seeds."""
    for leaf in tree(topics):
        head = "  Topic " if leaf.depth == 0 else "    " + "  " * leaf.depth
        yield f"{head}{leaf.name}" + ("" if leaf.seeds is None else f": {leaf.seeds:,} seeds")


def tell_odd(reading: Reading) -> Iterator[str]:
    """What was repeated, merged, wanting or skipped."""
    if reading.repeated:
        yield f"  Named more than once: {reading.repeated:,}"
    if reading.merged:
        yield f"  Topics that are named twice and made one: {len(reading.merged):,}"
        yield from _first([f"    {name}" for name in reading.merged])
    if reading.queries:
        yield f"  Left out, for want of examples (add URLs below them): {len(reading.queries):,} topics"
        yield from _first([f"    {name}" for name in reading.queries])
    if reading.skipped:
        yield f"  Skipped: {len(reading.skipped):,}"
        yield from _first([f"    {_where(skipped)}: {skipped.text}: {skipped.why}" for skipped in reading.skipped])


def tell_added(added: Added) -> Iterator[str]:
    """What is new in settings that were added to."""
    if added.topics:
        yield "New topics:"
        yield from tell_topics(added.topics)
    if added.more:
        yield "New seeds:"
        yield from (f"  Topic {topic.name}: {len(topic.seeds):,} more" for topic in added.more)
    if added.known:
        yield f"  There already: {added.known:,} seeds"


def _first(lines: list[str]) -> Iterator[str]:
    yield from lines[:MOST]
    if len(lines) > MOST:
        yield f"    and {len(lines) - MOST:,} more"


def _where(skipped: Skipped) -> str:
    return f"{skipped.file}, line {skipped.line}" if skipped.line else skipped.file
