"""What a site is (C1): a host by default, a registrable domain or a user's directory if so set, and edited by hand.

Links are counted between units, the smallest parts: a host, or a directory of it such as `host/~name/`. A site is one
unit or several: what belongs together may be said later without counting again. `www.` is no site of its own, and a
site whose front page leads to another's is part of that one from then on: it has moved.
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import msgspec
import re2

from analecta.errors import UsageError
from analecta.model import UrlRef, UrlState
from analecta.settings.schema import SiteSettings, Topic
from analecta.store.library import LibraryFolder
from analecta.store.schema import MetaKey
from analecta.store.snapshot import Snapshot
from analecta.urls import canonical, domain_of

MERGE, SPLIT = "merge", "split"
_URL = "SELECT url, state, reason, coalesce(elsewhere, 0) FROM urls WHERE id = ?"
_HOPS = 10  # redirects from a front page to the next
_FOR_GOOD = ("http-301", "http-308")
_HOSTS = "SELECT n, name FROM hosts"
# The path of a URL begins at the first slash after those of its scheme.
_BELOW = "SELECT 1 FROM urls WHERE host = ?1 AND substr(url, 8 + instr(substr(url, 9), '/'), length(?2)) = ?2 LIMIT 1"


class SiteEdit(msgspec.Struct, frozen=True):
    """A change by hand: a site goes into another, or a directory of it becomes a site of its own."""

    kind: str
    site: str
    into: str = ""

    @property
    def words(self) -> str:
        """What it says."""
        return f"{self.site} is part of {self.into}" if self.kind == MERGE else f"{self.site} is a site of its own"


class Sites:
    """Knows to which site a URL belongs."""

    def __init__(
        self, settings: SiteSettings = SiteSettings(), edits: Iterable[SiteEdit] = (), moved: Mapping[str, str] = {}
    ) -> None:
        self.by = settings.by
        self._shapes = _pattern(settings.prefixes) if self.by == "prefix" else None
        self.parts: dict[str, str] = dict(moved)  # sites that are part of others, as was seen or said
        self.stay: set[str] = set()  # sites that have not moved, as was said
        self._split: dict[str, list[str]] = {}
        self._known: dict[str, str] = {}
        for edit in edits:
            if edit.kind == MERGE:
                one, other = self._merged(edit.site), self._merged(edit.into)
                if one != other:  # it may have moved there since
                    self.parts[one] = other
            elif "/" not in edit.site:
                self.stay.add(edit.site)
                self.parts.pop(edit.site, None)
            else:
                host, _, path = edit.site.partition("/")
                self._split[host] = sorted([*self._split.get(host, ()), f"/{path}"], key=len, reverse=True)

    @property
    def are_hosts(self) -> bool:
        """Whether every unit is a whole host, so that paths need not be looked at."""
        return self._shapes is None and not self._split

    @property
    def whole(self) -> dict[str, str]:
        """Sites that are part of others, each with the one that it is part of in the end."""
        return {part: self._merged(part) for part in self.parts}

    def unit(self, url: str, host: str) -> str:
        """The smallest part to which a URL belongs."""
        if self.are_hosts:
            return host
        path = url[url.index("/", 8) :]
        for prefix in self._split.get(host.removeprefix("www."), ()):
            if path.startswith(prefix):
                return host + prefix
        found = self._shapes.match(path) if self._shapes else None
        return f"{host}{found[1].rstrip('/')}/" if found else host

    def of(self, unit: str) -> str:
        """The site that a unit belongs to."""
        site = self._known.get(unit)
        if site is None:
            if len(self._known) > 500_000:
                self._known.clear()
            site = self._known[unit] = self._merged(self._plain(unit))
        return site

    def site(self, target: UrlRef) -> str:
        """The site that a URL belongs to."""
        return self.of(self.unit(target.url, target.host))

    def _plain(self, unit: str) -> str:
        if "/" in unit or self.by != "domain":
            return unit.removeprefix("www.")
        return domain_of(unit)

    def move(self, site: str, to: str) -> None:
        """A site is found to be part of another now."""
        self.parts[site] = to
        self._known.clear()

    def _merged(self, site: str) -> str:
        while site in self.parts:
            site = self.parts[site]
        return site


def front(site: str) -> str:
    """The address of the front page of a site."""
    return f"http://{site}" if "/" in site else f"http://{site}/"


@lru_cache(10_000)
def fronts(site: str) -> frozenset[int]:
    """The ids of the front page, with and without www."""
    targets = [canonical(front(name)) for name in (site, f"www.{site}")]
    return frozenset(target.id for target in targets if target is not None)


def moved_to(snapshot: Snapshot, sites: Sites, site: str) -> str:
    """The site to which the front page of a site has moved for good; "" where it stays.

    Expired names all lead to the same few sites that sell them: where another has moved already, nobody moves.
    """
    if site in sites.stay:
        return ""
    ways = [_way(snapshot.shards, id) for id in fronts(site)]
    targets = [canonical(way[-1]) for way in ways if len(way) > 1]
    if any(len(way) == 1 for way in ways) or not targets or targets[0] is None:
        return ""
    to = sites.site(targets[0])
    return "" if to == site or to in sites.parts.values() else to


def _way(shards: Sequence[sqlite3.Connection], id: int) -> list[str]:
    """The URLs from a front page to where it leads for good; nothing where it was not asked, or leads elsewhere."""
    way: list[str] = []
    while len(way) < _HOPS:
        rows = (row for shard in shards if (row := shard.execute(_URL, (id,)).fetchone()))
        url, state, reason, id = next(rows, ("", UrlState.FAILED, "", 0))
        way.append(url)
        if state != UrlState.ALIAS:
            there = state == UrlState.DONE or (len(way) > 1 and state != UrlState.FAILED)
            return way if there else []
        if reason not in _FOR_GOOD:
            break
    return []


def sites_of(library: LibraryFolder, settings: SiteSettings) -> Sites:
    """What a site is in a library."""
    return Sites(settings, edits(library), moved(library))


def moved(library: LibraryFolder) -> dict[str, str]:
    """Sites that a crawl has found to be part of others now."""
    return msgspec.json.decode(library.get(MetaKey.MOVED_SITES, "{}"), type=dict[str, str])


def add_moved(library: LibraryFolder, to: Mapping[str, str]) -> None:
    """Note that sites have moved, and where to."""
    library.put(MetaKey.MOVED_SITES, msgspec.json.encode({**moved(library), **to}).decode())


def seed_sites(topics: Iterable[Topic], sites: Sites) -> list[str]:
    """The sites at which communities begin, each once."""
    targets = [canonical(url) for topic in topics for url in (*topic.seeds, *topic.starts)]
    return list(dict.fromkeys(sites.site(target) for target in targets if target is not None))


# --- editing by hand -------------------------------------------------------------------------------------------------


def edits(library: LibraryFolder) -> list[SiteEdit]:
    """What was said by hand, oldest first."""
    return msgspec.json.decode(library.get(MetaKey.SITE_EDITS, "[]"), type=list[SiteEdit])


def merge(library: LibraryFolder, settings: SiteSettings, site: str, into: str) -> SiteEdit:
    """Let a site be part of another."""
    before, sites = edits(library), sites_of(library, settings)
    one, other = (sites.of(named(name)) for name in (site, into))
    if one == other:
        raise UsageError(f"{site} and {into} are one site already")
    for name in (one, other):
        if "/" in name and (whole := sites.site(_target(name))) != name:
            raise UsageError(f"{name} is no site but a part of {whole}: --split {name} makes it one")
        _check_known(library, sites, name)
    return _write(library, before, SiteEdit(MERGE, one, other))


def split(library: LibraryFolder, address: str) -> SiteEdit:
    """Let a directory of a host, such as host.example/~name/, be a site of its own; links must be counted again."""
    before, name = edits(library), named(address)
    if "/" not in name and name not in moved(library):
        raise UsageError(f"{address}: which part of it? Say HOST/DIRECTORY/, such as {name}/~name/")
    if any(edit.kind == SPLIT and edit.site == name for edit in before):
        raise UsageError(f"{name} is a site of its own already")
    _check_known(library, Sites(), name)
    return _write(library, before, SiteEdit(SPLIT, name))


def undo(library: LibraryFolder) -> SiteEdit:
    """Take the last change back."""
    before = edits(library)
    if not before:
        raise UsageError("nothing was changed by hand")
    _keep(library, before[:-1])
    return before[-1]


def _write(library: LibraryFolder, before: Sequence[SiteEdit], edit: SiteEdit) -> SiteEdit:
    _keep(library, [*before, edit])
    return edit


def _keep(library: LibraryFolder, all_edits: Sequence[SiteEdit]) -> None:
    library.put(MetaKey.SITE_EDITS, msgspec.json.encode(all_edits).decode())


def named(address: str) -> str:
    """A site as it is called here: without scheme and www, with a slash at the end of a directory."""
    target = _target(address)
    path = target.url.partition("://")[2].partition("/")[2].partition("?")[0]
    name = target.host.removeprefix("www.")
    return f"{name}/{path.rstrip('/')}/" if path.strip("/") else name


def _target(address: str) -> UrlRef:
    target = canonical(address if "://" in address else f"http://{address}")
    if target is None:
        raise UsageError(f"{address!r} is no site: say HOST or HOST/DIRECTORY/")
    return target


def _check_known(library: LibraryFolder, sites: Sites, name: str) -> None:
    """Say so where a library that has been crawled knows no address of a site: that must be a slip."""
    host, _, path = name.partition("/")
    with library.shards() as shards:
        hosts = [(shard, n, known.removeprefix("www.")) for shard in shards for n, known in shard.execute(_HOSTS)]
        own = [(shard, n) for shard, n, known in hosts if host in (known, sites.of(known))]
        below = not path or any(shard.execute(_BELOW, (n, f"/{path}")).fetchone() for shard, n in own)
    if own and not below:
        raise UsageError(f"the library knows no address below {name}")
    if hosts and not own:
        near = get_close_matches(host, {known for _, _, known in hosts}, 1, 0.7)
        raise UsageError(f"the library knows no site {host}" + (f"; did you mean {near[0]}?" if near else ""))


def _pattern(prefixes: Sequence[str]) -> Any:
    """One expression for prefixes in which * stands for a name; it takes linear time however many * there are."""
    parts = [re.escape(prefix.rstrip("/")).replace(r"\*", "[^/?]+") for prefix in prefixes]
    return re2.compile(rf"({'|'.join(parts)})(?:[/?]|$)") if parts else None
