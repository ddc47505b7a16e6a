"""Keeping pages: documents that are read late."""

import contextlib

import pytest
from making import FREE, candidate, page_row, pushed, target

from analecta.crawl.ingest import Ingest
from analecta.crawl.late_documents import LateDocument
from analecta.crawl.page_judge import PageJudge
from analecta.frontier.frontier import Frontier
from analecta.frontier.policy import Focus, Policy, best_first
from analecta.model import Page, Tally, UrlState
from analecta.store.partition import UNREAD
from analecta.store.recovery import Partition

TEXT = "a document about the ways in which rivers change their beds over the years " * 9


@pytest.fixture
def partition(tmp_path):
    with contextlib.closing(Partition(tmp_path / "p00.db", tmp_path, "p00")) as made:
        yield made


def late_documents(partition, urls):
    """Documents that were kept unread, and are read now."""
    pushed(Frontier(partition, FREE), *(candidate(url) for url in urls))
    seqs = [partition.add_page(page_row(target(url).id, flags=UNREAD, simhash=0), UrlState.DONE, 0, 0) for url in urls]
    for seq, url in zip(seqs, urls, strict=True):
        at = target(url)
        (lease,) = partition.leases_of([at.id])
        yield LateDocument(seq, lease, Page(url, at.id, at.host, "application/pdf", title="Rivers", text=TEXT))


def test_a_document_that_is_read_late_is_compared_with_other_pages(partition):
    tally = Tally()
    judge = PageJudge(partition, Focus(Policy(best_first)), ["t"], 10, False, None)
    first, second = Ingest(partition, judge, tally).keep_late(
        [*late_documents(partition, ["http://a.test/1.pdf", "http://b.test/2.pdf"])]
    )
    assert (first.twin, second.twin) == (0, first.lease.id)
    assert (first.counts, second.counts) == (True, False)
    assert tally.elsewhere == 1
    rows = partition.db.execute(
        "SELECT u.state, u.elsewhere, p.duplicate_of, p.flags FROM urls u JOIN pages p USING (id)"
    )
    assert rows.fetchall() == [
        (UrlState.DONE, None, None, 0),
        (UrlState.ALIAS, first.lease.id, first.lease.id, 0),
    ]


def test_a_document_that_is_to_be_fetched_again_stays_queued_though_it_is_a_copy(partition):
    judge = PageJudge(partition, Focus(Policy(best_first)), ["t"], 10, False, None)
    documents = [*late_documents(partition, ["http://a.test/1.pdf", "http://b.test/2.pdf"])]
    partition.ask_again(before=99.0)
    Ingest(partition, judge, Tally()).keep_late(documents)
    assert partition.db.execute("SELECT state FROM urls").fetchall() == [(UrlState.QUEUED,)] * 2
