"""What a person gave to learn from, as the settings name it: which files, and whether it is still what it was."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import xxhash

from analecta.errors import BadUse
from analecta.model import OTHERS
from analecta.parse.saved_page import read_example
from analecta.settings.schema import Settings
from analecta.store.library import SETTINGS
from analecta.store.library_db import MARK, Word, mark


def given_files(settings: Settings, topics: Sequence[str], folder: Path) -> list[tuple[int, str]]:
    """All files that are examples, as paths from the library's `folder`, with the numbers of their topics.

    BadUse where one lies outside, also by way of a link: settings may come from others, and what was learned from a
    file is passed on with models, pages and bundles.
    """
    files = [(topics.index(topic.name), name) for topic in settings.topics for name in topic.examples]
    files += [(OTHERS, name) for name in settings.others.examples]
    for _, name in files:
        if not _is_inside(folder, name):
            raise BadUse(
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


def with_words(given: str, words: Sequence[Word]) -> str:
    """The digest, with what a person has said of pages since; as it was where nothing was said."""
    return f"{given}{MARK}{mark(words)}" if words else given


def _content(path: Path) -> str:
    try:
        return xxhash.xxh3_64_hexdigest(read_example(path))
    except OSError:
        return ""
