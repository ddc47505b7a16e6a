"""What a page asks of robots: noindex, nofollow, noarchive, and reservations against training (F35, F36)."""

import re
from collections.abc import Iterable

from analecta import preferences
from analecta.model import Answer, Page

AGENT = "analecta"  # our product token, as in robots.txt

_LINE = re.compile(rb"^x-robots-tag[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_NAME = re.compile(r"[a-z][\w.*-]*$")
# Directives that hold a colon themselves; any other word before a colon is the name of a robot.
_VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
_ALL = frozenset(("noindex", "nofollow"))


def words_for_us(value: str, agent: str = AGENT) -> set[str]:
    """The directives of one meta or header value that concern us: "otherbot: noindex" does not."""
    ours, words = True, set[str]()
    for part in re.split("[,;]", value.lower()):
        name, colon, rest = part.partition(":")
        name = name.strip()
        if colon and name not in _VALUED and _NAME.match(name):
            ours = name in (agent, "*")
            name = rest.strip()
        if ours:
            words.update(name.split())  # some write blanks instead of commas
    return words | _ALL if "none" in words else words


def header_words(answer: Answer, agent: str = AGENT) -> set[str]:
    """The directives of all X-Robots-Tag headers; read line by line, since a robot's name holds for its line only."""
    joined = answer.headers.get("x-robots-tag")
    if joined is None:
        return set()
    lines = [line.decode("latin-1") for line in _LINE.findall(answer.head)] or [joined]
    return set().union(*(words_for_us(line, agent) for line in lines))


def apply(page: Page, answer: Answer, metas: Iterable[str] = (), reserved: Iterable[str] = ()) -> Page:
    """Write on `page` what its headers, `metas` and what it has `reserved` ask; the most restrictive wins."""
    words = header_words(answer)
    for value in metas:
        words |= words_for_us(value)
    page.noindex = "noindex" in words
    page.nofollow = "nofollow" in words
    page.noarchive = "noarchive" in words
    page.reserved = preferences.of_headers(answer.headers, reserved)
    return page
