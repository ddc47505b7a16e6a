"""An outline of topics (S1): indented text, Markdown, TOML, JSON or OPML. What kind it is, its content tells.

The URLs below a topic are its seeds. A topic without any keeps its path as the query that a search engine can be
asked.
"""

import contextlib
import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analecta.errors import UsageError
from analecta.model import BELOW
from analecta.parse.xml import Tag
from analecta.settings.schema import Settings
from analecta.sources.collector import NOT_MEANT, Place, TopicCollector
from analecta.sources.files import first_sign, json_of, lines_of, read_bytes, text_of, xml_of
from analecta.sources.outline_text import MAX_LINE, enter_path, is_markdown, read_indented, read_markdown
from analecta.sources.result import SourceResult
from analecta.urls import evident

# A table's head or a key with a value at the start of a line, as no other outline has them.
_TOML = re.compile(
    r"""(?m)\A(?:[ \t]*(?:#.*)?\r?\n)*+[ \t]*+(?:\[\[?["'\w .-]+\]\]?\s*(?:#.*)?$|["'\w .-]+=\s*["'\[{])"""
)
_NO_BREAK = "\u00a0"  # what word processors and web pages indent with
_BOOKMARKS = re.compile(rb"(?i)<!doctype netscape-bookmark")


def read_outline(path: Path, topic: str) -> SourceResult:
    """The topics that an outline names, with the URLs below each; those at no topic are of the one that is named."""
    data = read_bytes(path)
    found = TopicCollector(path, topic)
    sign = first_sign(data)
    if sign == b"<" and _BOOKMARKS.search(data[:1000]):
        raise UsageError(f"{path} holds bookmarks: give it with --bookmarks")
    if sign == b"<":
        read_opml(xml_of(data, path), found)
    elif sign == b"{" or (sign == b"[" and _is_json(data)):
        read_nested(json_of(data, path, Pairs), found)
    else:
        _read_text(text_of(data, path), found)
    return found.result("topic", queries=True)


def _is_json(data: bytes) -> bool:
    """Whether a file that begins with [ is a JSON list: a table of TOML or a link in Markdown begins so too."""
    with contextlib.suppress(ValueError, RecursionError):
        return isinstance(json.loads(data), list)
    return False


def _read_text(text: str, found: TopicCollector) -> None:
    if _TOML.match(text):
        read_nested(_toml(text, found.path), found)
        return
    lines = [_bounded(line, number, found) for number, line in enumerate(lines_of(text), 1)]
    (read_markdown if is_markdown(lines) else read_indented)(lines, found)


def _bounded(line: str, number: int, found: TopicCollector) -> str:
    """A line with ordinary blanks; nothing of one that is too long."""
    if len(line) <= MAX_LINE:
        return line.replace(_NO_BREAK, " ")
    found.skip(line, f"the line is longer than {MAX_LINE:,} characters", number)
    return ""


def _toml(text: str, path: Path | str) -> object:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from error
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
        raise UsageError(f"{path} is TOML beyond reason: {error}") from error


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
