"""Links on their way to the frontier: in which order they wait."""

import numpy as np
import pytest
from making import FREE, candidate, drained, lease, shard_at, target

from analecta.crawl.focus import Entries, Focus, Near
from analecta.crawl.messages import Course
from analecta.crawl.offers import Offers, Open
from analecta.frontier.policy import SEED_PRIORITY, Bounds, Policy, Value, best_first
from analecta.frontier.queues import Frontier
from analecta.frontier.traps import Traps
from analecta.model import Link, Page, Tally

NO_WORDS = np.zeros(0, np.uint64)


@pytest.fixture
def shard():
    with shard_at() as made:
        yield made


def offers_to(shard, focus=None, entries=None):
    return Offers(
        frontier=Frontier(shard, FREE),
        exchange=None,
        focus=focus or Focus(Policy(best_first)),
        bounds=Bounds(),
        traps=Traps(),
        tally=Tally(),
        topics=["t"],
        partition=(0, 1),
        entries=entries,
    )


def page(url, worth, *links):
    """A page on topic whose links are worth so much."""
    at = lease(url)
    found = Page(at.url, at.id, at.host, "text/html", links=[Link(target(link)) for link in links])
    return Open(at, found, Value(worth, 0, 0, True), worth, NO_WORDS)


def test_a_better_page_raises_what_waits(shard):
    offers = offers_to(shard)
    offers.follow([page("http://a.test/", 0.5, "http://b.test/1", "http://b.test/2")])
    offers.follow([page("http://c.test/", 0.9, "http://b.test/2")])
    assert drained(offers.frontier) == ["http://b.test/2", "http://b.test/1"]


def test_s16_off_site_links_wait_before_those_that_stay(shard):
    offers = offers_to(shard, Focus(Policy(best_first), off_site_first=True))
    offers.follow([page("http://a.test/", 0.8, "http://a.test/1", "http://b.test/")])
    offers.follow([page("http://a.test/2", 0.9, "http://a.test/1")])  # raises it, but not above the other
    assert drained(offers.frontier) == ["http://b.test/", "http://a.test/1"]


def test_s16_one_entry_a_site_and_links_inside_it(shard):
    offers = offers_to(shard, Focus(Policy(best_first), one_entry=True), Entries([], shard.url_of))
    inside = target("http://b.test/in")
    offers.follow([page("http://a.test/", 0.9, "http://b.test/in", "http://b.test/more", "http://c.test/")])
    assert shard.url_of(inside.id)
    offers.follow([page("http://d.test/", 1.0, "http://b.test/more"), page(inside.url, 0.2, "http://b.test/deeper")])
    assert drained(offers.frontier) == [
        "http://b.test/in", "http://c.test/", "http://b.test/deeper", "http://b.test/more"]  # fmt: skip


def test_b10_what_is_far_waits_behind_what_is_near_while_the_crawl_learns(shard):
    focus = Focus(Policy(best_first), Policy(best_first), Near(["a.test"]))
    focus.turn(Course(learning=True))
    offers = offers_to(shard, focus)
    offers.follow([page("http://a.test/", 0.9, "http://far.test/")])
    offers.follow([page("http://a.test/1", 0.1, "http://a.test/2")])
    offers.offer([candidate("http://seed.test/", SEED_PRIORITY)])
    assert drained(offers.frontier) == ["http://seed.test/", "http://a.test/2", "http://far.test/"]


def test_what_turned_out_to_be_a_trap_stays_behind_when_all_is_valued_anew(shard):
    offers = offers_to(shard)
    urls = ["http://a.test/1", "http://b.test/"]
    offers.offer([candidate(url) for url in urls])
    offers._demoted.add(target(urls[0]).id)
    offers.valued({target(url).id: 0.9 for url in urls})
    assert drained(offers.frontier) == urls[::-1]
