"""An outline in Markdown: headings, and lists below them, are topics; links are seeds. Other text is passed over.

A line that ends in a colon names the list below it, as people write in notes (and in YAML).
"""

import re

from analecta.seed.gathering import Gathering, Place
from analecta.seed.outlines.indented import Shelf, enter_path
from analecta.seed.outlines.line_links import MAX_LINE, split_line

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)(?:[ \t]#+)?[ \t]*$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$")
_FENCE = re.compile(r"\s*(```|~~~)")
_RULE = re.compile(r"\s*(?:([-*_])[ \t]*){3,}$")


def is_markdown(lines: list[str]) -> bool:
    """Whether there are list marks or headings; a lone `# line` above unmarked text is a comment."""
    if any(_ITEM.match(line) or (line.startswith("##") and _HEADING.match(line)) for line in lines):
        return True
    plain = any(line[:1].strip() and not _HEADING.match(line) and not split_line(line[:MAX_LINE])[1] for line in lines)
    return not plain and any(_HEADING.match(line) for line in lines)


def read_markdown(lines: list[str], found: Gathering) -> None:
    """Headings by their level, items by their indentation."""
    headings: list[tuple[int, Place]] = []
    shelf = Shelf(found)
    fence = ""
    for number, line in enumerate(lines, 1):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
            continue
        if fence or _RULE.match(line):
            continue
        if heading := _HEADING.match(line):
            shelf = _below(found, headings, heading, number)
        elif item := _ITEM.match(line):
            shelf.put(_column(item[1]), item[2], number)
        elif text := line.strip():
            _prose(shelf, _column(line[: -len(line.lstrip())]), text, number)


def _below(found: Gathering, headings: list[tuple[int, Place]], heading: "re.Match[str]", line: int) -> Shelf:
    """The shelf of a heading; those above it that are of its level or lower are over."""
    level = len(heading[1])
    while headings and headings[-1][0] >= level:
        headings.pop()
    place = headings[-1][1] if headings else ()
    name, links = split_line(heading[2][:MAX_LINE])
    if name:
        place = enter_path(found, place, name, line)
        headings.append((level, place))
    for link in links:
        found.add(place, link, line)
    return Shelf(found, place)


def _prose(shelf: Shelf, column: int, text: str, line: int) -> None:
    """Text between: its links are of the topic that is open; "Biology:" opens one, for a list not indented too."""
    name, links = split_line(text[:MAX_LINE])
    if text.endswith(":") and name and not links:
        shelf.put(column - 1, name, line)
    for link in links:
        shelf.found.add(shelf.place, link, line)


def _column(blanks: str) -> int:
    return len(blanks.expandtabs(4))
