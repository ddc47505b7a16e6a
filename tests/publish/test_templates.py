import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import Markup

from analecta.publish.templates import environment, script_data, text_safe, weblink
from analecta.text.display import clean, language

texts = st.text(st.characters(codec=None), max_size=60)


def rendered(source, **values):
    return environment.from_string(source).render(values)


def part(call):
    return rendered('{% from "words.html" import foreign, link %}{{ ' + call + " }}")


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
    read = Reader(rendered('<p title="{{ attribute }}">{{ text }}</p>', text=text, attribute=attribute))
    assert (read.tags, read.words) == (["p"], text_safe(text))
    assert read.given == {"title": text_safe(attribute)}


@given(texts)
def test_f37_text_is_cleaned_also_where_it_became_part_of_markup(text):
    read = Reader(rendered("{{ markup ~ text }}", markup=Markup("<b></b>"), text=text))
    assert (read.tags, read.words) == (["b"], text_safe(text))


@given(st.dictionaries(texts, texts))
def test_f37_json_in_a_script_says_the_same_and_cannot_end_it(value):
    value = {clean(key): clean(part) for key, part in value.items()}
    data = script_data(json.dumps(value, ensure_ascii=False).encode())
    assert json.loads(data) == value
    assert not set("<>&\u2028\u2029") & set(data)
    assert rendered("{{ data }}", data=data) == data


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        " http://a.test/",
        "//a.test/",
        "",
        "http:",
        "http://[",
        "https:a.test",
    ],
)
def test_f37_only_addresses_of_the_web_become_links(url):
    assert weblink(url) == ""
    assert part(f'link("{url}", "<b>")') == "<bdi>&lt;b&gt;</bdi>"


@pytest.mark.parametrize("url", ["http://a.test/", "HTTPS://a.test", "http://[::1]/"])
def test_addresses_of_the_web_become_links(url):
    assert weblink(url) == url
    assert f'href="{url}" rel="noreferrer nofollow"' in part(f'link("{url}", "x")')


def test_f37_a_template_in_a_title_is_not_run():
    assert rendered("{{ title }}", title="{{7*7}}{% raw %}") == "{{7*7}}{% raw %}"


def test_a_value_that_is_missing_is_an_error():
    with pytest.raises(UndefinedError):
        rendered("{{ title }}")


@pytest.mark.parametrize(("said", "known"), [("en-US", "en"), ("DE", "de"), ("xx", None), ("'><b>", None), ("", None)])
def test_f37_a_language_that_nobody_knows_is_not_given(said, known):
    assert language(said) == known
    assert ("lang" in part(f'foreign("x", "{said}")')) == (known is not None)
