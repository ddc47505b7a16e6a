"""Puts search engines and the HTTP client together: queries in, pages out.

The only way out is `fetch.http` with its guard, as for a crawl. Each engine has a client of its own: its key goes
nowhere else, and loopback may be dialled only by an engine whose URL a person put there.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from analecta.errors import BadUse
from analecta.fetch.client import by_number, client_for
from analecta.fetch.guard import Guard
from analecta.fetch.http import Http
from analecta.model import Fetched, NoAnswer, Request
from analecta.settings.schema import FetchSettings, SearchSettings
from analecta.sources.engines.choice import LIBRARY, Chosen, choose
from analecta.sources.engines.engine import Ask
from analecta.sources.engines.library import open_library
from analecta.sources.engines.search import Phrases, find
from analecta.sources.engines.session import Session
from analecta.sources.result import Reading
from analecta.urls import canonical, on_this_machine, origin

T = TypeVar("T")


def find_examples(
    reading: Reading,
    engines: Mapping[str, str],
    queries: Sequence[str] = (),
    phrases: Mapping[str, Phrases] = {},
    *,
    backlinks: int = 0,
    contact: str = "",
    search: SearchSettings = SearchSettings(),
    cache: Path | None = None,
    fetch: FetchSettings = FetchSettings(),
) -> tuple[Reading, list[str]]:
    """Examples for topics that have none, and for `queries` as topics of their own; what is to tell, in sentences.

    `phrases`: exact phrases of a topic that has many, as a paper has (P2): a page that more of them find comes first.
    `backlinks`: so many pages that link to each of a topic's first examples become pages to begin at (P6).
    `engines`: their URLs by name, "" where an engine is in its usual place; the path of a library.
    """
    if not (reading.queries or queries or phrases or (backlinks and reading.topics)):
        return reading, []
    urls = search.url | {name: url for name, url in engines.items() if url}

    async def ask(session: Session) -> tuple[Reading, list[str]]:
        found, told = await find(session, reading, queries, phrases, backlinks)
        return found, told + left_out(session.left_out)

    asked: dict[str, Any] = {"results": search.results, "budget": search.budget, "cache": cache}
    asked |= {"deadline": search.deadline, "refusal": partial(private, fetch=fetch)}
    return in_session(ask, list(engines), urls, Clients(contact, fetch), search.pause, os.environ, **asked)


def in_session(
    use: Callable[[Session], Awaitable[T]],
    engines: Sequence[str],
    urls: Mapping[str, str],
    clients: "Clients",
    pause: float | None,
    environ: Mapping[str, str],
    **asked: Any,
) -> T:
    """What `use` makes of a session with these engines (`asked` is its budget and so on); all is closed after it.

    `pause` is 1 s, or none for an engine on this machine, unless it is given.
    """
    chosen = choose(engines, urls, environ, pause)
    for one in chosen:
        clients.check(one)

    async def run() -> T:
        async with contextlib.aclosing(clients):
            return await use(Session(chosen, clients.ask, now=time.time, **asked))

    if LIBRARY not in engines:
        return asyncio.run(run())
    if not urls.get(LIBRARY):
        raise BadUse("which library is to be asked? Say --engine library=PATH, or set library = PATH in [search.url]")
    with open_library(Path(urls[LIBRARY]).expanduser()) as library:
        asked["others"] = {LIBRARY: library}
        return asyncio.run(run())


def private(url: str, fetch: FetchSettings) -> str | None:
    """Why a page that others named is not taken up: it is in a private network, which `fetch.allow` does not name."""
    target = canonical(url)
    return Guard(fetch.allow).host_refusal(target.host) if target and not fetch.connect_to else None


def left_out(refused: Mapping[str, str]) -> list[str]:
    """What is to tell of pages that were not taken up."""
    if not refused:
        return []
    url, why = next(iter(refused.items()))
    return [f"left out: {len(refused)} found at private addresses, such as {url[:200]} ({why})"]


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where answers of search engines are kept for a week, as other programs keep such things."""
    return Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "analecta" / "search"


class Clients:
    """The HTTP clients of the engines, made when they are needed."""

    def __init__(self, contact: str, fetch: FetchSettings) -> None:
        self.contact, self.fetch = contact, fetch
        self._origins: set[str] = set()  # where a person said that engines are
        self._clients: dict[tuple[str, tuple[tuple[str, str], ...], bool], Http] = {}

    def check(self, chosen: Chosen) -> None:
        """Who asks the open internet must say who they are, as for a crawl; from then on its place is known."""
        self._origins.add(origin(chosen.url))
        if not self._named(chosen.url):
            raise BadUse(
                f"who asks {chosen.name} on the open internet must say who they are: "
                "set contact in analecta.toml; `analecta new` takes --contact you@example.org (or a URL)"
            )

    def _named(self, url: str) -> bool:
        return bool(self.contact) or on_this_machine(url) or on_this_machine(f"http://{self._fixed()}/")

    def _fixed(self) -> str:
        return self.fetch.connect_to.rpartition("//")[2].rstrip("/")

    async def ask(self, chosen: Chosen, ask: Ask) -> Fetched:
        """Make one request for an engine."""
        if not self._named(ask.url):  # a description on this machine that sends us elsewhere
            return NoAnswer(ask.url, "guard", "it leads to the open internet, and no contact is set", refused=True)
        # A description may name any place: one that nobody else named must be public.
        local = on_this_machine(ask.url) and origin(ask.url) in self._origins
        mine = (chosen.name, ask.headers, local)
        if mine not in self._clients:
            self._clients[mine] = self._client(ask, local)
        return await self._clients[mine](Request(by_number(ask.url), ""))

    def _client(self, ask: Ask, local: bool) -> Http:
        client = client_for(self.fetch, self.contact, local)
        ours = {name.lower() for name, _ in ask.headers}  # an Accept of the engine's takes the place of the usual one
        kept = [field for field in client.fields if field.partition(":")[0].lower() not in ours]
        client.fields = [*kept, *(f"{name}: {value}" for name, value in ask.headers)]
        return client

    async def aclose(self) -> None:
        """Close all of them."""
        for client in self._clients.values():
            await client.close()
