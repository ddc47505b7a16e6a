"""Everything that a person brought, as one: topics of the same name are one topic, each seed once."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from analecta.errors import BadUse
from analecta.seed.gathering import BELOW, sound
from analecta.seed.placing import renamed
from analecta.seed.reading import Reading, Skipped
from analecta.settings import Others, Topic
from analecta.urls import canonical


class Leaf(msgspec.Struct, frozen=True):
    """A line of the tree of topics: how deep it lies, its own name, its topic; None where it is but a part of names."""

    depth: int
    name: str
    topic: Topic | None


def combine(readings: Sequence[tuple[Path | str, Reading]], searching: bool = False) -> Reading:
    """Several readings as one; at least one topic must have an example, unless a search engine will be asked."""
    readings = _by_one_name(readings)
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
        merge_others([reading.others for _, reading in readings]),
        {path: place for _, reading in readings for path, place in reading.files.items()},
    )


def _by_one_name(readings: Sequence[tuple[Path | str, Reading]]) -> list[tuple[Path | str, Reading]]:
    """The same, with each file called as it was first: a folder may be brought by two of its names."""
    first: dict[str, str] = {}
    found: list[tuple[Path | str, Reading]] = []
    for path, reading in readings:
        names = {file: first.setdefault(os.path.realpath(file), file) for file in reading.files}
        files = {file: place for file, place in reading.files.items() if names[file] == file}
        found.append((path, msgspec.structs.replace(renamed(reading, names), files=files)))
    return found


def merge(topics: Sequence[Topic]) -> tuple[tuple[Topic, ...], int]:
    """Topics of the same name as one; how many seeds and files were there already."""
    named: dict[str, list[Topic]] = {}
    for topic in topics:
        named.setdefault(topic.name, []).append(topic)
    merged = tuple(_one(name, same) for name, same in named.items())
    return merged, sum(map(_shown, topics)) - sum(map(_shown, merged))


def merge_others(others: Sequence[Others]) -> Others:
    """All that is not meant."""
    return Others(once(url for one in others for url in one.seeds), _files(one.examples for one in others))


def once(urls: Iterable[str]) -> tuple[str, ...]:
    """Each page once, by the first of its addresses."""
    known: dict[int, str] = {}
    for url in urls:
        target = canonical(url)
        known.setdefault(target.id if target else hash(url), url)
    return tuple(known.values())


def _one(name: str, topics: Sequence[Topic]) -> Topic:
    seeds = once(url for topic in topics for url in topic.seeds)
    starts = once([*seeds, *(url for topic in topics for url in topic.starts)])[len(seeds) :]
    return Topic(name, seeds, starts, _files(topic.examples for topic in topics))


def _files(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for paths in lists for path in paths))


def _shown(topic: Topic) -> int:
    """What shows what is meant."""
    return len(topic.seeds) + len(topic.examples)


def tree(topics: Sequence[Topic]) -> list[Leaf]:
    """The lines of the tree, parents before what lies below them."""
    by_place = {tuple(topic.name.split(BELOW)): topic for topic in topics}
    lines: dict[tuple[str, ...], None] = {}
    below: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for place in by_place:
        for end in range(1, len(place) + 1):
            if place[:end] not in lines:
                lines[place[:end]] = None
                below.setdefault(place[: end - 1], []).append(place[:end])
    todo, found = below.get((), [])[::-1], []
    while todo:
        place = todo.pop()
        found.append(Leaf(len(place) - 1, place[-1], by_place.get(place)))
        todo += below.get(place, [])[::-1]
    return found


def _of(path: Path | str, skipped: Skipped) -> Skipped:
    return msgspec.structs.replace(skipped, file=skipped.file or sound(str(path)))


def _nothing(readings: Sequence[tuple[Path | str, Reading]]) -> str:
    """None of the topics has a seed: an outline without URLs was all that there was."""
    path, reading = next(((path, reading) for path, reading in readings if reading.queries), readings[0])
    first = next(iter(reading.queries), "")
    return (
        f"no topic in {path} has an example: write URLs of good pages below it, indented more (below {first!r}, say), "
        "or name a search engine with --engine"
    )
