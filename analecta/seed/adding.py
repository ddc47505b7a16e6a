"""More topics and seeds for settings that a person has edited: their comments, order and spacing stay as they are."""

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomlkit
from tomlkit.items import AoT, Array, Whitespace

from analecta.errors import BadUse, Environment
from analecta.seed.combining import merge
from analecta.seed.first_settings import topics_text
from analecta.settings import Topic, parse

BEFORE = ".before"


class Added(msgspec.Struct, frozen=True):
    """The new text of the settings, and what is new in it."""

    text: str
    topics: tuple[Topic, ...]  # that were not there, after all others: pages are stored with the numbers of topics
    more: tuple[Topic, ...]  # new seeds of those that were
    known: int  # seeds that were there already


def add(text: str, topics: Sequence[Topic], name: str) -> Added:
    """Settings with more topics and seeds; `name` is what the file is called."""
    written = parse(text, name)
    there = msgspec.convert(written.get("topics", []), tuple[Topic, ...])
    merged, known = merge([*there, *topics])
    old = {topic.name: topic.seeds for topic in merge(there)[0]}
    known -= sum(len(topic.seeds) for topic in there) - sum(map(len, old.values()))
    more = [Topic(t.name, t.seeds[len(old[t.name]) :]) for t in merged if t.name in old]
    new = tuple(topic for topic in merged if topic.name not in old)
    added = Added(_edited(text, new, more), new, tuple(topic for topic in more if topic.seeds), known)
    _check(added.text, written, added, name)
    return added


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
    wanted = {topic.name: topic.seeds for topic in more if topic.seeds}
    for table in tables or ():
        _extend(table, wanted.pop(table["name"], ()))
    if not new:
        return tomlkit.dumps(document)
    fresh = tomlkit.parse(topics_text(new))["topics"]
    assert isinstance(fresh, AoT)
    if isinstance(tables, AoT):
        _append(tables, fresh)
    elif isinstance(tables, Array):  # topics = [{name = …}]
        for topic in new:
            inline = tomlkit.inline_table()
            inline.update({"name": topic.name, "seeds": list(topic.seeds)})
            tables.append(inline)
    else:
        return tomlkit.dumps(document).rstrip("\n") + "\n\n" + topics_text(new)
    return tomlkit.dumps(document)


def _extend(table: Any, seeds: Sequence[str]) -> None:
    """Add seeds to a topic. All at once: tomlkit's append takes a time that grows with the square of their number."""
    if not seeds:
        return
    if "seeds" not in table:
        table["seeds"] = tomlkit.array()
    array = table["seeds"]
    lines = "\n" in array.as_string() or not isinstance(table, tomlkit.items.InlineTable)
    parts: list[object] = []
    for seed in seeds:
        parts += [Whitespace("\n    " if lines else " "), seed, Whitespace(",")]
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
    wanted = {topic["name"]: list(topic.get("seeds", ())) for topic in written.get("topics", ())}
    for topic in (*added.more, *added.topics):
        wanted[topic.name] = [*wanted.get(topic.name, ()), *topic.seeds]
    try:
        got = tomllib.loads(text)
        found = {topic["name"]: topic.get("seeds", []) for topic in got.pop("topics", ())}
        same = found == wanted and got == {key: value for key, value in written.items() if key != "topics"}
    except (tomllib.TOMLDecodeError, KeyError):
        same = False
    if not same:
        raise BadUse(f"{name} is written in a way that cannot be added to: write the topics as [[topics]] tables")
