"""Whole crawls of a web with planted communities: they are found, and what was counted is what stands on its pages."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from analecta.cli import app
from analecta.communities.growth import Communities
from analecta.communities.view import communities
from analecta.crawl.control import EngineStatus
from analecta.crawl.local import crawl_here
from analecta.crawl.site_growth import SiteGrowth
from analecta.errors import UsageError
from analecta.evaluate.communities import open_graph, quality, spanning_clusters
from analecta.evaluate.communities_crawl import crawl_communities, spanned
from analecta.model import Tally
from analecta.settings.load import load
from analecta.store.library_db import crawled_sites
from analecta.store.site_rules import Sites
from analecta.store.sites import read_sites
from analecta.testweb.community_web import CommunityWeb
from analecta.testweb.process import ServerProcess
from tests.crawls.driver import make_library

SITES = 200


@pytest.fixture(scope="module")
def villages():
    return CommunityWeb(SITES)


@pytest.fixture(scope="module")
def library(tmp_path_factory, villages):
    """Crawled from one site of each community, one of those that are linked least."""
    seeds = [f"http://{villages.name(village[-1])}/" for village in villages.villages]
    with ServerProcess("analecta.testweb.community_web:CommunityWebServer", {"sites": SITES}) as server:
        asked = {"recipe": "communities", "crawl": {"workers": 2}}
        library = make_library(tmp_path_factory.mktemp("planted") / "lib", seeds, server.address, **asked)
        ending = crawl_here(library, load(library.settings_path))
    assert ending.reason == "nothing is left to fetch"
    return library


def test_c2_a_crawl_counts_every_link_that_stands_on_the_pages_of_a_site(library, villages):
    with read_sites(library, Sites()) as (graph, snapshot):
        links = graph.all(snapshot)
    assert len(crawled_sites(library)) > 0.9 * SITES
    assert {site: links.get(site, {}) for site in crawled_sites(library)} == {
        site: villages.graph[site] for site in crawled_sites(library)
    }


def test_c3_planted_communities_are_found_from_one_site_each(library, villages):
    planted = [list(map(villages.name, one)) for one in villages.villages]
    found = [[member.site for member in one.members] for one in communities(library).communities]
    assert quality(planted, found).f >= 0.9


def test_c6_the_run_says_what_its_clustering_took(library):
    run = library.last_run()
    assert 0 < json.loads(run.tally)["clustering"] < run.ended - run.began


def test_c6_global_clustering_from_stored_pages_is_that_of_the_graph(library, villages):
    sites = sorted(crawled_sites(library).keys() & villages.truth.keys())
    place = {site: n for n, site in enumerate(sites)}
    rows = [
        (place[site], place[other], n / sum(villages.graph[site].values()))
        for site in sites for other, n in villages.graph[site].items() if other in place
    ]  # fmt: skip
    src, dst, weight = zip(*rows, strict=True)
    of = spanning_clusters(np.array(src), np.array(dst), np.array(weight), len(sites), 5)
    expected = {frozenset(np.array(sites)[of == n].tolist()) for n in range(5)}
    tree = spanned(library, sites, 5)
    assert set(map(frozenset, tree.clusters)) == expected
    assert 0 < tree.tree_seconds < tree.seconds


class Looked(Communities):
    """Counts how often it is asked where to go on."""

    times = 0

    def next(self, most=None):
        self.times += 1
        return super().next(most)


def test_communities_are_not_looked_at_anew_after_each_site(tmp_path):
    names = [f"s{n}.test" for n in range(9)]
    library = make_library(tmp_path / "lib", [f"http://{name}/" for name in names], recipe="communities")
    growth = SiteGrowth(library, load(library.settings_path))
    growth.found = Looked(names)
    growth.found.next()
    for done in names:
        growth.step([EngineStatus(0, Tally(), 0, 0, 0, 0, 0, 0, "", -1.0, 0, [], serial=1, done=[done])])
    assert list(crawled_sites(library)) == names
    assert growth.found.times == 5, "after 5 of 9 sites, 7, 8 and all"


def test_c6_whole_crawls_are_evaluated_by_a_command(tmp_path):
    words = ["evaluate", "communities", "--crawl", "--web", "pocket:220", "--seeds", "8", "-o", str(tmp_path), "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)
    assert [found] == json.loads((tmp_path / "communities-crawled.json").read_text())
    assert found["against_truth"]["f"] >= 0.9
    assert found["clusters"] == found["planted"] == 4
    assert 0 < found["seconds"] < found["crawl_seconds"]


def test_a_graph_cannot_be_crawled():
    done = CliRunner().invoke(app, ["evaluate", "communities", "--crawl", "--graph", "some.gml"])
    assert isinstance(done.exception, UsageError)


@pytest.mark.slow
@pytest.mark.parametrize(("sites", "seeds"), [(1100, 100), (3000, 100)])
def test_c3_c5_planted_communities_are_found_by_whole_crawls_from_100_seeds(sites, seeds):
    found = crawl_communities(open_graph(f"pocket:{sites}", None), seeds)
    assert found.against_truth.f >= 0.95
    assert found.against_truth.precision >= 0.95
    assert found.against_truth.recall >= 0.95
