"""The communities of a library, seen once for a whole command: homes of pages, links between, and what one holds."""

from collections.abc import Callable

import msgspec

from analecta.communities.homes import Homes
from analecta.communities.view import Found, communities, find
from analecta.settings.schema import load
from analecta.store.library import Library
from analecta.store.rows import Item
from analecta.store.site_counts import counted
from analecta.store.site_rules import sites_of

NOTHING = Found([], [], {}, 0, 0)
Inside = Callable[[Item], bool]  # whether a page is one of those that are asked for


class Neighbourhood(msgspec.Struct, frozen=True):
    """What is known of communities; `inside` tells whether a page is of the one that was asked for, if one was."""

    homes: Homes
    found: Found
    inside: Inside


def everything(_: Item) -> bool:
    """All pages are inside where no community was asked for."""
    return True


def neighbourhood(library: Library, wanted: str = "") -> Neighbourhood:
    """The communities as they stand; `wanted` is a number, a name or a site, and must be there."""
    sites = sites_of(library, load(library.settings_path).sites)
    found = communities(library) if wanted or counted(library) else NOTHING
    homes = Homes(sites, found.communities)
    own = {member.site for member in find(found, wanted).members} if wanted else set()

    def inside(item: Item) -> bool:
        return homes.site(item.url, item.host) in own

    return Neighbourhood(homes, found, inside if wanted else everything)
