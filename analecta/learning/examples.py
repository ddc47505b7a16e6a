"""What is learned from: examples of the settings, files, and what a person has said of pages."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import xxhash

from analecta.errors import UsageError, suggest
from analecta.frontier.policy import EXAMPLE_PRIORITY
from analecta.model import BELOW, NO_TOPIC, Verdict
from analecta.parse.saved_page import read_example
from analecta.settings.schema import Settings
from analecta.store.library import SETTINGS, LibraryFolder
from analecta.store.library_db import BAD, DROP, GOOD, MARK, Mark, mark, said
from analecta.store.pages import verdict_of
from analecta.store.partition import Shard
from analecta.store.schema import MetaKey, packed_topics, unpacked
from analecta.store.urls import hold_example, queued_by_topic, redirect_of, release_examples
from analecta.urls import canonical

# --- given -----------------------------------------------------------------------------------------------------------
# What a person gave to learn from, as the settings name it: which files, and whether it is still what it was.


def given_files(settings: Settings, topics: Sequence[str], folder: Path) -> list[tuple[int, str]]:
    """All files that are examples, as paths from the library's `folder`, with the numbers of their topics.

    UsageError where one lies outside, also by way of a link: settings may come from others, and what was learned from a
    file is passed on with models, pages and bundles.
    """
    files = [(topics.index(topic.name), name) for topic in settings.topics for name in topic.examples]
    files += [(NO_TOPIC, name) for name in settings.others.examples]
    for _, name in files:
        if not _is_inside(folder, name):
            raise UsageError(
                f"{folder / SETTINGS} names the example {name!r}, which is outside the library: copy it into "
                f"{folder / 'topics'} (`analecta add LIB --examples DIR` does), and name it so"
            )
    return files


def _is_inside(folder: Path, name: str) -> bool:
    try:
        return (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # links in a ring, a NUL
        return False


def digest(settings: Settings, topics: Sequence[str], folder: Path) -> str:
    """Of all examples: where a person has given others, or changed a file, the first lesson is held again."""
    given: list[object] = [*sorted((topic.name, sorted(topic.seeds)) for topic in settings.topics)]
    files = [(topic, name, _content(folder / name)) for topic, name in given_files(settings, topics, folder)]
    if files or settings.others.seeds:  # else it is as it was before there were such
        given += [sorted(settings.others.seeds), files]
    return xxhash.xxh3_64_hexdigest(msgspec.json.encode(given))


def with_words(given: str, words: Sequence[Mark]) -> str:
    """The digest, with what a person has said of pages since; as it was where nothing was said."""
    return f"{given}{MARK}{mark(words)}" if words else given


def _content(path: Path) -> str:
    try:
        return xxhash.xxh3_64_hexdigest(read_example(path))
    except OSError:
        return ""


# --- examples --------------------------------------------------------------------------------------------------------
# Examples follow the settings: a page that they name is an example of that topic, all others are pages like any.
#
# A seed may be moved to another topic, removed or put back after it was fetched. Where it redirects, the page that it
# leads to goes with it.


_ORDINARY = 0.5  # what a URL is worth of which nothing is known any more


def follow(shards: Sequence[Shard], settings: Settings, topics: Sequence[str]) -> None:
    """Let what is known of the web agree with the seeds of the settings; to be committed."""
    wanted = _wanted(shards, settings, topics)
    for shard in shards:
        release_examples(shard, EXAMPLE_PRIORITY, wanted, _ORDINARY)
        for id, topic in wanted.items():
            hold_example(shard, id, topic, EXAMPLE_PRIORITY)
        shard.put(MetaKey.QUEUED, msgspec.json.encode(queued_by_topic(shard)))


def _wanted(shards: Sequence[Shard], settings: Settings, topics: Sequence[str]) -> dict[int, int]:
    """The topic of each URL that is an example, by its id."""
    given = [(url, NO_TOPIC) for url in settings.others.seeds]
    given += [(url, topics.index(topic.name)) for topic in settings.topics for url in topic.seeds]
    seeds = {target.id: topic for url, topic in given if (target := canonical(url)) is not None}
    return {id: topic for seed, topic in seeds.items() for id in _led_to(shards, seed)} | seeds


def _led_to(shards: Sequence[Shard], seed: int) -> list[int]:
    """The addresses that redirects lead to from a seed, which is the first of them."""
    path = [seed]
    while (to := next((to for shard in shards if (to := redirect_of(shard, path[-1])) is not None), None)) is not None:
        if to in path:
            break
        path.append(to)
    return path


# --- marks -----------------------------------------------------------------------------------------------------------
# What a person's words about pages come to (B18, B10): what is learnt from each page, and which verdicts they allow.
#
# A later word counts before an earlier one. What a person says has the last word: a page called good is of its topic,
# one called bad is not, whatever the judge thinks.


_SURE = 1.0  # confidence where a person says so


class MarkedPage(msgspec.Struct, frozen=True):
    """What stands of all that was said of a page.

    `example` is the topic that it shows, OTHERS for what is not meant, None where nothing is learnt from it.
    """

    url: str
    example: int | None = None
    never: frozenset[int] = frozenset()  # topics that it is not of
    silent: bool = False  # only dropped: nothing is said about what it is
    text: str = ""  # that is learnt from instead of the page's

    def corrected(self, verdict: Verdict) -> Verdict:
        """A verdict as the person's words allow it."""
        if self.silent:
            return verdict
        left = tuple(one for one in verdict.topics if one[0] not in self.never)
        if self.example is not None and self.example >= 0:
            left = ((self.example, _SURE), *(one for one in left if one[0] != self.example))
        return Verdict(*left[0], left) if left else Verdict(NO_TOPIC, verdict.confidence)


