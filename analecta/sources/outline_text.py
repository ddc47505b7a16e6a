"""Outlines as text, and the links in their lines."""

import re

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
