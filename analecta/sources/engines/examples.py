"""Examples from search engines: queries for topics in, pages out."""

import asyncio
import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path

import msgspec

from analecta.errors import UsageError
from analecta.fetch.client import by_number, http_client, may_ask, require_contact
from analecta.fetch.guard import Guard
from analecta.fetch.http import Http
from analecta.model import BELOW, FetchResult, NoResponse, Request
from analecta.settings.schema import FetchSettings, Settings, Topic
from analecta.settings.topics import merge
from analecta.sources.collector import clean
from analecta.sources.engines.client import LIBRARY, EngineAddress, choose
from analecta.sources.engines.engine import EngineHit, EngineRequest, tidy
from analecta.sources.engines.library import LibrarySearch, open_library
from analecta.sources.engines.session import EngineResult, Session, fuse
from analecta.sources.result import SourceResult
from analecta.urls import canonical, on_this_machine, origin

# --- topics ----------------------------------------------------------------------------------------------------------
# Topics as queries: what a topic tree asks a search engine (S2).


def topic_queries(topics: Iterable[str]) -> dict[str, str]:
    """The query of each leaf: its path of names, most specific first."""
    paths = {topic: tuple(topic.split(BELOW)) for topic in topics}
    inner = {path[:depth] for path in paths.values() for depth in range(1, len(path))}
    return {topic: _query(path) for topic, path in paths.items() if path not in inner}


def _query(path: Sequence[str]) -> str:
    """Each name once; quotes would make a phrase of a name that nobody meant as one."""
    names: dict[str, str] = {}
    for name in reversed(path):
        words = " ".join(name.replace('"', " ").split())
        names.setdefault(words.casefold(), words)
    return " ".join(names.values())


# --- search ----------------------------------------------------------------------------------------------------------
# Pages for topics that have none, from search engines: examples, and pages that link to examples (S2, P2, P6).


FEWEST = 4  # examples that make a centroid
OF_PAPER = 100  # examples of a topic that is a paper, at most
LINKED = 20  # examples of a topic for which back-links are asked, the first


class PaperPhrases(msgspec.Struct, frozen=True):
    """What is asked for a topic that is a paper, or several: exact phrases with their weights.

    `again` are queries for the case that the phrases find too little, the sharpest first.
    """

    exact: dict[str, float]
    again: tuple[str, ...] = ()


async def find(
    session: Session,
    reading: SourceResult,
    queries: Sequence[str] = (),
    phrases: Mapping[str, PaperPhrases] = {},
    backlinks: int = 0,
) -> tuple[SourceResult, list[str]]:
    """The reading with examples for topics that had none, and for `queries` as topics; what is to tell, in sentences.

    `backlinks`: so many pages that link to an example are looked for, as further pages to begin at.
    """
    asked = topic_queries(reading.queries) | {clean(query): query for query in queries}
    if silent := next((name for name, query in asked.items() if not tidy(query).strip('" ')), ""):
        raise UsageError(f"the topic {silent!r} has no words that could be searched: give it another name, or pages")
    exact = [phrase for one in phrases.values() for phrase in one.exact]
    every = list(dict.fromkeys([*asked.values(), *exact]))
    found = session.check(await session.search(every)) if every else EngineResult({})
    told = dict.fromkeys(found.troubles)
    pages = {topic: found.hits[query] for topic, query in asked.items()}
    few = [
        f"{topic}: {len(hits)} of at least {FEWEST} example pages found for {asked[topic]!r}"
        for topic, hits in pages.items()
        if len(hits) < FEWEST
    ]
    for name, wanted in phrases.items():
        pages[name], said = await _paper(session, name, wanted, found)
        told |= dict.fromkeys(said)
    fresh = [Topic(name, tuple(hit.url for hit in hits)) for name, hits in pages.items() if hits]
    topics, repeated = merge([*reading.topics, *fresh])
    if backlinks:
        topics, said = await _with_starts(session, topics, pages.values(), backlinks)
        told |= dict.fromkeys(said)
    named = {topic.name for topic in topics}
    left = {name: query for name, query in reading.queries.items() if name not in named}
    whole = msgspec.structs.replace(reading, topics=topics, repeated=reading.repeated + repeated, queries=left)
    return whole, [*told, *few]


async def _paper(
    session: Session, name: str, wanted: PaperPhrases, found: EngineResult
) -> tuple[tuple[EngineHit, ...], list[str]]:
    """The pages of a paper: a page that more of its phrases find comes first, those of other queries after them."""
    lists = [found.hits.get(phrase, ()) for phrase in wanted.exact]
    hits = fuse(lists, OF_PAPER, list(wanted.exact.values()))
    if len(hits) >= FEWEST or not wanted.again:
        return hits, []
    pages, tried, troubles = {hit.url: hit for hit in hits}, list[str](), list[str]()
    for query in wanted.again:
        more = await session.search([query])
        tried.append(query)
        troubles += more.troubles
        pages |= {hit.url: hit for hit in more.hits[query] if hit.url not in pages}
        if len(pages) >= FEWEST:
            break
    words = " and with ".join(f"{query!r}" for query in tried)
    only = f"only {len(hits)} {'page was' if len(hits) == 1 else 'pages were'} found by exact titles"
    again = f"{name}: {only}; asked again with {words}, which makes it {len(pages)}"
    return tuple(pages.values())[:OF_PAPER], [*troubles, again]


# --- pages that link to examples -------------------------------------------------------------------------------------


