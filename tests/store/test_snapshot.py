"""What a snapshot tells of URLs: the path to a seed, and the URL that stands for another."""

import pytest

from analecta.model import FoundBy, UrlState
from analecta.store.snapshot import Snapshot
from tests.making import candidate, page_row, shard_at, target

URLS = [f"http://h.test/{i}" for i in range(6)]
IDS = [target(url).id for url in URLS]


@pytest.fixture
def shard():
    """Each URL was found on the one before, the last two by redirects."""
    with shard_at() as shard:
        for i, url in enumerate(URLS):
            found = FoundBy.REDIRECT if i > 3 else FoundBy.LINK
            one = candidate(url, parent=IDS[i - 1] if i else 0, found_by=found)
            shard.add([(i + 1, one, UrlState.QUEUED, False, "")])
        yield shard


def test_the_first_address_is_found_without_the_rest_of_the_path(shard, monkeypatch):
    snapshot, asked = Snapshot([shard.db]), []
    last = snapshot.url(IDS[5])
    real = snapshot.url
    monkeypatch.setattr(snapshot, "url", lambda id: asked.append(id) or real(id))
    assert snapshot.first_address(last).id == IDS[3]
    assert asked == [IDS[4], IDS[3]]
    assert [step.id for step in snapshot.path(last)] == IDS[::-1]


def test_the_urls_that_were_asked_for_last_are_remembered(shard):
    snapshot, asked = Snapshot([shard.db], remember=2), []
    shard.db.set_trace_callback(asked.append)
    for i in (0, 1, 0, 2, 0):
        snapshot.url(IDS[i])
    assert len(asked) == 3, "the first is not looked up again"


def leads(shard, ways, state=UrlState.ALIAS):
    for i, to in ways.items():
        shard.settle(IDS[i], state, "http-301", elsewhere=IDS[to])


def resolved(shard, i):
    return [IDS.index(step.id) for step in Snapshot([shard.db]).resolve(IDS[i])]


@pytest.mark.parametrize("state", [UrlState.ALIAS, UrlState.QUEUED])
def test_a_url_is_followed_to_the_one_that_stands_for_it_however_it_stands(shard, state):
    leads(shard, {0: 1, 1: 2}, state)
    assert [resolved(shard, i) for i in range(3)] == [[0, 1, 2], [1, 2], [2]]
    assert Snapshot([shard.db]).resolve(1) == []


def test_a_ring_ends_before_it_begins_again(shard):
    leads(shard, {0: 1, 1: 2, 2: 1, 3: 3})
    assert [resolved(shard, i) for i in range(4)] == [[0, 1, 2], [1, 2], [2, 1], [3]]


def test_a_ring_ends_at_the_first_url_that_has_a_page_of_its_own(shard):
    shard.add_page(page_row(IDS[1], duplicate_of=IDS[2]), UrlState.ALIAS, IDS[2], 0)
    shard.add_page(page_row(IDS[2], title="two"), UrlState.DONE, 0, 0)
    leads(shard, {0: 1, 2: 3, 3: 1})
    assert [resolved(shard, i) for i in range(4)] == [[0, 1, 2], [1, 2], [2], [3, 1, 2]]
    assert Snapshot([shard.db]).find_page(URLS[3]).title == "two"
