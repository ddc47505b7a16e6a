"""An outline in Markdown: headings, and lists below them, are topics; links are seeds. Other text is told and left out.

A line that ends in a colon names the list below it, as people write in notes (and in YAML).
"""

import re
from itertools import zip_longest

from analecta.sources.collector import Gathering, Place
from analecta.sources.line_links import split_line
from analecta.sources.outline_text import ITEM, RULE, Shelf, enter_path

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


def read_markdown(lines: list[str], found: Gathering) -> None:
    """Headings by their level, items by their indentation."""
    headings: list[tuple[int, Place]] = []
    shelf = Shelf(found)
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


def _below(found: Gathering, headings: list[tuple[int, Place]], heading: "re.Match[str]", line: int) -> Shelf:
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
    return Shelf(found, place)


def _prose(shelf: Shelf, column: int, text: str, line: int) -> None:
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
