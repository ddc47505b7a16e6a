"""Outlines as text: indented lines or Markdown, and the links in their lines."""

import re
from itertools import zip_longest

from analecta.errors import UsageError
from analecta.model import BELOW
from analecta.sources.collector import Place, TopicCollector
from analecta.urls import evident

# --- A line of an outline: a name, links, or a name with links behind it ---------------------------------------------


MAX_LINE = 10_000  # characters; the patterns below are quick on any line as long as this
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
# [words](target "title"), where the target may hold a pair of brackets, as Wikipedia's do; <target>; the bare target.
_LINK = re.compile(
    r"\[(?P<words>[^\[\]]*)\]\(\s*<?(?P<target>[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s[^)]*)?\)"
    r"|<(?P<pointed>[a-zA-Z][a-zA-Z0-9+.-]{0,30}:[^\s<>]*)>"
    r"|(?P<bare>\b(?:[a-zA-Z][a-zA-Z0-9+.-]{0,30}://|www\.)[^\s<>]+)"
)
_AFTER = ".,;:!?'\")*_"  # belongs to the sentence, not to a bare URL
_EMPHASIS = re.compile(r"(?<!\w)(\*\*|__|\*|_|`|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")


def split_line(line: str) -> tuple[str, list[str]]:
    """The name on a line ("" where it begins with a link: then the words are about the link) and its links."""
    links: list[str] = []
    name: str | None = None
    text, at = _IMAGE.sub("", line).strip(), 0
    before: list[str] = []
    for link in _LINK.finditer(text):
        bare = link["bare"] or ""
        target = link["target"] or link["pointed"] or (bare if bare == text else _trimmed(bare))
        before.append(text[at : link.start()])
        at = link.end()
        if evident(target):
            name = "".join(before).strip() if name is None else name
            links.append(target)
        else:  # a link within the document or to a file beside it: its words are text
            before.append(link["words"] or link[0])
    whole = "".join([*before, text[at:]])
    words = whole.rstrip(" :") if name is None else name.rstrip(" :-–—|(")
    return _EMPHASIS.sub(r"\2", words).strip(), links


def _trimmed(url: str) -> str:
    """A bare URL without the sentence's punctuation; a bracket stays if it was opened inside."""
    while url and url[-1] in _AFTER and not (url[-1] == ")" and url.count("(") >= url.count(")")):
        url = url[:-1]
    return url


# --- An outline as indented text: a line is a topic below the one that is indented less, or a URL of it --------------
# Science
#     Biology https://example.org/biology
#         https://example.org/cells


ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$")  # of a list in Markdown
RULE = re.compile(r"\s*(?:[-*_=][ \t]*){3,}$")


class OpenTopics:
    """The topics that are open at a line, by their indentation."""

    def __init__(self, found: TopicCollector, base: Place = ()) -> None:
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


def read_indented(lines: list[str], found: TopicCollector) -> None:
    """An outline without marks, or with few; lines that begin with # are comments."""
    shelf = OpenTopics(found)
    used = ""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#") or RULE.match(line):
            continue
        blanks = line[: len(line) - len(line.lstrip(" \t"))]
        used = used or blanks[:1]
        if blanks.strip(used or None):
            here, above = ("spaces", "tabs") if used == "\t" else ("tabs", "spaces")
            raise UsageError(
                f"{found.path}, line {number}: indented with {here} where the lines above use {above}; use one"
            )
        item = ITEM.match(line)
        shelf.put(len(blanks), item[2] if item else text, number)


def enter_path(found: TopicCollector, place: Place, name: str, line: int) -> Place:
    """The place of a name; "Science / Biology" means two steps."""
    *steps, last = [step for step in name.split(BELOW) if step.strip()] or [name]
    for step in steps:
        place = found.enter(place, step, line, step=True)
    return found.enter(place, last, line)


# --- An outline in Markdown ------------------------------------------------------------------------------------------


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
