"""Crawler traps: URLs that a site can make without end, and hosts that give the same pages again.

Some URLs are refused by their form alone. All others are judged by what URLs like them brought. A URL belongs to
groups, from its exact form (numbers and parameter values left out) up to its host; the narrowest group with enough
evidence decides. Hosts that copy pages of other hosts, and hosts that give many pages but nothing on topic, are
groups as well. What belongs to a bad group is demoted: it gets a negative priority, which the frontier does not give
out while any other URL is queued. Nothing is lost, and `scope.trusted` lifts it.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import log2

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from analecta.model import Page, Target

Hashes = NDArray[np.uint64]

DEMOTED = 1e-3  # priority factor for what waits for another phase of the crawl
NEAR = 1.01 * DEMOTED  # priority above which a URL was not sent to the back
_MAX_SEGMENTS = 20
_SLOTS = 1 << 18
_FEW = 3  # pages of a group that are always tried before it is judged
_PER_SAMPLE = 200  # pages in all for each page of a group that is tried
_FADE = 0.85  # what an outcome counts after each further one, where only the last ones count
_FORGIVEN = 0.5  # share of good pages from which a group is good, whatever the last ones were
_SHARE = 0.02  # of all pages: what a host that yields nothing may take beyond its budget
_WASTE = 0.03  # of all pages: what may be wasted on traps before nothing more is tried that was demoted untried
_FERTILE = 0.8  # share of links to their own domain that are new on the pages of a domain without end
_GROWTH = 20  # pages that a page on topic adds to the budget of its host
_DEEP = 3  # segments from which a path that extends the path of its parent is growing
_MOST_HOSTS = 200_000
_MOST_KINDS = 2000  # kinds of pages whose last words are remembered
_LAST = 4  # pages of each
_MOST_PATHS = 20_000
_NEW = 0.08  # share of a page's words that must not stand on the last pages of its kind
_WORD = re.compile(r"[A-Za-z0-9]+")
_VARIES = re.compile(r"[?\d]")
# A group of one to three path segments that stands at least three times in a row, or a pair that stands twice.
_REPEATS = re.compile(r"/([^/]+)/\1/\1(?:/|$)|/([^/]+/[^/]+(?:/[^/]+)?)/\2(?:/|$)")


class Outcome(msgspec.Struct, frozen=True):
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


def refusal(url: str) -> str:
    """Why this URL is not worth a try, judged by its form alone; "" where it is."""
    path = url[url.index("/", 8) :].partition("?")[0]
    if path.count("/") > _MAX_SEGMENTS:
        return "trap-depth"
    if _REPEATS.search(path):
        return "trap-repeat"
    return ""


def shape(url: str) -> str:
    """The form of a URL: numbers and tokens as 0, and of the query only the names."""
    start = url.index("/", 8)
    path, mark, query = url[start:].partition("?")
    names = sorted({part.partition("=")[0] for part in query.split("&")}) if query else []
    return url[:start] + _formed(path) + mark + "&".join(_formed(name) for name in names)


def _formed(text: str) -> str:
    """A text without its numbers: `item17` as `item0`, a token of letters and digits as `0`."""
    return _WORD.sub(_form, text)


def _form(found: "re.Match[str]") -> str:
    word = found[0]
    if word.isalpha():
        return word
    name = word.rstrip("0123456789")
    return f"{name}0" if name.isalpha() else "0"


def kind_of(url: str) -> tuple[str, str]:
    """The narrowest group of a URL: its form where that varies, else its first directory and depth."""
    start = url.index("/", 8)
    if _VARIES.search(url, start):
        return "form", shape(url)
    return "plain", f"{url[:start]}{_folder(url[start:])} {min(url.count('/', start), _DEEP + 1)}"


def _folder(path: str) -> str:
    """The first directory of a path, without its numbers."""
    return _formed(path[: path.find("/", 1) + 1])


def is_kin(url: str, parent: str) -> bool:
    """Whether a URL is of the kind of the page that links to it: of the same form, or a longer form of it."""
    start = url.find("/", 8) + 1
    if not start or url[:start] != parent[:start]:
        return False
    path, mark, _ = url.partition("?")
    above, other, _ = parent.partition("?")
    if _VARIES.search(url, start) and _formed(path) == _formed(above) and (mark or not other):
        return True
    return path.count("/", start) >= _DEEP and path.startswith(above.rstrip("/") + "/") and len(above) > start


class Traps:
    """Reputations of groups in a fixed amount of memory: counts share slots by hash, which only delays a verdict."""

    def __init__(
        self,
        sample: int = 12,
        least: float = 0.25,
        budget: int = 0,
        domain_of: Callable[[str], str] = str,
        trusted: Sequence[str] = (),
        quick: bool = True,
    ) -> None:
        """A group is bad once enough of its pages, at most `sample`, were fetched and less than `least` were good.

        `quick`: few are enough at first. Where nobody judges topics less is known of each page, so more must be tried.
        `budget`: pages of a host that yields nothing on topic before others come first; 0 = no such budget.
        """
        self.sample = sample
        self.least = least
        self.budget = budget
        self.domain_of = domain_of
        self.trusted = tuple(trusted)
        self.quick = quick
        self.total = 0
        self.waste = 0  # pages for nothing, of groups that are bad
        self.cleared: list[str] = []  # hosts of which a group was cleared: what waits there is looked at again
        # By slot: all pages, and the last ones, which fade. One number of an array is read faster than one of numpy's.
        self._tried, self._good = array("H", bytes(2 * _SLOTS)), array("H", bytes(2 * _SLOTS))
        self._last, self._last_good = array("f", bytes(4 * _SLOTS)), array("f", bytes(4 * _SLOTS))
        self._marked: set[str] = set()  # hosts and domains that may have something demoted; the others cost nothing
        self._proven: set[str] = set()  # hosts that brought something new
        self._mirrors = False  # whether any host was seen to copy another
        self._words: dict[int, tuple[bool, list[Hashes]]] = {}  # of kinds: the last answer, the last pages
        self._paths: dict[str, None] = {}  # of the last pages, from whatever host
        self._issued = {True: 0, False: 0}  # URLs of new hosts that have such a path: front pages, and others

    # --- what was learned ------------------------------------------------------------------------------------------

    def note(self, outcome: Outcome) -> None:
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

    def _note_path(self, outcome: Outcome) -> None:
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

    def _note_yield(self, outcome: Outcome) -> None:
        good = outcome.on_topic and not outcome.copy and not outcome.repeats
        if good or (outcome.fertile and not outcome.leads_off):
            domain = self.domain_of(outcome.host)
            for name in {outcome.host, domain}:
                self._count(_slot("yield", name), good)
                if self._exhausted(name):
                    _add(self._marked, name)

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
            unique = np.unique(words)
            if last:
                new = len(unique) - int(np.isin(unique, np.concatenate(last)).sum())
                known = new < max(_LAST, _NEW * len(unique))
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
        front = _is_front(url)
        if not (self._mirrors if front else self._known_path(url)):
            return None
        if self._issued[front] >= 2 * _FEW + 4 * self._good[self._mirror_groups(url, host)[2]]:
            return Suspicion("untried", 1, True)
        self._issued[front] += 1
        return None

    def suspicion(self, url: str, host: str) -> Suspicion | None:
        """Why a URL is to be demoted, if it is."""
        if not self._mirrors and not self._marked:
            return None
        if self.trusted and is_trusted(url, self.trusted):
            return None
        marked = host in self._marked
        if marked and (found := self._by_group(url)):
            return found
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
                yield _slot("path", host + _formed(path))
            if folder := _folder(path):
                yield _slot("many", host + folder)
            yield _slot("many", host)
        else:
            yield _slot("plain", host)

    def _mirror_groups(self, url: str, host: str) -> tuple[int, int, int]:
        """The slots of a host, its domain, and of front pages or other pages everywhere."""
        domain = f"of {self.domain_of(host)}"
        return _slot("mirror", host), _slot("mirror", domain), _slot("mirror", "front" if _is_front(url) else "page")

    def _known_path(self, url: str) -> bool:
        """Whether a page with this path was fetched lately."""
        return url[url.index("/", 8) :] in self._paths

    def _remember_path(self, url: str) -> None:
        if len(self._paths) >= _MOST_PATHS:
            del self._paths[next(iter(self._paths))]
        self._paths[url[url.index("/", 8) :]] = None


def _is_front(url: str) -> bool:
    return url.count("/") == 3 and url.endswith("/")


def is_trusted(url: str, trusted: Iterable[str]) -> bool:
    """Whether a person says that there is no trap: of the host, or of all URLs that begin so."""
    rest = url.partition("://")[2]
    host = rest.partition("/")[0]
    return any(host == one or ("/" in one and (rest.startswith(one) or url.startswith(one))) for one in trusted)


def _add(names: set[str], name: str) -> None:
    """Add to a set that is begun again when it is too large: that costs some requests, not memory."""
    if len(names) > _MOST_HOSTS:
        names.clear()
    names.add(name)


def _slot(kind: str, key: str) -> int:
    return int(xxhash.xxh3_64_intdigest(f"{kind} {key}".encode())) % _SLOTS


def two_labels(host: str) -> str:
    """The last two labels of a host name: its domain, without a look at the list of public suffixes."""
    return ".".join(host.rsplit(".", 2)[-2:])


class Leads(msgspec.Struct, frozen=True):
    """Where the new links of a page lead."""

    out: bool = False  # to pages of another kind
    off: bool = False  # to other domains
    fertile: bool = False  # nearly all links to its own domain are new


def leads_of(page: Page, fresh: Sequence[Target], domain_of: Callable[[str], str]) -> Leads:
    """Of a page with these new links."""
    url, host = page.url, page.host
    folder = url[: url.find("/", url.index("/", 8) + 1) + 1]
    out = False
    near = 0  # new links inside the domain
    domain = ""
    for target in fresh:
        if target.host == host:
            near += 1
            plain = not out and not _VARIES.search(target.url, target.url.index("/", 8))
            out = out or (plain and not target.url.startswith(folder) and not is_kin(target.url, url))
        else:
            out = True
            domain = domain or domain_of(host)
            near += domain_of(target.host) == domain
    fertile = 1 < near == len(fresh) and near >= _FERTILE * sum(_is_near(link.target.host, host) for link in page.links)
    return Leads(out, near < len(fresh), fertile)


def _is_near(host: str, other: str) -> bool:
    return host == other or two_labels(host) == two_labels(other)
