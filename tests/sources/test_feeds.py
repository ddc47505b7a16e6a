import json

import pytest

from analecta.errors import UsageError
from analecta.sources.lists import read_feed

RSS2 = """<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"
 xmlns:media="http://search.yahoo.com/mrss/"><channel><media:title>no</media:title>
<atom:link href="https://a.test/feed.xml" rel="self"/><title> Bees &amp;
 wasps</title><link>https://a.test/</link>
<item><title>1</title><link>https://a.test/1</link><media:link>https://no.test/</media:link></item>
<item><title>2</title><guid>https://a.test/2</guid></item><item><link>/3</link></item>
<item><title>lost</title><guid isPermaLink="false">https://x.test/</guid></item></channel></rss>"""
RSS1 = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="https://a.test/"><title>Bees &amp; wasps</title><link>https://a.test/</link></channel>
<item rdf:about="https://a.test/1"><title>1</title><link>https://a.test/1</link></item>
<item><link>https://a.test/2</link></item><item><link>https://a.test/3</link></item><item><title>lost</title></item>
</rdf:RDF>"""
ATOM = """<a:feed xmlns:a="http://www.w3.org/2005/Atom" xml:base="https://a.test/"><a:title>Bees &amp; wasps</a:title>
<a:link rel="self" href="/feed"/><a:entry><a:link rel="enclosure" href="/1.mp3"/><a:link href="1"/></a:entry>
<a:entry><a:link rel="alternate" href="https://a.test/2"/></a:entry><a:entry><a:link href="/3"/></a:entry>
<a:entry><a:title>lost</a:title><a:id>urn:x</a:id></a:entry></a:feed>"""
JSON = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Bees & wasps",
        "items": [
            {"id": "1", "url": "https://a.test/1"},
            {"id": "2", "external_url": "https://a.test/2"},
            {"url": "https://a.test/3"},
            {"title": "lost"},
        ],
    }
)
FORMS = {"rss2": RSS2, "rss1": RSS1, "atom": ATOM, "json": JSON}


def read(folder, text):
    (folder / "f").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_feed(folder / "f", "loose")


def test_an_atom_title_may_have_marks_in_it(tmp_path):
    title = '<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">Bees &amp; <b>wild</b> wasps</div></title>'
    entry = '<entry><link href="https://a.test/1"/></entry>'
    reading = read(tmp_path, f'<feed xmlns="http://www.w3.org/2005/Atom">{title}{entry}</feed>')
    assert [topic.name for topic in reading.topics] == ["Bees & wild wasps"]


def test_links_of_a_json_feed_may_begin_at_its_home_page(tmp_path):
    feed = {"version": "https://jsonfeed.org/version/1", "home_page_url": "https://a.test/b/", "items": [{"url": "c"}]}
    assert read(tmp_path, json.dumps(feed)).topics[0].seeds == ("https://a.test/b/c",)


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_each_kind_of_feed_gives_the_links_of_its_entries(tmp_path, text):
    reading = read(tmp_path, text)
    assert [topic.name for topic in reading.topics] == ["Bees & wasps"]
    assert reading.topics[0].seeds == ("https://a.test/1", "https://a.test/2", "https://a.test/3")
    assert [(skipped.text, skipped.why) for skipped in reading.skipped] == [("lost", "the entry has no link")]


def test_a_feed_without_a_title_is_of_the_topic_that_is_named(tmp_path):
    reading = read(tmp_path, "<rss><channel><item><link>https://a.test/</link></item></channel></rss>")
    assert reading.topics[0].name == "loose"


def test_a_feed_in_another_encoding_is_read(tmp_path):
    text = "<?xml version='1.0' encoding='iso-8859-1'?>" + RSS2.partition("?>")[2].replace("Bees", "Bienenstöcke")
    assert read(tmp_path, text.encode("latin-1")).topics[0].name == "Bienenstöcke & wasps"
    assert read(tmp_path, RSS2.encode("utf-16")).topics[0].name == "Bees & wasps"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("https://a.test/", "no feed"),
        ("<html><body/></html>", "XML, but no feed"),
        ("<rss><channel><title>a</title></channel></rss>", "no entry with a link"),
        ("<rss><channel><item>", "not valid XML"),
        ("<?xml version='1.0' encoding='klingon'?><rss/>", "not valid XML"),
        ('{"version": "1"}', "no JSON Feed"),
        ('{"version": "https://jsonfeed.org/version/1", "items": [1]}', "no usable entry"),
        ("<rss><channel><item><link>ftp://a.test</link></item></channel></rss>", "only http and https"),
    ],
)
def test_what_is_no_feed_is_one_sentence(tmp_path, text, said):
    with pytest.raises(UsageError, match=said):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE rss [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]>",
        "<!DOCTYPE rss SYSTEM 'http://127.0.0.1:1/x.dtd'>",
        "<!DOCTYPE rss [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",
    ],
)
def test_f31_a_doctype_is_refused(tmp_path, doctype):
    with pytest.raises(UsageError, match="DOCTYPE"):
        read(tmp_path, doctype + RSS2.partition("?>")[2])
