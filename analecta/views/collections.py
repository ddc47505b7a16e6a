"""Collections: the best pages of each topic, ranked (S12).

A page with several topics enters the collection of each (S9). The examples that a person brought stay out unless asked
for: they are what the person knew before, and they would take the places of what was found. Reading does not disturb a
crawl, so a collection can be had at any moment of it.

Communities of sites have their best pages too, over all topics. In a collection of one community alone a page has the
score that it has among all: only its rank is another.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

import msgspec

from analecta.analyse.hits import LinkGraph, hubs_and_authorities, link_graph
from analecta.communities.view import Homes, Inside, everything
from analecta.judge.page_kinds import kinds_of
from analecta.store.library import Library
from analecta.store.links import page_links
from analecta.store.rows import Item, items, text_of
from analecta.store.topic_names import topic_numbers
from analecta.text.tokens import words
from analecta.views.ranking import Candidate, choose, in_order, scaled, score

MOST = 50  # items of a collection
PER_HOST = 5


class Ranked(msgspec.Struct, frozen=True):
    """An item with its place in a collection, and what put it there."""

    item: Item
    rank: int  # from 1
    score: float
    authority: float  # 0 to 1, against the best of the topic
    kind: str  # of page, where that makes it a poor item (S15)
    confidence: float = 0.0  # for the topic of this collection, which need not be the item's first


class Collection(msgspec.Struct, frozen=True):
    """The best of a topic."""

    number: int  # of the topic
    topic: str
    pages: int  # all that the topic has, of which these are the best
    items: list[Ranked]


Worth = dict[int, list[Candidate]]  # the pages of each topic with what they are worth, best first


def collections(
    library: Library,
    topics: list[str] | None = None,
    most: int = MOST,
    per_host: int = PER_HOST,
    examples: bool = False,
    inside: Inside = everything,
) -> list[Collection]:
    """The collections of these topics, or of all, in the order of the topics; `per_host` 0 is no limit."""
    wanted = topic_numbers(library, topics, below=False)  # each has its own list
    with library.shards() as shards:
        return _collections(library, shards, _worth(shards, wanted, examples, inside), most, per_host)


def with_communities(
    library: Library, homes: Homes, most: int = MOST, per_host: int = PER_HOST, of_each: int = MOST
) -> tuple[list[Collection], dict[int, list[Ranked]]]:
    """The collections of all topics, and so many of the best pages `of_each` community over all topics, by number."""
    with library.shards() as shards:
        worth = _worth(shards, topic_numbers(library, None, below=False))
        best = {number: _ranked(shards, own, of_each, per_host) for number, own in _by_home(worth, homes).items()}
        return _collections(library, shards, worth, most, per_host), best


def _worth(
    shards: Sequence[sqlite3.Connection],
    wanted: Iterable[int],
    examples: bool = False,
    inside: Inside = everything,
) -> Worth:
    found = _by_topic(items(shards), frozenset(wanted), examples)
    graph = link_graph(*page_links(shards)) if any(found.values()) else None
    return {n: [one for one in _candidates(graph, n, found[n]) if inside(one.item)] for n in wanted}


def _collections(
    library: Library, shards: Sequence[sqlite3.Connection], worth: Worth, most: int, per_host: int
) -> list[Collection]:
    names = library.topic_names()
    return [Collection(n, names[n], len(own), _ranked(shards, own, most, per_host)) for n, own in worth.items()]


def _by_home(worth: Mapping[int, Sequence[Candidate]], homes: Homes) -> Worth:
    """The pages of each community, best first; one of several topics is chosen once, for the best of them."""
    found: Worth = {one.number: [] for one in homes.communities}
    for one in in_order(candidate for own in worth.values() for candidate in own):
        if home := homes.of(one.item.url, one.item.host):
            found[home.number].append(one)
    return found


def _by_topic(found: Iterable[Item], wanted: Container[int], examples: bool) -> dict[int, list[Item]]:
    """The pages of each topic; one with several topics is of each."""
    pages: dict[int, list[Item]] = defaultdict(list)
    for item in found:
        if examples or not item.example:
            for topic, _ in item.topics:
                if topic in wanted:
                    pages[topic].append(item)
    return pages


def _candidates(graph: LinkGraph | None, topic: int, pages: Sequence[Item]) -> list[Candidate]:
    """The pages of a topic with what they are worth, best first."""
    own = [item.id for item in pages]
    authority = scaled(hubs_and_authorities(graph, own, within_hosts=True)[1], own) if graph and own else {}
    return in_order(Candidate(item, dict(item.topics)[topic], authority.get(item.id, 0.0)) for item in pages)


def _ranked(
    shards: Sequence[sqlite3.Connection], candidates: Sequence[Candidate], most: int, per_host: int
) -> list[Ranked]:
    chosen = choose(candidates, most, per_host, _kind_of(shards))
    return [
        Ranked(one.item, rank, score(one, kind), one.authority, kind, one.confidence)
        for rank, (one, kind) in enumerate(chosen, 1)
    ]


def _kind_of(shards: Sequence[sqlite3.Connection]) -> Callable[[Candidate], str]:
    """Looks at the text of a page for its kind."""

    def kind(candidate: Candidate) -> str:
        item = candidate.item
        return kinds_of(words([f"{item.title}\n{text_of(shards, item)}"]), [item.url])[0][0]

    return kind
