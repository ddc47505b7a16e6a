"""A topic split into subtopics: "Biology" grows "Biology / Birds", in settings whose comments stay (B19).

A subtopic is shown by the pages nearest to the centre of its cluster. Seeds of the topic that lie in a cluster are
shared out to its subtopic: left above they would speak against it, for a page is an example of one topic. The topic
keeps those that lie in none, and with them what fits no subtopic.
"""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import tomlkit

from analecta.errors import BadUse, suggest
from analecta.model import BELOW
from analecta.settings.edit import Added, add, pieces
from analecta.settings.schema import Topic, parse
from analecta.sources.collector import clean
from analecta.urls import canonical

EXAMPLES = 10  # pages that show a subtopic


class Part(msgspec.Struct, frozen=True):
    """A subtopic as it is suggested: a label, and the URLs of its pages, those nearest to the centre first."""

    label: str
    pages: Sequence[str]


class Split(msgspec.Struct, frozen=True):
    """The new settings, and what is new in them."""

    text: str
    names: tuple[str, ...]  # of the subtopics, in the order of the parts
    added: Added
    shared: Mapping[str, str]  # seeds of the topic that now show a subtopic: URL to the subtopic's name


def split(text: str, name: str, topic: str, parts: Sequence[Part], examples: int = EXAMPLES) -> Split:
    """Settings in which a topic has these subtopics; `name` is what the file is called."""
    written = parse(text, name)
    seeds = _seeds(written, topic, name)
    names = tuple(topic + BELOW + clean(part.label) for part in parts)
    shared = _shared(seeds[topic], names, parts)
    others = written.get("others", {}).get("seeds", ())
    taken = {_key(url) for urls in (*seeds.values(), others) for url in urls}
    own = [{*map(_key, seeds.get(one, ()))} for one in names]
    topics = [
        Topic(one, (*(url for url, to in shared.items() if to == one), *_nearest(part, taken, had, examples)))
        for one, part, had in zip(names, parts, own, strict=True)
    ]
    added = add(_without(text, written, topic, shared, name), topics, name)
    return Split(added.text, names, added, shared)


def _seeds(written: Mapping[str, Any], topic: str, name: str) -> dict[str, list[str]]:
    """The seeds of all topics; the one that is to be split must be there."""
    seeds: dict[str, list[str]] = {}
    for table in written.get("topics", ()):
        seeds.setdefault(table["name"], []).extend(table.get("seeds", ()))
    if topic not in seeds:
        raise BadUse(f"{name} has no topic {topic!r}{suggest(topic, list(seeds))}")
    return seeds


def _shared(seeds: Sequence[str], names: Sequence[str], parts: Sequence[Part]) -> dict[str, str]:
    """Which seeds go to which subtopic."""
    homes = {_key(url): one for one, part in zip(names, parts, strict=True) for url in part.pages}
    return {url: homes[_key(url)] for url in seeds if _key(url) in homes}


def _nearest(part: Part, taken: set[int], own: set[int], count: int) -> list[str]:
    """The pages nearest to the centre that are no seeds; they are none for the next part.

    Those that the subtopic has already, its `own`, are among the count: who splits the same again changes nothing.
    """
    found: list[str] = []
    had = 0
    for url in part.pages:
        if len(found) + had >= count:
            break
        key = _key(url)
        if key in own:
            had += 1
        elif key and key not in taken:
            taken.add(key)
            found.append(url)
    return found


def _key(url: str) -> int:
    """What tells pages apart; 0 for what is no address of a page."""
    target = canonical(url)
    return target.id if target else 0


def _without(text: str, written: Mapping[str, Any], topic: str, urls: Mapping[str, str], name: str) -> str:
    """The settings without some seeds of a topic; a remark behind a seed goes with it."""
    if not urls:
        return text
    found, places = pieces(text, "topics")
    documents = [tomlkit.parse(found[n]) for n in places]
    for tables in (*(document["topics"] for document in documents), written["topics"]):  # the last must come of it
        for table in tables:
            if table["name"] == topic:
                _remove(table.get("seeds", []), urls)
    for n, document in zip(places, documents, strict=True):
        found[n] = tomlkit.dumps(document)
    left = "".join(found)
    try:
        same = tomllib.loads(left) == written
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise BadUse(f"{name} is written in a way that cannot be changed: write the topics as [[topics]] tables")
    return left


def _remove(seeds: Any, urls: Mapping[str, str]) -> None:
    for place in reversed([i for i, url in enumerate(seeds) if url in urls]):
        del seeds[place]
