"""Settings as text: the first ones of a library, and more topics and seeds for those that a person has edited."""

import os
import shutil
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any, TypeVar

import msgspec
import tomlkit
from tomlkit.items import AoT, Array, Whitespace

from analecta.errors import ResourceError, UsageError
from analecta.settings.load import parse
from analecta.settings.schema import NegativeSettings, Topic
from analecta.settings.topics import merge, merge_others, shown
from analecta.text.display import escape_toml
from analecta.urls import canonical

# --- first settings --------------------------------------------------------------------------------------------------
# The first `analecta.toml` of a library: short, readable, with the settings that people change most as comments.


_HEAD = """\
# What this library is about and how it is grown. Yours to edit: `analecta crawl` reads it at each start.
# Every setting is described in docs/settings.md.

recipe = {recipe} # how links are chosen; `analecta recipes` lists them all
# Your e-mail address or a page about you. Site owners see it with every request;
# without it the open internet is not crawled.
contact = {contact}
"""

_MOST_CHANGED = "\n# What people change most (take the # away):\n"
# Shown as comments; each line is valid as it stands (a test takes the # away and loads the file).
EXAMPLES = """\
[scope]
hosts = ["example.org"]     # only these hosts and their subdomains
exclude = ['\\.pdf$']        # no URL that one of these regular expressions finds
depth = 5                   # so many links away from a seed at most
pages_per_host = 1000

[judge]
threshold = 0.5             # how sure the judge must be that a page is on topic, 0 to 1

[fetch]
delay = 1.0                 # seconds between two requests to one host

[stop]
pages = 10000               # of one run
minutes = 60
"""


def first_settings(
    topics: Sequence[Topic],
    recipe: str,
    contact: str = "",
    engines: Mapping[str, str] = {},
    others: NegativeSettings = NegativeSettings(),
) -> str:
    """The text of a new library's settings; `engines` are search engines by name, with their URLs if they have any."""
    head = _HEAD.format(recipe=_string(recipe), contact=_string(contact))
    not_meant = "" if others == NegativeSettings() else "\n" + others_text(others)
    return head + "\n" + topics_text(topics) + not_meant + _search(engines) + _MOST_CHANGED + indent(EXAMPLES, "# ")


def topics_text(topics: Sequence[Topic]) -> str:
    """Topics as tables. Written as text: tomlkit takes 2.5 s to put 5,000 seeds into an array."""
    return escape_toml("\n".join(map(_table, topics)))


def others_text(others: NegativeSettings) -> str:
    """What is not meant, as a table."""
    return escape_toml("[others]\n" + _array("seeds", others.seeds) + _array("examples", others.examples))


def _table(topic: Topic) -> str:
    seeds = _array("seeds", topic.seeds) or ("" if topic.starts or topic.examples else "seeds = [\n]\n")
    more = _array("starts", topic.starts) + _array("examples", topic.examples)
    return f"[[topics]]\nname = {_string(topic.name)}\n{seeds}{more}"


def _array(key: str, words: Sequence[str]) -> str:
    lines = "".join(f"    {_string(word)},\n" for word in words)
    return f"{key} = [\n{lines}]\n" if words else ""


def _string(text: str) -> str:
    return tomlkit.string(text).as_string()


def _search(engines: Mapping[str, str]) -> str:
    if not engines:
        return ""
    urls = {name: url for name, url in engines.items() if url}
    return "\n" + tomlkit.dumps({"search": {"engines": list(engines)} | ({"url": urls} if urls else {})})


# --- edit ------------------------------------------------------------------------------------------------------------
# More topics and seeds for settings that a person has edited: their comments, order and spacing stay as they are.


BEFORE = ".before"
Given = TypeVar("Given", Topic, NegativeSettings)
_LISTS = ("seeds", "starts", "examples")  # of a topic; [others] has the first and the last


