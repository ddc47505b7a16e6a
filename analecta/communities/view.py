"""The communities of a library (C5): names, members with reasons, links between them, and the pages in each."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

import msgspec

from analecta.communities.growth import Communities
from analecta.communities.names import names_of
from analecta.errors import UsageError, suggest
from analecta.settings.load import load
from analecta.settings.schema import Settings
from analecta.store.library import LibraryFolder
from analecta.store.library_db import crawled_sites
from analecta.store.rows import PageRow
from analecta.store.site_rules import Sites, named, seed_sites, sites_of
from analecta.store.sites import Links, counted, read_sites
from analecta.store.snapshot import Snapshot

APART = "too few of its links lead into one"
_PART = 3  # letters of a name, of which more than one has two


class CommunityMember(msgspec.Struct, frozen=True):
    """A site of a community, and why it is there."""

    site: str
    reason: str
    pages: int


class Community(msgspec.Struct, frozen=True):
    """Sites that belong together; the one that the others link to most comes first."""

    number: int
    name: str
    seeds: list[str]
    pages: int
    members: list[CommunityMember]
    merged: list[str]  # why seeds that began apart are one community


class CommunityLinks(msgspec.Struct, frozen=True):
    """Links that lead from one community to another, by their numbers."""

    source: int
    target: int
    links: int


class CommunityList(msgspec.Struct, frozen=True):
    """All communities of a library."""

    communities: list[Community] = []
    between: list[CommunityLinks] = []
    everywhere: dict[str, str] = {}  # sites that everybody links to and that belong nowhere, with the reason
    crawled: int = 0  # sites that all this was seen from
    waiting: int = 0  # sites that the crawl would go to next
    apart: list[str] = []  # sites among those crawled of whose links too few lead into any community
    parts: dict[str, str] = {}  # sites that are part of another one, and of which


def communities(library: LibraryFolder) -> CommunityList:
    """Those of a library as it stands; also while a crawl runs."""
    settings = load(library.settings_path)
    sites = sites_of(library, settings.sites)
    if not counted(library):
        raise UsageError(
            f"the links between its sites are not counted yet: `analecta sites {library.folder} --recount`"
        )
    with read_sites(library, sites) as (graph, snapshot):
        links, pages = graph.all(snapshot), graph.pages(snapshot)
        grown, waiting = _grown(library, settings, sites, links, lambda: _on_topic(snapshot, sites) or pages.keys())
        clusters = grown.clusters()
        inward = Counter(other for row in links.values() for other in row)  # how many sites link to each
        members = [_members(cluster.members, pages, inward) for cluster in clusters]
        of = {member.site: n for n, own in enumerate(members) for member in own}
        names = names_of(snapshot, sites, of, [cluster.seeds[0] for cluster in clusters])
    made = [
        Community(n + 1, names[n], cluster.seeds, sum(one.pages for one in own), own, cluster.merged)
        for n, (cluster, own) in enumerate(zip(clusters, members, strict=True))
    ]
    everywhere = grown.everywhere()
    crawled = [grown.names[site] for site in grown.links.out]
    apart = [site for site in crawled if site not in of and site not in everywhere]
    return CommunityList(made, _between(links, of), everywhere, len(crawled), waiting, apart, sites.whole)


def find(found: CommunityList, wanted: str) -> Community:
    """The community with this number, with this name or a part of it that no other has, or with this site."""
    if not found.communities:
        raise UsageError("the library has no communities yet: crawl it first")
    words, site = wanted.strip().casefold(), _site(found, wanted)
    ways: list[Callable[[Community], bool]] = [  # the first that leads anywhere counts
        lambda one: wanted in (str(one.number), one.name),
        lambda one: any(member.site == site for member in one.members),
        lambda one: one.name.casefold() == words,
        lambda one: one.name.casefold().startswith(words) and not words.isdecimal(),
        lambda one: len(words) >= _PART and words in one.name.casefold(),
    ]
    near = next((near for way in ways if (near := list(filter(way, found.communities)))), [])
    if len(near) == 1:
        return near[0]
    if near:
        several = ", ".join(f"{one.number} ({one.name})" for one in near)
        raise UsageError(f"{wanted!r} may be one of several communities: {several}; say its number")
    if site in found.everywhere or site in found.apart:
        raise UsageError(f"{site} belongs to no community: {found.everywhere.get(site, APART)}")
    names = [one.name for one in found.communities]
    raise UsageError(f"there is no community {wanted!r}{suggest(wanted, names)}; a number or a site will do too")


def deeper(library: LibraryFolder, wanted: str) -> dict[str, Any]:
    """The settings of a crawl that goes deeper inside one community: all pages of its sites, and of no others."""
    sites = [member.site for member in find(communities(library), wanted).members]
    return {"communities": {"pages": 0, "only": sites}}


def links_between(library: LibraryFolder) -> Links:
    """How many links lead from each site to each other one."""
    sites = sites_of(library, load(library.settings_path).sites)
    with read_sites(library, sites) as (graph, snapshot):
        return graph.all(snapshot)


def _site(found: CommunityList, wanted: str) -> str:
    """The site that is meant, by the name that it has here; nothing where it cannot be one."""
    try:
        site = named(wanted)
    except UsageError:
        return ""
    return found.parts.get(site, site)


def _grown(
    library: LibraryFolder, settings: Settings, sites: Sites, links: Links, known: Callable[[], Container[str]]
) -> tuple[Communities, int]:
    """The communities, and how many sites they would grow to next; `known` are those that others have pages of."""
    rules = settings.communities
    found = Communities(seed_sites(settings.topics, sites), rules.wt, rules.metric, rules.enough, rules.everywhere)
    crawled: Iterable[str] = crawled_sites(library)
    for site in dict.fromkeys(map(sites.of, crawled)):
        found.crawled(site, links.get(site, {}))
    waiting = found.next()
    if crawled:
        return found, len(waiting)
    ahead, there = 0, known()
    while waiting:
        for site in waiting:
            if site in there:
                found.crawled(site, links.get(site, {}))
            else:
                ahead += 1
        waiting = found.next()
    return found, ahead


def _on_topic(snapshot: Snapshot, sites: Sites) -> set[str]:
    """The sites that have pages on some topic."""
    found = snapshot.shown_addresses(only_hosts=sites.are_hosts)
    return {sites.of(sites.unit(url, host)) for url, host in found}


def _members(reasons: Mapping[str, str], pages: Mapping[str, int], inward: Mapping[str, int]) -> list[CommunityMember]:
    found = [CommunityMember(site, reason, pages.get(site, 0)) for site, reason in reasons.items()]
    return sorted(found, key=lambda one: (-inward.get(one.site, 0), one.site))


def _between(links: Links, of: Mapping[str, int]) -> list[CommunityLinks]:
    """The graph between communities, the heaviest first."""
    counted: Counter[tuple[int, int]] = Counter()
    for site, row in links.items():
        for other, n in row.items() if site in of else ():
            if other in of and of[other] != of[site]:
                counted[of[site] + 1, of[other] + 1] += n
    return [CommunityLinks(*pair, n) for pair, n in sorted(counted.items(), key=lambda one: (-one[1], one[0]))]


# --- The communities of a library, seen once for a whole command: which one each page is of --------------------------

_FEWEST = 2  # sites with pages that make a community worth showing: one alone is its host, which is shown anyway


class CommunityIndex:
    """Knows which site and which community a page is of; of those that are worth showing."""

    def __init__(self, sites: Sites, found: CommunityList, wanted: str = "") -> None:
        """`wanted` is the community that is asked for: a number, a name or a site, which must be there."""
        self.found = found
        self.communities = [
            one for one in found.communities if sum(member.pages > 0 for member in one.members) >= _FEWEST
        ]
        self._sites = sites
        self._of = {member.site: one for one in self.communities for member in one.members}
        self._wanted = {member.site for member in find(found, wanted).members} if wanted else None

    def site(self, url: str, host: str) -> str:
        """The site of a page."""
        return self._sites.of(self._sites.unit(url, host))

    def of(self, url: str, host: str) -> Community | None:
        """The community of a page; None where it has none."""
        return self._of.get(self.site(url, host)) if self._of else None

    def inside(self, item: PageRow) -> bool:
        """Whether a page is of the community that is asked for; all are where none is."""
        return self._wanted is None or self.site(item.url, item.host) in self._wanted


def index_communities(library: LibraryFolder, wanted: str = "") -> CommunityIndex:
    """The communities as they stand; none where the links between sites are not counted, and none is asked for."""
    sites = sites_of(library, load(library.settings_path).sites)
    return CommunityIndex(sites, communities(library) if wanted or counted(library) else CommunityList(), wanted)
