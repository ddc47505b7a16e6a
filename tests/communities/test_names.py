"""Names of communities, also where they are many and small."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.communities.names import LETTERS, beginning, names_of
from analecta.store.site_rules import Sites
from tests.publish.shelf import PROSE, Given, html, shelved

FILLING = "People wrote letters in October about the weather, the roads and the trains. " * 3


@pytest.fixture
def named(tmp_path):
    def name(*pages, of):
        library = shelved(tmp_path / "lib", *(Given(url, html(title, text)) for url, title, text in pages))
        with library.snapshot() as snapshot:
            return names_of(snapshot, Sites(), of, [f"seed{n}.test" for n in range(max(of.values()) + 1)])

    return name


def test_words_of_titles_come_before_words_that_only_texts_have(named):
    pages = [("http://a.test/", "Lighthouses of Brittany", FILLING), ("http://b.test/", "Canoes", PROSE)]
    first, second = named(*pages, of={"a.test": 0, "b.test": 1})
    assert first == "Brittany · trains"
    assert second.startswith("Canoes")


@given(st.integers(1, 20))
def test_no_word_of_a_name_is_cut(before):
    text = "x" * before + " harbour" * 400
    found = beginning(text)
    assert set(found.split()) == set(text.split())
    assert LETTERS - 10 < len(found) <= LETTERS


def test_two_communities_of_one_topic_have_different_names(named):
    pages = [(f"http://{site}.test/{n}", "The wren", PROSE) for site in "ab" for n in range(3)]
    first, second = named(*pages, of={"a.test": 0, "b.test": 1})
    assert first != second


def test_a_community_without_pages_has_the_name_of_its_first_site(named):
    pages = [("http://a.test/", "Lighthouses of Brittany", FILLING)]
    assert named(*pages, of={"a.test": 0, "b.test": 1})[1] == "seed1.test"
