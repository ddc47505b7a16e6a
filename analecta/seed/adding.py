"""More topics and seeds for settings that a person has edited: their comments, order and spacing stay as they are."""

import os
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import tomlkit
from tomlkit.items import AoT, Array, Whitespace

from analecta.errors import BadUse, Environment
from analecta.seed.combining import merge, merge_others
from analecta.seed.first_settings import others_text, topics_text
from analecta.settings import Others, Topic, parse
from analecta.urls import canonical

BEFORE = ".before"
Given = TypeVar("Given", Topic, Others)
_LISTS = ("seeds", "starts", "examples")  # of a topic; [others] has the first and the last


class Added(msgspec.Struct, frozen=True):
    """The new text of the settings, and what is new in it."""

    text: str
    topics: tuple[Topic, ...]  # that were not there, after all others: pages are stored with the numbers of topics
    more: tuple[Topic, ...]  # what is new of those that were
    known: int  # seeds and files that were there already
    others: Others = Others()  # what is new there
    shared: dict[str, int] = {}  # how many of the new seeds other topics have already, by the names of those

    def __bool__(self) -> bool:
        """Whether anything is new."""
        return bool(self.topics or self.more or self.others != Others())


def add(text: str, topics: Sequence[Topic], name: str, others: Others = Others()) -> Added:
    """Settings with more topics and examples; `name` is what the file is called."""
    written = parse(text, name)
    there = msgspec.convert(written.get("topics", []), tuple[Topic, ...])
    besides = msgspec.convert(written.get("others", {}), Others)
    merged, known = merge([*there, *topics])
    old_topics, repeated = merge(there)
    old = {topic.name: topic for topic in old_topics}
    more = [_beyond(topic, old[topic.name]) for topic in merged if topic.name in old]
    more = [topic for topic in more if any(getattr(topic, key) for key in _LISTS)]
    new = tuple(topic for topic in merged if topic.name not in old)
    apart = _beyond(merge_others([besides, others]), besides)
    edited = _with_others(_edited(text, new, more), apart)
    known += _many(others) - _many(apart)
    added = Added(edited, new, tuple(more), known - repeated, apart, _shared(old_topics, [*new, *more]))
    _check(added.text, written, added, name)
    return added


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


def _many(others: Others) -> int:
    return len(others.seeds) + len(others.examples)


def rewrite(path: Path, text: str) -> Path:
    """Put new settings in the place of the old, which are kept beside them; where those are."""
    before, fresh = path.with_name(path.name + BEFORE), path.with_name(path.name + ".new")
    try:
        before.write_bytes(path.read_bytes())
        fresh.write_text(text, encoding="utf-8", newline="")
        os.replace(fresh, path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise Environment(f"cannot change {path}: {error.strerror}") from error
    return before


def _edited(text: str, new: Sequence[Topic], more: Sequence[Topic]) -> str:
    document = tomlkit.parse(text)
    tables = document.get("topics")
    wanted = {topic.name: topic for topic in more}
    for table in tables or ():
        if topic := wanted.pop(table["name"], None):
            _extend(table, topic)
    if not new:
        return tomlkit.dumps(document)
    fresh = tomlkit.parse(topics_text(new))["topics"]
    assert isinstance(fresh, AoT)
    if isinstance(tables, AoT):
        _append(tables, fresh)
    elif isinstance(tables, Array):  # topics = [{name = …}]
        for topic in new:
            inline = tomlkit.inline_table()
            lists = {key: list(values) for key in _LISTS if (values := getattr(topic, key))}
            inline.update({"name": topic.name} | (lists or {"seeds": []}))
            tables.append(inline)
    else:
        return tomlkit.dumps(document).rstrip("\n") + "\n\n" + topics_text(new)
    return tomlkit.dumps(document)


def _with_others(text: str, others: Others) -> str:
    """The same with more that is not meant."""
    if others == Others():
        return text
    document = tomlkit.parse(text)
    if "others" not in document:
        return text.rstrip("\n") + "\n\n" + others_text(others)
    _extend(document["others"], others)
    return tomlkit.dumps(document)


def _extend(table: Any, more: Topic | Others) -> None:
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


def _check(text: str, written: dict[str, Any], added: Added, name: str) -> None:
    """What is written must say what was meant, and all else what it said."""
    wanted = {topic["name"]: _lists(topic) for topic in written.get("topics", ())}
    for topic in (*added.more, *added.topics):
        wanted[topic.name] = _both(wanted.get(topic.name, {}), topic)
    others = _both(_lists(written.get("others", {})), added.others)
    try:
        got = tomllib.loads(text)
        found = {topic["name"]: _lists(topic) for topic in got.pop("topics", ())}
        same = found == wanted and _lists(got.pop("others", {})) == others
        same = same and got == {key: value for key, value in written.items() if key not in ("topics", "others")}
    except (tomllib.TOMLDecodeError, KeyError):
        same = False
    if not same:
        raise BadUse(f"{name} is written in a way that cannot be added to: write the topics as [[topics]] tables")


def _lists(table: dict[str, Any]) -> dict[str, list[str]]:
    return {key: list(table[key]) for key in _LISTS if table.get(key)}


def _both(there: dict[str, list[str]], more: Topic | Others) -> dict[str, list[str]]:
    new = {key: values for key in _LISTS if (values := getattr(more, key, ()))}
    return {key: [*there.get(key, ()), *new.get(key, ())] for key in _LISTS if key in there or key in new}
