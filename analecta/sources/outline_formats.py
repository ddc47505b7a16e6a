"""Outlines in Markdown, in nested data (JSON, YAML, TOML) and in OPML."""

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from analecta.errors import UsageError
from analecta.model import BELOW
from analecta.parse.xml import Tag
from analecta.settings.schema import Settings
from analecta.sources.collector import NOT_MEANT, Place, TopicCollector
from analecta.sources.outline_text import ITEM, RULE, OpenTopics, enter_path, split_line
from analecta.urls import evident

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)(?:[ \t]#+)?[ \t]*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_UNDERLINE = re.compile(r"(?:={2,}|-{2,})[ \t]*$")
_HEAD = "---"  # stands before and behind what other programs note at the top of a file


def is_markdown(lines: list[str]) -> bool:
    """Whether marks name as many topics as bare indentation does; a lone `# line` above unmarked text is a comment."""
    marked = _underlined(lines)
    headings = sum(_HEADING.match(line) is not None for line in marked)
    items = [item[2] for line in lines if (item := ITEM.match(line))]
    if items or marked != lines or any(line.startswith("##") and _HEADING.match(line) for line in lines):
        return headings + sum(map(_names, items)) >= _bare([line.rstrip() for line in marked])
    plain = any(line[:1].strip() and not _HEADING.match(line) and not split_line(line)[1] for line in lines)
    return not plain and headings > 0


def _bare(lines: list[str]) -> int:
    """How many names have their place by indentation alone, in blocks that begin with one that is not indented.

    What is indented below a heading or an empty line may be code; below an item, it only goes on with that.
    """
    block, inside, found = False, 0, 0  # `inside` is the indentation of an item that is open
    for line, after in zip_longest(lines, lines[1:], fillvalue=""):
        column = _indent(line)
        if not column:
            block = bool(line) and not line.startswith("#") and _indent(after) > 0
        if not column or column <= inside:
            inside = 0
        if ITEM.match(line):
            block, inside = block and column > 0, inside or column
        elif block and not inside and not line.endswith(":"):
            found += _names(line)
    return found


def _names(text: str) -> bool:
    return bool(split_line(text)[0])


def _underlined(lines: list[str]) -> list[str]:
    """The same with headings that are underlined, = for the first level and - for the second, marked by # instead."""
    lines = list(lines)
    head = lines.index(_HEAD, 1) if lines[:1] == [_HEAD] and _HEAD in lines[1:] else 0
    for at in range(head + 1, len(lines)):
        if _UNDERLINE.match(lines[at]) and _is_title(lines[at - 1]):
            lines[at - 1] = ("# " if lines[at][0] == "=" else "## ") + lines[at - 1]
            lines[at] = ""
    return lines


def _is_title(line: str) -> bool:
    """Whether a line is a mere name, not indented; below a link, dashes are but a rule."""
    marked = any(pattern.match(line) for pattern in (_HEADING, ITEM, RULE, _FENCE))
    name, links = split_line(line)
    return bool(name) and not links and not marked and not line[:1].isspace()


def read_markdown(lines: list[str], found: TopicCollector) -> None:
    """Headings by their level, items by their indentation."""
    headings: list[tuple[int, Place]] = []
    shelf = OpenTopics(found)
    fence = ""
    for number, line in enumerate(_underlined(lines), 1):
        if mark := _FENCE.match(line):
            if not fence:
                found.skip(line.strip(), "what stands between such marks is no outline", number)
            fence = "" if fence == mark[1] else fence or mark[1]
            continue
        if fence or RULE.match(line):
            continue
        if heading := _HEADING.match(line):
            shelf = _below(found, headings, heading, number)
        elif item := ITEM.match(line):
            shelf.put(_column(item[1]), item[2], number)
        elif text := line.strip():
            _prose(shelf, _indent(line), text, number)


def _below(found: TopicCollector, headings: list[tuple[int, Place]], heading: "re.Match[str]", line: int) -> OpenTopics:
    """The shelf of a heading; those above it that are of its level or lower are over."""
    level = len(heading[1])
    while headings and headings[-1][0] >= level:
        headings.pop()
    place = headings[-1][1] if headings else ()
    name, links = split_line(heading[2])
    if not name and not links:
        found.skip(heading[0], "the heading has no name", line)
    if name:
        place = enter_path(found, place, name, line)
        headings.append((level, place))
    for link in links:
        found.add(place, link, line)
    return OpenTopics(found, place)


def _prose(shelf: OpenTopics, column: int, text: str, line: int) -> None:
    """Text between: its links are of the topic that is open; "Biology:" opens one, for a list not indented too."""
    name, links = split_line(text)
    if text.endswith(":") and name and not links:
        shelf.put(column - 1, name, line)
    elif not links:
        shelf.found.skip(text, "the text is neither a heading nor in a list, and has no link", line)
    for link in links:
        shelf.found.add(shelf.place, link, line)


def _indent(line: str) -> int:
    return _column(line[: len(line) - len(line.lstrip())])


def _column(blanks: str) -> int:
    return len(blanks.expandtabs(4))


# --- An outline as nested tables, from TOML or JSON: keys are topics, strings are URLs or topics ---------------------
# {"Science": {"Biology": ["https://example.org/biology"], "Physics": {}}}
# [{"name": "Science", "children": [{"name": "Biology", "seeds": ["https://example.org/biology"]}]}]


# Keys that are no names of topics, as programs and our own settings write them: small letters only.
_NAME = ("name", "title", "label", "text")
_SEEDS = frozenset(("seeds", "urls", "links", "examples"))
_LINK = frozenset(("url", "href", "uri"))
_BELOW = frozenset(("children", "topics", "items", "narrower"))
_STARTS, _FILES = "starts", "examples"
_HOLDERS = _SEEDS | _BELOW
RESERVED = frozenset((*_NAME, *_SEEDS, *_LINK, *_BELOW, _STARTS))


class Pairs(list[tuple[str, Any]]):
    """A JSON object that keeps a key which stands in it twice."""


def read_nested(value: Any, found: TopicCollector) -> None:
    """What was read from TOML or JSON."""
    try:
        _settings(found, value) if _is_settings(value) else _walk_nested(found, value, ())
    except RecursionError as error:
        raise UsageError(f"{found.path} is nested beyond reason") from error


def _is_settings(value: Any) -> bool:
    """Whether it is the `analecta.toml` of a library, by its [[topics]]."""
    topics = value.get("topics") if isinstance(value, dict) else None
    return isinstance(topics, list) and bool(topics) and all(isinstance(topic, dict) for topic in topics)


def _settings(found: TopicCollector, value: dict[str, Any]) -> None:
    """The topics of a library and what is not meant; its files and how it crawls are its own."""
    for topic in value["topics"]:
        _walk_nested(found, _without_files(found, topic), ())
    if isinstance(others := value.get("others"), dict):
        _seeds(found, _without_files(found, others).get("seeds", []), NOT_MEANT)
    for key in value:
        if key not in Settings.__struct_fields__:
            found.skip(key, "of settings only [[topics]] and [others] are read")


def _without_files(found: TopicCollector, table: dict[str, Any]) -> dict[str, Any]:
    files = table.get(_FILES, [])
    for file in files if isinstance(files, list) else [files]:
        found.skip(str(file), "files of a library are not taken over: give their folder with --examples")
    return {key: value for key, value in table.items() if key != _FILES}


def _walk_nested(found: TopicCollector, value: Any, place: Place) -> None:
    pairs = _pairs(value)
    if pairs is not None:
        _object(found, pairs, place)
    elif isinstance(value, list):
        for item in value:
            _walk_nested(found, item, place)
    elif isinstance(value, str) and evident(value):
        found.add(place, value)
    elif isinstance(value, str) and value.strip():
        enter_path(found, place, value, 0)
    elif value is not None:
        found.skip(str(value), "it is neither a topic nor a URL")


def _object(found: TopicCollector, pairs: Sequence[tuple[str, Any]], place: Place) -> None:
    name = _name_of(pairs)
    keys = {key for key, _ in pairs}
    if name and not (keys & _LINK and not keys & _HOLDERS):  # else it is a link with its title
        place = enter_path(found, place, name, 0)
    for key, value in pairs:
        if key in _SEEDS or key in _LINK:
            _seeds(found, value, place)
        elif key in _BELOW:
            _walk_nested(found, value, place)
        elif key == _STARTS:
            found.skip(BELOW.join((*place, key)), "only pages that show what is meant are taken over")
        elif name and not isinstance(value, str) and _holds(value) and key not in _NAME:
            found.skip(BELOW.join((*place, key)), "where a topic says its name, those below it stand in children")
        elif not name and not (key in _NAME and isinstance(value, str)):
            _below_key(found, key, value, place)


def _name_of(pairs: Sequence[tuple[str, Any]]) -> str:
    """What an object says that it is called; "" for one whose keys are the names."""
    named_by_keys = any(key not in RESERVED and _holds(value) for key, value in pairs)
    if named_by_keys and not any(key in _HOLDERS for key, _ in pairs):
        return ""
    words = {key: value for key, value in pairs if isinstance(value, str)}
    return next((words[key] for key in _NAME if words.get(key, "").strip()), "")


def _holds(value: Any) -> bool:
    """Whether topics or URLs are in it; a list of bare words is but a list of tags."""
    if isinstance(value, list) and not isinstance(value, Pairs):
        return any(_holds(item) for item in value)
    return _pairs(value) is not None or (isinstance(value, str) and evident(value))


def _below_key(found: TopicCollector, key: str, value: Any, place: Place) -> None:
    """A key that is a topic, and what it holds."""
    if isinstance(value, str) and value.strip() and not evident(value):
        found.skip(f"{key}: {value}", "the words are neither a URL nor topics")
        return
    _walk_nested(found, value, enter_path(found, place, key, 0))


def _seeds(found: TopicCollector, value: Any, place: Place) -> None:
    """What must be URLs."""
    for url in value if isinstance(value, list) else [value]:
        if isinstance(url, str):
            found.add(place, url)
        elif _pairs(url) is not None:
            _walk_nested(found, url, place)
        else:
            found.skip(str(url), "it is no URL")


def _pairs(value: Any) -> Sequence[tuple[str, Any]] | None:
    if isinstance(value, Pairs):
        return value
    return list(value.items()) if isinstance(value, dict) else None


# --- An outline in OPML, as feed readers export their subscriptions: the sites of the feeds are the seeds ------------


_NO_SPACE = frozenset(("",))


def read_opml(root: Tag, found: TopicCollector) -> None:
    """Outlines with outlines in them are topics, those with an address are links."""
    bodies = root.all("body", _NO_SPACE)
    if root.name.lower() != "opml" or not bodies:
        raise UsageError(f"{found.path} is XML, but no OPML outline")
    for outline in bodies[0].all("outline", _NO_SPACE):
        _walk_opml(found, outline, ())


def _walk_opml(found: TopicCollector, outline: Tag, place: Place) -> None:
    """Not deeper than `TopicCollector` allows, so that recursion is safe."""
    said = {key.lower(): value for key, value in outline.attributes.items()}
    # The front page says more of a subject than the feed, which has no text of its own.
    url = said.get("htmlurl") or said.get("xmlurl") or said.get("url")
    below = outline.all("outline", _NO_SPACE)
    name = said.get("text") or said.get("title") or ""
    if below or not url:
        place = found.enter(place, name, outline.line)
    if url:
        found.add(place, url, outline.line)
    for inner in below:
        _walk_opml(found, inner, place)
