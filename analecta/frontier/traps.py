"""Crawler traps: URLs that a site can make without end, and hosts that give the same pages again.

Some URLs are refused by their form alone. All others are judged by what URLs like them brought. A URL belongs to
groups, from its exact form (numbers and parameter values left out) up to its host; the narrowest group with enough
evidence decides. Hosts that copy pages of other hosts, and hosts that give many pages but nothing on topic, are
groups as well. What belongs to a bad group is demoted: it gets a negative priority, which the frontier does not give
out while any other URL is queued. Nothing is lost, and `scope.trusted` lifts it.
"""

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log2

import msgspec
import numpy as np
import xxhash

from analecta.arrays import UInt64s
from analecta.frontier.mirrors import Mirrors, Sighting
from analecta.frontier.url_forms import folder_of, formed, is_front, is_trusted, kind_of

Hashes = UInt64s

DEMOTED = 1e-3  # priority factor for what waits for another phase of the crawl
NEAR = 1.01 * DEMOTED  # priority above which a URL was not sent to the back
_SLOTS = 1 << 18
_FEW = 3  # pages of a group that are always tried before it is judged
_PER_SAMPLE = 200  # pages in all for each page of a group that is tried
_FADE = 0.85  # what an outcome counts after each further one, where only the last ones count
_FORGIVEN = 0.5  # share of good pages from which a group is good, whatever the last ones were
_SHARE = 0.02  # of all pages: what a host that yields nothing may take beyond its budget
_WASTE = 0.03  # of all pages: what may be wasted on traps before nothing more is tried that was demoted untried
_GROWTH = 20  # pages that a page on topic adds to the budget of its host
_MOST_HOSTS = 200_000
_MOST_KINDS = 2000  # kinds of pages whose last words are remembered
_LAST = 4  # pages of each
_MOST_PATHS = 20_000
_MANY, _SAMPLED = 400, 4  # of pages with so many words every fourth word stands for all, by its hash
_ALL = 100  # bad pages, as it were, of a host that mirrors another
_UNTOLD = 400  # pages of which the coordinator has not heard
_NEW = 0.08  # share of a page's words that must not stand on the last pages of its kind


class PageYield(msgspec.Struct, frozen=True):
    """What a fetched page brought, as far as traps are concerned."""

    url: str
    host: str
    on_topic: bool = False
    copy: bool = False  # the same, or nearly the same, was there before, or it is a soft 404
    repeats: bool = False  # it was found on a page of its kind, and hardly a word of it is new
    mirrors: bool = False  # and the other is on another host
    breeds: bool = False  # it was found on a page of its own kind, as the next month is on a calendar
    leads_out: bool = False  # it has new links to pages of another kind
    leads_off: bool = False  # it has new links to other domains
    fertile: bool = False  # nearly all that it links to in its own domain is new, and it links to no other


class Suspicion(msgspec.Struct, frozen=True):
    """Why a URL is demoted: a reason, the bad pages behind it, and whether its own group was never tried."""

    reason: str
    bad: int = 0
    untried: bool = False

    def priority(self, priority: float) -> float:
        """The priority of a demoted URL: below 0, the groups that wasted least first."""
        return -1.0 - log2(1 + self.bad) + 0.5 * min(max(priority, 0.0), 1.0)


