"""Names for communities: what the titles of their pages say, and those of the others do not."""

import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np

from analecta.analyse.labels import labels_of, terms_of_clusters
from analecta.publish.cleaned import one_line
from analecta.store.packed import unpack_text
from analecta.store.shard import SHOWN
from analecta.store.sites import Sites

_OF_A_SITE = 5  # pages, the first that came: the front page is among them
_OF_ALL = 200  # of a community
_LETTERS = 2000

_PAGES = f"""SELECT u.url, h.name, coalesce(p.title, ''), p.text FROM pages p CROSS JOIN urls u ON u.id = p.id
  JOIN hosts h ON h.n = u.host WHERE {SHOWN} ORDER BY p.seq"""


def names_of(
    shards: Sequence[sqlite3.Connection], sites: Sites, of: Mapping[str, int], otherwise: Sequence[str]
) -> list[str]:
    """A name for each community: `of` has the place of each site's, `otherwise` what to call it where nothing fits."""
    texts, places = _texts(shards, sites, of, len(otherwise))
    if not texts:
        return list(otherwise)
    terms = terms_of_clusters(texts, np.array(places, np.int64), len(otherwise))
    labels = labels_of([own or [site] for own, site in zip(terms, otherwise, strict=True)])
    return [one_line(label) for label in labels]


def _texts(
    shards: Sequence[sqlite3.Connection], sites: Sites, of: Mapping[str, int], communities: int
) -> tuple[list[str], list[int]]:
    """Some pages of each community, not many of one site."""
    texts, places = list[str](), list[int]()
    seen, taken = dict[str, int](), [0] * communities
    for shard in shards:
        for url, host, title, packed in shard.execute(_PAGES):
            site = sites.of(sites.unit(url, host))
            place = of.get(site)
            if place is None or seen.get(site, 0) >= _OF_A_SITE or taken[place] >= _OF_ALL:
                continue
            seen[site] = seen.get(site, 0) + 1
            taken[place] += 1
            texts.append(f"{title}. {unpack_text(packed)[:_LETTERS]}")
            places.append(place)
    return texts, places
