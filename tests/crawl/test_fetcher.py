"""Asking for one page after its host's robots.txt."""

import asyncio
from types import SimpleNamespace

import pytest
from making import answer, candidate, lease, pushed, shard_at

from analecta.crawl.fetcher import Fetcher
from analecta.crawl.options import EngineOptions
from analecta.crawl.requests import Fetch, PageRequests, SideRequests
from analecta.fetch.robots import Robots
from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import Politeness
from analecta.model import FoundBy, NoResponse, Request
from analecta.settings.schema import Settings


async def fetch(request):
    """A web in which every page is there."""
    if request.sent is not None:
        request.sent()
    return answer(request.url)


def asked(frontier, load, fetch=fetch):
    """What comes of asking for the best page of a frontier."""
    (lease,) = frontier.pop(1, 0.0)

    clock = lambda: 0.0  # noqa: E731
    robots = Robots(SideRequests(fetch, frontier, clock=clock), "test", now=lambda: 1000.0, load=load)
    requests = PageRequests(fetch, robots, frontier, print, EngineOptions(Settings()), clock)
    return asyncio.run(requests.ask(Fetch(lease)))


def test_l7_a_robots_file_that_is_known_from_before_takes_no_turn():
    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(5.0))
        pushed(frontier, candidate("http://a/"))
        assert asked(frontier, lambda _: (999.0, 404, b"")).url == "http://a/"
        assert not frontier.hosts["a"].turn_given, "no turn is left over"


@pytest.mark.parametrize(
    ("no", "said"),
    [
        (("timeout", "nothing came", False, True), ("robots-unreachable", "timeout: nothing came", True)),
        (("tls-expired", "it ended in May"), ("tls-expired", "as its robots.txt: it ended in May", False)),
        (("no-such-host", ""), ("no-such-host", "as its robots.txt", False)),
    ],
)
def test_f73_why_a_robots_file_could_not_be_had_is_told_of_the_page(no, said):
    async def broken(request):
        return NoResponse(request.url, *no)

    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(5.0))
        pushed(frontier, candidate("http://a/"))
        found = asked(frontier, lambda _: None, broken)
    assert (found.reason, found.detail, found.retry) == said


def test_l7_a_robots_file_that_is_not_takes_the_turn_of_its_page():
    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(5.0))
        pushed(frontier, candidate("http://a/"))
        assert asked(frontier, lambda _: None) == NoResponse("http://a/", "turn", retry=True)


def test_l7_no_turn_is_left_over_where_the_rules_of_a_host_cannot_be_read():
    def broken(_):
        raise OSError("no such row")

    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(5.0))
        pushed(frontier, candidate("http://a/"))
        with pytest.raises(OSError, match="no such row"):
            asked(frontier, broken)
        host = frontier.hosts["a"]
        assert (host.learning, host.turn_given) == (False, 0)


@pytest.mark.parametrize(("reason", "given_up"), [("protocol", ""), ("tls-expired", "1 failures in a row in 0 s")])
def test_f65_a_host_is_given_up_for_what_robots_files_redirect_to_only_for_its_certificate(reason, given_up):
    async def broken(request):
        return NoResponse(request.url, reason)

    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(5.0, strikes=1, patience=600.0))
        asyncio.run(SideRequests(broken, frontier, clock=lambda: 0.0)(Request("http://b/robots.txt", "b")))
        assert frontier.host("b").bad == given_up


# --- large sitemaps --------------------------------------------------------------------------------------------------


async def turns_for(sitemaps, urls):
    """Read so many sitemaps of so many URLs at once: how many pages each turn gave out."""

    async def ask(fetch):
        pages = "".join(f"<url><loc>{fetch.lease.url}/{i}</loc></url>" for i in range(urls))
        return answer(fetch.lease.url, f"<urlset>{pages}</urlset>".encode())

    partition = SimpleNamespace(archive=SimpleNamespace(write=print), unread=list)
    fetcher = Fetcher(None, None, None, SimpleNamespace(lines=None), partition, EngineOptions(Settings()))
    fetcher.requests = SimpleNamespace(ask=ask)
    fetcher.start([lease(f"http://h{n}.test/map.xml", found_by=FoundBy.MAP) for n in range(sitemaps)])
    while len(fetcher._slices) < sitemaps:
        await asyncio.sleep(0.001)  # they are read in threads
    given, ended = [], 0
    while ended < sitemaps:
        given.append(len(fetcher.sitemap_pages()))
        ended += len(await fetcher.batch(5.0))
    return given


def test_f62_several_large_sitemaps_are_read_in_about_as_many_turns_as_one():
    one, several, many = (asyncio.run(turns_for(count, 5000)) for count in (1, 6, 20))
    assert (sum(one), sum(several), sum(many)) == (4500, 6 * 4500, 20 * 4500), "the last 500 come with the sitemap"
    assert len(several) <= len(one) + 3
    assert len(many) <= 3 * len(one) + 5
    assert max(one) == 500
    assert max(many) == 4000, "a turn stays short"
