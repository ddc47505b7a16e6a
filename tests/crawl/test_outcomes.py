"""What becomes of answers, in whole crawls of small webs."""

from itertools import pairwise

import pytest

from analecta.crawl.outcomes import retry_priority
from analecta.frontier.policy import EXAMPLE_PRIORITY
from analecta.model import UrlState
from analecta.parse import PARSERS
from analecta.parse.html import parse_html
from analecta.urls import url_id
from tests.crawls.alone import crawl_alone
from tests.crawls.driver import crawl, kept, make_library, rows, states
from tests.crawls.site import html, prose, robots, site
from tests.hostile import in_turn, raw


def star(host, count):
    """A home page that links to so many pages."""
    return {f"{host}/": tuple(f"/{i}" for i in range(count)), **{f"{host}/{i}": () for i in range(count)}}


def test_f21_a_crawl_delay_that_the_owner_took_away_is_given_up(tmp_path):
    rules = in_turn(robots("User-agent: *", "Crawl-delay: 0.6"), robots("User-agent: *"))
    with site({"a.test/robots.txt": rules}, star("a.test", 5)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl_alone(library, lambda engine: setattr(engine.fetcher.requests.robots, "max_age", 1.0))
    gaps = [after - before for before, after in pairwise(server.times()["a.test"])]
    assert gaps[0] > 0.5 > gaps[-1]
    assert rows(library, "SELECT delay FROM hosts WHERE name = 'a.test'") == [(0.0,)]


def test_a_copy_that_has_not_changed_stays_a_copy(tmp_path):
    page = html("/", words=prose("same"), etag='"a"')
    unchanged = raw(b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n', close=False)
    pages = {f"a.test/{i}": in_turn(page, unchanged) for i in range(2)}
    with site(pages, {"a.test/": ("/0", "/1")}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
        before = states(library)
        crawl(library, crawl={"refresh": 0.0})
    assert (UrlState.ALIAS, "duplicate") in before.values()
    assert states(library) == before


def test_no_more_pages_of_a_host_are_kept_than_asked_for_however_many_may_fly(tmp_path):
    with site({}, star("a.test", 40)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, scope={"pages_per_host": 5})
        tally = crawl(library).tally
    assert len(kept(library)) == 5
    assert (tally.refused, tally.reasons["host-full"]) == (36, 36)


def test_f25_a_probe_on_which_the_parser_breaks_does_not_end_the_crawl(tmp_path, monkeypatch):
    probe = f"/no-such-page-{url_id('://a.test') & 0xFFFFFFFF:08x}.html"

    def parse(answer, target, *more):
        if target.url.endswith(probe):
            raise KeyError("no such tag")
        return parse_html(answer, target, *more)

    monkeypatch.setitem(PARSERS, "text/html", parse)
    pages = {f"a.test{path}": html("/", words=prose("same")) for path in (probe, "/0", "/1", "/2", "/3")}
    with site(pages, {"a.test/": ("/0", "/1", "/2", "/3")}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl_alone(library, lambda engine: None)
    assert probe in server.paths()
    assert len(kept(library)) == 5


@pytest.mark.parametrize(("before", "after"), [(0.8, 0.4), (EXAMPLE_PRIORITY, EXAMPLE_PRIORITY), (-1.5, -3.0)])
def test_f70_what_is_asked_for_again_waits_behind_others_of_its_worth_also_where_it_was_demoted(before, after):
    assert retry_priority(before) == after
