"""Subtopics that an analysis suggests become topics of the settings; a split can be undone (B19)."""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomlkit

from analecta.errors import UsageError, suggest
from analecta.model import BELOW
from analecta.settings.edit import Added, add, pieces, rewrite
from analecta.settings.load import load as load_settings
from analecta.settings.load import parse
from analecta.settings.schema import Topic
from analecta.settings.topics import tree
from analecta.sources.collector import clean
from analecta.sources.files import read_bytes, text_of
from analecta.store.library import LibraryFolder
from analecta.store.schema import MetaKey
from analecta.topics.relabel import replant
from analecta.urls import canonical
from analecta.views.clusters import PageCluster, TopicClusters, load

# --- A topic split into subtopics: "Biology" grows "Biology / Birds", in settings whose comments stay (B19) ----------
# A subtopic is shown by the pages nearest to the centre of its cluster. Seeds of the topic that lie in a cluster are
# shared out to its subtopic: left above they would speak against it, for a page is an example of one topic. The topic
# keeps those that lie in none, and with them what fits no subtopic.

EXAMPLES = 10  # pages that show a subtopic


class Split(msgspec.Struct, frozen=True):
    """The new settings with what is new in them."""

    names: tuple[str, ...]  # of the subtopics, in the order of the clusters
    added: Added
    shared: Mapping[str, str]  # seeds of the topic that now show a subtopic: URL to the subtopic's name


def split(text: str, name: str, topic: str, clusters: Sequence[PageCluster], examples: int = EXAMPLES) -> Split:
    """Settings in which a topic has these clusters as subtopics; `name` is what the file is called."""
    written = parse(text, name)
    seeds = _seeds(written, topic, name)
    names = tuple(topic + BELOW + clean(one.label) for one in clusters)
    shared = _shared(seeds[topic], names, clusters)
    others = written.get("others", {}).get("seeds", ())
    taken = {_key(url) for urls in (*seeds.values(), others) for url in urls}
    own = [{*map(_key, seeds.get(one, ()))} for one in names]
    topics = [
        Topic(one, (*(url for url, to in shared.items() if to == one), *_nearest(cluster, taken, had, examples)))
        for one, cluster, had in zip(names, clusters, own, strict=True)
    ]
    added = add(_without(text, written, topic, shared, name), topics, name)
    return Split(names, added, shared)


def _seeds(written: Mapping[str, Any], topic: str, name: str) -> dict[str, list[str]]:
    """The seeds of all topics; the one that is to be split must be there."""
    seeds: dict[str, list[str]] = {}
    for table in written.get("topics", ()):
        seeds.setdefault(table["name"], []).extend(table.get("seeds", ()))
    if topic not in seeds:
        raise UsageError(f"{name} has no topic {topic!r}{suggest(topic, list(seeds))}")
    return seeds


def _shared(seeds: Sequence[str], names: Sequence[str], clusters: Sequence[PageCluster]) -> dict[str, str]:
    """Which seeds go to which subtopic."""
    homes = {_key(page.url): name for name, one in zip(names, clusters, strict=True) for page in one.members}
    return {url: homes[_key(url)] for url in seeds if _key(url) in homes}


def _nearest(cluster: PageCluster, taken: set[int], own: set[int], count: int) -> list[str]:
    """The pages nearest to the centre that are no seeds; they are none for the next cluster.

    Those that the subtopic has already, its `own`, are among the count: who splits the same again changes nothing.
    """
    found: list[str] = []
    had = 0
    for page in cluster.members:
        if len(found) + had >= count:
            break
        key = _key(page.url)
        if key in own:
            had += 1
        elif key and key not in taken:
            taken.add(key)
            found.append(page.url)
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
        raise UsageError(f"{name} is written in a way that cannot be changed: write the topics as [[topics]] tables")
    return left


def _remove(seeds: Any, urls: Mapping[str, str]) -> None:
    for place in reversed([i for i, url in enumerate(seeds) if url in urls]):
        del seeds[place]


# --- split -----------------------------------------------------------------------------------------------------------
# The tree of topics grows: subtopics that an analysis suggests are taken up, and a split can be taken back (B19).
#
# The settings before each split are kept in library.db, one below the other, so that splits can be undone from the
# last to the first. A file that was edited since is not put back unless the person insists.

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


class SplitStep(msgspec.Struct, frozen=True):
    """A split that can be undone: the settings before it, and the digest of those after it.

    `moved` are pages that went to subtopics which were there before, by the names of those.
    """

    topic: str
    made: tuple[str, ...]
    before: str
    after: str
    moved: dict[str, list[int]] = {}


class SplitUndo(msgspec.Struct, frozen=True):
    """What was taken back, where the settings that were in force are kept, and how many more steps there are."""

    topic: str
    gone: tuple[str, ...]
    kept: str
    left: int


