"""What waits is valued again, by what is said of the pages that link to it."""

import numpy as np
import pytest
from making import FREE, candidate, drained, page_row, pushed, shard_at, target

from analecta.crawl.page_judge import review
from analecta.frontier.frontier import Frontier, FrontierLimits
from analecta.frontier.policy import CrawlPhase, Focus, Policy, best_first, depth_first
from analecta.frontier.traps import DEMOTED
from analecta.model import UrlState

LEARNING = CrawlPhase(learning=True)


@pytest.fixture
def shard():
    with shard_at() as made:
        yield made


def kept(shard, url, links=(), n=0, page=(), **how):
    """A page that was kept: what it links to, what is said of it, and how it was come by."""
    found = candidate(url, **how)
    shard.add([(n or shard.last_n() + 1, found, UrlState.LEASED, False, "")])
    ids = np.array([target(link).id for link in links], np.int64).tobytes()
    shard.add_page(page_row(found.target.id, links=ids, **{"confidence": 0.5, **dict(page)}), UrlState.DONE, 0, 0)
    return found.target.id


def waits(shard, url, parent=0, **how):
    shard.add([(shard.last_n() + 1, candidate(url, parent=parent, **how), UrlState.QUEUED, False, "")])
    return target(url).id


def test_what_waits_is_worth_what_its_page_is_now(shard):
    page = kept(shard, "http://a.test/", ["http://b.test/"], page={"topic": 0, "confidence": 0.9})
    url = waits(shard, "http://b.test/", page, priority=0.1)
    other = waits(shard, "http://c.test/", 77, priority=0.3)
    assert review(shard.db, Focus(Policy(best_first)), []) == {url: 0.9}
    assert other, "of a page that is not here nothing is known"


def test_the_best_of_the_pages_that_link_to_it_counts(shard):
    first = kept(shard, "http://a.test/", ["http://b.test/"], page={"topic": 0, "confidence": 0.6})
    later = kept(shard, "http://z.test/", ["http://b.test/"], page={"topic": 0, "confidence": 0.8})
    url = waits(shard, "http://b.test/", first, priority=0.1)
    assert review(shard.db, Focus(Policy(best_first)), []) == {url: 0.6}
    assert review(shard.db, Focus(Policy(best_first)), [later]) == {url: 0.8}


def test_s6_what_waits_on_a_path_that_is_given_up_goes_to_the_back(shard):
    page = kept(shard, "http://a.test/", ["http://b.test/"], page={"topic": -1, "confidence": 0.4}, priority=0.2)
    url = waits(shard, "http://b.test/", page, priority=0.9)
    worth = review(shard.db, Focus(Policy(best_first, cutoff=0)), [])
    assert worth == {url: pytest.approx(0.5 * 0.4 * DEMOTED)}


def test_seeds_probes_and_what_is_not_queued_keep_their_priority(shard):
    links = [f"http://b.test/{i}" for i in range(3)]
    page = kept(shard, "http://a.test/", links, page={"topic": 0, "confidence": 0.9})
    waits(shard, links[0], page, priority=1e6)
    shard.add([(50, candidate(links[1], parent=page), UrlState.REFUSED, False, "scope-host")])
    assert review(shard.db, Focus(Policy(best_first)), [page]) == {}


def test_b10_at_the_harvest_what_was_far_comes_back_and_the_unknown_is_worth_a_little(shard):
    focus = Focus(Policy(best_first), Policy(depth_first), near_domains=["a.test"], near_depth=4)
    page = kept(shard, "http://a.test/", ["http://far.test/"], page={"topic": 0, "confidence": 0.9})
    known = waits(shard, "http://far.test/", page, priority=0.5 * DEMOTED, depth=1)
    unknown = waits(shard, "http://too.test/", 77, priority=0.8 * DEMOTED, depth=1)
    assert review(shard.db, focus, [], new_phase=True) == {known: 0.9, unknown: 0.5}
    focus.turn(LEARNING)
    assert review(shard.db, focus, [])[known] == pytest.approx(0.5 * DEMOTED)


def test_b10_cold_urls_come_back_too(shard):
    focus = Focus(Policy(best_first))
    frontier = Frontier(shard, FREE, FrontierLimits(hot=2))
    links = [f"http://h.test/{i}" for i in range(6)]
    page = kept(shard, "http://a.test/", links[3:], n=1000, page={"topic": 0, "confidence": 0.9})
    worths = [0.6, 0.5, 0.4, 0.03, 0.02, 0.01]
    pushed(frontier, *(candidate(u, w, parent=page) for u, w in zip(links, worths, strict=True)))
    frontier.rescore_cold(review(shard.db, focus, [], cold=True))
    frontier.rescore(review(shard.db, focus, []))
    assert drained(frontier) == links[3:] + links[:3]


def test_s16_what_was_not_let_in_stays_behind(shard):
    links = ["http://b.test/1", "http://b.test/2"]
    page = kept(shard, "http://a.test/", links, page={"topic": 0, "confidence": 0.9})
    first = waits(shard, links[0], page, priority=0.5)
    second = waits(shard, links[1], page, priority=0.5 * DEMOTED)
    worth = review(shard.db, Focus(Policy(best_first), one_entry=True), [])
    assert worth == {first: 0.9, second: pytest.approx(0.9 * DEMOTED)}
