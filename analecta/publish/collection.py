"""Collections: the best pages of each topic, ranked (S12).

A page with several topics enters the collection of each (S9). The examples that a person brought stay out unless asked
for: they are what the person knew before, and they would take the places of what was found. Reading does not disturb a
crawl, so a collection can be had at any moment of it.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Sequence

import msgspec

from analecta.analyse.link_graph import LinkGraph, hubs_and_authorities, link_graph
from analecta.judge.page_kinds import kinds_of
from analecta.publish.items import Item, items, text_of
from analecta.publish.ranking import Candidate, choose, in_order, scaled, score
from analecta.publish.topic_names import topic_numbers
from analecta.store.library import Library
from analecta.store.links import page_links
from analecta.terms import words

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


def collections(
    library: Library,
    topics: list[str] | None = None,
    most: int = MOST,
    per_host: int = PER_HOST,
    examples: bool = False,
) -> list[Collection]:
    """The collections of these topics, or of all, in the order of the topics; `per_host` 0 is no limit."""
    names = library.topic_names()
    wanted = topic_numbers(library, topics, below=False)  # each has its own list
    with library.shards() as shards:
        found = _by_topic(items(shards), frozenset(wanted), examples)
        graph = link_graph(*page_links(shards)) if any(found.values()) else None
        return [
            Collection(n, names[n], len(found[n]), _ranked(shards, _candidates(graph, n, found[n]), most, per_host))
            for n in wanted
        ]


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