def spoken(library: LibraryFolder, settings: Settings, topics: Sequence[str]) -> dict[int, MarkedPage]:
    """What stands of each page of a library, by its id; `topics` are all that it ever had, by number."""
    return standing(said(library), topics, [topic.name for topic in settings.topics])


def standing(words: Sequence[Mark], topics: Sequence[str], named: Sequence[str]) -> dict[int, MarkedPage]:
    """What stands of each page, by its id; words about a topic that is not `named` are about the nearest above it."""
    found: dict[int, MarkedPage] = {}
    for word in words:
        before = found.get(word.page, MarkedPage(word.url))
        topic = _number(word.topic, topics, named)
        if word.topic and topic is None:
            continue
        found[word.page] = _after(before, word, topic, topics)
    return found


def _after(before: MarkedPage, word: Mark, topic: int | None, topics: Sequence[str]) -> MarkedPage:
    match word.says:
        case "good":
            return MarkedPage(word.url, topic, before.never - {topic}, text=word.text)
        case "drop":
            return MarkedPage(word.url, None, silent=True)
    if topic is None:
        return MarkedPage(word.url, NO_TOPIC, frozenset(range(len(topics))), text=word.text)
    never = before.never | {topic}
    if before.example is not None and before.example >= 0 and before.example != topic:
        return MarkedPage(word.url, before.example, never, text=before.text)  # it shows another topic as before
    return MarkedPage(word.url, NO_TOPIC if word.away else None, never, text=word.text)


def _number(name: str, topics: Sequence[str], named: Sequence[str]) -> int | None:
    while name and name not in named:
        name = name.rpartition(BELOW)[0]
    return topics.index(name) if name else None


def complete_mark(word: Mark, of: Sequence[str], named: Sequence[str]) -> Mark:
    """What a person says of a page `of` some topics, made definite: good of which topic, bad for all or for one."""
    topic = word.topic
    if topic and topic not in named:
        raise UsageError(f"there is no topic {topic!r}{suggest(topic, list(named))}")
    if word.says == GOOD and not topic:
        topic = next((name for name in of if name in named), named[0] if len(named) == 1 else "")
        if not topic:
            names = ", ".join(named)
            raise UsageError(f"{word.url} is of no topic yet: say which it shows with --topic, one of: {names}")
    others = any(name != topic and name in named for name in of)
    # A page that another topic claims as well shows nothing about what is not meant.
    away = word.says == BAD and not (topic and others)
    return msgspec.structs.replace(word, topic="" if word.says == DROP else topic, away=away)


def correct(library: LibraryFolder, settings: Settings, topics: Sequence[str]) -> None:
    """Let verdicts agree with what was said while a crawl ran; the caller holds the library."""
    words = spoken(library, settings, topics)
    if not words:
        return
    with library.writers() as shards:
        for shard in shards:
            for id, one in words.items():
                _correct_page(shard, id, one)
            shard.commit()


def _correct_page(shard: Shard, id: int, one: MarkedPage) -> None:
    row = verdict_of(shard, id)
    if row is None or one.silent:
        return
    verdict = unpacked(row.topic, row.confidence, row.topics)
    if (new := one.corrected(verdict)) != verdict:
        shard.set_verdict(row.seq, new.topic, new.confidence, packed_topics(new), row.model)
