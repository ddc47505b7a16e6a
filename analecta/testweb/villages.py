"""A web of sites in communities, as links between sites: who belongs together is known, so finders can be measured.

Sites of a community link to one another, mostly to its leading sites, and to some of theirs again and again. Beside
that a few stray links lead anywhere, neighbouring communities know each other a little, and everybody has the same
share buttons and licences on all pages. The same numbers always give the same web.
"""

from functools import cached_property
from random import Random

import msgspec

EVERYWHERE = ("share-button", "fast-files", "free-licence", "site-maker", "page-counter", "video-box", "web-fonts",
              "cookie-notice", "map-service", "comment-box", "mail-list", "big-portal")  # fmt: skip
_AT_HOME, _NEXT_DOOR = 0.80, 0.015  # of the links of a site; what is left is stray links and what is everywhere
_STRAY = 0.03
_PER_COMMUNITY = 55  # sites, as in the paper: 11,000 in some 200 communities


class Village(msgspec.Struct, frozen=True):
    """A community: the numbers of its sites, leading ones first."""

    first: int
    count: int


class Villages:
    """About `sites` sites in communities (0: one for 55 sites); `stray` says how many links lead out (0: none)."""

    def __init__(self, sites: int = 11_000, communities: int = 0, seed: int = 1, stray: float = 1.0) -> None:
        self.seed, self.stray = seed, stray
        rng = Random(seed)
        communities = communities or max(4, sites // _PER_COMMUNITY)
        sizes = [rng.lognormvariate(0, 0.5) for _ in range(communities)]
        self.villages = list[Village]()
        for size in sizes:
            first = self.villages[-1].first + self.villages[-1].count if self.villages else 0
            self.villages.append(Village(first, max(8, round(size * sites / sum(sizes)))))
        self.of = [place for place, village in enumerate(self.villages) for _ in range(village.count)]
        self.everywhere = [f"{name}.test" for name in EVERYWHERE]

    @property
    def count(self) -> int:
        """How many sites belong to a community."""
        return len(self.of)

    def name(self, site: int) -> str:
        """The host of a site."""
        village = self.of[site]
        return f"s{site - self.villages[village].first}.village-{village}.test"

    @cached_property
    def truth(self) -> dict[str, int]:
        """The community of each site that has one."""
        return {self.name(site): village for site, village in enumerate(self.of)}

    @cached_property
    def graph(self) -> dict[str, dict[str, int]]:
        """How many links lead from each site to each other."""
        found = {self.name(site): self.links(site) for site in range(self.count)}
        return found | {host: self.links_of_everywhere(place) for place, host in enumerate(self.everywhere)}

    def links(self, site: int) -> dict[str, int]:
        """The links of a site."""
        rng = Random(self.seed << 32 | site)
        total = min(600, max(12, round(rng.lognormvariate(4.6, 0.8))))  # half of all sites have fewer than 100
        village = self.villages[self.of[site]]
        friends = [self._within(village, rng) for _ in range(rng.randint(5, 12))]
        found: dict[str, int] = {}

        def add(host: str, n: int) -> None:
            if n and host != self.name(site):
                found[host] = found.get(host, 0) + n

        for friend in friends:
            add(self.name(friend), 1)
        for _ in range(max(0, round(total * _AT_HOME) - len(friends))):
            add(self.name(friends[int(len(friends) * rng.random() ** 1.5)]), 1)
        for _ in range(_about(total * _NEXT_DOOR * self.stray, rng)):
            beside = self.villages[(self.of[site] + rng.choice((1, -1))) % len(self.villages)]
            add(self.name(self._within(beside, rng)), 1)
        for _ in range(_about(total * _STRAY * self.stray, rng)):
            add(self.name(rng.randrange(self.count)), 1)
        for place, host in enumerate(self.everywhere):
            if rng.random() < 0.75 / (1 + place / 4):
                add(host, 1 + round(total * rng.uniform(0, 0.06)))
        return found

    def _within(self, village: Village, rng: Random) -> int:
        return village.first + int(village.count * rng.random() ** 1.6)

    def links_of_everywhere(self, place: int) -> dict[str, int]:
        """Half of what is everywhere links to nobody, half to anybody."""
        if place % 2 == 0:
            return {}
        rng = Random(self.seed << 32 | self.count + place)
        links = {self.name(rng.randrange(self.count)): 1 for _ in range(self.count // 100)}
        return links | dict.fromkeys(self.everywhere[place + 1 :], 5)


def _about(mean: float, rng: Random) -> int:
    """A whole number that is this on average."""
    return int(mean) + (rng.random() < mean % 1)
