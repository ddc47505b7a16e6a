"""What a snapshot tells of URLs: the path to a seed, and the URL that stands for another."""

import pytest

from analecta.model import FoundBy, UrlState
from analecta.store.snapshot import Snapshot
from tests.making import candidate, shard_at, target

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
    real = snapshot._urls.get
    monkeypatch.setattr(snapshot._urls, "get", lambda id: asked.append(id) or real(id))
    assert snapshot.first_address(last).id == IDS[3]
    assert asked == [IDS[4], IDS[3]]
    assert [step.id for step in snapshot.path(last)] == IDS[::-1]


def test_the_urls_that_were_asked_for_last_are_remembered(shard):
    lookup = Snapshot([shard.db])._urls
    lookup.remember = 2
    for i in (0, 1, 0, 2):
        lookup.get(IDS[i])
    assert list(lookup._rows) == [IDS[0], IDS[2]]
