import re
from html import unescape
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from analecta.publish.site.copies import TAGS, inert
from analecta.urls import hex_id
from tests.publish.site.conftest import EVIL, best_of

HARMLESS = set("title lang dir href hreflang rel target colspan rowspan scope start reversed".split())
PARTS = """<script> </script> <svg> <math> <style> <!-- --> <p§title=' '> <img§src=x§onerror=hit()> <template>
<noscript> </noscript> <table> x <a§href='javascript:hit()'> <mtext> <title> <xmp> <form§action=x> <iframe> <mglyph>
<select> <object§data=x> <td§style='background:url(x)'> <svg§onload=hit()> <link§rel=preconnect§href=x>"""


class Reader(HTMLParser):
    """The names of elements and attributes, and where links lead."""

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes, self.links = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self.names.add(name)
        self.attributes |= {key for key, _ in attributes}
        self.links |= {value for key, value in attributes if key == "href"}


def harmless(html):
    read = Reader(html)
    web = all(href.startswith(("http://", "https://")) for href in read.links)
    return read.names <= set(TAGS) and read.attributes <= HARMLESS and web


def copy_of(library, rank):
    path = library.folder.parent / f"site/copies/{hex_id(best_of(library)[rank].id)}.html"
    return path.read_text("utf-8") if path.exists() else ""


def test_f37_an_archived_page_keeps_its_words_and_nothing_that_runs_or_loads():
    found = inert(EVIL.decode(), "http://a.test/x")
    assert "Honest words &lt;script&gt;" in found
    assert "a picture" in found
    assert harmless(found)
    assert "window.hit" not in found


def test_links_of_an_archived_page_are_whole_and_open_beside():
    found = inert('<base href="/deep/"><a href="x?a=1&b=2">x</a><a href="mailto:a@b.test">y</a>', "http://a.test/p/q")
    assert 'href="http://a.test/deep/x?a=1&amp;b=2"' in found
    assert 'rel="nofollow noreferrer" target="_blank"' in found
    assert "mailto" not in found


def test_names_and_passwords_in_links_of_an_archived_page_go():
    assert "secret" not in inert('<a href="http://me:secret@b.test/x">x</a>', "http://a.test/")
    assert inert('<a href="http://me:secret@b.test/x">x</a>', "http://a.test/").count("http://b.test/x") == 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([part.replace("§", " ") for part in PARTS.split()]), max_size=12))
def test_f37_whatever_the_nesting_nothing_runs_or_loads(parts):
    found = inert("".join(parts), "http://a.test/")
    assert harmless(found)
    assert harmless(inert(found, "http://a.test/"))


def test_f37_a_copy_stands_in_a_sandbox_under_a_policy_without_scripts(hostile):
    page = copy_of(hostile, 0)
    assert re.search(r'<iframe [^>]*sandbox="allow-popups allow-popups-to-escape-sandbox"', page)
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    assert policy.startswith("default-src 'none'")
    assert "script-src" not in policy
    assert "unsafe" not in policy


def test_a_copy_tells_when_from_where_and_its_place_in_the_archive(hostile):
    item, page = best_of(hostile)[0], copy_of(hostile, 0)
    assert item.url in unescape(page)
    assert f"{item.warc}, {item.length:,} bytes at {item.offset:,}" in page
    assert item.digest in page
    assert '<meta name="robots" content="noindex, nofollow">' in page


def test_f35_a_page_that_says_noarchive_has_no_copy_and_says_why(hostile):
    assert copy_of(hostile, 1) == ""
    item = best_of(hostile)[1]
    topic = next((hostile.folder.parent / "site/topics").glob("*.html"))
    texts = [path.read_text("utf-8") for path in topic.parent.glob("*.html")]
    shelf = next(text for text in texts if f'id="i{hex_id(item.id)}"' in text)
    assert f"copies/{hex_id(item.id)}" not in shelf
    assert "Its owner wants no copy shown" in shelf
