"""An outline of topics (S1): indented text, Markdown, TOML, JSON or OPML. What kind it is, its content tells.

The URLs below a topic are its seeds. A topic without any keeps its path as the query that a search engine can be
asked.
"""

import contextlib
import json
import re
import tomllib
from pathlib import Path

from analecta.errors import UsageError
from analecta.sources.collector import TopicCollector
from analecta.sources.files import first_sign, json_of, lines_of, read_bytes, text_of, xml_of
from analecta.sources.outline_formats import Pairs, is_markdown, read_markdown, read_nested, read_opml
from analecta.sources.outline_text import MAX_LINE, read_indented
from analecta.sources.result import SourceResult

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
