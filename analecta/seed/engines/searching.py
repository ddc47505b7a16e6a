"""All queries at all engines: engines side by side, each one question at a time; the lists are made one by rank.

Reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009): a page is worth the sum of 1 / (60 + its rank) over the
lists that hold it. It needs no scores, which engines do not give or do not mean alike.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from analecta.errors import BadUse, Environment
from analecta.seed.engines.asking import AskWeb, Budget, SearchEngine, Sleep, Trouble, WebEngine
from analecta.seed.engines.choosing import Chosen
from analecta.seed.engines.engine import Hit
from analecta.seed.engines.kept import Cache
from analecta.seed.engines.phrases import tidy
from analecta.urls import canonical

RANK = 60  # the constant of the fusion, from the paper


class Found(msgspec.Struct, frozen=True):
    """The hits of each query, best first; which engines were left out and why; how many requests were made."""

    hits: dict[str, tuple[Hit, ...]]
    troubles: tuple[Trouble, ...] = ()
    requests: int = 0


async def search(
    queries: Sequence[str],
    engines: Sequence[Chosen],
    ask: AskWeb,
    *,
    results: int = 10,
    budget: int = 200,
    cache: Path | None = None,
    others: Mapping[str, SearchEngine] | None = None,
    now: Callable[[], float] = time.time,
    sleep: Sleep = asyncio.sleep,
) -> Found:
    """Ask all engines all queries. `others` are engines that are no web service, such as the library's own index."""
    sent = {query: tidy(query) for query in queries}
    if not all(words.strip('" ') for words in sent.values()):
        raise BadUse("a query without words cannot be searched")
    purse, answers = Budget(budget), Cache(cache, now) if cache else None
    asked: dict[str, SearchEngine] = {one.name: WebEngine(one, ask, purse, answers, sleep) for one in engines}
    asked |= others or {}
    told = dict.fromkeys(sent.values())
    lists = await asyncio.gather(*(_one(engine, list(told), results) for engine in asked.values()))
    troubles = [trouble for _, trouble in lists if trouble]
    hits = {
        query: fuse([found[words] for found, _ in lists if words in found], results) for query, words in sent.items()
    }
    if troubles and len(troubles) == len(asked) and not any(hits.values()):
        raise Environment("nothing could be searched: " + "; ".join(trouble.why for trouble in troubles))
    return Found(hits, tuple(troubles), purse.spent)


async def _one(engine: SearchEngine, queries: list[str], wanted: int) -> tuple[dict[str, list[Hit]], Trouble | None]:
    """What one engine finds; of its troubles the first."""
    found: dict[str, list[Hit]] = {}
    trouble: Trouble | None = None
    for query in queries:
        hits = await engine(query, wanted)
        if isinstance(hits, Trouble):
            trouble = trouble or hits
        else:
            found[query] = hits
    return found, trouble


def fuse(lists: Sequence[Sequence[Hit]], most: int) -> tuple[Hit, ...]:
    """The lists as one, best first, each page once under its canonical URL; what cannot be crawled is left out."""
    worth: dict[int, float] = {}
    best: dict[int, Hit] = {}
    for hits in lists:
        pages: dict[int, tuple[str, Hit]] = {}
        for hit in hits:
            if target := canonical(hit.url):
                pages.setdefault(target.id, (target.url, hit))
        for rank, (page, (url, hit)) in enumerate(pages.items(), 1):
            worth[page] = worth.get(page, 0.0) + 1 / (RANK + rank)
            known = best.get(page, Hit(url))
            best[page] = Hit(known.url, known.title or hit.title, known.text or hit.text)
    order = sorted(worth, key=lambda page: -worth[page])  # stable: at a tie, the engine that is named first
    return tuple(best[page] for page in order[:most])
