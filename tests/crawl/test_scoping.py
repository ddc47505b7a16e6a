"""A scope that is changed between two crawls holds for what was known before."""

import contextlib

import pytest

from analecta.crawl.aside import in_threads
from analecta.crawl.partitions import Crawl
from analecta.settings import load
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
    return Crawl(library, load(library.settings_path, asked), start=in_threads()).run()


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
