"""A crawl in order is the same again, whatever the moods of its hosts and the time they take."""

from itertools import pairwise

import pytest

from analecta.testweb.process import PocketServer
from tests.crawls.driver import crawl, make_library, rows

SLOW = "orchard-corner.test"  # it asks for half a second between requests
BUSY = "granite-letters.test"  # each fifth request gets a 503


def course(folder, delay):
    """The pages in order, the fate of all URLs, and what the servers were asked."""
    with PocketServer(300, delay=delay, log=folder.with_suffix(".log")) as web:
        seeds = [f"http://{SLOW}/", f"http://{BUSY}/", *web.web.seeds("volcanoes", 2)]
        library = make_library(folder, seeds, web.address, recipe="adaptive", judge={"kind": "centroid"})
        crawl(library, crawl={"ordered": True, "seed": 7, "workers": 1}, stop={"pages": 100})
        pages = rows(library, "SELECT u.url FROM pages p JOIN urls u ON u.id = p.id ORDER BY p.seq")
        return pages, rows(library, "SELECT url, state, reason FROM urls ORDER BY n"), web.asked()


@pytest.fixture(scope="module")
def courses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repeatable")
    return course(folder / "one", 0.0), course(folder / "two", 0.02)


def test_moody_hosts_give_the_same_pages_in_the_same_order(courses):
    (one, _, _), (two, _, _) = courses
    assert len(one) == 100
    assert one == two


def test_every_url_met_has_the_same_fate_and_place(courses):
    (_, one, _), (_, two, _) = courses
    assert one == two


def test_b16_a_crawl_in_order_is_no_less_polite(courses):
    for _, _, asked in courses:
        times = [noted.time for noted in asked if noted.host == SLOW]
        assert len(times) >= 2
        assert min(later - earlier for earlier, later in pairwise(times)) > 0.49
        assert 503 in {noted.status for noted in asked if noted.host == BUSY}
