"""What a site shows of communities: their best pages over all topics, their sites, and the links between them."""

import msgspec

from analecta.communities.view import Community, Member
from analecta.publish.site.content import Entry, Shelf, Site

Place = tuple[Shelf, Entry]  # an item where it stands
Linked = list[tuple[Community, int]]  # with how many links, the most first


class Inhabitant(msgspec.Struct, frozen=True):
    """A site of a community, and what the shelves have of it."""

    member: Member
    shown: list[Place]


class Hood(msgspec.Struct, frozen=True):
    """A community as it is shown."""

    community: Community
    best: list[tuple[Entry, Shelf | None]]  # with where it stands too, if anywhere
    sites: list[Inhabitant]
    links_to: Linked
    links_from: Linked


def hoods(site: Site) -> list[Hood]:
    """All communities worth showing."""
    known = {one.number: one for one in site.communities}
    to: dict[int, Linked] = {number: [] for number in known}
    back: dict[int, Linked] = {number: [] for number in known}
    for link in site.near.found.between:
        if link.source in known and link.target in known:
            to[link.source].append((known[link.target], link.links))
            back[link.target].append((known[link.source], link.links))
    places = site.entries if known else []
    by_site: dict[str, list[Place]] = {}
    for shelf, entry in places:
        by_site.setdefault(site.near.homes.site(entry.item.url, entry.item.host), []).append((shelf, entry))
    stands = {entry.item.id: shelf for shelf, entry in places}
    return [
        Hood(
            one,
            [(entry, stands.get(entry.item.id)) for entry in site.best.get(number, ())],
            [Inhabitant(member, by_site.get(member.site, [])) for member in one.members],
            to[number],
            back[number],
        )
        for number, one in known.items()
    ]
