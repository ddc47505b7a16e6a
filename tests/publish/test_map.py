"""The map: one file that asks the network for nothing, reads without a script, and keeps hostile words inert."""

import base64
import hashlib
import re
import sqlite3
from html import unescape
from html.parser import HTMLParser
from shutil import copytree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from analecta.communities.view import Community, CommunityIndex, CommunityList, CommunityMember
from analecta.publish.layout import SHAPES, dots, lay_out, lines, wrapped
from analecta.publish.map import Copy, at_home, copies_of, map_page, net_of
from analecta.publish.network import COLOURS, colours
from analecta.store.library import LibraryFolder
from analecta.store.partition import NOARCHIVE, NOINDEX
from analecta.store.site_rules import Sites
from analecta.views.clusters import ClusterPage, ListedPage, PageCluster, TopicClusters, TopicOrigin
from tests.browser import Browser, needs_axe, needs_browser, needs_nu, nu

EVIL = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!--",
    "\u2028",
    "\u202egnp.exe",
    "\x00\ud800",
    "{{7*7}}",
]
LABELS = [
    "Cell biology",
    "Medieval manuscripts and illuminated books of northern France",
    "気候変動と海洋生態系の長期的な研究",
    "علوم الحاسوب",
]


def cluster(n, size=20, label="", title="Page", url="http://h.test/{}"):
    members = [ClusterPage(1000 * n + i, url.format(i), f"{title} {i}", "h.test", 0.9, 0.8) for i in range(size)]
    shown = [ListedPage(page.id, page.url, page.title, page.host, page.near) for page in members[:3]]
    label = label or f"{LABELS[n % 4]} {n}"
    return PageCluster(label, ["cell", "gene"], size, 0.5, [("h.test", size)], shown, shown[:2], shown[1:], members)


def analysis(count=5, size=20, **more):
    clusters = [cluster(n, max(2, size - n), **more) for n in range(count)]
    similar = [[1.0 if a == b else 1 / (2 + abs(a - b)) for b in range(count)] for a in range(count)]
    links = [[a + 2 * b for b in range(count)] for a in range(count)]
    return TopicClusters(
        "", 1.7e9, 500, 20, 900, "auto", {}, clusters, similar, links, [TopicOrigin("A paper", "http://h.test/paper")]
    )


def copies(found):
    return {c.members[0].id: Copy(1.7e9, "archive/a.warc.gz", 77, f"Text of it {c.label}") for c in found.clusters}


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture
def written(tmp_path):
    def write(found, **more):
        path = tmp_path / "map.html"
        path.write_text(map_page(found, "Things", copies(found), **more), encoding="utf-8")
        return path

    return write


# --- the file --------------------------------------------------------------------------------------------------------


def test_p10_nothing_in_the_page_is_loaded_from_elsewhere():
    tags = Tags(map_page(analysis(), "Things", {})).found
    assert not [attrs for _, attrs in tags if {"src", "srcset", "style", "onclick", "data"} & set(attrs)]
    assert not {"link", "img", "iframe", "object", "form", "base"} & {tag for tag, _ in tags}


def test_p10_the_policy_allows_only_the_blocks_of_the_page_itself():
    page = unescape(map_page(analysis(), "Things", {}))
    blocks = re.findall(r"<(style|script)>(.*?)</\1>", page, re.S)
    hashes = {base64.b64encode(hashlib.sha256(block.encode()).digest()).decode() for _, block in blocks}
    assert "default-src 'none'" in page
    assert set(re.findall(r"'sha256-([^']+)'", page)) == hashes


def test_p10_the_same_analysis_gives_the_same_bytes():
    assert map_page(analysis(12), "Things", {}) == map_page(analysis(12), "Things", {})


@pytest.mark.parametrize("count", [0, 1, 2, 12])
def test_p10_every_group_is_in_the_list_and_on_each_map(count):
    tags = Tags(map_page(analysis(count), "Things", {})).found
    assert sum(attrs.get("class") == "group" for _, attrs in tags) == count
    assert sum((attrs.get("class") or "").startswith("circle") for _, attrs in tags) == count * len(SHAPES)


