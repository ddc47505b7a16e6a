"""An outline as nested tables, from TOML or JSON: keys are topics, strings are URLs or topics.

{"Science": {"Biology": ["https://example.org/biology"], "Physics": {}}}
[{"name": "Science", "children": [{"name": "Biology", "seeds": ["https://example.org/biology"]}]}]
"""

from collections.abc import Sequence
from typing import Any

from analecta.addresses import evident
from analecta.errors import BadUse
from analecta.model import BELOW
from analecta.settings.schema import Settings
from analecta.sources.collector import NOT_MEANT, Gathering, Place
from analecta.sources.outline_text import enter_path

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


def read_nested(value: Any, found: Gathering) -> None:
    """What was read from TOML or JSON."""
    try:
        _settings(found, value) if _is_settings(value) else _walk(found, value, ())
    except RecursionError as error:
        raise BadUse(f"{found.path} is nested beyond reason") from error


def _is_settings(value: Any) -> bool:
    """Whether it is the `analecta.toml` of a library, by its [[topics]]."""
    topics = value.get("topics") if isinstance(value, dict) else None
    return isinstance(topics, list) and bool(topics) and all(isinstance(topic, dict) for topic in topics)


def _settings(found: Gathering, value: dict[str, Any]) -> None:
    """The topics of a library and what is not meant; its files and how it crawls are its own."""
    for topic in value["topics"]:
        _walk(found, _without_files(found, topic), ())
    if isinstance(others := value.get("others"), dict):
        _seeds(found, _without_files(found, others).get("seeds", []), NOT_MEANT)
    for key in value:
        if key not in Settings.__struct_fields__:
            found.skip(key, "of settings only [[topics]] and [others] are read")


def _without_files(found: Gathering, table: dict[str, Any]) -> dict[str, Any]:
    files = table.get(_FILES, [])
    for file in files if isinstance(files, list) else [files]:
        found.skip(str(file), "files of a library are not taken over: give their folder with --examples")
    return {key: value for key, value in table.items() if key != _FILES}


def _walk(found: Gathering, value: Any, place: Place) -> None:
    pairs = _pairs(value)
    if pairs is not None:
        _object(found, pairs, place)
    elif isinstance(value, list):
        for item in value:
            _walk(found, item, place)
    elif isinstance(value, str) and evident(value):
        found.add(place, value)
    elif isinstance(value, str) and value.strip():
        enter_path(found, place, value, 0)
    elif value is not None:
        found.skip(str(value), "it is neither a topic nor a URL")


def _object(found: Gathering, pairs: Sequence[tuple[str, Any]], place: Place) -> None:
    name = _name_of(pairs)
    keys = {key for key, _ in pairs}
    if name and not (keys & _LINK and not keys & _HOLDERS):  # else it is a link with its title
        place = enter_path(found, place, name, 0)
    for key, value in pairs:
        if key in _SEEDS or key in _LINK:
            _seeds(found, value, place)
        elif key in _BELOW:
            _walk(found, value, place)
        elif key == _STARTS:
            found.skip(BELOW.join((*place, key)), "only pages that show what is meant are taken over")
        elif name and not isinstance(value, str) and _holds(value) and key not in _NAME:
            found.skip(BELOW.join((*place, key)), "where a topic says its name, those below it stand in children")
        elif not name and not (key in _NAME and isinstance(value, str)):
            _below(found, key, value, place)


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


def _below(found: Gathering, key: str, value: Any, place: Place) -> None:
    """A key that is a topic, and what it holds."""
    if isinstance(value, str) and value.strip() and not evident(value):
        found.skip(f"{key}: {value}", "the words are neither a URL nor topics")
        return
    _walk(found, value, enter_path(found, place, key, 0))


def _seeds(found: Gathering, value: Any, place: Place) -> None:
    """What must be URLs."""
    for url in value if isinstance(value, list) else [value]:
        if isinstance(url, str):
            found.add(place, url)
        elif _pairs(url) is not None:
            _walk(found, url, place)
        else:
            found.skip(str(url), "it is no URL")


def _pairs(value: Any) -> Sequence[tuple[str, Any]] | None:
    if isinstance(value, Pairs):
        return value
    return list(value.items()) if isinstance(value, dict) else None