class Added(msgspec.Struct, frozen=True):
    """The new text of the settings, and what is new in it."""

    text: str
    topics: tuple[Topic, ...]  # that were not there, after all others: pages are stored with the numbers of topics
    more: tuple[Topic, ...]  # what is new of those that were
    known: int  # seeds and files that were there already
    others: NegativeSettings = NegativeSettings()  # what is new there
    shared: dict[str, int] = {}  # how many of the new seeds other topics have already, by the names of those

    def __bool__(self) -> bool:
        """Whether anything is new."""
        return bool(self.topics or self.more or self.others != NegativeSettings())


def add(text: str, topics: Sequence[Topic], name: str, others: NegativeSettings = NegativeSettings()) -> Added:
    """Settings with more topics and examples; `name` is what the file is called."""
    written = parse(text, name)
    there = msgspec.convert(written.get("topics", []), tuple[Topic, ...])
    besides = msgspec.convert(written.get("others", {}), NegativeSettings)
    merged, known = merge([*there, *topics])
    old_topics, repeated = merge(there)
    old = {topic.name: topic for topic in old_topics}
    more = [_beyond(topic, old[topic.name]) for topic in merged if topic.name in old]
    more = [topic for topic in more if any(getattr(topic, key) for key in _LISTS)]
    new = tuple(topic for topic in merged if topic.name not in old)
    apart = _beyond(merge_others([besides, others]), besides)
    edited = _with_others(_edited(text, new, more), apart)
    known += shown(others) - shown(apart)
    _check(edited, written, [*there, *more, *new], _joined(besides, apart), name)
    return Added(edited, new, tuple(more), known - repeated, apart, _shared(old_topics, [*new, *more]))


def _beyond(all_of_it: Given, old: Given) -> Given:
    """What is in one and was not in the other."""
    lists = {key: set(getattr(old, key)) for key in _LISTS if hasattr(old, key)}
    new = {key: tuple(one for one in getattr(all_of_it, key) if one not in had) for key, had in lists.items()}
    return msgspec.structs.replace(all_of_it, **new)


def _shared(old: Sequence[Topic], new: Sequence[Topic]) -> dict[str, int]:
    """How many of the new seeds another topic has that was there, by its name."""
    owners = {id: topic.name for topic in old for id in _ids(topic)}
    return dict(Counter(owners[id] for topic in new for id in _ids(topic) & owners.keys()))


def _ids(topic: Topic) -> set[int]:
    return {target.id for url in topic.seeds if (target := canonical(url))}


def rewrite(path: Path, text: str) -> Path:
    """Put new settings in the place of the old, which are kept beside them; where those are.

    A link stays one: what it leads to is changed. Who may read them stays too.
    """
    real = path.resolve()
    before, fresh = path.with_name(path.name + BEFORE), real.with_name(real.name + ".new")
    try:
        for copy in (before, fresh):
            shutil.copyfile(real, copy)
            shutil.copymode(real, copy)
        fresh.write_text(text, encoding="utf-8", newline="")
        os.replace(fresh, real)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise ResourceError(f"cannot change {path}: {error.strerror}") from error
    return before


def pieces(text: str, key: str) -> tuple[list[str], list[int]]:
    """A TOML text cut before each of its tables, and which of the pieces have this key at their top.

    A change is made in a piece: tomlkit would pull the tables of a list together that others stand between.
    """
    lines: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("[") and _is_whole("".join(lines[-1])):  # else the line is of a list or a text
            lines.append([])
        lines[-1].append(line)
    found = ["".join(some) for some in lines]
    return found, [n for n, piece in enumerate(found) if key in tomllib.loads(piece)]


