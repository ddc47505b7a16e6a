import json
import re
import shlex
import shutil
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from analecta.communities.view import index_communities
from analecta.errors import UsageError
from analecta.publish.site import publish, write_site
from analecta.publish.site.content import SiteOptions, based, read_site, topic_slugs
from analecta.store.library import LibraryFolder
from analecta.store.partition import NOINDEX
from analecta.urls import hex_id
from analecta.views.clusters import ListedPage, PageCluster, TopicClusters, save
from analecta.views.collections import Collection, CollectionItem, collections
from tests.publish.shelf import Given, html, shelved
from tests.publish.site.conftest import BASE, TITLES, best_of, change


class Page(HTMLParser):
    """The ids, local links, metadata and data of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.meta, self.data, self._in = [], [], {}, [], False
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, name, attributes):
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[key] for key in ("href", "src", "action") if key in given]
        if name == "meta" and "name" in given:
            self.meta.setdefault(given["name"], []).append(given["content"])
        self._in = given.get("type") == "application/ld+json"

    def handle_data(self, data):
        self.data += [data] if self._in else []
        self._in = False


@pytest.fixture
def library(grown, tmp_path):
    return LibraryFolder(shutil.copytree(grown.folder, tmp_path / "lib"))


def shelf(folder, n=0):
    return sorted((folder / "topics").glob("*.html"))[n]


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_s13_every_link_within_the_site_leads_somewhere(published):
    pages = {path: Page(path) for path in published.rglob("*.html")}
    for path, page in pages.items():
        for href in page.links:
            parts = urlsplit(urljoin(path.as_uri(), href.replace(BASE, f"{published.as_uri()}/")))
            if parts.scheme == "file":
                target = type(path)(unquote(parts.path))
                assert target.is_file(), (path, href)
                assert not parts.fragment or parts.fragment in pages[target].ids, (path, href)


def test_s13_items_stand_under_the_page_that_links_to_them_with_the_words_of_the_link(published, grown):
    collection = collections(grown, most=12)[0]
    with grown.snapshot() as snapshot:
        item = next(one.item for one in collection.items if snapshot.url(one.item.id).found == 1 and one.item.anchor)
        parent = snapshot.address(item.parent)
    texts = [path.read_text("utf-8") for path in (published / "topics").glob("*.html")]
    text = unescape(next(text for text in texts if f'id="i{hex_id(item.id)}"' in text))
    before = text[: text.index(f'id="i{hex_id(item.id)}"')]
    assert f'href="{parent}"' in before[before.rindex("Linked from") :]
    assert "<mark>" in text


def test_s13_examples_of_a_person_stand_apart_and_are_not_ranked(published):
    text = shelf(published).read_text("utf-8")
    apart = text[text.index('id="examples"') : text.index("<aside")]
    assert "<article" in apart
    assert 'class="rank"' not in apart
    assert 'rel="noreferrer"' in apart


def test_s13_the_same_library_gives_the_same_bytes(grown, published, tmp_path):
    publish(grown, tmp_path / "again", SiteOptions(title="Pocket library", base_url=BASE, most=12))
    assert files(tmp_path / "again") == files(published)


def test_f35_a_page_that_says_noindex_is_nowhere_not_even_as_the_page_that_links(library, tmp_path):
    hidden, *others = best_of(library)
    with library.snapshot() as snapshot:
        parent = next(one for item in others if snapshot.url(item.id).found == 1 and (one := snapshot.url(item.parent)))
    for number in range(library.partitions):
        flag = f"UPDATE pages SET flags = {NOINDEX}, title = 'Secret words' WHERE id IN (?, ?)"
        change(library, number, flag, hidden.id, parent.id)
    publish(library, tmp_path / "site", SiteOptions(copies=False))
    whole = unescape("".join(data.decode("utf-8", "replace") for data in files(tmp_path / "site").values()))
    assert "Secret words" not in whole
    assert not [url for url in (hidden.url, parent.url) if f'"{url}"' in whole]
    assert "Found on pages that are not shown here" in whole


def test_f37_hostile_titles_are_words_on_every_page(hostile):
    folder = hostile.folder.parent / "site"
    for path in folder.rglob("*.html"):
        text = path.read_text("utf-8")
        assert not re.search(r"<script(?! type=\"application/ld\+json\"| src=\"search)", text), path
        assert not re.search(r"<[^>\"]*\son\w+=", text), path
        assert not re.search(r"href=\"\s*javascript:", text), path
        assert "\u202e" not in text


def test_f37_every_page_has_a_policy_without_inline_scripts_and_styles(hostile):
    for path in (hostile.folder.parent / "site").rglob("*.html"):
        policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', path.read_text("utf-8"))[1])
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        assert ("script-src" in policy) == (path.name == "search.html")


def test_s13_dublin_core_tells_of_the_collection(published, grown):
    page = Page(shelf(published))
    assert page.meta["DC.title"][0] in grown.topic_names()
    assert page.meta["DC.type"] == ["Collection"]
    assert page.meta["DC.identifier"] == [f"{BASE}topics/{shelf(published).name}"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", page.meta["DCTERMS.modified"][0])


def test_s13_dublin_core_tells_of_what_a_copy_is_a_copy(published):
    page = Page(next((published / "copies").iterdir()))
    assert page.meta["DC.source"] == page.meta["DCTERMS.isVersionOf"]
    assert page.meta["DC.source"][0].startswith("http")
    assert ".warc.gz" in page.meta["DCTERMS.provenance"][0]


def test_s13_json_ld_lists_the_items_in_their_order(hostile):
    pages = [Page(path) for path in (hostile.folder.parent / "site/topics").glob("*.html")]
    found = {data["name"]: data["mainEntity"] for page in pages for data in map(json.loads, page.data)}
    items = found[hostile.topic_names()[0]]["itemListElement"]
    assert [item["position"] for item in items] == list(range(1, len(items) + 1))
    assert items[0]["item"]["name"] == TITLES[0]


def test_topics_are_a_tree_on_the_front_page(library, tmp_path):
    item = best_of(library)[0]
    found = [Collection(n, topic, 1, []) for n, topic in enumerate(["Arts / Music / Jazz", "Arts", "Law"])]
    found[0].items.append(CollectionItem(item, 0.0, 1.0, rank=1))
    write_site(library, tmp_path / "site", found, index_communities(library), {})
    text = (tmp_path / "site/index.html").read_text("utf-8")
    tree = text[text.index('class="tree"') : text.index("</section>", text.index('class="tree"'))]
    assert re.sub(r"<(?!/?[ul][li]\b)[^>]*>|\s*\d+ of 1|, the best ", "", tree).count("<ul>") == 2
    assert 'class="branch"><bdi>Music' in tree
    assert 'href="topics/arts-music-jazz.html"' in tree


def test_a_library_without_pages_has_a_site_too(tmp_path):
    empty = LibraryFolder.create(tmp_path / "lib", 'recipe = "adaptive"\n')
    done = publish(empty, tmp_path / "site")
    assert (done.topics, done.items) == (0, 0)
    front = (tmp_path / "site/index.html").read_text()
    assert "How it was made" in front
    assert "There are no topics yet." in front


def test_a_page_of_two_topics_is_on_both_pages_and_once_in_the_lists(library):
    item = best_of(library)[0]
    both = [
        Collection(n, topic, 1, [CollectionItem(item, 0.0, 1.0, rank=1)])
        for n, topic in enumerate(library.topic_names())
    ]
    site = read_site(library, both, index_communities(library), {})
    assert [[entry.item.id for entry in shelf.ranked] for shelf in site.shelves] == [[item.id], [item.id]]
    assert len(site.found) == 1


def test_p10_a_topic_that_was_analysed_has_its_map(library, tmp_path):
    topic, item = library.topic_names()[0], best_of(library)[0]
    shown = ListedPage(item.id, item.url, item.title, item.host, 1.0)
    cluster = PageCluster("honey", ["honey"], 1, 1.0, [(item.host, 1)], [shown], [], [], [])
    save(library, TopicClusters(topic, 1.0, 1, 0, 10, "given", {1: 0.0}, [cluster], [[1.0]], [[0]]))
    publish(library, tmp_path / "site")
    slug = topic_slugs([topic])[0]
    assert f'href="../maps/{slug}.html"' in (tmp_path / f"site/topics/{slug}.html").read_text("utf-8")
    assert f"../copies/{hex_id(item.id)}.html" in (tmp_path / f"site/maps/{slug}.html").read_text("utf-8")


def test_file_names_of_topics_are_plain_and_all_different():
    assert topic_slugs(["A / B", "a b", "養蜂", "ミツバチ", "../../x"]) == ["a-b", "a-b-2", "topic-3", "topic-4", "x"]


@pytest.mark.parametrize("url", ["ftp://a.test/", "nonsense", "https://a.test/?q=1", "/library"])
def test_a_base_that_is_no_folder_on_the_web_is_refused(url):
    with pytest.raises(UsageError, match="--base-url"):
        based(url)
    assert based("https://a.test/lib") == "https://a.test/lib/"


def test_file_names_of_topics_are_different_whatever_they_are_called():
    assert topic_slugs(["bees 3", "bees", "Bees!"]) == ["bees-3", "bees", "bees-4"]
    assert topic_slugs(["all", "All topics"]) == ["all-1", "all-topics-2"]


def test_the_command_to_copy_is_safe_in_a_shell_whatever_the_address_holds(tmp_path):
    address = "http://a.test/it's;$(touch%20x)|y?a=1&b=2"
    library = shelved(tmp_path / "my lib", Given(address, html("Wrens")))
    publish(library, tmp_path / "site")
    command = unescape(re.search(r"<code>(.*?)</code>", shelf(tmp_path / "site", -1).read_text("utf-8"))[1])
    assert shlex.split(command) == ["analecta", "explain", "my lib", best_of(library)[0].url]
    assert "'my lib' 'http://" in command
