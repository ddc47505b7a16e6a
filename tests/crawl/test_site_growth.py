"""Whole crawls that go from site to site: planted communities are found, sites are limited, a killed crawl goes on."""

from collections import Counter

import pytest

from analecta.communities.view import communities, deeper
from analecta.crawl.local import crawl_here
from analecta.errors import UsageError
from analecta.settings.load import load, merge
from analecta.settings.schema import SiteSettings
from analecta.store.library_db import crawled_sites
from analecta.store.site_rules import Sites, moved, sites_of, split
from analecta.store.sites import read_sites, recount
from tests.crawls import soundness
from tests.crawls.driver import kept, kill_tree, make_library, started, states, wait_for
from tests.crawls.site import html
from tests.hostile import HostileServer, answer

NAMES = ("ash", "oak", "elm")
SIZE = 7
BUTTON = "button.test"


def host(name, i):
    return f"{name}{i % SIZE}.test"


def village(name, stray=""):
    """Sites in a circle, each of three pages that link to the next sites, to what is everywhere, and one astray."""
    pages = {}
    for i in range(SIZE):
        near = [f"http://{host(name, i + step)}/" for step in (1, 2, 3)]
        pages[f"{host(name, i)}/"] = ["/one", "/two", *near, f"http://{BUTTON}/share"]
        pages[f"{host(name, i)}/one"] = [near[0], f"http://{host(name, i + 2)}/two", f"http://{BUTTON}/"]
        pages[f"{host(name, i)}/two"] = ["/", near[0], f"http://share.test/?u=http://{host(name, i)}/two"]
        pages[f"{host(name, i)}/two"] += [f"http://{stray}/"] if stray and i == 3 else []
    return pages


@pytest.fixture(scope="module")
def web():
    pages = {**village("ash", "oak0.test"), **village("oak"), **village("elm", "ash2.test")}
    pages |= {f"{BUTTON}/": [], f"{BUTTON}/share": []}
    with HostileServer({path: html(path, *links) for path, links in pages.items()}) as server:
        yield server


def library_at(folder, web, seeds, **more):
    asked = merge({"recipe": "communities", "crawl": {"workers": 1}}, more)
    return make_library(folder, [f"http://{seed}/" for seed in seeds], web.address, **asked)


def crawl(library, **asked):
    """Beside the test: a process each would cost more than these crawls."""
    return crawl_here(library, load(library.settings_path, asked))


def found_in(library):
    return [{member.site for member in one.members} for one in communities(library).communities]


@pytest.mark.parametrize("workers", [1, 2])
def test_c3_c4_planted_communities_are_found_from_one_site_each(tmp_path, web, workers):
    library = library_at(tmp_path / "lib", web, ["ash0.test", "elm0.test"], crawl={"workers": workers})
    ending = crawl(library)
    soundness.check(library)
    assert ending.code == 0
    assert [sites - {BUTTON} for sites in found_in(library)] == [
        {host(name, i) for i in range(SIZE)} for name in ("ash", "elm")
    ]
    assert {host("ash", i) for i in range(SIZE)} < crawled_sites(library).keys()


def test_c5_seeds_of_one_community_merge_with_a_reason(tmp_path, web):
    library = library_at(tmp_path / "lib", web, ["ash0.test", "ash3.test", "oak1.test"])
    crawl(library)
    one, other = communities(library).communities
    assert (one.seeds, other.seeds) == (["ash0.test", "ash3.test"], ["oak1.test"])
    assert "links between them" in one.merged[0]
    assert {member.reason for member in one.members} > {"a seed"}


def test_c8_the_front_page_comes_first_and_pages_of_a_site_are_limited(tmp_path, web):
    library = library_at(tmp_path / "lib", web, ["ash0.test"], communities={"pages": 2})
    crawl(library)
    pages = Counter(url.split("/")[2] for url in kept(library))
    assert max(pages.values()) == 2
    assert all(f"http://{site}/" in kept(library) for site in pages)
    waiting = {url for url, (_, reason) in states(library).items() if reason == "site-waits"}
    assert any(url.startswith("http://ash") for url in waiting)


