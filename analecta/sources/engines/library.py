"""A library asked as a search engine is: pages by words, and the pages that link to a page, from its own link table.

Nothing goes over the network. The words are indexed when the first question comes, for as long as the library is open.
"""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analecta.analyse.word_search import InLinks, WordSearch, snippet
from analecta.errors import BadUse
from analecta.sources.engines.engine import Hit
from analecta.store.library import Library
from analecta.store.partition import SOFT404
from analecta.store.schema import unpack_text
from analecta.store.url_lookup import Known
from analecta.urls import canonical

MOST = 200_000  # pages that are indexed, the newest: about 10 kB of memory each
_ADDRESSES = 100  # of one page; links to any of them count as links to it

# The page that stands for its URL now: no older version of it, no duplicate, no page that only says "not found".
_NOW = f"""FROM pages p JOIN urls u ON u.id = p.id AND u.page = p.seq
  WHERE p.status = 200 AND p.duplicate_of IS NULL AND p.flags & {SOFT404} = 0"""
_TEXTS = f"SELECT p.seq, p.title, p.text {_NOW} AND p.text IS NOT NULL ORDER BY p.seq DESC LIMIT ?"
_ONE = "SELECT p.title, p.text, u.url FROM pages p JOIN urls u ON u.id = p.id WHERE p.seq = ?"
_LINKS = f"SELECT p.id, p.links, CASE WHEN p.topic < 0 THEN -1 ELSE p.confidence END {_NOW} AND p.links IS NOT NULL"


@contextlib.contextmanager
def open_library(folder: Path) -> Iterator["LibrarySearch"]:
    """A library to ask; BadUse where there is none, or nothing in it."""
    with Library(folder).shards() as shards:
        if not any(shard.execute(f"SELECT 1 {_NOW} LIMIT 1").fetchone() for shard in shards):
            raise BadUse(f"the library {folder} holds no pages yet: crawl it first, or ask another engine")
        yield LibrarySearch(shards)


class LibrarySearch:
    """One library, open; what it finds is what web engines find (`SearchEngine`, `LinkSource`)."""

    def __init__(self, shards: Sequence[sqlite3.Connection], most: int = MOST) -> None:
        self.shards, self.most = shards, most
        self._known = Known(shards)

    async def __call__(self, query: str, wanted: int) -> list[Hit]:
        """The best pages for a query."""
        places, words = self._index
        return [self._hit(places[page], query) for page, _ in words.find(query, wanted).best]

    async def offers_backlinks(self) -> bool:
        """It does."""
        return True

    async def backlinks(self, page: Hit, wanted: int) -> list[Hit]:
        """The pages that link to a page, those on a topic first."""
        target = canonical(page.url)
        if target is None:
            return []
        ids, sure, links = self._linking
        here = self._addresses(target.id)
        found = [n for n in links.of(here) if ids[n] not in here]
        found.sort(key=lambda n: -sure[n])
        urls = (self._known.url(int(ids[n])) for n in found[:wanted])
        return [Hit(url) for url in urls if url]

    @cached_property
    def _index(self) -> tuple[list[tuple[int, int]], WordSearch]:
        """Where each page is (shard and row), and the index of their words."""
        places: list[tuple[int, int]] = []

        def pages() -> Iterator[tuple[str, str]]:
            for n, shard in enumerate(self.shards):
                for seq, title, text in shard.execute(_TEXTS, (self.most // len(self.shards),)):
                    places.append((n, seq))
                    yield title or "", unpack_text(text)

        return places, WordSearch(pages(), lambda page: " ".join(self._page(places[page])[:2]))

    @cached_property
    def _linking(self) -> tuple[NDArray[np.int64], NDArray[np.float64], InLinks]:
        """The ids of pages with links, how surely each is on a topic, and their links turned round."""
        ids: list[int] = []
        sure: list[float] = []

        def links() -> Iterator[NDArray[np.int64]]:
            for shard in self.shards:
                for id, packed, confidence in shard.execute(_LINKS):
                    ids.append(id)
                    sure.append(confidence or 0.0)
                    yield np.frombuffer(packed, np.int64)

        table = InLinks(links())
        return np.array(ids, np.int64), np.array(sure), table

    def _addresses(self, id: int) -> list[int]:
        """A page's own id and those of redirects and duplicates that lead to it."""
        ids = [id]
        for one in ids:  # grows while it is walked: a redirect may lead to another
            if len(ids) < _ADDRESSES:
                ids += [other for other in self._leading.get(one, ()) if other not in ids]
        return ids

    @cached_property
    def _leading(self) -> dict[int, list[int]]:
        """The redirects and duplicates of pages."""
        found: dict[int, list[int]] = {}
        for shard in self.shards:
            for id, to in shard.execute("SELECT id, elsewhere FROM urls WHERE elsewhere IS NOT NULL"):
                found.setdefault(to, []).append(id)
        return found

    def _page(self, place: tuple[int, int]) -> tuple[str, str, str]:
        shard, seq = place
        title, text, url = self.shards[shard].execute(_ONE, (seq,)).fetchone()
        return title or "", unpack_text(text), url

    def _hit(self, place: tuple[int, int], query: str) -> Hit:
        title, text, url = self._page(place)
        return Hit(url, title, snippet(text, query))
