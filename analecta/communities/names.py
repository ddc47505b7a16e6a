"""Names for communities: what the titles of their pages say, and those of the others do not."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from analecta.analyse.labels import labels_of, terms_of_clusters
from analecta.store.site_rules import Sites
from analecta.store.snapshot import Snapshot
from analecta.text.display import one_line

_OF_A_SITE = 5  # pages, the first that came: the front page is among them
_OF_ALL = 200  # of a community
_TOGETHER = 2000  # of all communities: the time that names take goes by these and by the communities
_FEWEST = 4  # of a community, however many there are
LETTERS = 2000
_TERMS = 8  # that a name is chosen from
_TITLES = 0.1  # of the pages that have a term in their titles: then it comes before those that only texts have


class _TitledPage(NamedTuple):
    place: int  # of its community
    title: str
    text: str


def names_of(snapshot: Snapshot, sites: Sites, of: Mapping[str, int], otherwise: Sequence[str]) -> list[str]:
    """A name for each community: `of` has the place of each site's, `otherwise` what to call it where nothing fits."""
    pages = _pages(snapshot, sites, of, len(otherwise)) if of else []
    if not pages:
        return list(otherwise)
    places = np.array([page.place for page in pages], np.int64)
    terms = terms_of_clusters([f"{page.title}. {page.text}" for page in pages], places, len(otherwise), _TERMS)
    titles: list[list[str]] = [[] for _ in otherwise]
    for page in pages:
        titles[page.place].append(page.title.casefold())
    chosen = [_titled(own, said) or [site] for own, said, site in zip(terms, titles, otherwise, strict=True)]
    return [one_line(label) for label in labels_of(chosen)]


def _titled(terms: Sequence[str], titles: Sequence[str]) -> list[str]:
    """The terms that enough titles have before the others; else the best first, as they were."""

    def few(term: str) -> bool:
        begins = f" {term.casefold()}"  # of a word: "star" is in "stars", "ear" is not in "years"
        return sum(begins in f" {title}" for title in titles) < _TITLES * len(titles)

    return sorted(terms, key=few)


def _pages(snapshot: Snapshot, sites: Sites, of: Mapping[str, int], communities: int) -> list[_TitledPage]:
    """Some pages of each community, not many of one site."""
    pages = list[_TitledPage]()
    seen, taken = Counter[str](), Counter[int]()
    most = min(_OF_ALL, max(_FEWEST, _TOGETHER // communities))
    for url, host, title, stored in snapshot.shown_titles():
        site = sites.of(sites.unit(url, host))
        place = of.get(site)
        if place is not None and seen[site] < _OF_A_SITE and taken[place] < most:
            seen[site] += 1
            taken[place] += 1
            pages.append(_TitledPage(place, title, beginning(snapshot.text_at(stored))))
    return pages


def beginning(text: str) -> str:
    """The first words of a text, the last of them whole."""
    return text if len(text) <= LETTERS else text[:LETTERS].rpartition(" ")[0]
