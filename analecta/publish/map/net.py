"""What is drawn as circles joined by lines: groups of pages on the map, communities of sites on a published site."""

from collections.abc import Mapping, Sequence

import msgspec

from analecta.publish.map.at_home import AtHome
from analecta.views.clusters import Analysis


class Body(msgspec.Struct, frozen=True):
    """What becomes a circle, which is a link; each of `dots` has the number of a community, 0 for none."""

    label: str
    size: int  # pages: its area
    href: str
    dots: Sequence[int]


class Net(msgspec.Struct, frozen=True):
    """All of them, how alike each is to each other (0 to 1), and how many links lead from each to each."""

    bodies: list[Body]
    similar: Sequence[Sequence[float]]
    links: Sequence[Sequence[int]]
    tones: Mapping[int, int] = {}  # colours of communities, by their numbers


def net_of(analysis: Analysis, at_home: AtHome = AtHome()) -> Net:
    """The groups of an analysis, each with its pages as dots."""
    bodies = [
        Body(cluster.label, cluster.size, f"#g{n}", [at_home.number(page.id) for page in cluster.members])
        for n, cluster in enumerate(analysis.clusters, 1)
    ]
    return Net(bodies, analysis.similar, analysis.links, at_home.tones)
