"""Another library as a search engine: its words, its phrases, its link table."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from analecta.model import FoundBy, UrlState
from analecta.settings.schema import SearchSettings, Settings
from analecta.sources.engines.engine import EngineHit
from analecta.sources.engines.examples import find_examples
from analecta.sources.engines.library import open_library
from analecta.sources.result import SourceResult
from analecta.store.library import LibraryFolder
from analecta.store.schema import NOINDEX, pack_text, unpack_text
from analecta.urls import canonical
from tests.making import candidate, page_row, shard_at, target


@pytest.fixture
def asked(grown):
    with open_library(str(grown.folder)) as found:
        yield found


def kept(grown, more=""):
    columns, now = "u.url, p.title, p.text, p.links", "FROM pages p JOIN urls u ON u.id = p.id AND u.page = p.seq"
    with grown.shards() as shards:
        return [row for shard in shards for row in shard.execute(f"SELECT {columns} {now} {more}")]


def test_a_page_is_found_by_words_that_stand_in_it_and_phrases_are_exact(grown, asked):
    url, _, packed, _ = next(row for row in kept(grown, "WHERE p.topic = 0 AND p.duplicate_of IS NULL") if row[2])
    words = " ".join(unpack_text(packed).split()[20:28])
    assert url in [hit.url for hit in asyncio.run(asked(f'"{words}"', 10))]
    assert asyncio.run(asked('"words that nobody ever wrote in this order"', 10)) == []


def test_the_pages_that_link_to_a_page_are_those_of_the_link_table(grown, asked):
    rows = kept(grown, "WHERE p.links IS NOT NULL AND p.duplicate_of IS NULL AND p.status = 200 AND p.flags & 9 = 0")
    target = rows[3][0]
    id = canonical(target).id
    linking = {url for url, *_, links in rows if id in np.frombuffer(links, np.int64).tolist()} - {target}
    assert linking
    assert linking <= {hit.url for hit in asyncio.run(asked.backlinks(EngineHit(target), 1000))}


def test_a_page_that_says_noindex_is_not_found_by_its_words_nor_by_its_links(tmp_path):
    library = LibraryFolder.create(tmp_path / "lib", "")
    library.make_shards(1)
    urls = ["http://a.test/open", "http://a.test/hidden", "http://a.test/both"]
    both = np.array([target(urls[2]).id], np.int64).tobytes()
    with shard_at(library.shard_path(0)) as shard:
        shard.add((n, candidate(url), UrlState.QUEUED, False, "") for n, url in enumerate(urls, 1))
        for url, flags in zip(urls, (0, NOINDEX, 0), strict=True):
            row = page_row(target(url).id, title="Wrens", text=pack_text("wrens sing"), links=both, flags=flags)
            shard.add_page(row, UrlState.DONE, 0, 0)
        shard.commit()
    with open_library(str(library.folder)) as asked:
        assert {hit.url for hit in asyncio.run(asked("wrens", 10))} == {urls[0], urls[2]}
        assert linked(asked, urls[2]) == [urls[0]]


def test_links_to_a_redirect_count_for_the_page_that_it_leads_to(grown, asked):
    with grown.shards() as shards:
        query = f"SELECT elsewhere, id FROM urls WHERE state = {int(UrlState.ALIAS)} AND found != {int(FoundBy.PROBE)}"
        moved = [row for shard in shards for row in shard.execute(query)]
        known = {id: url for shard in shards for id, url in shard.execute("SELECT id, url FROM urls")}
    old = {}
    for to, id in moved:
        old.setdefault(known[to], []).append(known[id])
    through = {to: {url for one in urls for url in linked(asked, one)} - {to, *urls} for to, urls in old.items()}
    assert any(through.values())
    assert all(urls <= set(linked(asked, to)) for to, urls in through.items())


def linked(asked, url):
    return [hit.url for hit in asyncio.run(asked.backlinks(EngineHit(url), 1000))]


def test_a_library_is_asked_without_a_network(grown):
    title = next(row[1] for row in kept(grown, "WHERE p.topic = 0 AND p.text IS NOT NULL"))
    reading, troubles = find_examples(
        SourceResult(()), {"library": str(grown.folder)}, [title], settings=Settings(search=SearchSettings(backlinks=5))
    )
    (found,) = reading.topics
    assert (len(found.seeds), troubles) == (7, [])
    assert 0 < len(found.starts) <= 7


def test_a_library_that_is_none_says_so(tmp_path: Path):
    with pytest.raises(Exception, match="is not a library: there is no such folder"):
        find_examples(SourceResult(()), {"library": str(tmp_path / "none")}, ["bees"])
