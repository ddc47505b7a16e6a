from hypothesis import given
from hypothesis import strategies as st

from analecta.analyse.word_search import WordSearch, snippet

PAGES = [
    ("Queen bees", "A queen lays eggs all summer"),
    ("Hives", "bees queen and bees drone in wooden hives"),
    ("Chess", "The queen moves as far as she likes"),
    ("Sailing", "Wind and water"),
]
WORDS = st.lists(st.sampled_from("bee wax hive the queen".split()), max_size=8).map(" ".join)


def index(pages=PAGES):
    return WordSearch(pages, lambda page: " ".join(pages[page]))


def found(query, n=10, pages=PAGES):
    return [page for page, _ in index(pages).find(query, n).best]


def test_rare_words_and_words_of_titles_count_more():
    assert found("queen bees") == [0, 1, 2]
    assert found("wind queen")[0] == 3


def test_words_in_quotes_must_stand_one_after_the_other():
    assert found('"bees queen"') == [1]
    assert found('"Queen BEES" eggs') == [0]
    assert found('"queen wind"') == []


def test_the_number_of_matches_is_told_beyond_those_wanted():
    hits = index().find("queen", 1)
    assert (hits.total, len(hits.best)) == (3, 1)


def test_an_empty_index_and_a_query_without_words_find_nothing():
    assert found("bees", pages=[]) == []
    assert found('"?!" ...') == []


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8), WORDS.filter(bool))
def test_a_phrase_is_found_on_exactly_the_pages_that_hold_it(pages, phrase):
    holding = {i for i, page in enumerate(pages) if f" {phrase} " in f" {' '.join(' '.join(page).split())} "}
    assert set(found(f'"{phrase}"', pages=pages)) == holding


def test_a_snippet_shows_the_first_of_the_words():
    text = "x " * 200 + "honey is sweet"
    assert snippet(text, "honey").endswith("honey is sweet")
    assert snippet("short", "honey") == "short"
