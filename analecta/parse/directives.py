"""What a page asks of robots (F35, F36), and the date that it gives."""

import re
from calendar import monthrange
from collections.abc import Iterable

from analecta import preferences
from analecta.model import Page, Response

AGENT = "analecta"  # our product token, as in robots.txt

_LINE = re.compile(rb"^x-robots-tag[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_NAME = re.compile(r"[a-z][\w.*-]*$")
# Directives that hold a colon themselves; any other word before a colon is the name of a robot.
_VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
_ALL = frozenset(("noindex", "nofollow"))


def words_for_us(value: str) -> set[str]:
    """The directives of one meta or header value that concern us: "otherbot: noindex" does not."""
    ours, words = True, set[str]()
    for part in re.split("[,;]", value.lower()):
        name, colon, rest = part.partition(":")
        name = name.strip()
        if colon and name not in _VALUED and _NAME.match(name):
            ours = name in (AGENT, "*")
            name = rest.strip()
        if ours:
            words.update(name.split())  # some write blanks instead of commas
    return words | _ALL if "none" in words else words


def header_words(answer: Response) -> set[str]:
    """The directives of all X-Robots-Tag headers; read line by line, since a robot's name holds for its line only."""
    joined = answer.headers.get("x-robots-tag")
    if joined is None:
        return set()
    lines = [line.decode("latin-1") for line in _LINE.findall(answer.head)] or [joined]
    return set().union(*(words_for_us(line) for line in lines))


def apply(page: Page, answer: Response, metas: Iterable[str] = (), reserved: Iterable[str] = ()) -> Page:
    """Write on `page` what its headers, `metas` and what it has `reserved` ask; the most restrictive wins."""
    words = header_words(answer)
    for value in metas:
        words |= words_for_us(value)
    page.noindex = "noindex" in words
    page.nofollow = "nofollow" in words
    page.noarchive = "noarchive" in words
    page.reserved = preferences.of_headers(answer.headers, reserved)
    return page


# --- The date of a page or document, as exact as it says itself: YYYY, YYYY-MM or YYYY-MM-DD -------------------------


_DATE = re.compile(
    r"\s*(?:D:)?((?:19|20)\d\d)(?:"
    r"[-/.:](0?[1-9]|1[0-2])(?!\d)(?:[-/.:](0?[1-9]|[12]\d|3[01])(?!\d))?|"
    r"(0[1-9]|1[0-2])(?:(0[1-9]|[12]\d|3[01]))?)?(?!\d{9})"
)
_NO_DATES = ("1970-01-01", "1980-01-01")  # what clocks and zip files say that know nothing


def date_of(text: str) -> str:
    """YYYY, YYYY-MM or YYYY-MM-DD of what begins with a date in ISO's or PDF's way, else ""; no 31st of February."""
    found = _DATE.match(text)
    parts = [part.zfill(2) for part in found.groups() if part] if found else []
    if len(parts) == 3 and int(parts[2]) > monthrange(int(parts[0]), int(parts[1]))[1]:
        parts.pop()
    date = "-".join(parts)
    return "" if date in _NO_DATES else date
