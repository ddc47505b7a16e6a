"""Links seen from clusters: the hubs and authorities of each (P8), and how clusters link to one another."""

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.analyse.hits import Floats, Numbers, hits, one_voice


class Web(msgspec.Struct, frozen=True):
    """Links between pages 0 to `nodes` - 1, with the number of each page's host."""

    src: Numbers
    dst: Numbers
    hosts: Numbers

    @property
    def nodes(self) -> int:
        """How many pages there are."""
        return len(self.hosts)


def hubs_and_authorities_of(web: Web, cosines: npt.NDArray[np.float32]) -> list[tuple[Floats, Floats]]:
    """Hub and authority scores of all pages for each cluster; column c has the cosines of pages to its centre.

    A page speaks as loudly as it is nearer to this centre than to the mean of the centres: with plain cosines, which
    hardly differ on pages of one topic, the densest part of the web wins in all clusters. For the same reason its own
    scores count by that too: all pages on birds link to the one on animals, which is about more than birds.
    """
    hosts = one_voice(web.src, web.dst, web.hosts)
    loud = np.maximum(cosines - cosines.mean(axis=1, keepdims=True), 0) if cosines.shape[1] > 1 else cosines
    scores = [hits(web.src, web.dst, web.nodes, weights=column, hosts=hosts) for column in loud.T]
    return [(_full(hubs * own), _full(good * own)) for (hubs, good), own in zip(scores, loud.T, strict=True)]


def links_between(web: Web, of: Numbers, clusters: int) -> Numbers:
    """How many links lead from pages of each cluster to pages of each other; `of` is -1 for pages of none."""
    links = np.unique(np.stack([web.src, web.dst], axis=1), axis=0)
    source, target = of[links[:, 0]], of[links[:, 1]]
    counted = (source >= 0) & (target >= 0) & (links[:, 0] != links[:, 1])
    keys = source[counted] * clusters + target[counted]
    return np.bincount(keys, minlength=clusters * clusters).reshape(clusters, clusters)


def _full(scores: Floats) -> Floats:
    """Scores from 0 to 1."""
    return scores / max(float(scores.max(initial=0.0)), 1e-300)
