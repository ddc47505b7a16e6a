"""Mirrors: hosts that give the same pages under the same paths as a host that was met before them.

A page of a mirror is no copy of anything while the same page of the other host has not been fetched; so two hosts that
are fetched side by side would each look half new for ever. Here both are compared where they have been asked for the
same path; there a banner or other links on one side do not matter. Partitions do this for their own hosts, the
coordinator for all of them, by what partitions report.
"""

import msgspec
import xxhash

_ENOUGH = 5  # pages that two hosts have in common
_SHARE = 0.8  # of the paths that both were asked for
_BITS = 10  # of 48, by which pages with the same path and title may differ: two thirds of their text are the same
_TITLE = 48  # the title is from this bit on (text/fingerprint.py)
_MOST_PATHS = 30_000
_MOST_HOSTS = 50_000
_MOST_PAIRS = 50_000


class Sighting(msgspec.Struct, frozen=True, array_like=True):
    """A page that a host gave: its path as a hash, and its fingerprint."""

    host: str
    path: int
    print: int


def sighting(url: str, host: str, print: int) -> Sighting:
    """The sighting of a page that was fetched."""
    return Sighting(host, xxhash.xxh3_64_intdigest(url[url.index("/", 8) :].encode()), print)


class Mirrors:
    """Finds hosts that mirror another, in a bounded amount of memory: what is forgotten is only found later."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}  # mirror -> the host that was met before it
        self._paths: dict[int, tuple[str, int]] = {}  # the last paths: the first host that had it, and its page
        self._met: dict[str, int] = {}  # hosts in the order of meeting
        self._pairs: dict[tuple[str, str], list[int]] = {}  # hosts with the same paths: pages alike, pages compared

    def see(self, page: Sighting) -> bool:
        """Compare a page with that of another host on the same path; whether this shows a mirror."""
        host = page.host
        if not page.print:
            return False
        if host not in self._met and len(self._met) < _MOST_HOSTS:
            self._met[host] = len(self._met)
        other, print = self._paths.setdefault(page.path, (host, page.print))
        if len(self._paths) > _MOST_PATHS:
            del self._paths[next(iter(self._paths))]
        if other == host:
            return False
        older, newer = sorted((host, other), key=lambda name: self._met.get(name, _MOST_HOSTS))
        if newer in self.found:
            return False
        if len(self._pairs) > _MOST_PAIRS:
            self._pairs.clear()
        counts = self._pairs.setdefault((older, newer), [0, 0])
        apart = page.print ^ print
        counts[0] += apart.bit_count() <= _BITS and apart >> _TITLE == 0
        counts[1] += 1
        if counts[0] < _ENOUGH or counts[0] < _SHARE * counts[1]:
            return False
        if len(self.found) >= _MOST_HOSTS:
            self.found.clear()
        self.found[newer] = older
        return True
