import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.publish.site.markup import Html, foreign, html, joined, link, node, script_data, tag
from analecta.text.display import clean, language

texts = st.text(st.characters(codec=None), max_size=60)


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.given = [], "", {}
        self.feed(text)
        self.close()

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.given |= dict(attributes)

    def handle_data(self, data):
        self.words += data


@given(texts, texts)
def test_f37_text_and_attributes_come_out_as_they_went_in_and_make_no_element(text, attribute):
    read = Reader(tag("p", text, title=attribute))
    assert (read.tags, read.words) == (["p"], clean(text))
    assert read.given == {"title": clean(attribute)}


@given(texts, texts)
def test_f37_xml_is_well_formed_whatever_the_words(text, attribute):
    read = ElementTree.fromstring(node("entry", node("title", text), term=attribute).encode())
    assert (read[0].text or "").replace("\r", "\n") == clean(text).replace("\r\n", "\n").replace("\r", "\n")


@given(st.dictionaries(texts, texts))
def test_f37_json_in_a_script_says_the_same_and_cannot_end_it(value):
    value = {clean(key): clean(part) for key, part in value.items()}
    data = script_data(json.dumps(value, ensure_ascii=False).encode())
    assert json.loads(data) == value
    assert not set("<>&\u2028\u2029") & set(data)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", " http://a.test/", "//a.test/", "", "http:"]
)
def test_f37_only_addresses_of_the_web_become_links(url):
    assert link(url, "<b>") == "&lt;b&gt;"
    assert "href" in link("https://a.test/", "x")


def test_markup_is_taken_as_it_is_and_nothing_else_is():
    assert joined([Html("<b>"), "<b>"], Html("<br>")) == "<b><br>&lt;b&gt;"
    assert isinstance(html("x"), Html)


def test_an_attribute_is_left_out_bare_or_given():
    assert tag("input", required=True, value=0, id=None, hidden=False) == '<input required value="0">'
    assert tag("meta", http_equiv="x", class_="y") == '<meta http-equiv="x" class="y">'


@pytest.mark.parametrize(("said", "known"), [("en-US", "en"), ("DE", "de"), ("xx", None), ('"><b>', None), ("", None)])
def test_f37_a_language_that_nobody_knows_is_not_given(said, known):
    assert language(said) == known
    assert ("lang" in foreign("x", said)) == (known is not None)
