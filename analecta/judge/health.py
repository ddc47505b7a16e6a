"""Health of topics (S14): which are too close to be told apart, and which examples look like those of another topic.

It is seen from the examples alone, before anything is crawled. How like two topics are is the cosine of their centroids
as it would be with ever so many examples: the mean likeness of a page of one with a page of the other, measured by
that of two pages of the same topic. So it is 1 for the two halves of one subject however many examples there are,
where the plain cosine grows with their number.

The lines were drawn on a school encyclopedia. With 10 examples each, 5, 50 and 95 of 100 pairs of topics are below:
two halves of one subject 0.87, 1, 1; a subject and a part of it 0.54, 0.81, 1; parts of one subject 0.35, 0.65, 0.82;
others 0.2, 0.36, 0.5. With 4 or 5 examples each 4 in 5 of the halves are found too close, and 1 in 12 of the parts of
one subject; with fewer it is guesswork. Of single wrong examples, among 2 to 14 such topics of 8 examples, 8 in 10 were
named, of three wrong ones of a kind half, of right ones 1 in 25, many of them on both topics.
Then tried on 35 sites of documentation, 10 examples each: 94 of 100 halves were found too close and no two sites, 97 of
100 examples came back, and of single wrong ones 29 of 30 were named.
A topic alone, 10 examples, both webs: of single wrong ones a third to three quarters were named, of right ones 1 in 50.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
import numpy as np
from scipy.sparse import csr_matrix

from analecta.arrays import Bools, Floats, Ints
from analecta.judge.features import page_frequency, rows, smooth_idf, tf_idf, unit
from analecta.model import BELOW, Example
from analecta.text.tokens import BUCKETS, LANGUAGES, Words, buckets, stop_words, words

ENOUGH = 4  # examples: no centroid from fewer (S2)
CLOSE = 0.85  # likeness from which two topics are one to most judges
BACK = 0.9  # share of a topic's examples that should be nearest to it (S14)
_NEARER = 0.25  # of what an example usually has in common with its topic: so much more with another, and it is a stray
_AT_HOME = 1.0  # of that, and it is none whatever it has in common with another
_UNLIKE = 0.4  # of what an example usually has in common with the others: less, and it is a stray in a topic alone
_MAJORITY = 5  # examples of a topic alone from which on one can be unlike the others
_PRIOR = 3  # pairs of pages of other topics that count along where a topic has few pairs of its own
_USUAL = 0.1  # likeness of two pages of one topic; real topics have 0.06 to 0.2
_LETTERS = 20_000  # of a page: what it is about shows early, and fifty topics are looked at in half a second
_WORDS = 8
_NONE = np.zeros(0, np.int64)


class Neighbour(msgspec.Struct, frozen=True):
    """Another topic and how like it is: 0 not at all, 1 as like as two halves of one topic."""

    topic: str
    similarity: float


class Pair(msgspec.Struct, frozen=True):
    """Two topics that are too close."""

    one: str
    other: str
    similarity: float


class MisplacedExample(msgspec.Struct, frozen=True):
    """An example that looks wrong: it is nearer to another topic, or, where a topic is alone, unlike the rest of it.

    `own` is how near it is to the other examples of its topic, `there` to those of the other; 1 is usual.
    """

    url: str
    topic: str
    nearer: str | None
    own: float
    there: float


class TopicHealth(msgspec.Struct, frozen=True):
    """A topic as its examples show it: `back` is the share of them that are nearest to it, if that can be told.

    `away` counts the others by the topic they are nearest to.
    """

    name: str
    examples: int
    back: float | None
    away: dict[str, int]
    words: list[str]
    nearest: list[Neighbour]


class Health(msgspec.Struct, frozen=True):
    """How well the topics can be told apart; `similarities` has a row and a column for each."""

    topics: list[TopicHealth]
    similarities: list[list[float]]
    close: list[Pair]
    strays: list[MisplacedExample]
    few: list[str]  # topics with too few examples; one without any may be shown by the topics below it


def health(examples: Sequence[Example], topics: Sequence[str]) -> Health:
    """Look at the examples of all topics; those of none are left out."""
    given = [example for example in examples if 0 <= example.topic < len(topics)]
    home = np.array([example.topic for example in given], np.int64)
    amount = np.bincount(home, minlength=len(topics))
    batch = words([example.text[:_LETTERS] for example in given])
    pages = _weighed(rows(batch))
    alike = np.asarray((pages @ pages.T).toarray(), np.float64)
    np.fill_diagonal(alike, 0)  # no example vouches for itself
    similarities, near = _compared(alike, home, amount)
    close = _close(similarities, amount)
    several = np.count_nonzero(amount) > 1
    place = _nearest_topic(near, home, amount)
    telling = _telling(batch, pages, home, amount)
    return Health(
        topics=[
            TopicHealth(
                name,
                int(amount[i]),
                float((place[home == i] == i).mean()) if several and amount[i] > 1 else None,
                dict(Counter(topics[t] for t in place[home == i].tolist() if t != i).most_common()),
                telling[i],
                [Neighbour(topics[j], float(similarities[i, j])) for j in _nearest(similarities[i], i)],
            )
            for i, name in enumerate(topics)
        ],
        similarities=similarities.tolist(),
        close=[Pair(topics[i], topics[j], float(similarities[i, j])) for i, j in close],
        strays=[
            MisplacedExample(given[n].url, topics[home[n]], topics[t] if t >= 0 else None, own, there)
            for n, t, own, there in (_strays(near, home, place) if several else _unlike(alike))
        ],
        few=_few(dict(zip(topics, amount.tolist(), strict=True))),
    )


def _few(amount: Mapping[str, int]) -> list[str]:
    """Topics with too few examples, but for those without any that have topics below them with some."""
    shown = {name for name in amount if any(n and other.startswith(name + BELOW) for other, n in amount.items())}
    return [name for name, n in amount.items() if n < ENOUGH and (n or name not in shown)]


# --- pages as vectors -------------------------------------------------------------------------------------------------


def _weighed(counted: csr_matrix) -> csr_matrix:
    """Pages as vectors of length 1, without the stop words of their language (S3); tf-idf over all examples (S4).

    The idf never is 0: what all examples say is what two topics that are too close, or a topic alone, have in common.
    """
    silent = _stop_buckets()
    language = (counted @ csr_matrix(silent.T.astype(np.float32))).toarray().argmax(axis=1)
    page = np.repeat(np.arange(counted.shape[0]), np.diff(counted.indptr))
    stop = silent[language[page], counted.indices] | silent[0, counted.indices]
    said = csr_matrix((np.where(stop, 0, counted.data), counted.indices, counted.indptr), counted.shape)
    said.eliminate_zeros()
    return unit(tf_idf(said, smooth_idf(said.shape[0], page_frequency(said))))


@cache
def _stop_buckets() -> Bools:
    """Whether a language, English first, has a stop word in a bucket."""
    found = np.zeros((len(LANGUAGES), BUCKETS), np.bool_)
    for n, language in enumerate(LANGUAGES):
        found[n, buckets(words([" ".join(sorted(stop_words(language)))]).hashes)] = True
    return found


# --- topics and examples compared -------------------------------------------------------------------------------------


def _compared(alike: Floats, home: Ints, amount: Ints) -> tuple[Floats, Floats]:
    """How like topics are one another, and how near each example is to each topic, without itself."""
    belongs = np.eye(len(amount))[home]
    sums = alike @ belongs
    pairs = amount * (amount - 1.0)
    within = (belongs * sums).sum(axis=0)
    usual = float(within.sum() + _PRIOR * _USUAL) / float(pairs.sum() + _PRIOR)
    spread = (within + _PRIOR * usual) / (pairs + _PRIOR)
    similarities = belongs.T @ sums / np.maximum(np.outer(amount, amount), 1) / np.sqrt(np.outer(spread, spread))
    np.fill_diagonal(similarities, 1.0)
    near = sums / np.maximum(amount, 1) / np.sqrt(spread * usual)
    # Its own topic is made of the others alone, also where its pages are measured one by another.
    mine, others = sums[np.arange(len(home)), home], amount[home] - 1.0
    rest = (within[home] - 2 * mine + _PRIOR * usual) / (others * (others - 1) + _PRIOR)
    near[np.arange(len(home)), home] = mine / np.maximum(others, 1) / np.sqrt(rest * usual)
    return np.clip(similarities, 0.0, 1.0), near


def _close(similarities: Floats, amount: Ints) -> list[tuple[int, int]]:
    """Topics that are too close, the closest first; of those with too few examples nothing is said."""
    found = np.argwhere(np.triu(similarities >= CLOSE, 1)).tolist()
    known = [(i, j) for i, j in found if min(amount[i], amount[j]) >= ENOUGH]
    return sorted(known, key=lambda pair: (-similarities[pair], pair))


def _nearest(similarities: Floats, topic: int, most: int = 2) -> list[int]:
    """The topics that are most like one, if they are like it at all."""
    ranked = np.lexsort((np.arange(len(similarities)), -similarities)).tolist()
    return [other for other in ranked if other != topic and similarities[other] > 0][:most]


def _nearest_topic(near: Floats, home: Ints, amount: Ints) -> Ints:
    """The topic that each example is nearest to; of a single one, which is all that is known of its topic, its own."""
    if not near.size:
        return home
    best = near.argmax(axis=1)
    stays = (near[np.arange(len(home)), home] >= near.max(axis=1)) | (amount[home] < 2)
    return np.where(stays, home, best)


def _strays(near: Floats, home: Ints, place: Ints) -> list[tuple[int, int, float, float]]:
    """Examples that are clearly nearer to another topic than to the others of their own, the clearest first."""
    at = np.arange(len(home))
    own, there = near[at, home], near[at, place]
    clear = np.flatnonzero((there - own > _NEARER) & (own < _AT_HOME)).tolist()
    clear.sort(key=lambda n: own[n] - there[n])
    return [(n, int(place[n]), float(own[n]), float(there[n])) for n in clear]


def _unlike(alike: Floats) -> list[tuple[int, int, float, float]]:
    """Examples of a topic alone that have little in common with most others; never half of them or more."""
    if len(alike) < _MAJORITY:
        return []
    others = alike[~np.eye(len(alike), dtype=np.bool_)].reshape(len(alike), -1)
    typical = np.median(others, axis=1)
    own = typical / max(float(np.median(typical)), 1e-9)
    found = sorted(np.flatnonzero(own < _UNLIKE).tolist(), key=lambda n: own[n])
    return [(n, -1, float(own[n]), 0.0) for n in found] if 2 * len(found) < len(alike) else []


# --- words for people -------------------------------------------------------------------------------------------------


def _telling(batch: Words, pages: csr_matrix, home: Ints, amount: Ints) -> list[list[str]]:
    """The words of each topic that weigh most with it and less with the others."""
    belongs = csr_matrix((np.ones(len(home)), (home, np.arange(len(home)))), (len(amount), len(home)))
    sums = csr_matrix(belongs @ pages)
    total = np.asarray(sums.sum(axis=0)).ravel()
    heaviest = [_heaviest(sums[topic], total, own, len(home) - own) for topic, own in enumerate(amount.tolist())]
    place = buckets(batch.hashes)
    wanted = np.zeros(BUCKETS, np.bool_)
    wanted[np.concatenate([_NONE, *heaviest])] = True
    at = np.flatnonzero(wanted[place])
    of = home[batch.pages[at]]
    return [_names(batch, at[of == topic], place, own) for topic, own in enumerate(heaviest)]


def _heaviest(sums: csr_matrix, total: Floats, own: int, others: int) -> Ints:
    """The buckets that weigh most on a topic's mean page, less what they weigh on the mean page of the others."""
    weight = sums.data / max(own, 1) - (total[sums.indices] - sums.data) / max(others, 1)
    best = np.lexsort((sums.indices, -weight))[:_WORDS]
    return np.asarray(sums.indices[best[weight[best] > 0]], np.int64)


def _names(batch: Words, at: Ints, place: Ints, own: Ints) -> list[str]:
    """The word of each bucket; of several that share one, that which occurs most."""
    _, first, often = np.unique(batch.hashes[at], return_index=True, return_counts=True)
    ranked = at[first[np.argsort(often, kind="stable")]]
    found = dict(zip(place[ranked].tolist(), ranked.tolist(), strict=True))
    spans = ((int(batch.begins[found[bucket]]), int(batch.ends[found[bucket]])) for bucket in own.tolist())
    return [batch.buffer[begin:end].decode() for begin, end in spans]
