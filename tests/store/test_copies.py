"""Copies of pages in other partitions: each partition is written in one transaction."""

import contextlib

import pytest

from analecta.crawl.processes import duplicates
from analecta.crawl.processes.duplicates import settle_twins
from analecta.model import UrlState
from analecta.store.library import LibraryFolder
from analecta.store.partition import UNREAD
from tests.making import candidate, page_row, shard_at, target

URLS = ["http://a.test/1", "http://b.test/1", "http://b.test/2"]  # the first page, and two copies of it


@pytest.fixture
def library(tmp_path):
    made = LibraryFolder.create(tmp_path / "lib", "")
    made.make_shards(2)
    for n, urls in enumerate((URLS[:1], URLS[1:])):
        with shard_at(made.shard_path(n)) as shard:
            shard.add((i, candidate(url), UrlState.QUEUED, False, "") for i, url in enumerate(urls, 1))
            for url in urls:
                row = page_row(target(url).id, kept_at=float(n + 1), body=7, simhash=0)
                shard.add_page(row, UrlState.DONE, 0, 0)
            shard.commit()
    return made


def found(library):
    """Of each page of the second partition: which one it is a copy of, and the state of its URL."""
    query = "SELECT p.duplicate_of, u.state FROM pages p JOIN urls u ON u.id = p.id ORDER BY p.seq"
    with library.shards() as shards:
        return shards[1].execute(query).fetchall()


def test_copies_in_other_partitions_point_to_the_first_page(library):
    assert settle_twins(library) == 2
    assert found(library) == [(target(URLS[0]).id, UrlState.ALIAS)] * 2
    assert settle_twins(library) == 0


@pytest.mark.parametrize("name", ["point_copy", "note_compared"])
def test_what_is_stopped_between_two_copies_leaves_no_url_done_whose_page_is_a_copy(library, monkeypatch, name):
    real, calls = getattr(duplicates, name), []

    def stopped(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(duplicates, name, stopped)
        settle_twins(library)
    assert len(calls) == 2
    assert found(library) == [(None, UrlState.DONE)] * 2
    settle_twins(library)
    assert found(library) == [(target(URLS[0]).id, UrlState.ALIAS)] * 2


def test_a_document_that_is_read_in_a_later_run_is_compared_with_other_partitions(library):
    late = target("http://b.test/3.pdf").id
    with shard_at(library.shard_path(0)) as shard:
        shard.db.execute("UPDATE pages SET simhash = 99")
        shard.commit()
    with shard_at(library.shard_path(1)) as shard:
        shard.add([(3, candidate("http://b.test/3.pdf"), UrlState.QUEUED, False, "")])
        seq = shard.add_page(page_row(late, kept_at=3.0, body=8, simhash=0, flags=UNREAD), UrlState.DONE, 0, 0)
        shard.commit()
    settle_twins(library)
    assert found(library)[2] == (None, UrlState.DONE)
    with shard_at(library.shard_path(1)) as shard:
        shard.set_read(seq, {"simhash": 99}, 0)
        shard.commit()
    assert settle_twins(library) == 1
    assert found(library)[2] == (target(URLS[0]).id, UrlState.ALIAS)
    assert settle_twins(library) == 0


def test_an_unread_document_that_is_a_copy_is_read_where_the_other_stands(library):
    with shard_at(library.shard_path(1)) as shard:
        shard.db.execute("UPDATE pages SET flags = ?, limits = 'waits to be read'", (UNREAD,))
        shard.commit()
    assert settle_twins(library) == 2
    with shard_at(library.shard_path(1)) as shard:
        assert shard.unread() == []
        assert shard.db.execute("SELECT flags, limits FROM pages").fetchall() == [(0, None)] * 2
