"""Everything that a person brought, as one: topics of the same name are one topic, each seed once."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from analecta.errors import BadUse
from analecta.seed.gathering import BELOW
from analecta.seed.reading import Reading, Skipped
from analecta.settings import Topic
from analecta.urls import canonical


class Leaf(msgspec.Struct, frozen=True):
    """A line of the tree of topics: how deep it lies, its own name, its seeds; None where it is but a part of names."""

    depth: int
    name: str
    seeds: int | None


def combine(readings: Sequence[tuple[Path, Reading]], searching: bool = False) -> Reading:
    """Several readings as one; at least one topic must have a seed, unless a search engine will be asked."""
    topics, repeated = merge([topic for _, reading in readings for topic in reading.topics])
    if not topics and not searching:
        raise BadUse(_nothing(readings))
    named = {topic.name for topic in topics}
    queries = {name: query for _, reading in readings for name, query in reading.queries.items() if name not in named}
    return Reading(
        topics,
        tuple(_of(path, skipped) for path, reading in readings for skipped in reading.skipped),
        repeated + sum(reading.repeated for _, reading in readings),
        queries,
        tuple(dict.fromkeys(name for _, reading in readings for name in reading.merged)),
    )


def merge(topics: Sequence[Topic]) -> tuple[tuple[Topic, ...], int]:
    """Topics of the same name as one; how many seeds were there already."""
    seeds: dict[str, dict[int, str]] = {}
    repeated = 0
    for topic in topics:
        known = seeds.setdefault(topic.name, {})
        for url in topic.seeds:
            target = canonical(url)
            number = target.id if target else hash(url)
            repeated += number in known
            known.setdefault(number, url)
    return tuple(Topic(name, tuple(urls.values())) for name, urls in seeds.items()), repeated


def tree(topics: Sequence[Topic]) -> list[Leaf]:
    """The lines of the tree, parents before what lies below them."""
    counts = {tuple(topic.name.split(BELOW)): len(topic.seeds) for topic in topics}
    lines: dict[tuple[str, ...], None] = {}
    below: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for place in counts:
        for end in range(1, len(place) + 1):
            if place[:end] not in lines:
                lines[place[:end]] = None
                below.setdefault(place[: end - 1], []).append(place[:end])
    todo, found = below.get((), [])[::-1], []
    while todo:
        place = todo.pop()
        found.append(Leaf(len(place) - 1, place[-1], counts.get(place)))
        todo += below.get(place, [])[::-1]
    return found


def _of(path: Path, skipped: Skipped) -> Skipped:
    return msgspec.structs.replace(skipped, file=str(path))


def _nothing(readings: Sequence[tuple[Path, Reading]]) -> str:
    """None of the topics has a seed: an outline without URLs was all that there was."""
    path, reading = next(((path, reading) for path, reading in readings if reading.queries), readings[0])
    first = next(iter(reading.queries), "")
    return (
        f"no topic in {path} has an example: write URLs of good pages below it, indented more (below {first!r}, say), "
        "or name a search engine with --engine"
    )
