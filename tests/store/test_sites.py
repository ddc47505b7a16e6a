"""What a site is, and how links between sites are counted and read."""

import shutil
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.errors import UsageError
from analecta.model import Link
from analecta.settings.schema import SiteSettings, Topic
from analecta.store import site_rules as hand
from analecta.store.library import LibraryFolder
from analecta.store.site_rules import SiteEdit, Sites, front, seed_sites, sites_of
from analecta.store.sites import SiteGraph, SiteUnits, count_new_links, counted, read_sites, recount
from analecta.store.snapshot import Snapshot
from tests.making import lease, shard_at, target

HOSTS = st.sampled_from(["a.test", "www.a.test", "b.test", "c.test"])
PAGES = st.lists(st.tuples(HOSTS, st.lists(HOSTS, max_size=5)), max_size=8)


def links(*urls):
    return [Link(target(url)) for url in urls]


def counted_in(db, sites, *pages):
    """A shard with these pages counted: (url, linked urls)."""
    units = SiteUnits(db)
    for url, out in pages:
        count_new_links(units, sites, [(lease(url), links(*out))])
    graph = SiteGraph(sites)
    graph.refresh(Snapshot([db]))
    return graph


@pytest.mark.parametrize(
    ("by", "url", "site"),
    [
        ("host", "http://www.news.example.org/x", "news.example.org"),
        ("domain", "http://www.news.example.org/x", "example.org"),
        ("domain", "http://me.github.io/x", "me.github.io"),
        ("domain", "http://127.0.0.1:8080/", "127.0.0.1:8080"),
        ("domain", "http://[::1]/", "[::1]"),
        ("prefix", "http://example.org/~ann/x", "example.org/~ann/"),
        ("prefix", "http://example.org/~ann", "example.org/~ann/"),
        ("prefix", "http://example.org/x/~ann/", "example.org"),
    ],
)
def test_c1_a_site_is_a_host_a_domain_or_a_directory(by, url, site):
    assert Sites(SiteSettings(by)).site(target(url)) == site


def test_c1_which_directories_are_sites_can_be_set():
    sites = Sites(SiteSettings("prefix", ("/~*/", "/users/*/")))
    assert sites.site(target("http://a.test/users/ann/cv?x")) == "a.test/users/ann/"
    assert front("a.test/users/ann/") == "http://a.test/users/ann/"
    assert seed_sites([Topic("t", ("http://a.test/~b/", "http://a.test/~b/c"))], sites) == ["a.test/~b/"]


def test_c1_sites_are_merged_and_split_by_hand():
    said = [
        SiteEdit("merge", "a.test", "b.test"),
        SiteEdit("split", "b.test/x/"),
        SiteEdit("merge", "b.test", "c.test"),
    ]
    found = [Sites(edits=said).site(target(f"http://{url}")) for url in ("a.test/", "www.b.test/", "b.test/x/1")]
    assert found == ["c.test", "c.test", "b.test/x/"]


@given(st.lists(st.permutations("abcd").map(lambda names: SiteEdit("merge", *names[:2]))))
def test_c1_sites_that_are_part_of_each_other_are_one_site_and_no_ring(said):
    sites = Sites(edits=said, moved={"a": "b", "b": "c"})
    assert all(sites.of(sites.of(name)) == sites.of(name) == sites.whole.get(name, name) for name in "abcd")


def test_c1_a_site_that_has_moved_to_another_is_one_with_it_already(tmp_path):
    library, by = LibraryFolder.create(tmp_path / "lib", ""), SiteSettings()
    hand.add_moved(library, {"old.test": "new.test"})
    with pytest.raises(UsageError, match="one site already"):
        hand.merge(library, by, "new.test", "old.test")


def test_c1_what_was_said_by_hand_is_kept_and_undone(tmp_path):
    library, by = LibraryFolder.create(tmp_path / "lib", ""), SiteSettings()
    hand.merge(library, by, "http://www.A.test/", "b.test")
    assert hand.split(library, "c.test/x").site == "c.test/x/"
    assert sites_of(library, by).of("a.test") == "b.test"
    assert [hand.undo(library).kind, hand.undo(library).kind] == ["split", "merge"]
    with pytest.raises(UsageError, match="nothing was changed"):
        hand.undo(library)


