import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.publish.templates import xml_environment
from analecta.text.display import clean
from tests.publish.site.conftest import BASE

ATOM = "{http://www.w3.org/2005/Atom}"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def feeds(folder):
    return {path.name: ElementTree.parse(path).getroot() for path in sorted((folder / "feeds").iterdir())}


def words(element, name):
    return [found.text for found in element.findall(ATOM + name)]


def links(element, rel):
    return [found.get("href") for found in element.findall(f"{ATOM}link") if found.get("rel") == rel]


def test_s13_there_is_a_feed_for_each_topic_and_one_for_all(published, grown):
    assert len(feeds(published)) == 1 + len(grown.topic_names())
    assert len(feeds(published)["all.xml"].findall(f"{ATOM}entry")) == 24


def test_s13_a_feed_has_what_rfc_4287_wants(published):
    for name, feed in feeds(published).items():
        assert feed.tag == f"{ATOM}feed"
        assert [len(words(feed, must)) for must in ("id", "title", "updated", "author")] == [1, 1, 1, 1]
        assert links(feed, "self") == [f"{BASE}feeds/{name}"]
        assert len(links(feed, "alternate")) == 1


def test_s13_an_entry_has_what_rfc_4287_wants(published):
    for feed in feeds(published).values():
        entries = feed.findall(f"{ATOM}entry")
        for entry in entries:
            assert [len(words(entry, must)) for must in ("id", "title", "updated")] == [1, 1, 1]
            assert links(entry, "alternate")[0].startswith("http")
        ids = [words(entry, "id")[0] for entry in entries]
        assert len(ids) == len(set(ids)) > 0
        assert all(id.startswith("urn:uuid:") for id in ids)


def test_s13_the_newest_page_comes_first_and_dates_the_feed(published):
    for feed in feeds(published).values():
        times = [words(entry, "updated")[0] for entry in feed.findall(f"{ATOM}entry")]
        assert times == sorted(times, reverse=True)
        assert words(feed, "updated") == times[:1]
        assert all(TIME.fullmatch(time) for time in times)


def test_f37_hostile_titles_are_words_in_feeds(hostile):
    found = feeds(hostile.folder.parent / "site").values()
    titles = [words(entry, "title")[0] for feed in found for entry in feed.findall(f"{ATOM}entry")]
    assert "<script>window.hit = 1</script>" in titles
    assert "invoice gpj.exe" in titles
    assert not any(feed.findall(".//script") for feed in found)


@pytest.mark.parametrize("name", ["sitemap.xml", "opensearch.xml", "404.html", "robots.txt"])
def test_files_that_want_whole_addresses_are_there_only_with_a_base(published, hostile, name):
    assert (published / name).exists()
    assert not (hostile.folder.parent / "site" / name).exists()


def test_s13_the_sitemap_names_pages_that_are_there_and_no_copies(published):
    root = ElementTree.parse(published / "sitemap.xml").getroot()
    found = [element.text for element in root.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert f"{BASE}index.html" in found
    assert all((published / url.removeprefix(BASE)).exists() and "/copies/" not in url for url in found)


def test_s13_opensearch_leads_to_the_search(published):
    root = ElementTree.parse(published / "opensearch.xml").getroot()
    space = "{http://a9.com/-/spec/opensearch/1.1/}"
    assert root.find(f"{space}Url").get("template") == f"{BASE}search.html?q={{searchTerms}}"
    assert len(root.find(f"{space}ShortName").text) <= 16


texts = st.text(st.characters(codec=None), max_size=60)


@given(texts, texts)
def test_f37_xml_is_well_formed_whatever_the_words(text, attribute):
    source = '<entry term="{{ attribute }}"><title>{{ text }}</title></entry>'
    read = ElementTree.fromstring(xml_environment.from_string(source).render(text=text, attribute=attribute).encode())
    assert (read[0].text or "").replace("\r", "\n") == clean(text).replace("\r\n", "\n").replace("\r", "\n")