def test_a_library_goes_deeper_inside_one_community(tmp_path, web):
    library = library_at(tmp_path / "lib", web, ["ash0.test", "elm0.test"], communities={"pages": 1})
    crawl(library)
    before = kept(library)
    number = next(one.number for one in communities(library).communities if "elm0.test" in one.seeds)
    crawl(library, **deeper(library, str(number)))
    new = {url for url in kept(library) if url not in before}
    assert len([url for url in new if url.startswith("http://elm")]) == 2 * SIZE
    assert not [url for url in new if url.startswith("http://ash")]
    assert crawl(library).tally.pages == 0, "nothing is asked for twice"


def test_what_waits_elsewhere_goes_on_waiting_while_a_crawl_keeps_to_some_hosts(tmp_path, web):
    library = library_at(tmp_path / "lib", web, ["ash0.test", "elm0.test"], recipe="breadth-first")
    crawl(library, stop={"pages": 6})
    before = set(kept(library))
    crawl(library, communities={"only": ["elm0.test", "elm1.test"]})
    assert {url.split("/")[2] for url in set(kept(library)) - before} <= {"elm0.test", "elm1.test"}
    assert {f"http://elm1.test/{end}" for end in ("", "one", "two")} <= set(kept(library))
    assert not [url for url, (_, reason) in states(library).items() if reason == "scope-host"]
    crawl(library)
    assert len(kept(library)) == 3 * len(NAMES) * SIZE + 2


def test_c1_going_deeper_among_directories_leaves_those_of_others_on_the_same_host_alone(tmp_path):
    pages = {}
    for name, friend in (("ann", "ben"), ("ben", "ann"), ("eve", "kim"), ("kim", "eve")):
        pages[f"home.test/~{name}/"] = [f"/~{name}/more", f"/~{friend}/"]
        pages[f"home.test/~{name}/more"] = [f"/~{friend}/"]
    with HostileServer({path: html(path, *links) for path, links in pages.items()}) as server:
        seeds = ["home.test/~ann", "home.test/~eve"]
        library = library_at(tmp_path / "lib", server, seeds, sites={"by": "prefix"}, communities={"pages": 1})
        crawl(library)
        assert found_in(library) == [{"home.test/~ann/", "home.test/~ben/"}, {"home.test/~eve/", "home.test/~kim/"}]
        before = set(kept(library))
        crawl(library, **deeper(library, "2"))
    assert set(kept(library)) - before == {"http://home.test/~eve/more", "http://home.test/~kim/more"}


def test_c1_a_domain_is_one_site_whoever_owns_its_hosts(tmp_path):
    hosts = [f"{name}.{domain}" for domain in ("ash.test", "oak.test") for name in ("a", "b", "c", "d")]
    pages = {f"{one}/": [f"http://{other}/" for other in hosts if other[2:] == one[2:]] for one in hosts}
    pages["a.ash.test/"] += ["http://b.oak.test/"]
    pages["a.oak.test/"] += ["http://a.ash.test/"]
    with HostileServer({path: html(path, *links) for path, links in pages.items()}) as server:
        library = library_at(tmp_path / "lib", server, ["a.ash.test"], sites={"by": "domain"}, crawl={"workers": 2})
        crawl(library)
    assert found_in(library) == [{"ash.test", "oak.test"}]
    assert {url.split("/")[2] for url in kept(library)} == set(hosts)


def test_a_site_that_does_not_answer_is_done_and_keeps_nobody_waiting(tmp_path):
    gone = answer(b"", status="404 Not Found")
    pages = {"a.test/": html("a", "http://b.test/x", "http://c.test/"), "c.test/": html("c", "http://a.test/")}
    with HostileServer({**pages, "b.test/": gone, "b.test/x": gone}) as server:
        library = library_at(tmp_path / "lib", server, ["a.test"])
        assert crawl(library).reason == "nothing is left to fetch"
    assert sorted(crawled_sites(library)) == ["a.test", "b.test", "c.test"]


