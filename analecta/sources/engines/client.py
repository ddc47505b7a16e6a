"""Engines of the web: which to ask, what was asked before, and one of them asked politely."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

import msgspec
import xxhash

from analecta.errors import ResourceError, UsageError
from analecta.files import whole_file
from analecta.model import FetchResult, Response
from analecta.settings.schema import SearchSettings
from analecta.sources.engines import ENGINES
from analecta.sources.engines.engine import BadAnswer, EngineHit, EngineKind, EngineRequest, may_hold, phrases
from analecta.urls import _PARAMETER, canonical, on_this_machine

# --- Which engines are asked, and where: names, URLs and keys made sure of before anything is sent -------------------


LIBRARY = "library"  # another library on this machine: no web service, but named as the engines are
_KNOWN = (*ENGINES, LIBRARY)
PAUSE = 1.0  # seconds between two requests to one engine
_KEY = re.compile(r"[!-~]+")  # a key that would not fit in one header field is none


class EngineAddress(msgspec.Struct, frozen=True):
    """An engine as it is asked: where, with which key, and how long we wait between two requests."""

    engine: EngineKind
    url: str
    key: str = ""
    pause: float = PAUSE

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.engine.name


def choose(
    names: Sequence[str], urls: Mapping[str, str], environ: Mapping[str, str], pause: float | None = None
) -> list[EngineAddress]:
    """The web services of these names; `urls` says where they are, `environ` holds their keys."""
    if not names:
        raise UsageError(f"no search engine is chosen: set engines = [...] in [search]; known are: {', '.join(_KNOWN)}")
    check_known((*names, *urls))
    web = dict.fromkeys(name for name in names if name != LIBRARY)
    return [_one(ENGINES[name], urls.get(name, ""), environ, pause) for name in web]


def check_known(names: Iterable[str]) -> None:
    """Say so where there is no engine of a name."""
    for name in names:
        if name not in _KNOWN:
            near = get_close_matches(name, _KNOWN, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(_KNOWN)}"
            raise UsageError(f"there is no search engine {name!r}; {hint}")


def _one(engine: EngineKind, said: str, environ: Mapping[str, str], pause: float | None) -> EngineAddress:
    url = _place(engine, said or engine.url)
    polite = (0.0 if on_this_machine(url) else PAUSE) if pause is None else pause
    return EngineAddress(engine, url, _key(engine, environ), polite)


def _place(engine: EngineKind, url: str) -> str:
    if not url:
        what = "its OpenSearch description" if engine.describe else "the one to ask"
        raise UsageError(f"{engine.name} is in no fixed place: set {engine.name} = URL of {what} in [search.url]")
    target = canonical(_PARAMETER.sub("x", url))
    if target is None:
        raise UsageError(f"{url!r} is no http or https URL, so {engine.name} cannot be asked there ([search.url])")
    return url if _PARAMETER.search(url) else target.url


def _key(engine: EngineKind, environ: Mapping[str, str]) -> str:
    key = environ.get(engine.key, "").strip() if engine.key else ""
    if key and not _KEY.fullmatch(key):
        raise UsageError(f"what the environment variable {engine.key} holds is no key: it has blanks or odd characters")
    if not key and engine.keyless is None:
        raise UsageError(f"{engine.name} wants a key: put it into the environment variable {engine.key}")
    return key or engine.keyless or ""


# --- Answers of engines, kept in a folder for a week: who makes a library anew the next day asks nobody --------------


WEEK = 7 * 86_400.0


class _CachedAnswer(msgspec.Struct):
    """One answer; a person may read it."""

    engine: str
    url: str
    query: str
    wanted: int
    at: float
    hits: list[EngineHit]


class Cache:
    """The folder. `now` is wall-clock time: a week goes by between two runs, too."""

    def __init__(self, folder: Path, now: Callable[[], float]) -> None:
        self.folder, self.now = folder, now

    def get(self, engine: str, url: str, query: str, wanted: int) -> list[EngineHit] | None:
        """The hits of an earlier answer that is young enough and was asked for as many; None if there is none."""
        try:
            kept = msgspec.json.decode(self._path(engine, url, query).read_bytes(), type=_CachedAnswer)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None  # a cache that cannot be read is no cache
        same = (kept.engine, kept.url, kept.query) == (engine, url, query)
        fresh = 0 <= self.now() - kept.at <= WEEK  # from the future: the clock was wrong, then or now
        return kept.hits[:wanted] if same and fresh and kept.wanted >= wanted else None

    def put(self, engine: str, url: str, query: str, wanted: int, hits: Sequence[EngineHit]) -> None:
        """Keep an answer, whole or not at all: a cache that cannot be written to is no cache."""
        answer = _CachedAnswer(engine, url, query, wanted, self.now(), list(hits))
        with contextlib.suppress(ResourceError), whole_file(self._path(engine, url, query)) as out:
            out.write(msgspec.json.format(msgspec.json.encode(answer), indent=1))

    def _path(self, engine: str, url: str, query: str) -> Path:
        digest = xxhash.xxh3_128_hexdigest("\0".join((engine, url, query)).encode("utf-8", "replace"))
        return self.folder / f"{engine}-{digest}.json"


# --- client ----------------------------------------------------------------------------------------------------------
# One engine of the web, asked politely: one request at a time, with pauses, within a budget of requests and of time.
#
# An engine that fails says why and is asked no more; what it said before still counts.


# Who makes the request; each engine may have its own client.
AskWeb = Callable[[EngineAddress, EngineRequest], Awaitable[FetchResult]]
Sleep = Callable[[float], Awaitable[None]]
_ReadPage = Callable[[int, int], Awaitable[list[EngineHit]]]  # how many hits, which page of them


class EngineTrouble(msgspec.Struct, frozen=True):
    """Why an engine was left out, and what it said before that to the same question."""

    why: str
    before: tuple[EngineHit, ...] = ()


class SearchEngine(Protocol):
    """What finds pages for a query, and may know which pages link to one."""

    async def __call__(self, query: str, wanted: int) -> list[EngineHit] | EngineTrouble:
        """The best hits first."""

    async def offers_backlinks(self) -> bool | EngineTrouble:
        """Whether it knows which pages link to one."""

    async def backlinks(self, page: EngineHit, wanted: int) -> list[EngineHit] | EngineTrouble:
        """Pages that link to a page."""


class WebEngine:
    """Answers queries, one after the other; from the cache even when it is in trouble."""

    def __init__(
        self,
        chosen: EngineAddress,
        ask: AskWeb,
        search: SearchSettings,
        turns: Iterator[int],
        cache: Cache | None,
        sleep: Sleep,
    ) -> None:
        """`turns`: one for each request that may be made, by whichever engine."""
        self.chosen, self.ask, self.search, self.cache, self.sleep = chosen, ask, search, cache, sleep
        self._turns = turns
        self._left = search.deadline  # seconds that all answers together may take; pauses do not count
        self.trouble: EngineTrouble | None = None
        self._asked = False
        self._request = chosen.engine.request
        self._describe = None if "{searchTerms" in chosen.url else chosen.engine.describe

    async def __call__(self, query: str, wanted: int) -> list[EngineHit] | EngineTrouble:
        """The best hits, or why there are none."""
        chosen, engine = self.chosen, self.chosen.engine
        exact = [] if engine.phrases else phrases(query)

        async def read(count: int, page: int) -> list[EngineHit]:
            if self._describe:
                self._request = self._describe(await self._body(EngineRequest(chosen.url)), chosen.url)
                self._describe = None
            return engine.read(await self._body(self._request(query, count, page, chosen.key, chosen.url)))

        return await self._answer(query, wanted, read, lambda hit: may_hold(hit, exact))

    async def offers_backlinks(self) -> bool | EngineTrouble:
        """Whether it knows which pages link to one; where only some of its kind do, it is asked."""
        links = self.chosen.engine.backlinks
        if self.trouble:
            return self.trouble
        if links is None or links.first is None:
            return links is not None
        try:
            return links.offered(await self._body(links.first(self.chosen.url)))
        except BadAnswer as error:
            return EngineTrouble(str(error))

    async def backlinks(self, page: EngineHit, wanted: int) -> list[EngineHit] | EngineTrouble:
        """Pages that link to a page, or why there are none."""
        links, chosen = self.chosen.engine.backlinks, self.chosen
        if links is None:
            return []

        async def read(count: int, number: int) -> list[EngineHit]:
            ask = links.request(page, count, number, chosen.key, chosen.url)
            return links.read(await self._body(ask), page) if ask else []

        return await self._answer(f"pages that link to {page.url}", wanted, read, lambda hit: hit.url != page.url)

    async def _answer(
        self, about: str, wanted: int, read: _ReadPage, fits: Callable[[EngineHit], bool]
    ) -> list[EngineHit] | EngineTrouble:
        """From the cache, or page after page of the engine's answer until there are enough hits or no more."""
        key = (self.chosen.name, self.chosen.url, about, wanted)
        kept = self.cache.get(*key) if self.cache else None
        if kept is not None:
            return kept
        if self.trouble:
            return self.trouble
        count, hits = max(1, min(wanted, self.chosen.engine.most)), dict[str, EngineHit]()
        try:
            for page in range(1, -(-wanted // count) + 1):
                found = await read(count, page)
                hits |= {hit.url: hit for hit in found if hit.url not in hits and fits(hit)}
                if len(hits) >= wanted or len(found) < count:
                    break
        except BadAnswer as error:
            self.trouble = EngineTrouble(str(error))
            return msgspec.structs.replace(self.trouble, before=tuple(hits.values())[:wanted])
        best = list(hits.values())[:wanted]
        if self.cache:
            self.cache.put(*key, best)
        return best

    async def _body(self, ask: EngineRequest) -> bytes:
        """One request; whatever is no whole answer is an error."""
        if next(self._turns, None) is None:
            raise BadAnswer(f"the budget of {self.search.budget} requests is used up (search.budget)")
        if self._asked:
            await self.sleep(self.chosen.pause)
        self._asked = True
        got = await self._in_time(ask)
        if not isinstance(got, Response):
            raise BadAnswer(f"{self.chosen.name} could not be asked: {got.detail or got.reason} ({got.reason})")
        if got.status != 200:
            raise BadAnswer(f"{self.chosen.name} {_refusal(self.chosen, got)}")
        if got.truncated:
            raise BadAnswer(f"{self.chosen.name} did not send its whole answer ({got.truncated})")
        return got.body

    async def _in_time(self, ask: EngineRequest) -> FetchResult:
        """One request within what is left of the time for all."""
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(self._left):
                return await self.ask(self.chosen, ask)
        except TimeoutError:
            seconds = f"{self.search.deadline:g} s for all its answers"
            raise BadAnswer(f"{self.chosen.name} is too slow: {seconds} are over (search.deadline)") from None
        finally:
            self._left = max(0.0, self._left - (clock() - began))


def _refusal(chosen: EngineAddress, got: Response) -> str:
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
