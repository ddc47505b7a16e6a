"""Communities of sites on a published site: a page for each, an overview with a drawing, their names at the items."""

import shutil
from html import unescape

import pytest

from analecta.communities.view import (
    Community,
    CommunityIndex,
    CommunityLinks,
    CommunityList,
    CommunityMember,
    index_communities,
)
from analecta.publish.site import publish, write_site
from analecta.publish.site.pages import SHAPES
from analecta.store.library import LibraryFolder
from analecta.store.site_rules import Sites
from analecta.store.sites import counted
from analecta.views.collections import collections, with_communities
from tests.publish.site.conftest import best_of, change

EVIL = "</svg><script>window.hit = 1</script>\u202e"


@pytest.fixture(scope="module")
def homes(grown):
    return index_communities(grown)


def made_up(grown, count, name="Some of them {}"):
    """So many communities, of the two hosts with the most pages and others that nobody has read."""
    hosts = [[item.host for item in best_of(grown, topic)] for topic in (0, 1)]
    read = [(hosts[0][0], hosts[1][0])] + [(f"a{n}.test", f"b{n}.test") for n in range(2, count + 1)]
    every = [
        Community(n, name.format(n), [pair[0]], 9 * n, [CommunityMember(site, EVIL, 9) for site in pair], [EVIL])
        for n, pair in enumerate(read, 1)
    ]
    between = [CommunityLinks(1, n, n) for n in range(2, count + 1)]
    return CommunityIndex(Sites(), CommunityList(every, between))


def text(path):
    return unescape(path.read_text("utf-8"))


def test_c7_each_community_has_a_page_with_its_sites_reasons_and_merges(published, homes):
    for one in homes.communities:
        page = text(published / f"communities/{one.number}.html")
        assert f"<h1><bdi>{one.name}</bdi></h1>" in page
        assert all(member.site in page and member.reason in page for member in one.members[:200])
        assert all(words in page for words in one.merged)


def test_c7_the_best_pages_of_a_community_are_of_its_sites_and_in_order(grown, homes):
    _, best = with_communities(grown, homes, of_each=12)
    for one in homes.communities:
        sites, ids = {member.site for member in one.members}, [ranked.item.id for ranked in best[one.number]]
        assert {homes.site(ranked.item.url, ranked.item.host) for ranked in best[one.number]} <= sites
        assert len(set(ids)) == len(ids) <= 12
        assert [ranked.rank for ranked in best[one.number]] == list(range(1, len(ids) + 1))
    assert any(len(some) > 5 for some in best.values())


def test_collections_are_the_same_with_and_without_communities(grown, homes):
    assert with_communities(grown, homes)[0] == collections(grown)


def test_the_overview_draws_and_lists_all_communities(published, homes):
    page = text(published / "communities.html")
    for one in homes.communities:
        assert page.count(f'href="communities/{one.number}.html"') >= 1 + len(SHAPES)
    assert 'href="communities.html"' in text(published / "index.html")
    assert "communities.html" in text(published / "sitemap.xml")


def test_items_name_their_community(published, grown, homes):
    item = next(one for one in best_of(grown) if homes.of(one.url, one.host))
    home = homes.of(item.url, item.host)
    shelves = "".join(map(text, (published / "topics").iterdir()))
    assert f'<a href="../communities/{home.number}.html"><bdi>{home.name}</bdi></a>' in shelves
    assert home.name in text(published / "search-data.js")


def test_links_with_other_communities_are_told_both_ways(grown, tmp_path):
    write_site(grown, tmp_path / "site", [], made_up(grown, 3), {})
    one, three = (text(tmp_path / f"site/communities/{n}.html") for n in (1, 3))
    assert 'Some of them 3</bdi></a> <span class="count">3 links' in one[one.index("It links to") :]
    assert "It links to" not in three
    assert "Some of them 1" in three[three.index("It is linked from") :]


def test_of_very_many_communities_the_largest_are_drawn_and_all_are_listed(grown, tmp_path):
    write_site(grown, tmp_path / "site", [], made_up(grown, 60), {})
    page = text(tmp_path / "site/communities.html")
    assert page.count('class="circle') == 40 * len(SHAPES)
    assert page.count("<h3>") == 60


def test_f37_names_and_reasons_are_only_words(grown, tmp_path):
    write_site(grown, tmp_path / "site", collections(grown), made_up(grown, 3, EVIL + " {}"), {})
    for path in (tmp_path / "site").rglob("*.html"):
        assert "<script>" not in path.read_text("utf-8")
        assert "\u202e" not in path.read_text("utf-8")


def test_a_library_without_communities_shows_nothing_of_them(grown, tmp_path):
    write_site(grown, tmp_path / "site", collections(grown), CommunityIndex(Sites(), CommunityList()), {})
    assert not [path for path in (tmp_path / "site").rglob("*") if "communit" in path.name]
    assert "communit" not in text(tmp_path / "site/index.html").lower()


def test_a_library_whose_links_were_never_counted_is_published_too(grown, tmp_path):
    library = LibraryFolder(shutil.copytree(grown.folder, tmp_path / "lib"))
    for n in range(library.partitions):
        change(library, n, "DROP TABLE site_links")
    assert not counted(library)
    publish(library, tmp_path / "site")
    assert not (tmp_path / "site/communities.html").exists()
