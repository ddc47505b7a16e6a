"""A list of sites (C1): each line a host or the front page of one. A site is a host, or what lies below a path.

`example.org`, `*.example.org`, `17,example.org` as ranked lists have it, and any page of example.org name the same
site, which is begun at its front page; `example.org/~ann/` is a site of its own for its last slash.
"""

import re
from pathlib import Path

from analecta.addresses import address_line
from analecta.sources.collector import Gathering
from analecta.sources.lists import entries
from analecta.sources.result import Reading
from analecta.urls import canonical

_RANK = re.compile(r"(?<!\d)\d++\s*[,;\t]\s*(?=\S)")
_FRONT = re.compile(r"(?<=/)(?:index|default|home)\.\w+$", re.IGNORECASE)


def read_sites(path: Path, topic: str) -> Reading:
    """The topic whose seeds are the front pages of the sites in a file."""
    found = Gathering(path, topic)
    for number, words in entries(path):
        url, why = address_line(_RANK.sub("", words, count=1).removeprefix("*."))
        found.skip(words, why, number) if why else found.add((), front_page(url), number)
    reading = found.reading()
    if not reading.topics:
        raise found.nothing("site; write one host a line")
    return reading


def front_page(url: str) -> str:
    """Where the site of a page begins: at the host, unless the URL names a folder in it."""
    target = canonical(url)
    if target is None:
        return url
    start = target.url.index("/", target.url.index("//") + 2)
    path = _FRONT.sub("", target.url[start:].partition("?")[0])
    return target.url[:start] + (path if path.endswith("/") else "/")