async def _with_starts(
    session: Session, topics: Sequence[Topic], pages: Iterable[Sequence[EngineHit]], most: int
) -> tuple[tuple[Topic, ...], list[str]]:
    """The topics with pages to begin at that link to their examples."""
    hits = {hit.url: hit for some in pages for hit in some}
    firsts = [topic.seeds[:LINKED] for topic in topics]
    # The best example of each topic, then the second: the budget may be used up before the last.
    turns = [url for turn in zip_longest(*firsts) for url in turn if url]
    linked = await session.backlinks([hits.get(url, EngineHit(url)) for url in turns], most)
    if linked is None:
        return tuple(topics), [f"which pages link to the examples, {' and '.join(session.engines)} cannot tell"]
    known = {target.id for topic in topics for url in topic.seeds if (target := canonical(url))}
    given = {url: [hit.url for hit in some] for url, some in linked.hits.items()}
    return tuple(_started(topic, given, known) for topic in topics), [*linked.troubles]


def _started(topic: Topic, linked: Mapping[str, Sequence[str]], known: set[int]) -> Topic:
    found = most_linking({url: linked[url] for url in topic.seeds[:LINKED] if url in linked}, known)
    starts = dict.fromkeys([*topic.starts, *found[: len(topic.seeds)]])
    return msgspec.structs.replace(topic, starts=tuple(starts))


def most_linking(linked: Mapping[str, Sequence[str]], known: set[int]) -> list[str]:
    """The pages that link to most examples first; at a tie, those of other hosts than the examples'.

    `linked`: the pages that link to each example. Examples themselves, whose ids are `known`, are none of these.
    """
    counts: dict[str, int] = {}
    abroad: set[str] = set()
    for example, pages in linked.items():
        home = canonical(example)
        for target in {target.id: target for url in pages if (target := canonical(url))}.values():
            if target.id not in known:
                counts[target.url] = counts.get(target.url, 0) + 1
                if home is None or target.host != home.host:
                    abroad.add(target.url)
    return sorted(counts, key=lambda url: (-counts[url], url not in abroad))


# --- Puts search engines and the HTTP client together: queries in, pages out -----------------------------------------
# The only way out is `fetch.http` with its guard, as for a crawl. Each engine has a client of its own: its key goes
# nowhere else, and loopback may be dialled only by an engine whose URL a person put there.


def find_examples(
    reading: SourceResult,
    engines: Mapping[str, str],
    queries: Sequence[str] = (),
    phrases: Mapping[str, PaperPhrases] = {},
    *,
    settings: Settings = Settings(),
    cache: Path | None = None,
) -> tuple[SourceResult, list[str]]:
    """Examples for topics that have none, and for `queries` as topics of their own; what is to tell, in sentences.

    `phrases`: exact phrases of a topic that has many, as a paper has (P2): a page that more of them find comes first.
    `engines`: their URLs by name, "" where an engine is in its usual place; the path of a library.
    """
    search, fetch = settings.search, settings.fetch
    if not (reading.queries or queries or phrases or (search.backlinks and reading.topics)):
        return reading, []
    urls = search.url | {name: url for name, url in engines.items() if url}

    chosen = choose(list(engines), urls, os.environ, search.pause)
    clients = Clients(chosen, settings.contact, fetch)

    async def run(library: LibrarySearch | None) -> tuple[SourceResult, list[str]]:
        others = {LIBRARY: library} if library else {}
        refusal = partial(private, fetch=fetch)
        async with contextlib.aclosing(clients):
            session = Session(chosen, clients.ask, search, cache=cache, others=others, refusal=refusal)
            found, told = await find(session, reading, queries, phrases, search.backlinks)
            return found, told + left_out(session.left_out)

    with open_library(urls.get(LIBRARY, "")) if LIBRARY in engines else contextlib.nullcontext() as library:
        return asyncio.run(run(library))


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


def cache_folder() -> Path:
    """Where answers of search engines are kept for a week, as other programs keep such things."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "analecta" / "search"


class Clients:
    """The HTTP clients of the engines, made when they are needed."""

    def __init__(self, engines: Sequence[EngineAddress], contact: str, fetch: FetchSettings) -> None:
        """An engine that may not be asked without a contact is refused."""
        for one in engines:
            require_contact(one.url, contact, fetch, one.name)
        self.contact, self.fetch = contact, fetch
        self._origins = {origin(one.url) for one in engines}  # where a person said that engines are
        self._clients: dict[tuple[str, tuple[tuple[str, str], ...], bool], Http] = {}

    async def ask(self, chosen: EngineAddress, ask: EngineRequest) -> FetchResult:
        """Make one request for an engine."""
        if not may_ask(ask.url, self.contact, self.fetch):  # a description on this machine that sends us elsewhere
            return NoResponse(ask.url, "guard", "it leads to the open internet, and no contact is set", refused=True)
        # A description may name any place: one that nobody else named must be public.
        local = on_this_machine(ask.url) and origin(ask.url) in self._origins
        mine = (chosen.name, ask.headers, local)
        if mine not in self._clients:
            self._clients[mine] = self._client(ask, local)
        return await self._clients[mine](Request(by_number(ask.url), ""))

    def _client(self, ask: EngineRequest, local: bool) -> Http:
        client = http_client(self.fetch, self.contact, local=local)
        ours = {name.lower() for name, _ in ask.headers}  # an Accept of the engine's takes the place of the usual one
        kept = [field for field in client.fields if field.partition(":")[0].lower() not in ours]
        client.fields = [*kept, *(f"{name}: {value}" for name, value in ask.headers)]
        return client

    async def aclose(self) -> None:
        """Close all of them."""
        for client in self._clients.values():
            await client.close()