@pytest.mark.parametrize("evil", EVIL)
def test_f37_hostile_words_are_no_markup(evil):
    page = map_page(
        replace(analysis(2, label=evil, title=evil), origins=[TopicOrigin(evil, evil)]),
        evil,
        {2: Copy(1, evil, 1, evil)},
    )
    plain = map_page(
        replace(analysis(2, label="x", title="x"), origins=[TopicOrigin("x", "x")]), "x", {2: Copy(1, "x", 1, "x")}
    )
    assert [tag for tag, _ in Tags(page).found if tag != "tspan"] == [
        tag for tag, _ in Tags(plain).found if tag != "tspan"
    ]
    assert not re.search("[\x00\u2028\u202e\ud800]", page)


def test_f37_only_addresses_of_the_web_become_links():
    tags = Tags(map_page(analysis(2, url="javascript:alert({})"), "Things", {})).found
    hrefs = [attrs["href"] for tag, attrs in tags if tag == "a"]
    assert all(href.startswith(("#", "http://h.test/paper")) for href in hrefs)


def test_p10_a_copy_is_shown_inside_and_leads_to_the_whole_one():
    found = analysis(2)
    page = map_page(found, "Things", copies(found), copy_url={0: "copies/1.html", 1: "copies/2.html"})
    assert page.count('<article class="copy"') == 2
    assert 'href="copies/1.html">the whole copy' in page
    assert 'href="copies/2.html">archived copy' in page


def test_p10_five_thousand_pages_make_a_file_of_sane_size():
    assert len(map_page(analysis(5, 1000), "Things", {}).encode()) < 1_500_000


# --- the layout ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
@pytest.mark.parametrize("count", [3, 5, 12, 40])
def test_p10_circles_do_not_overlap_and_their_areas_are_pages(count, shape):
    found = analysis(count, 60)
    circles = lay_out(net_of(found), shape).circles
    pairs = [(a, b) for n, a in enumerate(circles) for b in circles[:n]]
    assert all((a.x - b.x) ** 2 + (a.y - b.y) ** 2 >= (a.r + b.r) ** 2 for a, b in pairs)
    assert [c.r**2 / circles[0].r ** 2 for c in circles] == pytest.approx([c.size / 60 for c in found.clusters])


def test_p10_circles_lie_on_their_sheet():
    sheet = lay_out(net_of(analysis(12)), SHAPES[0])
    assert all(c.r <= c.x <= sheet.width - c.r for c in sheet.circles)
    assert all(c.r <= c.y <= sheet.height - c.r for c in sheet.circles)


def test_p10_neighbours_have_different_colours():
    chosen = colours(lay_out(net_of(analysis(COLOURS)), SHAPES[0]))
    assert sorted(chosen) == list(range(COLOURS))


def test_p10_lines_join_all_groups_with_few_lines():
    found = lines(analysis(40).similar)
    assert len(found) < 60
    assert {n for a, b, _ in found for n in (a, b)} == set(range(40))


def test_p10_the_first_page_is_in_the_middle_and_all_are_inside():
    far = [x * x + y * y for x, y in dots(200, 50)]
    assert far == sorted(far)
    assert far[-1] < 50**2


@given(st.text(max_size=80), st.integers(8, 30), st.integers(1, 3))
def test_p10_labels_keep_to_their_lines(label, width, most):
    found = wrapped(label, width, most)
    assert len(found) <= most
    assert all(cell_len(line) <= max(width, 24) + 1 for line in found)


# --- the library -----------------------------------------------------------------------------------------------------


def drawn(library):
    """An analysis of one group that has all pages of a library."""
    with library.snapshot() as snapshot:
        pages = [ClusterPage(i.id, i.url, i.title, i.host, 0.5, i.confidence) for i in snapshot.shown_pages()]
    one = PageCluster("All", [], len(pages), 0.5, [], [], [], [], pages)
    return TopicClusters("", 1.0, len(pages), 0, 0, "given", {}, [one], [[1.0]], [[0]])


def flagged(grown, tmp_path, id, flag):
    copytree(grown.folder, tmp_path / "lib")
    library = LibraryFolder(tmp_path / "lib")
    for n in range(library.partitions):
        db = sqlite3.connect(library.shard_path(n))
        db.execute("UPDATE pages SET flags = flags | ? WHERE id = ?", (flag, id))
        db.commit()
        db.close()
    return library


