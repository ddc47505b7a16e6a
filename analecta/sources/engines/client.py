"""One engine of the web, asked politely: one request at a time, with pauses, within a budget of requests and of time.

An engine that fails says why and is asked no more; what it said before still counts.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

import msgspec

from analecta.model import Answer, Fetched
from analecta.sources.engines.cache import Cache
from analecta.sources.engines.choice import Chosen
from analecta.sources.engines.engine import Ask, BadAnswer, Hit
from analecta.sources.engines.phrases import may_hold, phrases

AskWeb = Callable[[Chosen, Ask], Awaitable[Fetched]]  # who makes the request; each engine may have its own client
Sleep = Callable[[float], Awaitable[None]]
_ReadPage = Callable[[int, int], Awaitable[list[Hit]]]  # how many hits, which page of them
DEADLINE = 300.0
_LINKING = "pages that link to"  # before a URL: the name under which back-links are kept


class Trouble(msgspec.Struct, frozen=True):
    """Why an engine was left out, and what it said before that to the same question."""

    engine: str
    why: str
    before: tuple[Hit, ...] = ()


SearchEngine = Callable[[str, int], Awaitable[list[Hit] | Trouble]]  # query, how many -> hits, best first


@runtime_checkable
class LinkSource(Protocol):
    """An engine that may know which pages link to one."""

    async def offers_backlinks(self) -> bool | Trouble:
        """Whether it does."""

    async def backlinks(self, page: Hit, wanted: int) -> list[Hit] | Trouble:
        """Pages that link to a page."""


class Budget:
    """So many requests in all, whoever makes them."""

    def __init__(self, requests: int) -> None:
        self.requests = requests
        self.spent = 0

    def take(self) -> bool:
        """Whether one more may be made; it counts."""
        allowed = self.spent < self.requests
        self.spent += allowed
        return allowed


class WebEngine:
    """Answers queries, one after the other; from the cache even when it is in trouble."""

    def __init__(
        self, chosen: Chosen, ask: AskWeb, budget: Budget, cache: Cache | None, sleep: Sleep, deadline: float = DEADLINE
    ) -> None:
        """`deadline`: seconds that all answers together may take; pauses do not count."""
        self.chosen, self.ask, self.budget, self.cache, self.sleep = chosen, ask, budget, cache, sleep
        self.deadline = self._left = deadline
        self.trouble: Trouble | None = None
        self._asked = False
        self._request = chosen.engine.request
        self._described = chosen.engine.describe is None or "{searchTerms" in chosen.url

    async def __call__(self, query: str, wanted: int) -> list[Hit] | Trouble:
        """The best hits, or why there are none."""
        chosen, engine = self.chosen, self.chosen.engine
        exact = [] if engine.phrases else phrases(query)

        async def read(count: int, page: int) -> list[Hit]:
            if not self._described and engine.describe:
                self._request = engine.describe(await self._body(Ask(chosen.url)), chosen.url)
                self._described = True
            return engine.read(await self._body(self._request(query, count, page, chosen.key, chosen.url)))

        return await self._answer(query, wanted, read, lambda hit: may_hold(hit, exact))

    async def offers_backlinks(self) -> bool | Trouble:
        """Whether it knows which pages link to one; where only some of its kind do, it is asked."""
        links = self.chosen.engine.backlinks
        if self.trouble:
            return self.trouble
        if links is None or links.first is None:
            return links is not None
        try:
            return links.offered(await self._body(links.first(self.chosen.url)))
        except BadAnswer as error:
            return Trouble(self.chosen.name, str(error))

    async def backlinks(self, page: Hit, wanted: int) -> list[Hit] | Trouble:
        """Pages that link to a page, or why there are none."""
        links, chosen = self.chosen.engine.backlinks, self.chosen
        if links is None:
            return []

        async def read(count: int, number: int) -> list[Hit]:
            ask = links.request(page, count, number, chosen.key, chosen.url)
            return links.read(await self._body(ask), page) if ask else []

        return await self._answer(f"{_LINKING} {page.url}", wanted, read, lambda hit: hit.url != page.url)

    async def _answer(
        self, about: str, wanted: int, read: _ReadPage, fits: Callable[[Hit], bool]
    ) -> list[Hit] | Trouble:
        """From the cache, or page after page of the engine's answer until there are enough hits or no more."""
        key = (self.chosen.name, self.chosen.url, about, wanted)
        kept = self.cache.get(*key) if self.cache else None
        if kept is not None:
            return kept
        if self.trouble:
            return self.trouble
        count, hits = max(1, min(wanted, self.chosen.engine.most)), dict[str, Hit]()
        try:
            for page in range(1, -(-wanted // count) + 1):
                found = await read(count, page)
                hits |= {hit.url: hit for hit in found if hit.url not in hits and fits(hit)}
                if len(hits) >= wanted or len(found) < count:
                    break
        except BadAnswer as error:
            self.trouble = Trouble(self.chosen.name, str(error))
            return msgspec.structs.replace(self.trouble, before=tuple(hits.values())[:wanted])
        best = list(hits.values())[:wanted]
        if self.cache:
            self.cache.put(*key, best)
        return best

    async def _body(self, ask: Ask) -> bytes:
        """One request; whatever is no whole answer is an error."""
        if not self.budget.take():
            raise BadAnswer(f"the budget of {self.budget.requests} requests is used up (search.budget)")
        if self._asked:
            await self.sleep(self.chosen.pause)
        self._asked = True
        got = await self._in_time(ask)
        if not isinstance(got, Answer):
            raise BadAnswer(f"{self.chosen.name} could not be asked: {got.detail or got.reason} ({got.reason})")
        if got.status != 200:
            raise BadAnswer(f"{self.chosen.name} {_refusal(self.chosen, got)}")
        if got.truncated:
            raise BadAnswer(f"{self.chosen.name} did not send its whole answer ({got.truncated})")
        return got.body

    async def _in_time(self, ask: Ask) -> Fetched:
        """One request within what is left of the time for all."""
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(self._left):
                return await self.ask(self.chosen, ask)
        except TimeoutError:
            words = (
                f"{self.chosen.name} is too slow: {self.deadline:g} s for all its answers are over (search.deadline)"
            )
            raise BadAnswer(words) from None
        finally:
            self._left = max(0.0, self._left - (clock() - began))


def _refusal(chosen: Chosen, got: Answer) -> str:
    """What a status other than 200 means, and what can be done."""
    engine, status = chosen.engine, got.status
    if status in (401, 403):
        hint = engine.refusal or (f"look at the key in {engine.key}" if engine.key else "it may want a key")
        return f"refused to answer (HTTP {status}); {hint}"
    if status in (429, 503):
        wait = got.headers.get("retry-after", "")
        return f"has no time for us now (HTTP {status}{f', Retry-After: {wait[:40]}' if wait else ''})"
    if status in (301, 302, 303, 307, 308):  # not followed: a key must not go to a place that nobody chose
        return f"has moved (HTTP {status}) to {got.headers.get('location', '')[:200]!r}; set its URL in [search.url]"
    return f"answered with an error (HTTP {status})"
