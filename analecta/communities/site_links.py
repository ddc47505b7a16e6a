"""Links between sites as they become known, site after site, and how alike two linked sites are (C2, C6).

Sites are numbers. Of a site that was crawled all links to other sites are known; of the others only who links to them.
"""

from collections.abc import Callable, Mapping, Set


class SiteLinks:
    """Who links to whom how often, as far as sites have been crawled."""

    def __init__(self) -> None:
        self.out: dict[int, dict[int, int]] = {}
        self.total: dict[int, int] = {}
        self.linkers: dict[int, list[int]] = {}

    def add(self, site: int, links: Mapping[int, int]) -> None:
        """A site was crawled; what it says of itself, and no links at all, are left out."""
        self.out[site] = found = {other: n for other, n in links.items() if n > 0 and other != site}
        self.total[site] = sum(found.values())
        for other in found:
            self.linkers.setdefault(other, []).append(site)

    def redirect(self, site: int, to: int) -> list[int]:
        """Links to a site that was not crawled lead to another from now on; the sites that have such."""
        changed = self.linkers.pop(site, [])
        known = set(self.linkers.get(to, ()))
        for linker in changed:
            n = self.out[linker].pop(site)
            if linker == to:  # what it says of itself is left out
                self.total[linker] -= n
                continue
            self.out[linker][to] = self.out[linker].get(to, 0) + n
            if linker not in known:
                self.linkers.setdefault(to, []).append(linker)
        return changed

    def share(self, site: int, other: int) -> float:
        """Equation 1: the share of a site's links to other sites that lead to this one."""
        n = self.out.get(site, {}).get(other, 0)
        return n / self.total[site] if n else 0.0

    def at_home(self, site: int, home: set[int], besides: Set[int]) -> float:
        """The share of a site's links that lead to a set of sites, those to others besides not counted; 1 for none."""
        row = self.out[site]
        total = self.total[site] - sum(map(row.__getitem__, besides & row.keys()))
        return sum(map(row.__getitem__, home.intersection(row))) / total if total else 1.0


def _both(links: SiteLinks, site: int, other: int) -> float:
    """The mean of both directions."""
    return (links.share(site, other) + links.share(other, site)) / 2


def _cocitation(links: SiteLinks, site: int, other: int) -> float:
    """How many sites link to both, as a cosine."""
    return _cosine(set(links.linkers.get(site, ())), set(links.linkers.get(other, ())))


def _coupling(links: SiteLinks, site: int, other: int) -> float:
    """How many sites both link to, as a cosine."""
    return _cosine(set(links.out.get(site, ())), set(links.out.get(other, ())))


def _cosine(one: set[int], other: set[int]) -> float:
    return len(one & other) / (len(one) * len(other)) ** 0.5 if one and other else 0.0


Metric = Callable[[SiteLinks, int, int], float]
OUT_LINK = "outLink"
METRICS: dict[str, Metric] = {
    OUT_LINK: SiteLinks.share,
    "both": _both,
    "co-citation": _cocitation,
    "coupling": _coupling,
}


def strong_links(links: SiteLinks, metric: str, wt: float, site: int) -> dict[int, float]:
    """The sites that a site links to, where the metric has them alike enough."""
    if metric == OUT_LINK:  # the same as below, and much faster
        least, total = wt * links.total[site], links.total[site]
        return {other: n / total for other, n in links.out[site].items() if n >= least}
    weigh = METRICS[metric]
    return {other: w for other in links.out[site] if (w := weigh(links, site, other)) >= wt}