def test_p10_copies_come_from_the_archive(grown):
    with grown.snapshot() as snapshot:
        _, kept = copies_of(snapshot, drawn(grown))
        assert kept.keys() == {item.id for item in snapshot.shown_pages() if not item.noarchive}
    assert all(copy.warc.endswith(".warc.gz") and 0 < len(copy.text) <= 1500 for copy in kept.values())


def test_f35_a_page_that_says_noarchive_has_no_copy(grown, tmp_path):
    found = drawn(grown)
    id = found.clusters[0].members[0].id
    with flagged(grown, tmp_path, id, NOARCHIVE).snapshot() as snapshot:
        left, kept = copies_of(snapshot, found)
    assert id not in kept
    assert kept
    assert id in {page.id for page in left.clusters[0].members}


def test_f35_a_page_that_has_come_to_say_noindex_is_not_drawn(grown, tmp_path):
    found = drawn(grown)
    id = found.clusters[0].members[0].id
    with flagged(grown, tmp_path, id, NOINDEX).snapshot() as snapshot:
        left, kept = copies_of(snapshot, found)
    assert id not in kept
    assert id not in {page.id for page in left.clusters[0].members}


def test_f35_an_example_that_has_come_to_say_noindex_is_not_told_as_what_it_was_begun_with(grown, tmp_path):
    with grown.snapshot() as snapshot:
        hidden, seen = [item for item in snapshot.shown_pages() if item.example][:2]
    begun = [TopicOrigin("A paper"), TopicOrigin(hidden.name, hidden.url), TopicOrigin(seen.name, seen.url)]
    with flagged(grown, tmp_path, hidden.id, NOINDEX).snapshot() as snapshot:
        left, _ = copies_of(snapshot, replace(drawn(grown), origins=begun))
    assert left.origins == [begun[0], begun[2]]


# --- communities -----------------------------------------------------------------------------------------------------


def homes(name="Bees {}"):
    """A community of a.test and b.test, and another one; pages of h.test are of none."""
    sites = [["a.test", "b.test"], ["c.test", "d.test"]]
    members = [[CommunityMember(site, "a seed", 3) for site in pair] for pair in sites]
    every = [Community(n, name.format(n), [], 6, own, []) for n, own in enumerate(members, 1)]
    return CommunityIndex(Sites(), CommunityList(every))


def of_hosts(found):
    """The same pages on hosts of both communities, and on one that is of none."""
    hosts = ("a.test", "b.test", "c.test", "h.test")
    moved = [[replace(p, host=hosts[i % 4]) for i, p in enumerate(c.members)] for c in found.clusters]
    clusters = [
        replace(c, members=own, examples=[], hubs=[], authorities=[])
        for c, own in zip(found.clusters, moved, strict=True)
    ]
    return replace(found, clusters=clusters)


def test_without_communities_the_map_says_nothing_of_them():
    page = map_page(analysis(), "Things", {}, homes=CommunityIndex(Sites(), CommunityList()))
    tags = Tags(page).found
    assert not {"home", "by-community"} & {attrs.get("id") for _, attrs in tags}
    assert not [attrs for _, attrs in tags if "data-c" in attrs]
    assert map_page(analysis(), "Things", {}) == map_page(
        analysis(), "Things", {}, homes=CommunityIndex(Sites(), CommunityList())
    )


def test_c7_dots_and_pages_know_their_community():
    tags = Tags(map_page(of_hosts(analysis(1, 8)), "Things", {}, homes=homes())).found
    dots = [attrs for tag, attrs in tags if tag == "path" and attrs.get("class", "").startswith("dots")]
    assert [(d["class"], d.get("data-c"), d["d"].count("M")) for d in dots[:3]] == [
        ("dots q0", "1", 4), ("dots q1", "2", 2), ("dots", None, 2),
    ]  # fmt: skip
    assert [attrs.get("data-c") for tag, attrs in tags if tag == "li"].count("1") == 4


def test_c7_only_the_largest_communities_have_a_colour_of_their_own():
    every = [
        Community(n, f"c{n}", [], 1, [CommunityMember(f"{n}{x}.test", "", 1) for x in "ab"], []) for n in range(1, 13)
    ]
    pages = [ClusterPage(i, "http://x.test/", "", f"{i % 12 + 1}a.test", 0.5, 0.5) for i in range(30)]
    known = at_home(pages, pages, CommunityIndex(Sites(), CommunityList(every)))
    assert list(known.pages.values()) == [3] * 6 + [2] * 6
    assert sorted(known.tones.values()) == [*range(COLOURS), 7, 7, 7, 7]
    assert known.legend[-1] == ("5 more", 10)


