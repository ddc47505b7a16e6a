"""What was understood of what a person brought, in lines for a person."""

from collections.abc import Iterator, Sequence

from analecta.settings.edit import Added
from analecta.settings.schema import Others, Topic
from analecta.settings.topics import tree
from analecta.sources.result import Reading, Skipped

MOST = 10  # of what is odd; the rest is counted


def tell_reading(reading: Reading) -> Iterator[str]:
    """The tree of topics, and what is odd."""
    yield from tell_topics(reading.topics, reading.others)
    yield from tell_odd(reading)


def tell_topics(topics: Sequence[Topic], others: Others = Others()) -> Iterator[str]:
    """The tree of topics with what shows each of them; what is not meant."""
    for leaf in tree(topics):
        head = "  Topic " if leaf.depth == 0 else "    " + "  " * leaf.depth
        yield f"{head}{leaf.name}" + ("" if leaf.topic is None else f": {what_shows(leaf.topic)}")
    if others != Others():
        yield f"  What is not meant: {what_shows(others)}"


def what_shows(given: Topic | Others) -> str:
    """How many seeds and files there are, and pages to begin at."""
    starts = len(given.starts) if isinstance(given, Topic) else 0
    parts = [_count(len(given.seeds), "seed")] if given.seeds or not (given.examples or starts) else []
    if given.examples:
        parts.append(_count(len(given.examples), "file"))
    if starts:
        parts.append(f"{_count(starts, 'page')} to begin at")
    return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def tell_odd(reading: Reading) -> Iterator[str]:
    """What was repeated, merged, wanting or skipped."""
    if reading.repeated:
        yield f"  Named more than once: {reading.repeated:,}"
    if reading.merged:
        yield f"  Topics that are named twice and made one: {len(reading.merged):,}"
        yield from _first([f"    {name}" for name in reading.merged])
    if reading.queries:
        yield f"  Left out, for want of examples (add URLs below them): {_count(len(reading.queries), 'topic')}"
        yield from _first([f"    {name}" for name in reading.queries])
    if reading.skipped:
        yield f"  Skipped: {len(reading.skipped):,}"
        yield from _first([f"    {_where(skipped)}: {skipped.text}: {skipped.why}" for skipped in reading.skipped])


def tell_added(added: Added) -> Iterator[str]:
    """What is new in settings that were added to."""
    if added.topics:
        yield "New topics:"
        yield from tell_topics(added.topics)
    if added.more or added.others != Others():
        yield "More for what is there:"
        yield from (f"  Topic {topic.name}: {what_shows(topic)}" for topic in added.more)
        yield from tell_topics((), added.others)
    if added.known:
        yield f"  There already: {added.known:,}"
    for name, count in added.shared.items():
        yield f"  Seeds that {name} has already: {count:,}; a page is an example of one topic only"


def _first(lines: list[str]) -> Iterator[str]:
    yield from lines[:MOST]
    if len(lines) > MOST:
        yield f"    and {len(lines) - MOST:,} more"


def _where(skipped: Skipped) -> str:
    return f"{skipped.file}, line {skipped.line}" if skipped.line else skipped.file
