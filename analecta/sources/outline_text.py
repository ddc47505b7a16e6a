"""An outline as indented text: a line is a topic below the one that is indented less, or a URL of it.

Science
    Biology https://example.org/biology
        https://example.org/cells
"""

import re

from analecta.errors import BadUse
from analecta.model import BELOW
from analecta.sources.collector import Gathering, Place
from analecta.sources.line_links import split_line

ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$")  # of a list in Markdown
RULE = re.compile(r"\s*(?:[-*_=][ \t]*){3,}$")


class Shelf:
    """The topics that are open at a line, by their indentation."""

    def __init__(self, found: Gathering, base: Place = ()) -> None:
        self.found = found
        self.base = base
        self._open: list[tuple[int, Place]] = []

    def put(self, indent: int, text: str, line: int) -> None:
        """A line: its name is a topic below what is indented less, its links are of that topic."""
        name, links = split_line(text)
        if not name and not links:
            self.found.skip(text, "it is neither a name nor a link", line)
        if name:
            self._close(indent)
            self._open.append((indent, enter_path(self.found, self.place, name, line)))
        elif links:
            above = self._open[0] if self._open else None
            self._close(indent)
            if not self._open and above and above[0] == indent:  # a URL not indented is of the topic above it
                self._open.append(above)
        for link in links:
            self.found.add(self.place, link, line)

    @property
    def place(self) -> Place:
        """Where the next line would stand if it were indented more."""
        return self._open[-1][1] if self._open else self.base

    def _close(self, indent: int) -> None:
        while self._open and self._open[-1][0] >= indent:
            self._open.pop()


def read_indented(lines: list[str], found: Gathering) -> None:
    """An outline without marks, or with few; lines that begin with # are comments."""
    shelf = Shelf(found)
    used = ""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#") or RULE.match(line):
            continue
        blanks = line[: len(line) - len(line.lstrip(" \t"))]
        used = used or blanks[:1]
        if blanks.strip(used or None):
            raise BadUse(_mixed(found, number, used))
        item = ITEM.match(line)
        shelf.put(len(blanks), item[2] if item else text, number)


def enter_path(found: Gathering, place: Place, name: str, line: int) -> Place:
    """The place of a name; "Science / Biology" means two steps."""
    *steps, last = [step for step in name.split(BELOW) if step.strip()] or [name]
    for step in steps:
        place = found.enter(place, step, line, step=True)
    return found.enter(place, last, line)


def _mixed(found: Gathering, line: int, used: str) -> str:
    words = ("spaces", "tabs") if used == "\t" else ("tabs", "spaces")
    return f"{found.path}, line {line}: indented with {words[0]} where the lines above use {words[1]}; use one"
