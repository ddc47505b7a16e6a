"""The tree of topics grows: subtopics that an analysis suggests are taken up, and a split can be taken back (B19).

The settings before each split are kept in library.db, one below the other, so that splits can be undone from the last
to the first. A file that was edited since is not put back unless the person insists.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from analecta.errors import BadUse, suggest
from analecta.model import BELOW
from analecta.settings.edit import rewrite
from analecta.settings.schema import load as load_settings
from analecta.settings.topics import tree
from analecta.sources.files import read_bytes, text_of
from analecta.store.library import Library
from analecta.topics.plan import EXAMPLES, Part, Split, split
from analecta.topics.relabel import page_counts, pages_on, replant
from analecta.views.clusters import Analysis, Cluster, load

_STEPS = "splits"  # in library.db
_MOST_STEPS = 50


class Branch(msgspec.Struct, frozen=True):
    """A line of the tree: how deep it lies, its own name, its topic's whole name ("" where it is no topic itself)."""

    depth: int
    name: str
    topic: str
    seeds: int
    files: int
    pages: int
    below: int  # pages of all topics below it


class Step(msgspec.Struct, frozen=True):
    """A split that can be undone: the settings before it, and the digest of those after it.

    `moved` are pages that went to subtopics which were there before, by the names of those.
    """

    topic: str
    made: tuple[str, ...]
    before: str
    after: str
    moved: dict[str, list[int]] = {}


class Undone(msgspec.Struct, frozen=True):
    """What was taken back, where the settings that were in force are kept, and how many more steps there are."""

    topic: str
    gone: tuple[str, ...]
    kept: str
    left: int


def branches(library: Library) -> list[Branch]:
    """The tree as the settings name it, with what was found; then topics that they no longer name and have pages."""
    topics = load_settings(library.settings_path).topics
    counts = page_counts(library)
    found: list[Branch] = []
    path: list[str] = []
    for leaf in tree(topics):
        path[leaf.depth :] = [leaf.name]
        whole = BELOW.join(path)
        shown = (len(leaf.topic.seeds), len(leaf.topic.examples)) if leaf.topic else (0, 0)
        found.append(
            Branch(
                leaf.depth,
                leaf.name,
                leaf.topic.name if leaf.topic else "",
                *shown,
                counts.get(whole, 0) if leaf.topic else 0,
                sum(count for name, count in counts.items() if name.startswith(whole + BELOW)),
            )
        )
    named = {topic.name for topic in topics}
    return found + [Branch(0, name, "", 0, 0, n, 0) for name, n in counts.items() if n and name not in named]


def suggested(library: Library, topic: str) -> Analysis:
    """The analysis whose clusters are the suggested subtopics."""
    names = [one.name for one in load_settings(library.settings_path).topics]
    if topic not in names:
        raise BadUse(f"{library.settings_path} has no topic {topic!r}{suggest(topic, names)}")
    found = load(library, topic)
    if found is None or found.topic != topic:
        raise BadUse(f"{topic!r} was not analysed yet: `analecta analyse LIB --topic {topic!r}` suggests subtopics")
    if not found.clusters:
        raise BadUse(f"the analysis of {topic!r} found no clusters: there are too few pages to split it")
    return found


def choose(found: Analysis, which: str) -> list[Cluster]:
    """The clusters of which a person gave the numbers, such as "1,3", or all."""
    if which.strip() == "all":
        return found.clusters
    words = [word.strip() for word in which.split(",") if word.strip()]
    wrong = next((word for word in words if not word.isdecimal() or not 0 < int(word) <= len(found.clusters)), None)
    if wrong is not None or not words:
        most = len(found.clusters)
        raise BadUse(f"--clusters wants numbers from 1 to {most}, such as 1,{most}, or all, not {wrong or which!r}")
    return [found.clusters[n] for n in sorted({int(word) - 1 for word in words})]


def plan(library: Library, topic: str, clusters: Sequence[Cluster], examples: int = EXAMPLES) -> Split:
    """What a split would make of the settings; nothing is written."""
    path = library.settings_path
    parts = [Part(one.label, [page.url for page in one.members]) for one in clusters]
    return split(text_of(read_bytes(path), path), str(path), topic, parts, examples)


def grow(
    library: Library, topic: str, clusters: Sequence[Cluster], examples: int = EXAMPLES
) -> tuple[Split, Path | None]:
    """Make clusters subtopics: in the settings, and for the pages that are here. Where the former settings are."""
    with library.lock():
        made = plan(library, topic, clusters, examples)
        if not made.added:
            return made, None
        path = library.settings_path
        new = tuple(one.name for one in made.added.topics)
        names = zip(made.names, clusters, strict=True)
        going = {name: pages_on(library, topic, {page.id for page in one.members}) for name, one in names}
        old = {name: ids for name, ids in going.items() if name not in new}
        step = Step(topic, new, text_of(read_bytes(path), path), _digest(made.text), old)
        _put(library, [*_steps(library), step][-_MOST_STEPS:])  # first: a step too many does no harm, one too few does
        before = rewrite(path, made.text)
        replant(library, load_settings(path), {id: (topic, name) for name, ids in going.items() for id in ids})
    return made, before


def undo(library: Library, force: bool = False) -> Undone:
    """Take the last split back: the settings as they were before it, and the pages to the topic above."""
    with library.lock():
        steps = _steps(library)
        if not steps:
            raise BadUse("there is no split to undo")
        path, last = library.settings_path, steps[-1]
        text = text_of(read_bytes(path), path)
        if not force and text != last.before and _digest(text) != last.after:
            raise BadUse(
                f"{path} was edited since {last.topic!r} was split: --force puts it back as it was before the split "
                "all the same, and keeps the edited one beside it"
            )
        kept = "" if text == last.before else str(rewrite(path, last.before))
        back = {id: (name, last.topic) for name, ids in last.moved.items() for id in ids}
        replant(library, load_settings(path), back)
        _put(library, steps[:-1])
    return Undone(last.topic, last.made, kept, len(steps) - 1)


def _steps(library: Library) -> list[Step]:
    return msgspec.json.decode(library.get(_STEPS, "[]"), type=list[Step])


def _put(library: Library, steps: Sequence[Step]) -> None:
    library.put(_STEPS, msgspec.json.encode(steps).decode())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
