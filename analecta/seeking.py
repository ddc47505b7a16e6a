"""Puts search engines and the HTTP client together: queries in, pages out.

The only way out is `fetch.http` with its guard, as for a crawl. Each engine has a client of its own: its key goes
nowhere else, and loopback may be dialled only by an engine whose URL a person put there.
"""

import asyncio
import contextlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from analecta.errors import BadUse
from analecta.fetch.dns import Resolver
from analecta.fetch.guard import Guard
from analecta.fetch.http import Http
from analecta.fetch.identity import user_agent
from analecta.model import Fetched, NoAnswer, Request
from analecta.seed.combining import merge
from analecta.seed.engines.asking import SearchEngine
from analecta.seed.engines.choosing import Chosen, choose, on_this_machine
from analecta.seed.engines.engine import Ask
from analecta.seed.engines.searching import Found, fuse
from analecta.seed.engines.searching import search as ask_all
from analecta.seed.engines.topics import topic_examples, topic_queries
from analecta.seed.gathering import BELOW
from analecta.seed.reading import Reading
from analecta.settings import FetchSettings, SearchSettings, Topic

_OF_PAPER = 100  # examples of a topic that is a paper, at most
_LOOPBACK = ("127.0.0.0/8", "::1/128")
_LOCALHOST = re.compile(r"(?i)^(https?://)localhost(?=[:/])")  # a name of which name servers do not know


def seek(
    queries: Sequence[str],
    engines: Sequence[str],
    *,
    urls: Mapping[str, str] | None = None,
    results: int = 10,
    budget: int = 200,
    pause: float | None = None,
    contact: str = "",
    cache: Path | None = None,
    fetch: FetchSettings = FetchSettings(),
    others: Mapping[str, SearchEngine] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Found:
    """Ask these engines all queries; `pause` is 1 s, or none for an engine on this machine, unless it is given."""
    chosen = choose(engines, urls or {}, environ, pause)
    clients = Clients(contact, fetch)
    for one in chosen:
        clients.check(one)

    async def run() -> Found:
        async with contextlib.aclosing(clients):
            return await ask_all(
                queries, chosen, clients.ask, results=results, budget=budget, cache=cache, others=others, now=time.time
            )

    return asyncio.run(run())


def find_examples(
    reading: Reading,
    engines: Mapping[str, str],
    queries: Sequence[str] = (),
    phrases: Mapping[str, Sequence[str]] = {},
    *,
    contact: str = "",
    search: SearchSettings = SearchSettings(),
    cache: Path | None = None,
    fetch: FetchSettings = FetchSettings(),
) -> tuple[Reading, list[str]]:
    """Examples for topics that have none, and for `queries` as topics of their own; what went wrong, in sentences.

    `phrases`: queries of a topic that has many, as a paper has (P2): a page that more of them find comes first.
    `engines`: their URLs by name, "" where an engine is in its usual place.
    """
    asked = topic_queries({name: name.split(BELOW) for name in reading.queries}) | {query: query for query in queries}
    if not asked and not phrases:
        return reading, []
    urls = {name: url for name, url in engines.items() if url}
    found = seek(
        list(dict.fromkeys([*asked.values(), *(phrase for some in phrases.values() for phrase in some)])),
        list(engines),
        urls=search.url | urls,
        results=search.results,
        budget=search.budget,
        pause=search.pause,
        contact=contact,
        cache=cache,
        fetch=fetch,
    )
    examples = topic_examples(asked, found.hits, search.results)
    new = [Topic(name, tuple(hit.url for hit in hits)) for name, hits in examples.hits.items() if hits]
    for name, some in phrases.items():
        lists = [found.hits.get(phrase, ()) for phrase in some]
        if hits := fuse(lists, _OF_PAPER):
            new.append(Topic(name, tuple(hit.url for hit in hits)))
    topics, repeated = merge([*reading.topics, *new])
    named = {topic.name for topic in topics}
    left = {name: query for name, query in reading.queries.items() if name not in named}
    whole = msgspec.structs.replace(reading, topics=topics, repeated=reading.repeated + repeated, queries=left)
    return whole, [*(trouble.why for trouble in found.troubles), *examples.few]


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where answers of search engines are kept for a week, as other programs keep such things."""
    return Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "analecta" / "search"


class Clients:
    """The HTTP clients of the engines, made when they are needed."""

    def __init__(self, contact: str, fetch: FetchSettings) -> None:
        self.contact, self.fetch = contact, fetch
        self._clients: dict[tuple[str, tuple[tuple[str, str], ...]], Http] = {}

    def check(self, chosen: Chosen) -> None:
        """Who asks the open internet must say who they are, as for a crawl."""
        if not self._named(chosen.url):
            raise BadUse(
                f"who asks {chosen.name} on the open internet must say who they are: "
                "give --contact you@example.org (or a URL), or set contact in analecta.toml"
            )

    def _named(self, url: str) -> bool:
        return bool(self.contact) or on_this_machine(url) or on_this_machine(f"http://{self._fixed()}/")

    def _fixed(self) -> str:
        return self.fetch.connect_to.rpartition("//")[2].rstrip("/")

    async def ask(self, chosen: Chosen, ask: Ask) -> Fetched:
        """Make one request for an engine."""
        if not self._named(ask.url):  # a description on this machine that sends us elsewhere
            return NoAnswer(ask.url, "guard", "it leads to the open internet, and no contact is set", refused=True)
        mine = (chosen.name, ask.headers)
        if mine not in self._clients:
            self._clients[mine] = self._client(chosen, ask)
        return await self._clients[mine](Request(_LOCALHOST.sub(r"\g<1>127.0.0.1", ask.url), ""))

    def _client(self, chosen: Chosen, ask: Ask) -> Http:
        local, f = on_this_machine(chosen.url), self.fetch
        guard = Guard((*f.allow, *_LOOPBACK) if local else f.allow)
        client = Http(
            user_agent(self.contact),
            self.contact if "@" in self.contact else "",
            resolver=Resolver(guard, f.dns),
            guard=guard,
            connect_to=None if local else f.connect_to or None,
            connect_timeout=f.connect_timeout,
            first_byte_timeout=f.first_byte_timeout,
            deadline=f.deadline,
            max_wire=f.max_wire,
            max_body=f.max_body,
            parallel=1,
        )
        ours = {name.lower() for name, _ in ask.headers}  # an Accept of the engine's takes the place of the usual one
        kept = [field for field in client.fields if field.partition(":")[0].lower() not in ours]
        client.fields = [*kept, *(f"{name}: {value}" for name, value in ask.headers)]
        return client

    async def aclose(self) -> None:
        """Close all of them."""
        for client in self._clients.values():
            await client.close()