@needs_browser
def test_c7_pages_of_a_community_are_found_and_marked(written):
    with Browser() as browser:
        browser.open(written(of_hosts(analysis(3, 8)), homes=homes()))
        browser.run("home.value = '2'; home.dispatchEvent(new Event('change'))")
        assert browser.run("count.textContent") == "5 pages, 0 groups"
        assert browser.run("document.querySelector('.map.wide .hits').getAttribute('d').match(/M/g).length") == 2
        browser.run("document.querySelector('#results a').click()")
        assert browser.run("document.querySelectorAll('.dot.q1.found').length") == 2
        browser.press("Escape", "Escape", "Escape", "Escape")
        assert browser.run("[home.value, document.querySelectorAll('.hits').length]") == ["", 0]
        assert not browser.complaints() + browser.requests()


@needs_axe
def test_c7_a_map_with_communities_is_accessible_and_their_names_are_words(written):
    with Browser(390, 900, dark=True) as browser:
        browser.open(written(of_hosts(analysis(3, 8)), homes=homes("</select><img src=x onerror=alert(1)> {}")))
        browser.run("document.getElementById('by-community').click()")
        assert browser.axe() == []
        assert browser.run("document.querySelectorAll('img').length") == 0


# --- in a browser ----------------------------------------------------------------------------------------------------


@needs_browser
def test_p10_keys_open_a_group_zoom_to_its_pages_and_come_back(written):
    with Browser() as browser:
        browser.open(written(analysis(5)))
        browser.run("[...document.querySelectorAll('.circle')].find(a => a.getClientRects().length).focus()")
        browser.press("Enter")
        browser.run("new Promise(done => setTimeout(done, 100))")
        assert browser.run("document.activeElement.textContent") == f"{LABELS[0]} 0"
        browser.run("document.querySelector('.group.open .pages-button').click()")
        browser.press("Enter")
        assert "Text of it" in browser.run("document.querySelector('dialog[open]').textContent")
        browser.press("Escape", "Escape", "Escape")
        assert browser.run("document.querySelector('.group.open')") is None
        assert not browser.complaints() + browser.requests()


@needs_browser
def test_p10_search_finds_titles_and_says_how_many(written):
    with Browser() as browser:
        browser.open(written(analysis(3, 10)))
        browser.run("search.value = 'PÁGE 7'.normalize(); search.dispatchEvent(new Event('input'))")
        assert browser.run("count.textContent") == "3 pages, 0 groups"
        browser.run("document.querySelector('#results a').click()")
        assert browser.run("document.querySelector('dialog[open]').textContent").startswith("ClosePage 7")


@needs_browser
@pytest.mark.parametrize("evil", EVIL[:2])
def test_f37_hostile_titles_do_nothing_in_a_browser(written, evil):
    with Browser() as browser:
        browser.open(written(analysis(3, title=evil)))
        browser.run("location.hash = 'g1'; new Promise(done => setTimeout(done, 100))")
        browser.run("document.querySelector('.group.open .pages-button').click()")
        assert browser.run("document.querySelectorAll('img').length") == 0
        assert not browser.complaints() + browser.requests()


@needs_axe
def test_p10_axe_finds_nothing_serious(written):
    with Browser() as browser:
        browser.open(written(analysis(8)))
        assert browser.axe() == []
        browser.run("location.hash = 'g2'; new Promise(done => setTimeout(done, 200))")
        assert browser.axe() == []


@needs_nu
def test_p10_the_page_is_valid_html(written, tmp_path):
    plain = written(analysis(8, title="</p>")).rename(tmp_path / "plain.html")
    assert nu([plain, written(of_hosts(analysis(3, 8)), homes=homes("</select> {}"))]) == []


def test_p9_no_line_of_a_label_begins_or_ends_with_the_mark():
    assert wrapped("metropolitan area · Mayor · districts", 17, 2) == ["metropolitan area", "Mayor · districts"]
    assert wrapped("dinosaurs · Jurassic Park · lizard", 14, 2) == ["dinosaurs", "Jurassic Park…"]
