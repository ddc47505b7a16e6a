"""How the parts of a partition are put together."""

import contextlib

import pytest

from analecta.crawl import build
from analecta.crawl.build import address_limits, manners
from analecta.settings.schema import FetchSettings
from analecta.store.recovery import Partition
from tests.crawls.alone import crawl_alone
from tests.crawls.driver import make_library
from tests.crawls.site import site


@pytest.mark.parametrize(
    ("per_domain", "partitions", "shares"),
    [(5, 1, [5]), (5, 2, [3, 2]), (4, 2, [2, 2]), (2, 4, [1, 1, 1, 1]), (0, 2, [0, 0])],
)
def test_b16_what_may_be_under_way_to_a_domain_is_shared_out(per_domain, partitions, shares):
    asked = FetchSettings(per_domain=per_domain)
    assert [manners(asked, me, partitions).per_domain for me in range(partitions)] == shares


@pytest.mark.parametrize(
    ("fetch", "partitions", "shares"),
    [
        ({}, 1, [(8, 0.25)]),
        ({}, 3, [(3, 0.75), (3, 0.75), (2, 0.75)]),
        ({"per_address": 1}, 2, [(1, 0.5), (1, 0.5)]),
        ({"per_address": 0, "address_delay": 0.0}, 1, [None]),
        ({"connect_to": "127.0.0.1:8000"}, 2, [None, None]),
    ],
)
def test_f69_what_may_be_asked_of_an_address_is_shared_out_and_not_limited_with_connect_to(fetch, partitions, shares):
    limits = [address_limits(FetchSettings(**fetch), None, me, partitions) for me in range(partitions)]
    assert [limit and (limit.most, limit.gap) for limit in limits] == shares


def test_what_was_fetched_since_the_crawl_began_is_not_asked_for_again_by_a_partition_that_is_started_again(tmp_path):
    with site({}, {"a.test/": ("/0",), "a.test/0": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, crawl={"refresh": 0.0})
        library.begin_run({})
        for _ in range(2):
            crawl_alone(library, lambda _: None)
        assert server.paths().count("/0") == 1
        library.begin_run({})
        crawl_alone(library, lambda _: None)
    assert server.paths().count("/0") == 2


@pytest.mark.parametrize("part", ["frontier_of", "http_client", "Robots", "Fetcher", "Engine"])
def test_a_partition_whose_parts_cannot_be_made_lets_go_of_what_it_has_opened(tmp_path, monkeypatch, part):
    def broken(*_, **__):
        raise OSError("no more files")

    closed = []
    library = make_library(tmp_path / "lib", ["http://a.test/"])
    monkeypatch.setattr(build.Parser, "close", lambda self: closed.append(self))
    monkeypatch.setattr(build, part, broken)
    with pytest.raises(OSError, match="no more files"):
        crawl_alone(library, lambda _: None)
    with contextlib.closing(Partition(library.shard_path(0), library.archive)):
        assert len(closed) == 1