@pytest.mark.parametrize("one", [("a.test", "www.a.test"), ("", "a.test"), ("a b", "c")])
def test_c1_what_makes_no_sense_is_said(tmp_path, one):
    library = LibraryFolder.create(tmp_path / "lib", "")
    with pytest.raises(UsageError):
        hand.merge(library, SiteSettings(), *one)
    with pytest.raises(UsageError, match="which part"):
        hand.split(library, "a.test")
    assert hand.edits(library) == []


def test_c2_links_to_other_sites_are_counted_page_after_page():
    with shard_at() as shard:
        pages = [("http://a.test/", ["http://b.test/1", "http://b.test/2", "http://a.test/x"])] * 2
        graph = counted_in(shard.db, Sites(), *pages, ("http://www.a.test/", ["http://a.test/", "http://c.test/"]))
        assert graph.out(Snapshot([shard.db]), "a.test") == {"b.test": 4, "c.test": 1}
        assert graph.pages(Snapshot([shard.db])) == {"a.test": 3}


@pytest.mark.parametrize("by", ["host", "prefix"])
def test_c5_links_that_carry_an_address_as_share_buttons_do_count_for_nobody(by):
    out = [
        "http://share.test/?u=https%3A%2F%2Fa.test%2F",
        "http://check.test/x?a&uri=http://a.test/",
        "http://b.test/?u=a",
    ]
    with shard_at() as shard:
        graph = counted_in(shard.db, Sites(SiteSettings(by)), ("http://a.test/", out))
        assert graph.out(Snapshot([shard.db]), "a.test") == {"b.test": 1}


@given(PAGES, st.sampled_from(["host", "domain"]))
def test_c2_the_count_is_what_a_scan_of_all_pages_would_give(pages, by):
    sites = Sites(SiteSettings(by), [SiteEdit("merge", "c.test", "b.test")])
    wanted = Counter()
    for host, out in pages:
        wanted.update((sites.of(host), sites.of(other)) for other in out if sites.of(host) != sites.of(other))
    with shard_at() as shard:
        urls = [(f"http://{host}/", [f"http://{other}/" for other in out]) for host, out in pages]
        graph = counted_in(shard.db, sites, *urls)
        rows = graph.all(Snapshot([shard.db]))
        assert {(src, dst): n for src, row in rows.items() for dst, n in row.items()} == dict(wanted)
        assert all(graph.out(Snapshot([shard.db]), site) == row for site, row in rows.items())


def copied(library, folder):
    """A library that may be changed."""
    shutil.copytree(library.folder, folder)
    return LibraryFolder(folder)


def test_c2_a_crawl_counts_what_a_recount_of_its_pages_finds(grown, tmp_path):
    library, totals = copied(grown, tmp_path / "lib"), []
    assert counted(library)
    for _ in range(2):
        with read_sites(library, Sites()) as (graph, snapshot):
            links = sum(sum(row.values()) for row in graph.all(snapshot).values())
            totals.append((sum(graph.pages(snapshot).values()), links))
        recount(library, Sites())
    # Pages of one partition that are copies of another's are seen at the end, and no longer count.
    assert 0.97 < totals[1][0] / totals[0][0] <= 1
    assert 0.97 < totals[1][1] / totals[0][1] <= 1


def test_c1_a_split_host_is_counted_anew(grown, tmp_path):
    library = copied(grown, tmp_path / "lib")
    with library.shards() as shards:
        host, n = (
            shards[0]
            .execute(
                "SELECT h.name, count(*) FROM pages p JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host"
                " GROUP BY 1 ORDER BY 2 DESC"
            )
            .fetchone()
        )
        url = shards[0].execute("SELECT url FROM urls WHERE url LIKE ? AND page", (f"%{host}/%/%",)).fetchone()[0]
    directory = f"{host}/{url.split('/')[3]}/"
    recount(library, Sites(edits=[SiteEdit("split", directory)]))
    with read_sites(library, Sites()) as (graph, snapshot):
        assert 0 < graph.pages(snapshot)[directory] < n