def _is_whole(piece: str) -> bool:
    try:
        tomllib.loads(piece)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _edited(text: str, new: Sequence[Topic], more: Sequence[Topic]) -> str:
    found, places = pieces(text, "topics")
    wanted = {topic.name: topic for topic in more}
    for n in places:
        document = tomlkit.parse(found[n])
        for table in document["topics"]:
            if topic := wanted.pop(table["name"], None):
                _extend(table, topic)
        found[n] = tomlkit.dumps(document)
    if new and places:
        found[places[-1]] = _with_new(found[places[-1]], new)
    whole = "".join(found)
    return whole if places or not new else whole.rstrip("\n") + "\n\n" + topics_text(new)


def _with_new(piece: str, new: Sequence[Topic]) -> str:
    """The same with more topics."""
    document = tomlkit.parse(piece)
    tables, fresh = document["topics"], tomlkit.parse(topics_text(new))["topics"]
    if isinstance(tables, AoT) and isinstance(fresh, AoT):
        _append(tables, fresh)
    elif isinstance(tables, Array):  # topics = [{name = …}]
        for topic in new:
            inline = tomlkit.inline_table()
            lists = {key: list(values) for key in _LISTS if (values := getattr(topic, key))}
            inline.update({"name": topic.name} | (lists or {"seeds": []}))
            tables.append(inline)
    return tomlkit.dumps(document)


def _with_others(text: str, others: NegativeSettings) -> str:
    """The same with more that is not meant."""
    if others == NegativeSettings():
        return text
    found, places = pieces(text, "others")
    if not places:
        return text.rstrip("\n") + "\n\n" + others_text(others)
    document = tomlkit.parse(found[places[0]])
    _extend(document["others"], others)
    found[places[0]] = tomlkit.dumps(document)
    return "".join(found)


def _extend(table: Any, more: Topic | NegativeSettings) -> None:
    for key in _LISTS:
        if values := getattr(more, key, ()):
            _lengthen(table, key, values)


def _lengthen(table: Any, key: str, values: Sequence[str]) -> None:
    """Add to a list. All at once: tomlkit's append takes a time that grows with the square of their number."""
    if key not in table:
        table[key] = tomlkit.array()
    array = table[key]
    lines = "\n" in array.as_string() or not isinstance(table, tomlkit.items.InlineTable)
    parts: list[object] = []
    for value in values:
        parts += [Whitespace("\n    " if lines else " "), value, Whitespace(",")]
    if lines and not array.as_string().rstrip("]").endswith("\n"):
        parts.append(Whitespace("\n"))
    array.add_line(*parts, add_comma=False, newline=False, indent="")


def _append(tables: AoT, fresh: AoT) -> None:
    """Put tables behind the last; the remarks at its end belong to what comes after."""
    body = tables.body[-1].value.body
    tail: list[Any] = []
    while body and body[-1][0] is None:
        tail.insert(0, body.pop())
    for table in fresh.body:
        table.trivia.indent = "\n"
        tables.append(table)
    tables.body[-1].value.body.extend(tail)


def _check(text: str, written: dict[str, Any], topics: Sequence[Topic], others: NegativeSettings, name: str) -> None:
    """What is written must say what was meant, and all else what it said."""
    wanted: dict[str, Topic] = {}
    for topic in topics:
        wanted[topic.name] = _joined(wanted[topic.name], topic) if topic.name in wanted else topic
    try:
        got = tomllib.loads(text)
        found = {topic.name: topic for topic in msgspec.convert(got.pop("topics", ()), tuple[Topic, ...])}
        same = found == wanted and msgspec.convert(got.pop("others", {}), NegativeSettings) == others
        same = same and got == {key: value for key, value in written.items() if key not in ("topics", "others")}
    except (tomllib.TOMLDecodeError, msgspec.ValidationError):
        same = False
    if not same:
        raise UsageError(f"{name} is written in a way that cannot be added to: write the topics as [[topics]] tables")


def _joined(there: Given, more: Given) -> Given:
    """The lists of both, one after the other."""
    both = {key: getattr(there, key) + getattr(more, key) for key in _LISTS if hasattr(there, key)}
    return msgspec.structs.replace(there, **both)
