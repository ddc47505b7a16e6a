"""Asking for one page after its host's robots.txt."""

import asyncio

from making import answer, candidate, pushed, shard_at

from analecta.crawl.asking import Asker, Flight
from analecta.fetch.robots import Robots
from analecta.frontier.politeness import Manners
from analecta.frontier.queues import Frontier
from analecta.model import NoAnswer


async def fetch(request):
    """A web in which every page is there."""
    return answer(request.url)


def asked(frontier, load):
    """What comes of asking for the best page of a frontier."""
    (lease,) = frontier.pop(1, 0.0)

    async def hop(request):
        assert frontier.reserve(request.host, 0.0) == 0
        return await fetch(request)

    robots = Robots(hop, "test", now=lambda: 1000.0, load=load)
    asker = Asker(fetch, robots, None, frontier, None, None, None, None)
    return asyncio.run(asker._ask(Flight(lease)))


def test_l7_a_robots_file_that_is_known_from_before_takes_no_turn():
    with shard_at() as shard:
        frontier = Frontier(shard, Manners(5.0))
        pushed(frontier, candidate("http://a/"))
        assert asked(frontier, lambda _: (999.0, 404, b"")).url == "http://a/"
        assert frontier.reserve("a", 1.0) == 4.0, "no turn is left over"


def test_l7_a_robots_file_that_is_not_takes_the_turn_of_its_page():
    with shard_at() as shard:
        frontier = Frontier(shard, Manners(5.0))
        pushed(frontier, candidate("http://a/"))
        assert asked(frontier, lambda _: None) == NoAnswer("http://a/", "turn", retry=True)
