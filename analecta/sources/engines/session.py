"""All queries at all engines: engines side by side, each one question at a time; the lists are made one by rank.

Reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009): a page is worth the sum of 1 / (60 + its rank) over the
lists that hold it. It needs no scores, which engines do not give or do not mean alike.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from analecta.errors import ResourceError, UsageError
from analecta.sources.engines.client import (
    DEADLINE,
    AskWeb,
    BackLinkSource,
    Cache,
    EngineAddress,
    EngineTrouble,
    RequestBudget,
    SearchEngine,
    Sleep,
    WebEngine,
)
from analecta.sources.engines.engine import EngineHit, tidy
from analecta.urls import canonical

Asked = TypeVar("Asked")
RANK = 60  # the constant of the fusion, from the paper


class EngineResult(msgspec.Struct, frozen=True):
    """The hits of each query, best first; which engines were left out and why; how many requests were made."""

    hits: dict[str, tuple[EngineHit, ...]]
    troubles: tuple[EngineTrouble, ...] = ()
    requests: int = 0


class Linked(msgspec.Struct, frozen=True):
    """The pages that link to each page asked about; what went wrong; whether any engine offers such a thing."""

    pages: dict[str, tuple[EngineHit, ...]] = {}
    troubles: tuple[EngineTrouble, ...] = ()
    offered: bool = True


class SessionLimits(msgspec.Struct, frozen=True):
    """How many hits are wanted of each query, how many requests may be made, and in how many seconds an engine answers.

    `refusal` says why a page that was found is not taken up.
    """

    results: int = 10
    budget: int = 200
    deadline: float = DEADLINE
    refusal: Callable[[str], str | None] = lambda url: None


class Session:
    """Engines that are asked one search after another, within one budget.

    `others` are engines that are no web service, such as another library.
    """

    def __init__(
        self,
        engines: Sequence[EngineAddress],
        ask: AskWeb,
        limits: SessionLimits = SessionLimits(),
        *,
        cache: Path | None = None,
        others: Mapping[str, SearchEngine] = {},
        now: Callable[[], float] = time.time,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.results, self.budget = limits.results, RequestBudget(limits.budget)
        answers = Cache(cache, now) if cache else None
        self.engines: dict[str, SearchEngine] = {
            one.name: WebEngine(one, ask, self.budget, answers, sleep, limits.deadline) for one in engines
        }
        self.engines |= others
        self.left_out: dict[str, str] = {}  # pages that were found and not taken up, and the first reason
        self._refusal = limits.refusal

    async def search(self, queries: Sequence[str]) -> EngineResult:
        """Ask all engines all queries."""
        sent = {query: tidy(query) for query in queries}
        if silent := [query for query, words in sent.items() if not words.strip('" ')]:
            raise UsageError(f"a query without words cannot be searched: {silent[0]!r}")
        told = {words: words for words in sent.values()}
        lists = await asyncio.gather(*(_ask_all(engine, told, self.results) for engine in self.engines.values()))
        troubles = [trouble for _, trouble in lists if trouble]
        hits = {query: self._fused([found[words] for found, _ in lists], self.results) for query, words in sent.items()}
        return EngineResult(hits, tuple(troubles), self.budget.spent)

    def check(self, found: EngineResult) -> EngineResult:
        """The same, unless all engines failed and nothing was found."""
        if found.troubles and len(found.troubles) == len(self.engines) and not any(found.hits.values()):
            raise ResourceError("nothing could be searched: " + "; ".join(trouble.why for trouble in found.troubles))
        return found

    async def backlinks(self, pages: Sequence[EngineHit], most: int) -> Linked:
        """For each page, those that link to it, at most so many; engines that do not know are not asked."""
        engines: list[object] = list(self.engines.values())
        sources = [engine for engine in engines if isinstance(engine, BackLinkSource)]
        offers = await asyncio.gather(*(source.offers_backlinks() for source in sources))
        able = [source for source, offer in zip(sources, offers, strict=True) if offer is True]
        once = {page.url: page for page in pages}
        lists = await asyncio.gather(*(_ask_all(source.backlinks, once, most) for source in able))
        troubles = [offer for offer in offers if isinstance(offer, EngineTrouble)]
        troubles += [trouble for _, trouble in lists if trouble]
        linked = {url: self._fused([found[url] for found, _ in lists], most) for url in once}
        return Linked(linked, tuple(troubles), bool(able or troubles))

    def _fused(self, lists: Sequence[Sequence[EngineHit]], most: int) -> tuple[EngineHit, ...]:
        """The lists as one, without what is not taken up."""
        taken = [hit for hits in lists for hit in hits]
        self.left_out |= {hit.url: why for hit in taken if (why := self._refusal(hit.url))}
        return fuse([[hit for hit in hits if hit.url not in self.left_out] for hits in lists], most)


async def _ask_all(
    ask: Callable[[Asked, int], Awaitable[list[EngineHit] | EngineTrouble]], questions: Mapping[str, Asked], wanted: int
) -> tuple[dict[str, list[EngineHit]], EngineTrouble | None]:
    """What one engine answers to each question; of its troubles the first."""
    found: dict[str, list[EngineHit]] = {}
    trouble: EngineTrouble | None = None
    for name, question in questions.items():
        hits = await ask(question, wanted)
        if isinstance(hits, EngineTrouble):
            trouble = trouble or hits
        found[name] = [*hits.before] if isinstance(hits, EngineTrouble) else hits
    return found, trouble


def fuse(lists: Sequence[Sequence[EngineHit]], most: int, weights: Sequence[float] = ()) -> tuple[EngineHit, ...]:
    """The lists as one, best first, each page once under its canonical URL; what cannot be crawled is left out.

    A list counts once, or as much as its weight says.
    """
    worth: dict[int, float] = {}
    best: dict[int, EngineHit] = {}
    for hits, weight in zip(lists, weights or [1.0] * len(lists), strict=True):
        pages: dict[int, tuple[str, EngineHit]] = {}
        for hit in hits:
            if target := canonical(hit.url):
                pages.setdefault(target.id, (target.url, hit))
        for rank, (page, (url, hit)) in enumerate(pages.items(), 1):
            worth[page] = worth.get(page, 0.0) + weight / (RANK + rank)
            known = best.get(page, EngineHit(url))
            best[page] = EngineHit(known.url, known.title or hit.title, known.text or hit.text, known.ref or hit.ref)
    order = sorted(worth, key=lambda page: -worth[page])  # stable: at a tie, the engine that is named first
    return tuple(best[page] for page in order[:most])
