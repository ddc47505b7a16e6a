"""A scope that is changed between two crawls holds for what was known before."""

import contextlib

import pytest
from making import candidate, page_row, shard_at, target

from analecta.crawl.local import crawl_here
from analecta.crawl.rescope import rescope
from analecta.frontier.policy import Scope
from analecta.model import UrlState
from analecta.settings.load import load
from analecta.store.sqlite import connect
from tests.crawls.driver import kept, make_library, states
from tests.crawls.site import html
from tests.hostile import HostileServer

SITES = ("a.test", "b.test")


@pytest.fixture(scope="module")
def web():
    pages = {f"{host}/{n}": [f"http://{other}/{n + 1}" for other in SITES] for host in SITES for n in range(6)}
    with HostileServer({path: html(path, *links) for path, links in pages.items()}) as server:
        yield server


def crawl(library, **asked):
    return crawl_here(library, load(library.settings_path, asked))


def library_at(folder, web):
    return make_library(folder, ["http://a.test/0"], web.address, recipe="breadth-first", crawl={"workers": 1})


def refused(library):
    return {url for url, (_, reason) in states(library).items() if reason == "scope-host"}


def test_what_waits_and_is_out_of_scope_now_is_not_asked_for(tmp_path, web):
    library = library_at(tmp_path / "lib", web)
    crawl(library, stop={"pages": 3})
    before = set(kept(library))
    crawl(library, scope={"hosts": ["a.test"]})
    assert {url.split("/")[2] for url in set(kept(library)) - before} == {"a.test"}
    assert {url.split("/")[2] for url in refused(library)} == {"b.test"}


def test_what_was_refused_waits_again_once_it_is_in_scope(tmp_path, web):
    library = library_at(tmp_path / "lib", web)
    crawl(library, scope={"hosts": ["a.test"]})
    assert {url.split("/")[2] for url in kept(library)} == {"a.test"}
    assert "http://b.test/3" in refused(library)
    crawl(library)
    assert {"http://b.test/3", "http://b.test/5"} <= set(kept(library))
    assert refused(library) == set()


def test_the_queue_is_counted_right_after_a_change(tmp_path, web):
    library = library_at(tmp_path / "lib", web)
    crawl(library, stop={"pages": 3})
    assert crawl(library, scope={"hosts": ["nobody.test"]}).reason == "nothing is left to fetch"
    assert [url for url, (state, _) in states(library).items() if state < 2] == []
    with library.shards() as shards:
        assert shards[0].execute("SELECT value FROM meta WHERE key = 'queued'").fetchone() == (b"{}",)


def test_where_a_crawl_goes_from_site_to_site_what_is_let_in_again_waits_for_its_site(tmp_path, web):
    pages = {"a.test/": ["/x", "http://far.test/old/1", *(f"http://b.test/{n}" for n in range(300))], "a.test/x": []}
    pages |= {"b.test/": ["http://a.test/", "/old/1", "/old/2"], "b.test/old/1": [], "b.test/old/2": []}
    with HostileServer({path: html(path, *links) for path, links in pages.items()}) as server:
        asked = {"recipe": "communities", "crawl": {"workers": 1}, "communities": {"pages": 2}}
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, **asked)
        crawl(library, scope={"exclude": ["/old"]})
        assert states(library)["http://far.test/old/1"][1] == "scope-exclude"
        crawl(library)
        assert states(library)["http://far.test/old/1"][1] == "site-waits"
        crawl(library, scope={"exclude": ["/old"]}, communities={"pages": 0})
    assert not [url for url in kept(library) if "/old" in url]


def test_a_library_without_a_mark_is_looked_through_once(tmp_path, web):
    library = library_at(tmp_path / "lib", web)
    crawl(library, scope={"hosts": ["a.test"]})
    with library.shards(), contextlib.closing(connect(library.shard_path(0))) as shard:
        shard.execute("DELETE FROM meta WHERE key = 'scope'")
    crawl(library)
    assert "http://b.test/5" in kept(library)


def known(shard, **found):
    """URLs of a host, by name: state and reason; what is done has a page."""
    for n, (name, (state, reason)) in enumerate(found.items(), 1):
        url = f"http://h.test/{name}"
        shard.add([(n, candidate(url), UrlState.QUEUED if state == UrlState.DONE else state, False, reason)])
        if state == UrlState.DONE:
            shard.add_page(page_row(target(url).id), UrlState.DONE, 0, 0)


def fates(shard):
    rows = shard.db.execute("SELECT url, state, reason FROM urls ORDER BY n").fetchall()
    return {url.rpartition("/")[2]: (state, reason) for url, state, reason in rows}