@dataclass(eq=False)
class Traps:
    """Reputations of groups in a fixed amount of memory: counts share slots by hash, which only delays a verdict.

    A group is bad once enough of its pages, at most `sample`, were fetched and less than `least` were good.
    `quick`: few are enough at first. Where nobody judges topics less is known of each page, so more must be tried.
    `budget`: pages of a host that yields nothing on topic before others come first; 0 = no such budget.
    """

    sample: int = 12
    least: float = 0.25
    budget: int = 0
    domain_of: Callable[[str], str] = str
    trusted: Sequence[str] = ()
    quick: bool = True

    def __post_init__(self) -> None:
        self.total = 0
        self.waste = 0  # pages for nothing, of groups that are bad
        self.cleared: list[str] = []  # hosts of which a group was cleared: what waits there is looked at again
        # By slot: all pages, and the last ones, which fade. One number of an array is read faster than one of numpy's.
        self._tried, self._good = array("H", bytes(2 * _SLOTS)), array("H", bytes(2 * _SLOTS))
        self._last, self._last_good = array("f", bytes(4 * _SLOTS)), array("f", bytes(4 * _SLOTS))
        self._marked: set[str] = set()  # hosts and domains that may have something demoted; the others cost nothing
        self._proven: set[str] = set()  # hosts that brought something new
        self._mirrors = False  # whether any host was seen to copy another
        self._hosts_alike = Mirrors()
        self.sightings: deque[Sighting] = deque(maxlen=_UNTOLD)  # of the last pages, for the coordinator
        self._copies: set[str] = set()  # hosts that mirror another
        self._words: dict[int, tuple[bool, list[Hashes]]] = {}  # of kinds: the last answer, the last pages
        self._paths: dict[str, None] = {}  # of the last pages, from whatever host
        self._issued = {True: 0, False: 0}  # URLs of new hosts that have such a path: front pages, and others

    # --- what was learned ------------------------------------------------------------------------------------------

    def note(self, outcome: PageYield) -> None:
        """A page was fetched."""
        url, host = outcome.url, outcome.host
        self.total += 1
        new = not (outcome.copy or outcome.repeats)
        good = new and (outcome.on_topic or outcome.leads_out or not outcome.breeds)
        bad = False
        for slot in self._groups(url):
            before = self._verdict(slot)
            self._count(slot, good)
            after = self._verdict(slot)
            if after is False:
                bad = True
                _add(self._marked, host)
            elif after and before is not True and (host not in self._proven or host in self._marked):
                self.cleared.append(host)
                _add(self._proven, host)
        self.waste += bad and not good
        self._note_path(outcome)
        if self.budget:
            self._note_yield(outcome)

    def _note_path(self, outcome: PageYield) -> None:
        """Whether a page on a path that another host has too is a copy of what is there."""
        url = outcome.url
        own, domain, everywhere = self._mirror_groups(url, outcome.host)
        if outcome.mirrors or self._known_path(url):
            self._count(everywhere, not outcome.copy)
        self._remember_path(url)
        if outcome.mirrors or self._mirrors:
            self._mirrors = True
            self.waste += outcome.mirrors
            self._count(own, not outcome.copy)
            self._count(domain, not outcome.copy)

    def _note_yield(self, outcome: PageYield) -> None:
        good = outcome.on_topic and not outcome.copy and not outcome.repeats
        if good or (outcome.fertile and not outcome.leads_off):
            domain = self.domain_of(outcome.host)
            for name in {outcome.host, domain}:
                self._count(_slot("yield", name), good)
                if self._exhausted(name):
                    _add(self._marked, name)

    def compare(self, page: Sighting) -> None:
        """Compare a page with those of other hosts."""
        self.sightings.append(page)
        if self._hosts_alike.see(page):
            self.condemn(self._hosts_alike.found)

    def take_sightings(self) -> list[Sighting]:
        """The pages since the last time."""
        found = list(self.sightings)
        self.sightings.clear()
        return found

    def condemn(self, mirrors: Iterable[str]) -> None:
        """These hosts have nothing of their own."""
        self._copies.update(mirrors)

    def _count(self, slot: int, good: bool) -> None:
        if self._tried[slot] < 60_000:
            self._tried[slot] += 1
            self._good[slot] += good
        self._last[slot] = self._last[slot] * _FADE + 1
        self._last_good[slot] = self._last_good[slot] * _FADE + good

    def repeats(self, url: str, words: Hashes) -> bool:
        """Whether hardly a word of a page is new among the last of its kind; the first of a kind are all looked at."""
        slot = _slot(*kind_of(url))
        tried = self._tried[slot]
        known, last = self._words.pop(slot, (False, []))
        if tried <= 2 * _FEW or tried % 8 == 0:
            unique = _distinct(words if len(words) < _MANY else words[words % _SAMPLED == 0])
            if last:
                known = _count_new(unique, np.concatenate(last)) < max(_LAST, _NEW * len(unique))
            last = [*last[1 - _LAST :], unique]
        if len(self._words) >= _MOST_KINDS:
            del self._words[next(iter(self._words))]
        self._words[slot] = known, last
        return known

    # --- what follows from it --------------------------------------------------------------------------------------

    def admission(self, url: str, host: str) -> Suspicion | None:
        """The same for a URL that was just found.

        Of new hosts with paths that are known from other hosts only some are let in until these proved good: mirrors.
        """
        if (found := self.suspicion(url, host)) or host in self._proven:
            return found
        front = is_front(url)
        if not (self._mirrors if front else self._known_path(url)):
            return None
        if self._issued[front] >= 2 * _FEW + 4 * self._good[self._mirror_groups(url, host)[2]]:
            return Suspicion("untried", 1, True)
        self._issued[front] += 1
        return None

    def suspicion(self, url: str, host: str) -> Suspicion | None:
        """Why a URL is to be demoted, if it is."""
        if not self._mirrors and not self._marked and not self._copies:
            return None
        if self.trusted and is_trusted(url, self.trusted):
            return None
        marked = host in self._marked
        if marked and (found := self._by_group(url)):
            return found
        if host in self._copies:
            return Suspicion("trap-mirror", _ALL)
        if self._mirrors and (found := self._by_mirror(url, host)):
            return found
        for name in (host, self.domain_of(host)) if self.budget else ():
            if name in self._marked and (wasted := self._exhausted(name)):
                return Suspicion("trap-budget", wasted)
        return None

    def wasteful(self) -> bool:
        """Whether so much was wasted on traps that nothing more of what was demoted untried is tried."""
        return self.waste > _FEW + _WASTE * self.total

    def _by_group(self, url: str) -> Suspicion | None:
        """By the narrowest group that has enough evidence."""
        slots = list(self._groups(url))
        for position, slot in enumerate(slots):
            verdict = self._verdict(slot)
            if verdict is not None:
                wasted = self._tried[slots[0]] - self._good[slots[0]]
                untried = self._tried[slots[0]] < _FEW and position > ("?" in url)  # with more parameters it is not new
                return None if verdict else Suspicion("trap", 1 + wasted, untried)
        return None

    def _by_mirror(self, url: str, host: str) -> Suspicion | None:
        """By what its host and domain copied; a path that is known from elsewhere also by all such paths."""
        own, domain, everywhere = self._mirror_groups(url, host)
        wasted = self._tried[own] - self._good[own]
        for slot, enough in ((own, _FEW if host in self._proven else 1), (domain, 2 * _FEW)):
            if self._tried[slot] >= enough:
                bad = self._good[slot] < self.least * self._tried[slot]
                return Suspicion("trap-mirror", 2 + wasted) if bad else None
        bad = self._tried[everywhere] >= 2 * _FEW and self._good[everywhere] < self.least * self._tried[everywhere]
        return Suspicion("trap-mirror", 1, True) if bad and self._known_path(url) else None

    def _verdict(self, slot: int) -> bool | None:
        """Whether a group is good; None where too little is known."""
        tried, good = self._tried[slot], self._good[slot]
        enough = min(max(self.total // _PER_SAMPLE, _FEW), self.sample) if self.quick else self.sample
        if tried >= enough:
            return self._last_good[slot] >= self.least * self._last[slot] or good >= _FORGIVEN * tried
        return True if good >= 2 and good * 2 >= tried else None

    def _exhausted(self, name: str) -> int:
        """How many pages a host or domain has given for nothing, where that is far more than it yielded any; else 0."""
        slot = _slot("yield", name)
        tried, good = self._tried[slot], self._good[slot]
        return tried - good if tried - good > self.budget + _SHARE * self.total + _GROWTH * good else 0

    # --- groups ----------------------------------------------------------------------------------------------------

    def _groups(self, url: str) -> Iterator[int]:
        """The slots of the groups of a URL, the narrowest first."""
        kind, key = kind_of(url)
        yield _slot(kind, key)
        start = url.index("/", 8)
        host = url[:start]
        if kind == "form":
            path, mark, _ = url[start:].partition("?")
            if mark:
                yield _slot("path", host + formed(path))
            if folder := folder_of(path):
                yield _slot("many", host + folder)
            yield _slot("many", host)
        else:
            yield _slot("plain", host)

    def _mirror_groups(self, url: str, host: str) -> tuple[int, int, int]:
        """The slots of a host, its domain, and of front pages or other pages everywhere."""
        domain = f"of {self.domain_of(host)}"
        return _slot("mirror", host), _slot("mirror", domain), _slot("mirror", "front" if is_front(url) else "page")

    def _known_path(self, url: str) -> bool:
        """Whether a page with this path was fetched lately."""
        return url[url.index("/", 8) :] in self._paths

    def _remember_path(self, url: str) -> None:
        if len(self._paths) >= _MOST_PATHS:
            del self._paths[next(iter(self._paths))]
        self._paths[url[url.index("/", 8) :]] = None


def _add(names: set[str], name: str) -> None:
    """Add to a set that is begun again when it is too large: that costs some requests, not memory."""
    if len(names) > _MOST_HOSTS:
        names.clear()
    names.add(name)


def _distinct(words: Hashes) -> Hashes:
    """As numpy's unique, which takes three times as long for a few hundred words."""
    ordered = np.sort(words)
    return np.asarray(ordered[np.diff(ordered, prepend=~ordered[:1]) != 0], np.uint64)


def _count_new(distinct: Hashes, known: Hashes) -> int:
    """How many words are not among those known."""
    ends = np.searchsorted(np.sort(known), (distinct, distinct + np.uint64(1)))
    return int(np.count_nonzero(ends[0] == ends[1]))


def _slot(kind: str, key: str) -> int:
    return int(xxhash.xxh3_64_intdigest(f"{kind} {key}".encode())) % _SLOTS
