"""A library asked as a search engine is: shown pages by words, and the pages that link to a page by its link table.

Nothing goes over the network. The words are indexed when the first question comes, for as long as the library is open.
"""

import contextlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from analecta.analyse.word_search import InLinks, WordSearch, snippet
from analecta.arrays import Floats, Ints
from analecta.errors import UsageError
from analecta.sources.engines.engine import EngineHit
from analecta.store.library import LibraryFolder
from analecta.store.snapshot import Snapshot
from analecta.urls import canonical

MOST = 200_000  # pages that are indexed, the newest: about 10 kB of memory each
_ADDRESSES = 100  # of one page; links to any of them count as links to it


@contextlib.contextmanager
def open_library(place: str) -> Iterator["LibrarySearch"]:
    """A library to ask, by its path; UsageError where there is none, or nothing in it."""
    if not place:
        raise UsageError(
            "which library is to be asked? Say --engine library=PATH, or set library = PATH in [search.url]"
        )
    folder = Path(place).expanduser()
    with LibraryFolder(folder).snapshot() as snapshot:
        if next(snapshot.shown_ids(), None) is None:
            raise UsageError(f"the library {folder} holds no pages yet: crawl it first, or ask another engine")
        yield LibrarySearch(snapshot)


class LibrarySearch:
    """One library, open; it is asked as web engines are (`SearchEngine`)."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    async def __call__(self, query: str, wanted: int) -> list[EngineHit]:
        """The best pages for a query."""
        places, words = self._index
        found = (self.snapshot.page_at(places[page]) for page, _ in words.find(query, wanted).best)
        return [EngineHit(url, title, snippet(text, query)) for title, text, url in found]

    async def offers_backlinks(self) -> bool:
        """It does."""
        return True

    async def backlinks(self, page: EngineHit, wanted: int) -> list[EngineHit]:
        """The pages that link to a page, those on a topic first."""
        target = canonical(page.url)
        if target is None:
            return []
        ids, sure, links = self._linking
        here = self._addresses(target.id)
        found = [n for n in links.of(here) if ids[n] not in here]
        found.sort(key=lambda n: -sure[n])
        urls = (self.snapshot.address(int(ids[n])) for n in found[:wanted])
        return [EngineHit(url) for url in urls if url]

    @cached_property
    def _index(self) -> tuple[list[tuple[int, int]], WordSearch]:
        """Where each page is (shard and row), and the index of their words."""
        places: list[tuple[int, int]] = []

        def pages() -> Iterator[tuple[str, str]]:
            for place, title, text in self.snapshot.shown_texts(MOST):
                places.append(place)
                yield title, text

        return places, WordSearch(pages(), lambda page: " ".join(self.snapshot.page_at(places[page])[:2]))

    @cached_property
    def _linking(self) -> tuple[Ints, Floats, InLinks]:
        """The ids of pages with links, how surely each is on a topic, and their links turned round."""
        ids: list[int] = []
        sure: list[float] = []

        def links() -> Iterator[Ints]:
            for id, targets, confidence in self.snapshot.shown_links():
                ids.append(id)
                sure.append(confidence)
                yield targets

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
        for id, to in self.snapshot.all_aliases():
            found.setdefault(to, []).append(id)
        return found
