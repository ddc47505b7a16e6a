"""Links on their way to the frontier: in which order they wait."""

import numpy as np
import pytest
from making import FREE, candidate, drained, lease, shard_at, target

from analecta.crawl.discovery import LinkDiscovery, LinkRules
from analecta.crawl.ingest import KeptPage
from analecta.crawl.page_judge import Revaluation
from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import Politeness
from analecta.frontier.policy import (
    EXAMPLE_PRIORITY,
    CrawlPhase,
    Focus,
    LinkValue,
    Policy,
    Scope,
    SiteEntries,
    best_first,
)
from analecta.frontier.traps import PageYield, Traps
from analecta.model import Link, Page, Tally, Verdict


@pytest.fixture
def shard():
    with shard_at() as made:
        yield made


def offers_to(shard, focus=None, entries=None, manners=FREE):
    rules = LinkRules(focus or Focus(Policy(best_first)), Scope(), Traps(), entries=entries)
    return LinkDiscovery(Frontier(shard, manners), None, rules, Tally(), ["t"])


def page(url, worth, *links):
    """A page on topic whose links are worth so much."""
    at = lease(url)
    found = Page(at.url, at.id, at.host, "text/html", links=[Link(target(link)) for link in links])
    return KeptPage(1, at, found, Verdict(0, worth), LinkValue(worth, 0, 0, True), worth)


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
    offers = offers_to(shard, Focus(Policy(best_first), one_entry=True), SiteEntries([], shard.url_of))
    inside = target("http://b.test/in")
    offers.follow([page("http://a.test/", 0.9, "http://b.test/in", "http://b.test/more", "http://c.test/")])
    assert shard.url_of(inside.id)
    offers.follow([page("http://d.test/", 1.0, "http://b.test/more"), page(inside.url, 0.2, "http://b.test/deeper")])
    assert drained(offers.frontier) == [
        "http://b.test/in", "http://c.test/", "http://b.test/deeper", "http://b.test/more"]  # fmt: skip


def test_b10_what_is_far_waits_behind_what_is_near_while_the_crawl_learns(shard):
    focus = Focus(Policy(best_first), Policy(best_first), near_domains=["a.test"])
    focus.turn(CrawlPhase(learning=True))
    offers = offers_to(shard, focus)
    offers.follow([page("http://a.test/", 0.9, "http://far.test/")])
    offers.follow([page("http://a.test/1", 0.1, "http://a.test/2")])
    offers.add([candidate("http://seed.test/", EXAMPLE_PRIORITY)])
    assert drained(offers.frontier) == ["http://seed.test/", "http://a.test/2", "http://far.test/"]


def test_the_number_of_hosts_of_which_copies_are_counted_is_bounded(shard, monkeypatch):
    monkeypatch.setattr("analecta.crawl.discovery._MOST_HOSTS", 10)
    offers = offers_to(shard)
    for n in range(99):
        copy = page(f"http://h{n}.test/", 0.5)
        copy.words, copy.twin = np.zeros(0, np.uint64), 7
        offers.follow([copy])
    assert len(offers._alike) <= 11


def with_a_trap(shard):
    """Offers that know /cal/… of a.test as a trap, with 20 of its URLs and 3 articles queued."""
    offers = offers_to(shard)
    offers.add([candidate(f"http://a.test/cal/{n}", 0.9) for n in range(20)])
    offers.add([candidate(f"http://a.test/{word}", 0.2) for word in ("ant", "bee", "cat")])
    for n in range(100, 103):
        offers.traps.note(PageYield(f"http://a.test/cal/{n}", "a.test", copy=True))
    return offers


def test_f70_what_turned_out_to_be_a_trap_stays_behind_when_all_is_valued_again(shard):
    offers = with_a_trap(shard)
    frontier = offers.frontier
    for one in offers.pick(30, 0.0, 0.0):
        frontier.requeue(one, "again", asked=False)
    ids = [target(f"http://a.test/cal/{n}").id for n in range(20)]
    offers.reprioritise(Revaluation(waiting=dict.fromkeys(ids, 0.99)))
    assert [url for url in drained(frontier)[:3] if "/cal/" in url] == []


def test_f70_new_urls_of_a_trap_are_demoted_with_the_reason_and_a_better_page_does_not_raise_them(shard):
    offers = with_a_trap(shard)
    offers.add([candidate("http://a.test/cal/500")])
    offers.follow([page("http://b.test/", 0.9, "http://a.test/cal/500")])
    row = shard.db.execute("SELECT reason, priority < 0 FROM urls WHERE url GLOB '*/cal/500'").fetchone()
    assert row == ("trap", 1)


def test_f70_demoted_urls_of_a_form_that_proves_good_are_lifted(shard):
    offers = with_a_trap(shard)
    offers.add([candidate(f"http://a.test/item/{n}") for n in range(5)])
    assert len(shard.demoted("a.test")) == 5
    for n in (100, 101):
        offers.traps.note(PageYield(f"http://a.test/item/{n}", "a.test", on_topic=True))
    offers.look_again()
    assert shard.demoted("a.test") == []


def test_f61_trap_urls_cost_their_host_no_turn(shard):
    """At delay 1 in 72 seconds: 40 articles behind 500 URLs of a trap, which the crawl has just found out."""
    offers = offers_to(shard, manners=Politeness(1.0, 2, 5))
    offers.add([candidate(f"http://a.test/cal/{n}", 0.9) for n in range(500)])
    offers.add([candidate(f"http://a.test/article-{chr(97 + n % 26)}{chr(97 + n // 26)}", 0.5) for n in range(40)])
    for n in range(1000, 1003):
        offers.traps.note(PageYield(f"http://a.test/cal/{n}", "a.test", copy=True))
    came = []
    for tick in range(720):
        now = tick / 10
        for one in offers.pick(10, now, 0.0):
            offers.frontier.sent(one.id, one.host, now)
            offers.frontier.close(one, now, lambda host, now=now: host.answered(now, offers.frontier.manners))
            came.append(one.url)
    assert sum("article" in url for url in came) >= 30
    assert sum("/cal/" in url for url in came) == 0


def test_f70_what_is_demoted_waits_for_a_host_that_must_wait(shard):
    offers = with_a_trap(shard)
    offers.add([candidate("http://b.test/")])
    asked = next(one for one in offers.frontier.pop(30, 0.0) if one.host == "b.test")
    offers.frontier.close(asked, 0.0, lambda host: host.pressed(0.0, offers.frontier.manners, 60.0))
    offers.frontier.requeue(asked, "http-503")
    assert offers.frontier.has_open(1.0, 120.0)
    assert not offers.frontier.has_open(1.0, 10.0)