def test_c1_only_a_site_is_asked_and_no_host_below_it_but_www(tmp_path):
    hosts = ["a.test", "www.a.test", "sub.a.test", "b.test"]
    pages = [f"{one}/{end}" for one in hosts for end in ("", "x")]
    with HostileServer({page: html(page, *(f"http://{other}" for other in pages)) for page in pages}) as server:
        library = library_at(tmp_path / "lib", server, ["a.test"], recipe="breadth-first")
        crawl(library, communities={"only": ["a.test"]})
    assert {url.split("/")[2] for url in kept(library)} == {"a.test", "www.a.test"}


@pytest.mark.parametrize("status", ["302 Found", "301 Moved Permanently"])
def test_c1_names_that_expired_are_not_merged_into_those_who_sell_them(tmp_path, status):
    pages = village("ash")
    pages["ash1.test/"] += ["http://gone0.test/", "http://gone1.test/", "http://gone2.test/"]
    pages |= {"sale.test/": ["http://shop.test/"], "shop.test/": ["http://sale.test/"]}
    gone = answer(b"", status=status, location="http://sale.test/")
    expired = {f"gone{n}.test/": gone for n in range(3)}
    with HostileServer({path: html(path, *links) for path, links in pages.items()} | expired) as server:
        library = library_at(tmp_path / "lib", server, ["ash0.test"])
        crawl(library)
    assert len(moved(library)) <= (status[:3] == "301"), "the first may come alone"


@pytest.mark.parametrize("seed", ["ash0.test", "old.test"])
def test_c1_a_site_that_has_moved_is_part_of_the_one_it_leads_to(tmp_path, seed):
    pages = village("ash")
    pages["ash1.test/"].append("http://old.test/")
    pages["ash2.test/"].append("http://old.test/page")
    pages |= {"new.test/": ["/more", "http://ash1.test/"], "new.test/more": ["http://ash2.test/", "http://ash0.test/"]}
    gone = answer(b"", status="301 Moved Permanently", location="http://new.test/")
    with HostileServer(
        {path: html(path, *links) for path, links in pages.items()} | {"old.test/": gone, "old.test/page": gone}
    ) as server:
        library = library_at(tmp_path / "lib", server, [seed])
        crawl(library)
        (members,) = found_in(library)
        assert members - {BUTTON} == {host("ash", i) for i in range(SIZE)} | {"new.test"}
        assert moved(library) == {"old.test": "new.test"}
        assert {"http://new.test/", "http://new.test/more"} <= set(kept(library))
        assert crawl(library).tally.pages == 0
    assert found_in(library) == [members]
    assert split(library, "old.test").words == "old.test is a site of its own"
    assert sites_of(library, SiteSettings()).of("old.test") == "old.test"


def test_f01_a_killed_crawl_finds_the_same_communities(tmp_path, web):
    seeds = ["ash0.test", "elm0.test"]
    whole = library_at(tmp_path / "whole", web, seeds)
    crawl(whole)
    killed = library_at(tmp_path / "killed", web, seeds)
    with started(killed) as process:
        wait_for(lambda: len(kept(killed)) >= 15)
        kill_tree(process)
    assert len(crawled_sites(killed)) < len(crawled_sites(whole)), "it was not over"
    crawl(killed)
    soundness.check(killed)
    assert found_in(killed) == found_in(whole)


def test_c2_a_crawl_counts_what_a_recount_of_its_pages_finds(tmp_path, web):
    library, totals = library_at(tmp_path / "lib", web, ["ash0.test"]), []
    crawl(library)
    for _ in range(2):
        with read_sites(library, Sites()) as (graph, snapshot):
            totals.append((graph.pages(snapshot), graph.all(snapshot)))
        recount(library, Sites())
    assert totals[0] == totals[1]
    assert totals[0][1]["ash0.test"]["ash1.test"] == 3
    assert not any("share.test" in row for row in totals[0][1].values()), "it is only told which page is meant"


def test_communities_cannot_be_repeated_in_order(tmp_path, web):
    library = library_at(tmp_path / "lib", web, ["ash0.test"], crawl={"ordered": True})
    with pytest.raises(UsageError, match="leave out --seed"):
        crawl(library)
