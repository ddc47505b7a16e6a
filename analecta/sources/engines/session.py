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
from analecta.settings.schema import SearchSettings
from analecta.sources.engines.client import AskWeb, Cache, EngineAddress, EngineTrouble, SearchEngine, Sleep, WebEngine
from analecta.sources.engines.engine import EngineHit, tidy
from analecta.urls import canonical

Asked = TypeVar("Asked")
RANK = 60  # the constant of the fusion, from the paper


class EngineResult(msgspec.Struct, frozen=True):
    """The hits of each query (or the pages that link to each URL), best first; why engines were left out."""

    hits: dict[str, tuple[EngineHit, ...]]
    troubles: tuple[str, ...] = ()


class Session:
    """Engines that are asked one search after another, within one budget.

    `others` are engines that are no web service, such as another library; `refusal` says why a page that was found is
    not taken up.
    """

    def __init__(
        self,
        engines: Sequence[EngineAddress],
        ask: AskWeb,
        search: SearchSettings = SearchSettings(),
        *,
        cache: Path | None = None,
        others: Mapping[str, SearchEngine] = {},
        refusal: Callable[[str], str | None] = lambda url: None,
        now: Callable[[], float] = time.time,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.results, turns = search.results, iter(range(search.budget))
        answers = Cache(cache, now) if cache else None
        web = {one.name: WebEngine(one, ask, search, turns, answers, sleep) for one in engines}
        self.engines: dict[str, SearchEngine] = {**web, **others}
        self.left_out: dict[str, str] = {}  # pages that were found and not taken up, and the first reason
        self._refusal = refusal

    async def search(self, queries: Sequence[str]) -> EngineResult:
        """Ask all engines all queries."""
        sent = {query: tidy(query) for query in queries}
        if silent := [query for query, words in sent.items() if not words.strip('" ')]:
            raise UsageError(f"a query without words cannot be searched: {silent[0]!r}")
        told = {words: words for words in sent.values()}
        lists = await asyncio.gather(*(_ask_all(engine, told, self.results) for engine in self.engines.values()))
        hits = {query: self._fused([found[words] for found, _ in lists], self.results) for query, words in sent.items()}
        return EngineResult(hits, tuple(why for _, why in lists if why))

    def check(self, found: EngineResult) -> EngineResult:
        """The same, unless all engines failed and nothing was found."""
        if found.troubles and len(found.troubles) == len(self.engines) and not any(found.hits.values()):
            raise ResourceError("nothing could be searched: " + "; ".join(found.troubles))
        return found

    async def backlinks(self, pages: Sequence[EngineHit], most: int) -> EngineResult | None:
        """For each page, those that link to it, at most so many; None where no engine knows."""
        offers = await asyncio.gather(*(engine.offers_backlinks() for engine in self.engines.values()))
        able = [engine for engine, offer in zip(self.engines.values(), offers, strict=True) if offer is True]
        troubles = [offer.why for offer in offers if isinstance(offer, EngineTrouble)]
        if not able and not troubles:
            return None
        once = {page.url: page for page in pages}
        lists = await asyncio.gather(*(_ask_all(engine.backlinks, once, most) for engine in able))
        linked = {url: self._fused([found[url] for found, _ in lists], most) for url in once}
        return EngineResult(linked, (*troubles, *(why for _, why in lists if why)))

    def _fused(self, lists: Sequence[Sequence[EngineHit]], most: int) -> tuple[EngineHit, ...]:
        """The lists as one, without what is not taken up."""
        taken = [hit for hits in lists for hit in hits]
        self.left_out |= {hit.url: why for hit in taken if (why := self._refusal(hit.url))}
        return fuse([[hit for hit in hits if hit.url not in self.left_out] for hits in lists], most)


async def _ask_all(
    ask: Callable[[Asked, int], Awaitable[list[EngineHit] | EngineTrouble]], questions: Mapping[str, Asked], wanted: int
) -> tuple[dict[str, Sequence[EngineHit]], str]:
    """What one engine answers to each question; of its troubles the first."""
    found: dict[str, Sequence[EngineHit]] = {}
    trouble = ""
    for name, question in questions.items():
        answer = await ask(question, wanted)
        if isinstance(answer, EngineTrouble):
            found[name], trouble = answer.before, trouble or answer.why
        else:
            found[name] = answer
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
