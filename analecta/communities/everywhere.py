"""Sites that everybody links to: share buttons, networks that serve files, licences, makers of software.

Such a site says nothing about who belongs together. What tells it from the centre of a community, to which also many
link, is that it does not link back, and to no community in particular; and that those who link to it are either a
great part of all, or of many communities. A site that is still to be crawled is not judged: it may link back. They like
to link to one another, which does not make them a community.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping

import msgspec

from analecta.communities.site_links import SiteLinks

FEWEST = 10  # sites that link to it; below, nothing can be said
OF_MANY = 0.05  # of all sites crawled, where they are of many communities
BACK = 0.05  # it links back to fewer than this share of them
AT_HOME, NEIGHBOURS = 0.25, 3  # of its links, to one community, and how many sites of that
OF_ALL = 0.15  # of all sites crawled, where they are of few communities
COMMUNITIES = 4.0  # which it is spread over as if evenly (the inverse of Simpson's index)
FEW, OF_FEW = 3, 0.75  # where there are so few communities or some more, over so great a part of them
LARGEST = 0.5  # of the sites that link to it, the most that may be of one community


class Everywhere(msgspec.Struct, frozen=True):
    """A site that everybody links to, with the figures that say so."""

    linkers: int
    back: int
    crawled: int
    communities: int

    @property
    def reason(self) -> str:
        """The figures in words."""
        links = f"{self.linkers:,} of {self.crawled:,} sites of {self.communities:,} communities link to it"
        return f"{links}; it links back to {self.back:,}"


def everywhere(
    links: SiteLinks, sites: Iterable[int], of: Mapping[int, int], communities: int, known: Container[int] = ()
) -> dict[int, Everywhere]:
    """Those of some sites that everybody links to, with the figures.

    `of` has the community of each site that has one, `communities` is how many there are; `known` are other sites that
    everybody links to.
    """
    wide = {site: why for site in sites if (why := _wide(links, site, of, communities))}

    def elsewhere(site: int) -> int | None:
        return None if site in wide or site in known else of.get(site)

    while at_home := [site for site in wide if _at_home(links.out.get(site, {}), elsewhere)]:
        for site in at_home:  # the others may be at home with it
            del wide[site]
    return wide


def _wide(links: SiteLinks, site: int, of: Mapping[int, int], communities: int) -> Everywhere | None:
    """The figures of a site that many link to without an answer; None for all others."""
    linkers = links.linkers.get(site, ())
    if len(linkers) < max(FEWEST, OF_MANY * len(links.out)):
        return None
    own = links.out.get(site, {})
    back = sum(other in own for other in linkers)
    if back >= BACK * len(linkers):
        return None
    counted = Counter(found for other in linkers if (found := of.get(other)) is not None)
    if len(linkers) < OF_ALL * len(links.out) and not _spread(counted, communities):
        return None
    return Everywhere(len(linkers), back, len(links.out), len(counted))


def _at_home(own: Mapping[int, int], community: Callable[[int], int | None]) -> bool:
    """Whether a good part of its links lead into one community, to several sites: then it is at home there."""
    links, sites = Counter[int](), Counter[int]()
    for other, n in own.items():
        found = community(other)
        if found is not None:
            links[found] += n
            sites[found] += 1
    least = AT_HOME * sum(own.values())
    return any(n >= least and sites[one] >= NEIGHBOURS for one, n in links.items())


def _spread(counted: Mapping[int, int], communities: int) -> bool:
    """Whether sites of many communities link to it, and not mostly those of one."""
    total = sum(counted.values())
    if not total or max(counted.values()) > LARGEST * total:
        return False
    return total**2 / sum(n * n for n in counted.values()) >= min(COMMUNITIES, OF_FEW * max(communities, FEW))
