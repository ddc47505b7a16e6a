"""A file of addresses, one a line: the simplest thing that a person can bring.

Empty lines and comments (# at the start of a line or after a blank) are passed over. A bare host such as
`example.org` or `example.org/roses` is taken as https. Lines that are no address are reported and skipped.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from analecta.addresses import address_line
from analecta.sources.collector import Gathering
from analecta.sources.files import lines_of, read_bytes, text_of
from analecta.sources.result import Reading

_COMMENT = re.compile(r"(?:^|\s)#.*")


def read_urls(path: Path, topic: str) -> Reading:
    """The topic whose seeds are the addresses in a file."""
    found = Gathering(path, topic)
    for number, words in entries(path):
        url, why = address_line(words)
        found.skip(words, why, number) if why else found.add((), url, number)
    reading = found.reading()
    if not reading.topics:
        raise found.nothing("address; write one URL a line")
    return reading


def entries(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a list that say something, with their numbers."""
    for number, line in enumerate(lines_of(text_of(read_bytes(path), path)), 1):
        if words := _COMMENT.sub("", line).strip():
            yield number, words