def branches(library: LibraryFolder) -> list[Branch]:
    """The tree as the settings name it, with what was found; then topics that they no longer name and have pages."""
    topics = load_settings(library.settings_path).topics
    with library.snapshot() as snapshot:
        counts = snapshot.topic_pages()
    found: list[Branch] = []
    path: list[str] = []
    for leaf in tree(topics):
        path[leaf.depth :] = [leaf.name]
        whole = BELOW.join(path)
        topic = leaf.topic or Topic("")
        pages = counts.get(whole, 0) if leaf.topic else 0
        below = sum(count for name, count in counts.items() if name.startswith(whole + BELOW))
        shown = (len(topic.seeds), len(topic.examples), pages, below)
        found.append(Branch(leaf.depth, leaf.name, topic.name, *shown))
    named = {topic.name for topic in topics}
    return found + [Branch(0, name, "", 0, 0, n, 0) for name, n in counts.items() if n and name not in named]


def suggested(library: LibraryFolder, topic: str) -> TopicClusters:
    """The analysis whose clusters are the suggested subtopics."""
    names = [one.name for one in load_settings(library.settings_path).topics]
    if topic not in names:
        raise UsageError(f"{library.settings_path} has no topic {topic!r}{suggest(topic, names)}")
    found = load(library, topic)
    if found is None or found.topic != topic:
        raise UsageError(f"{topic!r} was not analysed yet: `analecta analyse LIB --topic {topic!r}` suggests subtopics")
    if not found.clusters:
        raise UsageError(f"the analysis of {topic!r} found no clusters: there are too few pages to split it")
    return found


def choose(found: TopicClusters, which: str) -> list[PageCluster]:
    """The clusters of which a person gave the numbers, such as "1,3", or all."""
    if which.strip() == "all":
        return found.clusters
    words = [word.strip() for word in which.split(",") if word.strip()]
    wrong = next((word for word in words if not word.isdecimal() or not 0 < int(word) <= len(found.clusters)), None)
    if wrong is not None or not words:
        most = len(found.clusters)
        raise UsageError(f"--clusters wants numbers from 1 to {most}, such as 1,{most}, or all, not {wrong or which!r}")
    return [found.clusters[n] for n in sorted({int(word) - 1 for word in words})]


def plan(library: LibraryFolder, topic: str, clusters: Sequence[PageCluster], examples: int = EXAMPLES) -> Split:
    """What a split would make of the settings; nothing is written."""
    path = library.settings_path
    return split(text_of(read_bytes(path), path), str(path), topic, clusters, examples)


def grow(
    library: LibraryFolder, topic: str, clusters: Sequence[PageCluster], examples: int = EXAMPLES
) -> tuple[Split, Path | None]:
    """Make clusters subtopics: in the settings, and for the pages that are here. Where the former settings are."""
    with library.lock():
        made = plan(library, topic, clusters, examples)
        if not made.added:
            return made, None
        path = library.settings_path
        new = tuple(one.name for one in made.added.topics)
        going = dict(zip(made.names, _pages_on(library, topic, clusters), strict=True))
        old = {name: ids for name, ids in going.items() if name not in new}
        step = SplitStep(topic, new, text_of(read_bytes(path), path), _digest(made.added.text), old)
        _put(library, [*_steps(library), step][-_MOST_STEPS:])  # first: a step too many does no harm, one too few does
        before = rewrite(path, made.added.text)
        replant(library, load_settings(path), {id: (topic, name) for name, ids in going.items() for id in ids})
    return made, before


def _pages_on(library: LibraryFolder, topic: str, clusters: Sequence[PageCluster]) -> list[list[int]]:
    """The pages of each cluster that are on the topic now."""
    number = library.topic_names((topic,)).index(topic)
    members = [{page.id for page in one.members} for one in clusters]
    with library.snapshot() as snapshot:
        now = list(snapshot.page_ids(number))
    return [[id for id in now if id in ids] for ids in members]


def undo(library: LibraryFolder, force: bool = False) -> SplitUndo:
    """Take the last split back: the settings as they were before it, and the pages to the topic above."""
    with library.lock():
        steps = _steps(library)
        if not steps:
            raise UsageError("there is no split to undo")
        path, last = library.settings_path, steps[-1]
        text = text_of(read_bytes(path), path)
        if not force and text != last.before and _digest(text) != last.after:
            raise UsageError(
                f"{path} was edited since {last.topic!r} was split: --force puts it back as it was before the split "
                "all the same, and keeps the edited one beside it"
            )
        kept = "" if text == last.before else str(rewrite(path, last.before))
        back = {id: (name, last.topic) for name, ids in last.moved.items() for id in ids}
        replant(library, load_settings(path), back)
        _put(library, steps[:-1])
    return SplitUndo(last.topic, last.made, kept, len(steps) - 1)


def _steps(library: LibraryFolder) -> list[SplitStep]:
    return msgspec.json.decode(library.get(MetaKey.SPLITS, "[]"), type=list[SplitStep])


def _put(library: LibraryFolder, steps: Sequence[SplitStep]) -> None:
    library.put(MetaKey.SPLITS, msgspec.json.encode(steps).decode())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
