import asyncio
import contextlib

import pytest
from making import FREE, answer, candidate, page_row, pushed, target

from analecta.crawl.late_documents import LateDocuments
from analecta.frontier.frontier import Frontier
from analecta.model import UrlState
from analecta.parse import Parser
from analecta.store.partition import UNREAD
from analecta.store.recovery import Partition


class Clocks:
    """What the time is, and how much of it this process was at work."""

    now = worked = 0.0

    def go(self, seconds, share):
        self.now += seconds
        self.worked += seconds * share


@pytest.fixture
def clocks():
    return Clocks()


@pytest.fixture
def pile(tmp_path, clocks):
    with contextlib.closing(Partition(tmp_path / "p00.db", tmp_path)) as partition:
        yield LateDocuments(partition, Parser(), 1 << 20, 2, lambda: clocks.now, lambda: clocks.worked)


def turn(pile, clocks, seconds, share):
    clocks.go(seconds, share)
    pile.go_on([], lambda: None)
    return pile.full()


def test_documents_wait_while_pages_keep_the_process_at_work(pile, clocks):
    assert not pile.full()
    assert turn(pile, clocks, 1.0, 0.9)
    assert not turn(pile, clocks, 1.0, 0.1)


def test_a_moment_of_work_tells_nothing(pile, clocks):
    assert not turn(pile, clocks, 0.1, 1.0)
    assert not turn(pile, clocks, 1.0, 0.2)


def test_with_many_under_way_the_next_waits(pile):
    pile.under_way = 2
    assert pile.full()


def test_a_document_on_which_the_reader_breaks_is_not_lost_and_says_why(pile):
    def breaks(*_):
        raise KeyError("no such object")

    async def read():
        done = asyncio.Event()
        pile.go_on([seq], done.set)
        await asyncio.wait_for(done.wait(), 10)

    url, partition = "http://a.test/1.pdf", pile.partition
    pushed(Frontier(partition, FREE), candidate(url))
    place = partition.archive.write(answer(url))
    partition.archive.flush()
    row = page_row(target(url).id, place.file, place.offset, place.length, mime="application/pdf", flags=UNREAD)
    seq = partition.add_page(row, UrlState.DONE, 0, 0)
    pile.parser = breaks
    asyncio.run(read())
    (late,) = pile.taken()
    assert (late.seq, late.page.mime) == (seq, "application/pdf")
    assert late.page.limits == "KeyError: 'no such object'"
