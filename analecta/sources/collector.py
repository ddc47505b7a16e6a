"""Topics and links as they are met in a file: names made clean, each page once a topic, each oddity noted.

A place in the tree is a path of names, ("Science", "Biology"); the topic there is called "Science / Biology". What
stands at no place, (), belongs to the topic that the person named.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from analecta.errors import UsageError
from analecta.model import BELOW
from analecta.settings.schema import NegativeSettings, Topic
from analecta.settings.topics import merge, merge_others
from analecta.sources.files import renamed
from analecta.sources.result import SkippedLine, SourceResult
from analecta.text.display import one_line
from analecta.urls import address, canonical

Place = tuple[str, ...]

NOT_MEANT: Place = ("",)  # where others stand: no name is empty
MAX_DEPTH = 20
MAX_NAME = 200
MAX_ENTRIES = 1_000_000  # lines, links, names
_SHOWN = 200  # characters kept of what was skipped: a bookmarklet is a whole program


class TopicCollector:
    """Collects what a reader meets; `reading` at the end tells it all."""

    def __init__(self, path: Path | str, topic: str, most: int = MAX_ENTRIES) -> None:
        self.path = path
        self.topic = topic
        self.skipped: list[SkippedLine] = []
        self.repeated = 0
        self._seeds: dict[Place, dict[int, str]] = {(): {}}
        self._lines: dict[Place, int] = {}  # of the topics that were named
        self._merged: dict[Place, None] = {}
        self._most = self._left = most

    def enter(self, place: Place, name: str, line: int = 0, step: bool = False) -> Place:
        """The place that a name means below another; told if it was named before, unless it is a step to others."""
        self.count()
        inner = (*place, clean(name))
        if len(inner) > MAX_DEPTH:
            raise UsageError(f"{self._where(line)}: topics lie more than {MAX_DEPTH} deep, which is too deep")
        if not step:
            if inner in self._lines:
                self._merged[inner] = None
            self._lines.setdefault(inner, line)
        self._seeds.setdefault(inner, {})
        return inner

    def add(self, place: Place, words: str, line: int = 0) -> None:
        """A link that stands at a place."""
        self.count()
        words = words.strip()
        url, why = address(words)
        target = None if why else canonical(url)
        seeds = self._seeds.setdefault(place, {})
        if target is None:
            self.skip(words, why or "it is no valid URL", line)
        elif target.id in seeds:
            self.repeated += 1
        else:
            seeds[target.id] = target.url

    def count(self) -> None:
        """One entry more; there is an end to how many are looked at."""
        self._left -= 1
        if self._left < 0:
            raise UsageError(f"{self.path} holds more than {self._most:,} entries")

    def skip(self, text: str, why: str, line: int = 0) -> None:
        """Something that is left out."""
        self.skipped.append(SkippedLine(line, sound(text[:_SHOWN]), sound(why)))

    def skip_barren(self, why: str) -> None:
        """Leave out the topics without seeds, with the same reason for all."""
        for place in self._barren():
            self.skip(BELOW.join(place), why, self._lines[place])

    def reading(self, queries: bool = False) -> SourceResult:
        """All of it; topics without seeds are kept as queries if asked to."""
        found = {place: tuple(seeds.values()) for place, seeds in self._seeds.items() if seeds}
        others = NegativeSettings(found.pop(NOT_MEANT, ()))
        topics = [Topic(self._name(place), seeds) for place, seeds in found.items()]
        asked = {self._name(place): self._name(place) for place in self._barren()} if queries else {}
        merged = tuple(map(self._name, self._merged))
        return SourceResult(_joined(topics), tuple(self.skipped), self.repeated, asked, merged, others)

    def result(self, what: str, queries: bool = False) -> SourceResult:
        """All of it; a file must hold at least one `what`."""
        reading = self.reading(queries)
        if not reading.topics and not reading.queries:
            raise self.nothing(what)
        return reading

    def nothing(self, what: str) -> UsageError:
        """What to say of a file that holds no `what`."""
        if not self.skipped:
            return UsageError(f"{self.path} holds no {what}")
        first = self.skipped[0]
        return UsageError(f"{self._where(first.line)}: no usable {what}; {first.text[:80]!r}: {first.why}")

    def _barren(self) -> list[Place]:
        """Topics with no seed in them or below, and no topic below that could be said to want it instead."""
        inner = {place[:i] for place in self._seeds for i in range(len(place))}
        return [place for place in self._lines if not self._seeds[place] and place not in inner]

    def _name(self, place: Place) -> str:
        return BELOW.join(place) or self.topic

    def _where(self, line: int) -> str:
        return f"{self.path}, line {line}" if line else str(self.path)


def clean(name: str) -> str:
    """A name fit to be a part of a path: one line, not too long, no slash between blanks or at an end.

    It is written to the settings and shown on terminals, so nothing that hides or turns the line is left in it.
    """
    words = one_line(sound(name))[:MAX_NAME]
    while BELOW in words:  # "a / / b" takes two rounds
        words = words.replace(BELOW, "/")
    return words.strip(" /") or "unnamed"


def topic_name(said: str) -> str:
    """The name of a topic that a person gave, with those above it; BadUse where it cannot be one."""
    fit = BELOW.join(map(clean, said.split(BELOW)))
    if fit != said:
        raise UsageError(f"--topic {said!r} cannot be the name of a topic: {fit!r} can")
    return said


def sound(text: str) -> str:
    """Text that can be written: JSON may hold half characters."""
    return text.encode("utf-8", "replace").decode()


def _joined(topics: list[Topic]) -> tuple[Topic, ...]:
    """Topics of one name as one: a folder may be called as the topic of what stands in no folder."""
    seeds: dict[str, dict[str, None]] = {}
    for topic in topics:
        seeds.setdefault(topic.name, {}).update(dict.fromkeys(topic.seeds))
    return tuple(Topic(name, tuple(urls)) for name, urls in seeds.items())


def combine(readings: Sequence[tuple[Path | str, SourceResult]], searching: bool = False) -> SourceResult:
    """Several readings as one; at least one topic must have an example, unless a search engine will be asked."""
    readings = _by_one_name(readings)
    topics, repeated = merge([topic for _, reading in readings for topic in reading.topics])
    if not topics and not searching:
        raise UsageError(_nothing(readings))
    named = {topic.name for topic in topics}
    queries = {name: query for _, reading in readings for name, query in reading.queries.items() if name not in named}
    return SourceResult(
        topics,
        tuple(
            msgspec.structs.replace(skipped, file=skipped.file or sound(str(path)))
            for path, reading in readings
            for skipped in reading.skipped
        ),
        repeated + sum(reading.repeated for _, reading in readings),
        queries,
        tuple(dict.fromkeys(name for _, reading in readings for name in reading.merged)),
        merge_others([reading.others for _, reading in readings]),
        {path: place for _, reading in readings for path, place in reading.files.items()},
    )


def _by_one_name(readings: Sequence[tuple[Path | str, SourceResult]]) -> list[tuple[Path | str, SourceResult]]:
    """The same, with each file called as it was first: a folder may be brought by two of its names."""
    first: dict[str, str] = {}
    found: list[tuple[Path | str, SourceResult]] = []
    for path, reading in readings:
        names = {file: first.setdefault(os.path.realpath(file), file) for file in reading.files}
        files = {file: place for file, place in reading.files.items() if names[file] == file}
        found.append((path, msgspec.structs.replace(renamed(reading, names), files=files)))
    return found


def _nothing(readings: Sequence[tuple[Path | str, SourceResult]]) -> str:
    """None of the topics has a seed: an outline without URLs was all that there was."""
    path, reading = next(((path, reading) for path, reading in readings if reading.queries), readings[0])
    first = next(iter(reading.queries), "")
    return (
        f"no topic in {path} has an example: write URLs of good pages below it, indented more (below {first!r}, say), "
        "or name a search engine with --engine"
    )
