"""The community of each page, where a library has communities worth showing: of two sites or more."""

from collections.abc import Sequence

from analecta.publish.communities import Community, communities
from analecta.settings import load
from analecta.store.library import Library
from analecta.store.recounting import counted
from analecta.store.sites import Sites, sites_of

_FEWEST = 2  # sites with pages: one alone is its host, which is shown anyway


class Homes:
    """Knows which community a page is of."""

    def __init__(self, sites: Sites, every: Sequence[Community]) -> None:
        self.communities = [one for one in every if sum(member.pages > 0 for member in one.members) >= _FEWEST]
        self._sites = sites
        self._of = {member.site: one for one in self.communities for member in one.members}

    def of(self, url: str, host: str) -> Community | None:
        """The community of a page; None where it has none."""
        return self._of.get(self._sites.of(self._sites.unit(url, host))) if self._of else None


def homes(library: Library) -> Homes:
    """The communities of a library as it stands; none where the links between its sites were never counted."""
    sites = sites_of(library, load(library.settings_path).sites)
    return Homes(sites, communities(library).communities if counted(library) else [])
