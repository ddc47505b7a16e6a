"""Whole crawls: the scenarios of the folders beside this file, order that can be repeated, partitions that agree."""

import tomllib
from pathlib import Path

import pytest

from analecta.model import UrlState
from analecta.settings.load import merge
from analecta.store.library import LibraryFolder
from analecta.testweb.process import PocketServer, ServerProcess
from analecta.urls import partition_of
from tests.crawls import soundness
from tests.crawls.driver import crawl, kept, make_library, pages, rows, started, states
from tests.crawls.site import robots, site
from tests.hostile import answer

HERE = Path(__file__).parent
SCENARIOS = sorted(path.parent.name for path in HERE.glob("*/expected.toml"))
ENDLESS = ["/calendar/", "/shop/", "/docs/", "/news/", "sid="]


def order(library: LibraryFolder) -> list[str]:
    """The URLs of pages in the order in which they were kept."""
    return [url for (url,) in rows(library, "SELECT u.url FROM pages p JOIN urls u ON u.id = p.id ORDER BY p.seq")]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_ends_as_expected(tmp_path, name):
    settings = (HERE / name / "settings.toml").read_text()
    expected = tomllib.loads((HERE / name / "expected.toml").read_text())
    library = LibraryFolder.create(tmp_path / "lib", settings)
    with ServerProcess("tests.crawls.scenario:serve", {"folder": str(HERE / name / "site")}) as web:
        crawl(library, fetch={"connect_to": web.address}, crawl={"workers": 1}, stop={"free_disk": 0})
    if "kept" in expected:
        assert sorted(kept(library)) == sorted(expected["kept"])
    if "order" in expected:
        assert order(library) == expected["order"]
    names = [*library.topic_names(), ""]
    topics = {page["url"]: names[page["topic"]] for page in pages(library)}
    assert {url: topics.get(url) for url in expected.get("topics", {})} == expected.get("topics", {})
    refused = {url: reason for url, (state, reason) in states(library).items() if state == UrlState.REFUSED}
    assert {url: refused.get(url) for url in expected.get("refused", {})} == expected.get("refused", {})
    soundness.check(library)


def pocket_library(folder: Path, web: PocketServer, **override: object) -> LibraryFolder:
    """A library for all of the pocket web that has an end and asks for no patience."""
    slow = [site.host for site in web.web.plan.sites if site.robots in ("delay", "broken")]
    seeds = {topic: web.web.seeds(topic, 2) for topic in web.web.topics}
    return make_library(folder, seeds, web.address, **merge({"scope": {"exclude": [*ENDLESS, *slow]}}, override))


def test_the_same_web_and_seed_give_the_same_order(tmp_path):
    with PocketServer(300, moody=False) as web:
        found = []
        for name in ("one", "two"):
            override = {"recipe": "adaptive", "judge": {"kind": "centroid"}, "crawl": {"ordered": True}}
            library = pocket_library(tmp_path / name, web, **override)
            crawl(library, stop={"pages": 250})
            found.append(order(library))
    assert len(found[0]) >= 250
    assert found[0] == found[1]


def vouched(library: LibraryFolder) -> set[str]:
    """The URLs that were asked for: where several reasons speak against one, the first is written down."""
    return {url for url, (state, _) in states(library).items() if state != UrlState.REFUSED}


def test_two_partitions_find_what_one_finds(tmp_path):
    with PocketServer(400, moody=False) as web:
        one = pocket_library(tmp_path / "one", web)
        two = pocket_library(tmp_path / "two", web, crawl={"workers": 2})
        for library in (one, two):
            crawl(library)
            soundness.check(library)
    assert kept(one) == kept(two)
    assert vouched(one) == vouched(two)
    with two.shards() as shards:
        assert min(shard.execute("SELECT count(*) FROM pages").fetchone()[0] for shard in shards) > 50
        assert len(shards) == 2


def test_links_refused_as_nofollow_are_written_down_whoever_owns_the_host(tmp_path):
    hosts = [f"host-{i}.test" for i in range(8)]
    links = "".join(f'<a rel="nofollow" href="http://{host}/">x</a>' for host in hosts)
    with site({"a.test/": answer(links.encode(), content_type="text/html")}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, crawl={"workers": 2})
        crawl(library)
    assert {url for url, (_, reason) in states(library).items() if reason == "nofollow"} == {
        f"http://{host}/" for host in hosts
    }


def test_a_partition_of_slow_hosts_does_not_hold_back_the_pages_of_the_others(tmp_path):
    hosts = [f"host-{i}.test" for i in range(20)]
    quick = next(host for host in hosts if partition_of(host, 2) == 0)
    slow = next(host for host in hosts if partition_of(host, 2) == 1)
    links = {f"{host}/": tuple(f"/{i}" for i in range(80)) for host in (quick, slow)}
    links |= {f"{host}/{i}": () for host in (quick, slow) for i in range(80)}
    with site({f"{slow}/robots.txt": robots("User-agent: *", "Crawl-delay: 1")}, links) as server:
        seeds = [f"http://{quick}/", f"http://{slow}/"]
        library = make_library(tmp_path / "lib", seeds, server.address, crawl={"workers": 2}, stop={"pages": 70})
        with started(library) as process:
            process.wait(90)
    assert len(kept(library)) >= 70
    assert len(server.times()[slow]) < 30  # in equal halves it would be 35, a second after one another
