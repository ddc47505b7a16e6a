"""Keeping pages, and documents that are read late."""

import contextlib

import pytest
from making import FREE, answer, candidate, page_row, pushed, target

from analecta.crawl.ingest import Ingest
from analecta.crawl.late_documents import LateDocument
from analecta.crawl.outcomes import Settled
from analecta.crawl.page_judge import PageJudge
from analecta.crawl.requests import Fetch
from analecta.frontier.frontier import Frontier
from analecta.frontier.policy import Focus, Policy, best_first
from analecta.model import Page, Tally, UrlState
from analecta.parse import UNREAD as TO_READ
from analecta.store.archive import RecordPlace, read_answer
from analecta.store.partition import SOFT404, UNREAD
from analecta.store.recovery import Partition

PDF = "application/pdf"
TEXT = "a document about the ways in which rivers change their beds over the years " * 9


@pytest.fixture
def partition(tmp_path):
    with contextlib.closing(Partition(tmp_path / "p00.db", tmp_path)) as made:
        yield made


@pytest.fixture
def ingest(partition):
    judge = PageJudge(partition, Focus(Policy(best_first)), ["t"], 10, False, None)
    return Ingest(partition, judge, Tally())


def fetched(partition, url, body=b"%PDF-1", text=TEXT, **more):
    """A page that was fetched just now."""
    at = target(url)
    if partition.url_of(at.id) is None:
        pushed(Frontier(partition, FREE), candidate(url))
    (lease,) = partition.leases_of([at.id])
    page = Page(url, at.id, at.host, PDF, title="Rivers", text=text, **more)
    return Fetch(lease, result=answer(url, body, headers={}), page=page)


def unread(partition, url, body=b"%PDF-1"):
    """A document that was fetched just now and waits to be read."""
    return fetched(partition, url, body, text="", limits=TO_READ)


def read(kept, text=TEXT):
    """What was kept unread, when it has been read."""
    page = kept.page
    return LateDocument(kept.seq, kept.lease, Page(page.url, page.id, page.host, PDF, title="Rivers", text=text))


def soft404(url, text):
    """What the host of a URL answers for a page that it does not have."""
    at = target(url)
    return Settled(soft_404=[(at.host, Page(url, at.id, at.host, "text/html", title="Rivers", text=text))])


def marks(partition):
    """Flags and topics of all pages."""
    return partition.db.execute("SELECT flags, topic FROM pages ORDER BY seq").fetchall()


def originals(partition):
    """Which page each page is a copy of, and what its URL says of that."""
    query = "SELECT u.url, p.duplicate_of, u.elsewhere FROM pages p JOIN urls u ON u.page = p.seq ORDER BY p.seq"
    return {url: (original, elsewhere) for url, original, elsewhere in partition.db.execute(query)}


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


def test_of_an_unread_document_and_the_same_document_that_was_read_at_once_one_stands(partition, ingest):
    urls = ["http://a.test/1.pdf", "http://b.test/2.pdf", "http://c.test/3.pdf"]
    (late,) = ingest.keep(Settled([unread(partition, urls[0])]))
    ingest.keep(Settled([fetched(partition, urls[1])]))
    ingest.keep_late([read(late)])
    first = target(urls[0]).id
    assert originals(partition) == {urls[0]: (None, None), urls[1]: (first, first)}
    ingest.keep(Settled([fetched(partition, urls[2], b"%PDF-2")]))  # nearly equal to the copy
    assert originals(partition)[urls[2]] == (first, first)


def test_copies_of_an_unread_document_that_is_itself_a_copy_point_to_the_page_that_stands(partition, ingest):
    urls = ["http://a.test/1", "http://b.test/2.pdf", "http://c.test/3.pdf"]
    ingest.keep(Settled([fetched(partition, urls[0], b"<p>the same text")]))
    (late,) = ingest.keep(Settled([unread(partition, urls[1])]))
    ingest.keep(Settled([fetched(partition, urls[2])]))
    ingest.keep_late([read(late)])
    first = target(urls[0]).id
    assert originals(partition) == {urls[0]: (None, None), urls[1]: (first, first), urls[2]: (first, first)}


def test_an_unchanged_document_that_is_fetched_again_and_waits_is_archived_whole(partition, ingest):
    ingest.keep(Settled([fetched(partition, "http://a.test/1.pdf")]))
    ingest.keep(Settled([unread(partition, "http://a.test/1.pdf")]))
    ((flags, *place),) = partition.db.execute("SELECT flags, file, offset, length FROM pages")
    partition.archive.flush()
    found = read_answer(partition.archive.path(place[0]), RecordPlace(*place))
    assert flags == UNREAD
    assert found is not None
    assert found[1] == b"%PDF-1"


def test_a_late_document_that_was_fetched_again_meanwhile_is_left_alone(partition, ingest):
    ingest.keep(Settled([fetched(partition, "http://a.test/1", b"<p>the same text")]))
    (late,) = ingest.keep(Settled([unread(partition, "http://b.test/2.pdf")]))
    ingest.keep(Settled([fetched(partition, "http://b.test/2.pdf", b"%PDF-2", text="now about bees " * 40)]))
    before = originals(partition)
    assert ingest.keep_late([read(late)]) == []
    assert originals(partition) == before
    assert ingest.tally.elsewhere == 0


def test_f25_an_answer_without_words_to_a_probe_is_like_no_page(partition, ingest):
    urls = ["http://a.test/1.pdf", "http://a.test/2.pdf"]
    ingest.keep(Settled([unread(partition, urls[0])]))
    ingest.keep(soft404("http://a.test/", ""))
    ingest.keep(Settled([unread(partition, urls[1], b"%PDF-2")]))
    assert marks(partition) == [(UNREAD, 0)] * 2
    assert partition.hosts.soft404s() == {}


def test_f25_a_fingerprint_of_nothing_in_an_older_library_is_like_no_page(partition):
    first = fetched(partition, "http://a.test/1.pdf", text="")
    partition.db.execute("UPDATE hosts SET soft404 = 0")
    judge = PageJudge(partition, Focus(Policy(best_first)), ["t"], 10, False, None)
    Ingest(partition, judge, Tally()).keep(Settled([first]))
    assert marks(partition) == [(0, 0)]


def test_f25_a_late_document_that_is_what_its_host_answers_for_any_page_is_marked(partition, ingest):
    urls = ["http://a.test/1.pdf", "http://a.test/2.pdf"]
    fake, true = ingest.keep(Settled([unread(partition, url, url.encode()) for url in urls]))
    partition.db.execute("UPDATE pages SET flags = flags | ?, topic = -1", (SOFT404,))  # as older versions did
    ingest.keep(soft404("http://a.test/", TEXT))
    (shown, other) = ingest.keep_late([read(fake), read(true, "about bees and their hives " * 40)])
    assert marks(partition) == [(SOFT404, -1), (0, 0)]
    assert (shown.is_fake, shown.value, other.is_fake) == (True, None, False)


def test_what_has_no_page_shifts_no_other_page_of_its_batch(partition, ingest):
    none, first = fetched(partition, "http://a.test/1"), fetched(partition, "http://b.test/2")
    none.page = None
    (kept,) = ingest.keep(Settled([none, first]))
    assert kept.lease.url == kept.page.url == "http://b.test/2"
