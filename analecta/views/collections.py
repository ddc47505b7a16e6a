"""Collections: the best pages of each topic, and how they are ranked (S12)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from math import sqrt

import msgspec
from msgspec.structs import replace

from analecta.analyse.hits import LinkGraph, hubs_and_authorities, link_graph
from analecta.communities.view import CommunityIndex
from analecta.judge.page_kinds import kinds_of
from analecta.store.library import LibraryFolder
from analecta.store.rows import PageRow
from analecta.store.snapshot import Snapshot
from analecta.text.tokens import words

# --- The order of a collection: a score that can be explained, and not too many pages of one host (S12, S15) ---------
# The score of a page is for the larger part how sure the judge is of it, for the smaller how much the hubs of its
# topic link to it. Pages of a kind that makes poor items come after all others, and their score says so.

# A page that all hubs link to passes one of which the judge is surer by up to a ninth, not by more: of most topics the
# hundred best lie closer together than that.
CONFIDENCE, AUTHORITY = 0.9, 0.1
POOR = 0.3  # what is left of the score of a page of a poor kind: less than any page on topic has
KindOf = Callable[[PageRow], str]  # "" for a good page


class CollectionItem(msgspec.Struct, frozen=True, gc=False):
    """A page that may enter a collection, then an item with its place in it, and what put it there."""

    item: PageRow
    confidence: float  # for the topic of this collection, which need not be the item's first
    authority: float = 0.0  # 0 to 1, against the best of the topic
    kind: str = ""  # of page, where that makes it a poor item (S15)
    rank: int = 0  # from 1; 0 where it has no place

    @property
    def worth(self) -> float:
        """Before its kind is looked at."""
        return CONFIDENCE * self.confidence + AUTHORITY * self.authority

    @property
    def score(self) -> float:
        """Its worth, with its kind."""
        return self.worth * (POOR if self.kind else 1.0)

    @property
    def look(self) -> tuple[str, str]:
        """What makes two pages look the same in a list: title and host."""
        return " ".join(self.item.title.casefold().split()) or self.item.url, self.item.host


RANKED = ("rank", "score", "confidence", "authority", "kind")  # what rows tell of an item's place


def scaled(authorities: Mapping[int, float], own: Iterable[int]) -> dict[int, float]:
    """Authorities of a topic's own pages from 0 to 1, the best has 1.

    The square root, because a few pages have nearly all of the weight: those after them should not look alike.
    """
    found = {id: authorities[id] for id in own if authorities.get(id, 0.0) > 0}
    most = max(found.values(), default=1.0)
    return {id: sqrt(value / most) for id, value in found.items()}


def in_order(candidates: Iterable[CollectionItem]) -> list[CollectionItem]:
    """The best first, whatever their kinds; equals by address, so that the order is the same every time."""
    return sorted(candidates, key=lambda candidate: (-candidate.worth, candidate.item.url))


def choose(ordered: Sequence[CollectionItem], most: int, per_host: int, kind_of: KindOf) -> list[CollectionItem]:
    """The first `most` of the collection. What is asked for does not change what comes first."""
    chosen = islice(_distinct(ordered, per_host, kind_of), most)
    return [replace(one, rank=rank) for rank, one in enumerate(chosen, 1)]


def _distinct(ordered: Sequence[CollectionItem], per_host: int, kind_of: KindOf) -> Iterator[CollectionItem]:
    """Each title of a host once: at most so many of a host, then more of the same hosts, then pages of poor kinds."""
    looks: set[tuple[str, str]] = set()
    hosts: Counter[str] = Counter()
    more: list[CollectionItem] = []
    poor: list[CollectionItem] = []
    for candidates, limit in ((ordered, per_host), (more, 0)):
        for candidate in candidates:
            host, look = candidate.item.host, candidate.look
            if look in looks:
                continue
            if limit and hosts[host] >= limit:
                more.append(candidate)  # its text is not looked at: it may never be needed
            elif kind := kind_of(candidate.item):
                poor.append(replace(candidate, kind=kind))
            else:
                looks.add(look)
                hosts[host] += 1
                yield candidate
    for candidate in in_order(poor):
        if candidate.look not in looks:
            looks.add(candidate.look)
            yield candidate


# --- Collections: the best pages of each topic, ranked (S12) ---------------------------------------------------------
# A page with several topics enters the collection of each (S9). The examples that a person brought stay out unless
# asked for: they are what the person knew before, and they would take the places of what was found. Reading does not
# disturb a crawl, so a collection can be had at any moment of it.
#
# Communities of sites have their best pages too, over all topics. In a collection of one community alone a page has
# the score that it has among all: only its rank is another.

MOST = 50  # items of a collection
PER_HOST = 5


class Collection(msgspec.Struct, frozen=True):
    """The best of a topic."""

    number: int  # of the topic
    topic: str
    pages: int  # all that the topic has, of which these are the best
    items: list[CollectionItem]


Worth = dict[int, list[CollectionItem]]  # the pages of each topic with what they are worth, best first


def collections(
    library: LibraryFolder,
    topics: list[str] | None = None,
    most: int = MOST,
    per_host: int = PER_HOST,
    examples: bool = False,
    homes: CommunityIndex | None = None,
) -> list[Collection]:
    """The collections of these topics, or of all, in the order of the topics; `per_host` 0 is no limit.

    With `homes` they have only pages of the community that is asked for there.
    """
    with library.snapshot() as snapshot:
        wanted = snapshot.topic_numbers(topics, below=False)  # each has its own list
        return _collections(snapshot, _worth(snapshot, wanted, examples, homes), most, per_host)


def with_communities(
    library: LibraryFolder, homes: CommunityIndex, most: int = MOST, per_host: int = PER_HOST, of_each: int = MOST
) -> tuple[list[Collection], dict[int, list[CollectionItem]]]:
    """The collections of all topics, and so many of the best pages `of_each` community over all topics, by number."""
    with library.snapshot() as snapshot:
        worth = _worth(snapshot, snapshot.topic_numbers(None, below=False))
        kind_of = partial(_kind, snapshot)
        best = {number: choose(own, of_each, per_host, kind_of) for number, own in _by_home(worth, homes).items()}
        return _collections(snapshot, worth, most, per_host), best


def _worth(
    snapshot: Snapshot, wanted: Iterable[int], examples: bool = False, homes: CommunityIndex | None = None
) -> Worth:
    found = _by_topic(snapshot.shown_pages(), frozenset(wanted), examples)
    graph = link_graph(*snapshot.link_arrays()) if any(found.values()) else None
    worth = {n: _candidates(graph, n, found[n]) for n in wanted}
    return {n: [one for one in own if homes.inside(one.item)] for n, own in worth.items()} if homes else worth


def _collections(snapshot: Snapshot, worth: Worth, most: int, per_host: int) -> list[Collection]:
    names, kind_of = snapshot.topic_names(), partial(_kind, snapshot)
    return [Collection(n, names[n], len(own), choose(own, most, per_host, kind_of)) for n, own in worth.items()]


def _by_home(worth: Worth, homes: CommunityIndex) -> Worth:
    """The pages of each community, best first; one of several topics is chosen once, for the best of them."""
    found: Worth = {one.number: [] for one in homes.communities}
    for one in in_order(candidate for own in worth.values() for candidate in own):
        if home := homes.of(one.item.url, one.item.host):
            found[home.number].append(one)
    return found


def _by_topic(found: Iterable[PageRow], wanted: Container[int], examples: bool) -> dict[int, list[PageRow]]:
    """The pages of each topic; one with several topics is of each."""
    pages: dict[int, list[PageRow]] = defaultdict(list)
    for item in found:
        if examples or not item.example:
            for topic, _ in item.topics:
                if topic in wanted:
                    pages[topic].append(item)
    return pages


def _candidates(graph: LinkGraph | None, topic: int, pages: Sequence[PageRow]) -> list[CollectionItem]:
    """The pages of a topic with what they are worth, best first."""
    own = [item.id for item in pages]
    authority = scaled(hubs_and_authorities(graph, own, within_hosts=True)[1], own) if graph and own else {}
    return in_order(CollectionItem(item, dict(item.topics)[topic], authority.get(item.id, 0.0)) for item in pages)


def _kind(snapshot: Snapshot, item: PageRow) -> str:
    """The kind of a page, by its text."""
    return kinds_of(words([f"{item.title}\n{snapshot.text(item)}"]), [item.url])[0][0]
