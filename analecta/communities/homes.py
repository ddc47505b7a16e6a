"""The community of each page, where a library has communities worth showing: of two sites or more."""

from collections.abc import Sequence

from analecta.communities.view import Community
from analecta.store.site_rules import Sites

_FEWEST = 2  # sites with pages: one alone is its host, which is shown anyway


class Homes:
    """Knows which site and which community a page is of."""

    def __init__(self, sites: Sites, every: Sequence[Community]) -> None:
        self.communities = [one for one in every if sum(member.pages > 0 for member in one.members) >= _FEWEST]
        self._sites = sites
        self._of = {member.site: one for one in self.communities for member in one.members}

    def site(self, url: str, host: str) -> str:
        """The site of a page."""
        return self._sites.of(self._sites.unit(url, host))

    def of(self, url: str, host: str) -> Community | None:
        """The community of a page; None where it has none."""
        return self._of.get(self.site(url, host)) if self._of else None
