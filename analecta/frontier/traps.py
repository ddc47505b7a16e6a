"""Crawler traps: URLs that a site can make without end (calendars, facets, paths that grow by themselves).

Two defences. Some URLs are refused by their form alone. For the others, URLs of one *shape* (digits and query values
left out) on one host share a reputation: where a dozen of them brought hardly anything new, the rest goes to the
back of the queue, behind every real page, but is not lost.
"""

import re

import numpy as np
import xxhash

DEMOTED = 1e-3  # priority factor for shapes that bring nothing
NEAR = 1.01 * DEMOTED  # priority above which a URL was not sent to the back
_MAX_SEGMENTS = 20
_SLOTS = 1 << 18
_DIGITS = re.compile(r"\d+")
_VARIES = re.compile(r"[?\d]")
# A group of one to three path segments that stands at least three times in a row, or a pair that stands twice.
_REPEATS = re.compile(r"/([^/]+)/\1/\1(?:/|$)|/([^/]+/[^/]+(?:/[^/]+)?)/\2(?:/|$)")


def refusal(url: str) -> str:
    """Why this URL is not worth a try, judged by its form alone; "" where it is."""
    path = url[url.index("/", 8) :].partition("?")[0]
    if path.count("/") > _MAX_SEGMENTS:
        return "trap-depth"
    if _REPEATS.search(path):
        return "trap-repeat"
    return ""


def shape(url: str) -> str:
    """The form of a URL: digits as 0, and only whether there is a query."""
    path, query, _ = url.partition("?")
    return _DIGITS.sub("0", path) + query


class Traps:
    """Reputations of shapes in a fixed amount of memory: counts share slots by hash, which only delays a verdict."""

    def __init__(self, sample: int = 12, least: float = 0.25) -> None:
        """A shape is a trap once `sample` pages of it were fetched and less than the share `least` were any good."""
        self.sample = sample
        self.least = least
        self._tried = np.zeros(_SLOTS, np.uint16)
        self._good = np.zeros(_SLOTS, np.uint16)

    def note(self, url: str, good: bool) -> None:
        """A page of this shape was fetched; `good` says whether it brought something new."""
        if not _VARIES.search(url, 8):
            return  # a shape of one URL
        slot = self._slot(url)
        if self._tried[slot] < 60_000:
            self._tried[slot] += 1
            self._good[slot] += good

    def factor(self, url: str) -> float:
        """What to multiply a URL's priority with."""
        if not _VARIES.search(url, 8):
            return 1.0
        slot = self._slot(url)
        tried = int(self._tried[slot])
        return DEMOTED if tried >= self.sample and self._good[slot] < self.least * tried else 1.0

    def _slot(self, url: str) -> int:
        return int(xxhash.xxh3_64_intdigest(shape(url).encode())) % _SLOTS