QUEUED, DONE, REFUSED = UrlState.QUEUED, UrlState.DONE, UrlState.REFUSED


def test_a_host_that_may_give_more_pages_is_asked_for_what_was_refused_and_one_that_may_give_fewer_is_not():
    with shard_at() as shard:
        known(shard, a=(DONE, ""), b=(DONE, ""), c=(REFUSED, "host-full"))
        assert rescope(shard, Scope(), False, 3)[0] == {0: 1}
        assert fates(shard)["c"] == (QUEUED, None)
        assert rescope(shard, Scope(), False, 2)[0] == {0: -1}
        assert fates(shard)["c"] == (REFUSED, "host-full")
        assert shard.hosts.add_page("h.test") == 3  # what came while nobody counted counts


def test_a_page_that_is_to_be_asked_for_again_is_not_refused_for_a_full_host():
    with shard_at() as shard:
        known(shard, a=(DONE, ""), b=(QUEUED, ""))
        shard.ask_again(1e12)
        rescope(shard, Scope(), False, 1)
        assert fates(shard) == {"a": (QUEUED, None), "b": (REFUSED, "host-full")}


def test_a_page_fetched_again_is_no_further_page_of_its_host(tmp_path, web):
    library = library_at(tmp_path / "lib", web)
    crawl(library, scope={"pages_per_host": 4}, fetch={"per_host": 1, "delay": 0.01})
    before = states(library)
    crawl(library, scope={"pages_per_host": 4}, fetch={"per_host": 1, "delay": 0.01}, crawl={"refresh": 0.0})
    assert states(library) == before


def test_what_waited_for_its_site_is_queued_once_the_crawl_goes_by_no_sites_and_waits_again_after_that():
    with shard_at() as shard:
        known(shard, a=(REFUSED, "site-waits"), b=(DONE, ""))
        assert rescope(shard, Scope(), True) == ({}, [])
        assert rescope(shard, Scope(), False) == ({0: 1}, [])
        assert fates(shard)["a"] == (QUEUED, None)
        more, again = rescope(shard, Scope(), True)
        assert (more, [one.target.url for one in again]) == ({0: -1}, ["http://h.test/a"])
        assert fates(shard)["a"] == (REFUSED, "site-waits")


def test_a_library_that_went_from_site_to_site_can_be_crawled_by_another_recipe_and_back(tmp_path, web):
    asked = {"recipe": "communities", "crawl": {"workers": 1}, "communities": {"pages": 2}}
    library = make_library(tmp_path / "lib", ["http://a.test/0"], web.address, **asked)
    began = len(web.asked)
    crawl(library)
    assert "site-waits" in {reason for _, reason in states(library).values()}
    crawl(library, communities={"grow": False})
    assert "site-waits" not in {reason for _, reason in states(library).values()}
    assert "http://b.test/5" in kept(library)
    crawl(library)
    asked = [(one.host, one.path) for one in web.asked[began:] if one.path != "/robots.txt"]
    assert len(asked) == len(set(asked))


def test_what_the_guard_refused_is_asked_for_again_where_other_ranges_are_allowed():
    with shard_at() as shard:
        known(shard, a=(REFUSED, "guard"), b=(REFUSED, "robots"))
        rescope(shard, Scope(), False)
        shard.settle(target("http://h.test/a").id, UrlState.REFUSED, "guard")
        assert rescope(shard, Scope(), False) == ({}, [])
        assert rescope(shard, Scope(), False, allow=("10.0.0.0/8",)) == ({0: 1}, [])
        assert fates(shard) == {"a": (QUEUED, None), "b": (REFUSED, "robots")}


def test_f70_urls_of_trusted_places_are_queued_like_any_other():
    with shard_at() as shard:
        urls = ["http://h.test/a/cal/1", "http://h.test/b/cal/1", "http://h.test/a/x/x/x"]
        demoted = [candidate(url, -3.0, demoted="trap") for url in urls[:2]]
        shard.add([(n, one, UrlState.QUEUED, False, "trap") for n, one in enumerate(demoted)])
        shard.add([(2, candidate(urls[2]), UrlState.REFUSED, False, "trap-repeat")])
        more, _ = rescope(shard, Scope(), False, trusted=["h.test/a/"])
        rows = shard.db.execute("SELECT url, state, priority > 0, reason FROM urls ORDER BY n").fetchall()
    assert more.total() == 1
    assert [row[1:] for row in rows] == [(0, 1, None), (0, 0, "trap"), (0, 1, None)]
