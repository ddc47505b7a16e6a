"""Sites that everybody links to: share buttons, networks that serve files, licences, makers of software.

Such a site says nothing about who belongs together. What tells it from the centre of a community, to which also many
link, is that it does not link back, and to no community in particular; and that those who link to it are either a
great part of all, or of many communities. A site that is still to be crawled is not judged: it may link back.
"""

from collections import Counter
from collections.abc import Callable, Mapping

import msgspec

from analecta.analyse.site_links import SiteLinks

FEWEST = 10  # sites that link to it; below, nothing can be said
OF_MANY = 0.05  # of all sites crawled, where they are of many communities
BACK = 0.05  # it links back to fewer than this share of them
AT_HOME = 0.25  # of its links, to one community
OF_ALL = 0.3  # of all sites crawled, where they are of few communities
COMMUNITIES = 4.0  # which it is spread over as if evenly (the inverse of Simpson's index)
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


def everywhere(links: SiteLinks, site: int, community: Callable[[int], int | None]) -> Everywhere | None:
    """The figures of a site that everybody links to; None for all others."""
    linkers = links.linkers.get(site, ())
    if len(linkers) < max(FEWEST, OF_MANY * len(links.out)):
        return None
    own = links.out.get(site, {})
    back = sum(other in own for other in linkers)
    if back >= BACK * len(linkers) or _at_home(own, community):
        return None
    counted = Counter(found for other in linkers if (found := community(other)) is not None)
    if len(linkers) < OF_ALL * len(links.out) and not _spread(counted):
        return None
    return Everywhere(len(linkers), back, len(links.out), len(counted))


def _at_home(own: Mapping[int, int], community: Callable[[int], int | None]) -> bool:
    """Whether a good part of its links lead into one community: then it is at home there."""
    counted = Counter[int]()
    for other, n in own.items():
        found = community(other)
        if found is not None:
            counted[found] += n
    return max(counted.values(), default=0) >= AT_HOME * max(sum(own.values()), 1)


def _spread(counted: Mapping[int, int]) -> bool:
    """Whether sites of many communities link to it, and not mostly those of one."""
    total = sum(counted.values())
    if not total or max(counted.values()) > LARGEST * total:
        return False
    return total**2 / sum(n * n for n in counted.values()) >= COMMUNITIES
