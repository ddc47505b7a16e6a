"""The order of a collection: a score that can be explained, and not too many pages of one host (S12, S15).

The score of a page is for the larger part how sure the judge is of it, for the smaller how much the hubs of its topic
link to it. Pages of a kind that makes poor items come after all others, and their score says so.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import sqrt

import msgspec

from analecta.store.rows import Item

# A page that all hubs link to passes one of which the judge is surer by up to a ninth, not by more: of most topics the
# hundred best lie closer together than that.
CONFIDENCE, AUTHORITY = 0.9, 0.1
POOR = 0.3  # what is left of the score of a page of a poor kind: less than any page on topic has


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A page that may enter a collection; `confidence` is that of the collection's topic."""

    item: Item
    confidence: float
    authority: float = 0.0

    @property
    def score(self) -> float:
        """Its worth, before its kind is looked at."""
        return CONFIDENCE * self.confidence + AUTHORITY * self.authority

    @property
    def look(self) -> tuple[str, str]:
        """What makes two pages look the same in a list: title and host."""
        return " ".join(self.item.title.casefold().split()) or self.item.url, self.item.host


Chosen = tuple[Candidate, str]  # with the kind of page, "" for a good one


def scaled(authorities: Mapping[int, float], own: Iterable[int]) -> dict[int, float]:
    """Authorities of a topic's own pages from 0 to 1, the best has 1.

    The square root, because a few pages have nearly all of the weight: those after them should not look alike.
    """
    found = {id: authorities[id] for id in own if authorities.get(id, 0.0) > 0}
    most = max(found.values(), default=1.0)
    return {id: sqrt(value / most) for id, value in found.items()}


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The best first; equals by address, so that the order is the same every time."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.item.url))


def score(candidate: Candidate, kind: str) -> float:
    """The worth of a page, with its kind."""
    return candidate.score * (POOR if kind else 1.0)


def choose(ordered: Sequence[Candidate], most: int, per_host: int, kind_of: Callable[[Candidate], str]) -> list[Chosen]:
    """The first `most` of the collection. What is asked for does not change what comes first."""
    return list(islice(_distinct(ordered, per_host, kind_of), most))


def _distinct(ordered: Sequence[Candidate], per_host: int, kind_of: Callable[[Candidate], str]) -> Iterator[Chosen]:
    """Each title of a host once: at most so many of a host, then more of the same hosts, then pages of poor kinds."""
    looks: set[tuple[str, str]] = set()
    hosts: Counter[str] = Counter()
    more: list[Candidate] = []
    poor: list[Chosen] = []
    for candidates, limit in ((ordered, per_host), (more, 0)):
        for candidate in candidates:
            host, look = candidate.item.host, candidate.look
            if look in looks:
                continue
            if limit and hosts[host] >= limit:
                more.append(candidate)  # its text is not looked at: it may never be needed
            elif kind := kind_of(candidate):
                poor.append((candidate, kind))
            else:
                looks.add(look)
                hosts[host] += 1
                yield candidate, ""
    for candidate, kind in sorted(poor, key=lambda chosen: (-chosen[0].score, chosen[0].item.url)):
        if candidate.look not in looks:
            looks.add(candidate.look)
            yield candidate, kind
