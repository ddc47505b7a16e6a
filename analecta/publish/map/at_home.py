"""The communities on a map: of which each page is, and the colours of the largest."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from analecta.communities.view import Community, Homes
from analecta.views.clusters import Member, Shown

COLOURS = 8  # in the style sheet; the last is for all communities that have none of their own

Page = Shown | Member


class AtHome(msgspec.Struct, frozen=True):
    """Communities of the pages of a map; empty where the library has none worth showing."""

    of: Mapping[int, Community] = {}  # by the page's id
    pages: Mapping[int, int] = {}  # of each community by its number, those with the most first

    @property
    def tones(self) -> dict[int, int]:
        """A colour for each community."""
        return {number: min(n, COLOURS - 1) for n, number in enumerate(self.pages)}

    @property
    def communities(self) -> list[Community]:
        """Those that have pages here, the one with the most first."""
        found = {one.number: one for one in self.of.values()}
        return [found[number] for number in self.pages]

    def number(self, id: int) -> int:
        """The number of a page's community, 0 where it has none."""
        return self.of[id].number if id in self.of else 0


def at_home(pages: Iterable[Page], dots: Iterable[Page], homes: Homes | None) -> AtHome:
    """Where these pages are at home; those that are dots are counted."""
    found = {page.id: home for page in pages if homes and (home := homes.of(page.url, page.host))}
    counted = Counter(found[page.id].number for page in dots if page.id in found)
    return AtHome(found, dict(sorted(counted.items(), key=lambda one: (-one[1], one[0]))))
