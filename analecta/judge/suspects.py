"""Examples that look wrong: people paste the wrong address, and a page that has moved may be another one now.

An example is doubted that sits with the examples of another topic rather than with the others of its own. Where a
topic is alone only the majority tells: the examples are parted into the two groups that lie farthest apart, and the
smaller one is doubted if it has next to nothing in common with the other that not all pages have. What all pages
have is known from pages that the crawl met, so a topic alone is looked at when there are some.

Measured on the 14 larger subjects of a school encyclopedia, which overlap, 8 examples each: of single wrong examples
3 in 4 were doubted, of three of one kind half, of right ones 1 in 20. A topic alone, 10 examples and 40 pages met: of
three wrong ones of one kind a third, of right ones 1 in 100. So doubt makes an example count less and never drops it.
With 3 of 10 examples wrong, pages taken for a topic alone were right to 0.82 instead of 0.68 (7 subjects).
"""

from collections.abc import Sequence

import numpy as np
import scipy

from analecta.arrays import Bools, Floats, Ints
from analecta.judge.features import page_frequency, rows, tf_idf, unit
from analecta.model import Example
from analecta.text.tokens import words

DOUBTED = 0.2  # what a doubted example counts, against 1
ENOUGH = 30  # pages met from which one sees what all pages have
MOST = 60  # and as many as are looked at
_NEARER = 0.04  # cosine to another topic less that to its own, from which on an example is doubted
_FEWEST = 5  # examples that have a majority
_APART = 0.2  # likeness between the two groups, as a share of that within the larger

_LITTLE = 0.01  # likeness that is none
_LOOSE = 0.3  # likeness within the larger group, as a share of that within the smaller: else it is no group


def doubtful(examples: Sequence[Example], met: Sequence[str] = ()) -> dict[str, int]:
    """The URLs of examples that look wrong, with the topic that each is nearer to: -1 where no other is known.

    `met` are texts of pages that the crawl met. Never half of a topic's examples or more: then nobody knows which.
    """
    topics = np.array([example.topic for example in examples], np.int64)
    several = len(set(topics.tolist())) > 1
    if len(topics) < _FEWEST or (not several and len(met) < ENOUGH):
        return {}
    alike = _alike([example.text for example in examples], () if several else met)
    nearer = _elsewhere(alike, topics) if several else np.where(_small_group(alike), -1, topics)
    for topic in set(topics.tolist()):
        own = topics == topic
        if 2 * (nearer != topics)[own].sum() >= own.sum():
            nearer[own] = topic
    return {examples[i].url: int(nearer[i]) for i in np.flatnonzero(nearer != topics).tolist()}


def _alike(texts: Sequence[str], met: Sequence[str]) -> Floats:
    """The cosines between texts, without what all pages have in common: those that were met, or else all texts."""
    counted = rows(words([*texts, *met]))
    idf = np.log((1 + counted.shape[0] / np.maximum(page_frequency(counted), 1)) / 2)  # as in judge/profile.py
    pages = unit(tf_idf(counted, idf))
    usual = np.asarray(pages[len(texts) if met else 0 :].sum(axis=0)).ravel()
    own = pages[: len(texts)]
    share = own @ (usual / max(float(np.linalg.norm(usual)), 1e-12))
    left = np.sqrt(np.maximum(1 - share**2, 1e-12))
    return np.asarray(((own @ own.T).toarray() - np.outer(share, share)) / np.outer(left, left), np.float64)


def _elsewhere(alike: Floats, topics: Ints) -> Ints:
    """The topic of each example: its own, or another that is clearly nearer to it than the others of its own are.

    Asked thrice: wrong examples of one kind stand by one another, until the first of them are doubted.
    """
    names, place = np.unique(topics, return_inverse=True)
    home = np.eye(len(names), dtype=np.bool_)[place]
    alone = home.sum(axis=0)[place] == 1  # a single example is all that is known of its topic
    nearer = topics
    for _ in range(3):
        weight = np.where(nearer != topics, DOUBTED, 1.0)
        sums = alike @ (home * weight[:, None])
        squares = (home * weight[:, None] * sums).sum(axis=0)
        mine, itself = sums[home], weight * np.diag(alike)
        rest = np.sqrt(np.maximum(squares[place] - 2 * weight * mine + weight * itself, 1e-12))
        away = np.where(home, -np.inf, sums / np.sqrt(np.maximum(squares, 1e-12)))
        moved = (away.max(axis=1) - (mine - itself) / rest > _NEARER) & ~alone
        nearer = np.where(moved, names[away.argmax(axis=1)], topics)
    return nearer


def _small_group(alike: Floats) -> Bools:
    """The smaller of two groups, if it has nothing to do with the other; else nothing."""
    apart = np.maximum(1 - alike, 0)
    np.fill_diagonal(apart, 0)
    # scipy imports its parts when they are first named: these take 0.2 s, and most crawls do without.
    tree = scipy.cluster.hierarchy.linkage(scipy.spatial.distance.squareform(apart, checks=False), "average")
    small = scipy.cluster.hierarchy.fcluster(tree, 2, "maxclust") == 1
    small = small if 2 * small.sum() <= len(small) else ~small
    between = float(alike[np.ix_(small, ~small)].mean()) if small.any() else 1.0
    large, close = _within(alike[np.ix_(~small, ~small)]), _within(alike[np.ix_(small, small)])
    return small if large > max(_LITTLE, _LOOSE * close) and between < _APART * large else np.zeros_like(small)


def _within(alike: Floats) -> float:
    """How alike most members of a group are, one with another; 0 for a group of one."""
    return float(np.median(alike[np.triu_indices(len(alike), 1)])) if len(alike) > 1 else 0.0
