"""Everything that a person brought, as one: topics of the same name are one topic, each seed once."""

from collections.abc import Iterable, Sequence

import msgspec

from analecta.model import BELOW
from analecta.settings.schema import NegativeSettings, Topic
from analecta.urls import canonical


class TopicLine(msgspec.Struct, frozen=True):
    """A line of the tree of topics: how deep it lies, its own name, its topic; None where it is but a part of names."""

    depth: int
    name: str
    topic: Topic | None


def merge(topics: Sequence[Topic]) -> tuple[tuple[Topic, ...], int]:
    """Topics of the same name as one; how many seeds and files were there already."""
    named: dict[str, list[Topic]] = {}
    for topic in topics:
        named.setdefault(topic.name, []).append(topic)
    merged = tuple(_one(name, same) for name, same in named.items())
    return merged, sum(map(shown, topics)) - sum(map(shown, merged))


def merge_others(others: Sequence[NegativeSettings]) -> NegativeSettings:
    """All that is not meant."""
    return NegativeSettings(once(url for one in others for url in one.seeds), _files(one.examples for one in others))


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


def shown(one: Topic | NegativeSettings) -> int:
    """How many seeds and files show what is meant."""
    return len(one.seeds) + len(one.examples)


def tree(topics: Sequence[Topic]) -> list[TopicLine]:
    """The lines of the tree, parents before what lies below them."""
    by_place = {tuple(topic.name.split(BELOW)): topic for topic in topics}
    below: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}
    for place in by_place:
        for end in range(1, len(place) + 1):
            below.setdefault(place[: end - 1], {})[place[:end]] = None
    todo, found = [*below.get((), ())][::-1], []
    while todo:
        place = todo.pop()
        found.append(TopicLine(len(place) - 1, place[-1], by_place.get(place)))
        todo += [*below.get(place, ())][::-1]
    return found
