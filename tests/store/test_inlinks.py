import zlib

import pytest

from analecta.model import UrlState
from analecta.store.snapshot import Snapshot
from tests.making import candidate, page_row, shard_at, target

URLS = [f"http://h{i}.test/" for i in range(5)]
IDS = [target(url).id for url in URLS]


def packed(ids) -> bytes:
    return b"".join(id.to_bytes(8, "little", signed=True) for id in ids)


@pytest.fixture
def shard():
    with shard_at() as shard:
        shard.add((i + 1, candidate(url), UrlState.QUEUED, False, "") for i, url in enumerate(URLS))
        yield shard


def keep(shard, i, links, anchors=(), **more):
    texts = zlib.compress("\n".join(anchors).encode()) if anchors else None
    row = page_row(IDS[i], links=packed(links), anchors=texts, title=f"page {i}", **more)
    shard.add_page(row, UrlState.DONE, 0, 0)


def test_pages_that_link_are_told_with_anchor_best_first(shard):
    keep(shard, 1, [IDS[4], IDS[0]], ["other", "weak"], confidence=0.4)
    keep(shard, 2, [IDS[0]], ["strong"], confidence=0.9)
    keep(shard, 3, [IDS[0]], topic=-1, confidence=0.99)
    found = Snapshot([shard.db]).inlinks([IDS[0]], ["roses"])
    assert (found.pages, found.on_topic) == (3, 2)
    assert [(page.url, page.topic, page.anchor) for page in found.best] == [
        (URLS[2], "roses", "strong"), (URLS[1], "roses", "weak"), (URLS[3], "", "")
    ]  # fmt: skip


def test_bytes_across_two_links_are_no_link(shard):
    keep(shard, 1, [0x0807060504030201, 0x100F0E0D0C0B0A09])
    across = int.from_bytes(bytes(range(5, 13)), "little")
    assert Snapshot([shard.db]).inlinks([across], []).pages == 0
    assert Snapshot([shard.db]).inlinks([0x0807060504030201], []).pages == 1


def test_links_to_a_redirect_count_and_those_of_the_page_itself_do_not(shard):
    keep(shard, 0, [IDS[0]])
    keep(shard, 1, [IDS[4]], confidence=0.5)
    found = Snapshot([shard.db]).inlinks([IDS[0], IDS[4]], ["roses"])
    assert [page.url for page in found.best] == [URLS[1]]


def test_only_the_best_are_listed_and_all_counted(shard):
    for i in (1, 2, 3):
        keep(shard, i, [IDS[0]], confidence=i / 10)
    found = Snapshot([shard.db]).inlinks([IDS[0]], ["roses"], most=2)
    assert (found.pages, [page.title for page in found.best]) == (3, ["page 3", "page 2"])
