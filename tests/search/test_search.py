import contextlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analecta.errors import UsageError
from analecta.search import SearchIndex, SearchRequest
from analecta.search.compile import QueryCompiler, first_on, meant
from analecta.search.query import QueryWord, parse
from analecta.search.ranking import Weights
from analecta.search.update import sync
from tests.making import target
from tests.search.pages import address
from tests.search.test_query import ASKED


@pytest.fixture
def shelf(pages):
    """A few pages that differ in everything that can be asked for."""
    pages.add("Wild bees", "Bees are running wild in the garden.", topic=1, lang="en-GB", date="2021-05-02")
    pages.add("Honey", "The bee makes honey, and honey is sweet.", topic=1, date="2019", mime="application/pdf")
    pages.add("http://a.b.org/x", "Sulphur is an element.", topic=2, title="Sulphur", lang="de")
    pages.add("http://b.org/y", "Roses are not bees, nor elements.", topic=3, title="Roses", date="2021-11")
    return pages


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("bee", {"Wild bees", "Honey", "Roses"}),
        ("BEES", {"Wild bees", "Honey", "Roses"}),
        ("+bee", {"Honey"}),
        ("bees garden", {"Wild bees"}),
        ("bees -honey", {"Wild bees", "Roses"}),
        ("sulphur OR honey", {"Sulphur", "Honey"}),
        ("(sulphur OR honey) sweet", {"Honey"}),
        ('"running wild"', {"Wild bees"}),
        ('"wild running"', set()),
        ("title:bees", {"Wild bees"}),
        ('title:"wild bees"', {"Wild bees"}),
        ("url:honey", {"Honey"}),
        ("site:b.org", {"Sulphur", "Roses"}),
        ("site:a.b.org", {"Sulphur"}),
        ("site:org bees", {"Roses"}),
        ('topic:"Science / Biology"', {"Wild bees", "Honey"}),
        ("topic:science", {"Wild bees", "Honey", "Sulphur"}),
        ("lang:en", {"Wild bees"}),
        ("type:pdf", {"Honey"}),
        ("after:2021", {"Wild bees", "Roses"}),
        ("after:2021-06-01", {"Roses"}),
        ("before:2021", {"Honey"}),
        ("after:2021-05-02 before:2021-05-03", {"Wild bees"}),
        ("-bees", {"Sulphur"}),
        ("NOT (sulphur OR roses)", {"Wild bees", "Honey"}),
        ("*", {"Wild bees", "Honey", "Sulphur", "Roses"}),
        ("the bees and the garden", {"Wild bees"}),
        ("the", {"Wild bees", "Honey"}),
        ("the -honey", {"Wild bees"}),
    ],
)
def test_b17_each_word_of_the_language_does_what_it_says(shelf, query, found):
    assert set(shelf.titles(query) if not shelf.find(query).some else []) == found


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(ASKED)
def test_b17_no_question_breaks_the_search(shelf, text):
    if not hasattr(shelf, "search"):
        sync(shelf.library)
        shelf.search = SearchIndex(shelf.library)
    with contextlib.suppress(UsageError):
        found = shelf.search.find(SearchRequest(text))
        assert len(found.hits) == found.total <= 4


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我们在北京搜索网页", "北京"),
        ("我们在北京搜索网页", "搜索"),
        ("東京タワーへ行きました", "タワー"),
        ("한국어로 검색합니다", "한국어"),
        ("ฉันรักภาษาไทย", "ภาษา"),
        ("Наука и жизнь", "жизнь"),
        ("Ein schönes Café in Łódź", "cafe lodz"),
        ("Ein schones Cafe", "schönes café"),
        ("Written in C++ and std::sort", "std::sort"),
        ("mail bob.smith@example.org now", "bob.smith@example.org"),
        ("nai\u0308ve bees", "naïve"),
        ("naïve bees", "nai\u0308ve"),
    ],
)
def test_b17_words_of_all_scripts_are_found(pages, text, query):
    pages.add("one", text)
    pages.add("other", "京北 something else and sort of std")
    assert pages.titles(query) == ["one"]
    assert any(mark for _, mark in pages.find(query).hits[0].snippet.parts())


def test_b17_words_are_found_in_titles_headings_texts_and_anchors_and_titles_count_most(pages):
    pages.add("plain", "zebra and more words")
    pages.add("headed", "some words and more words", headings="Zebra")
    pages.add("linked", "some words and more words")
    pages.add("source", "other words", links={"linked": "the zebra page"})
    pages.add("a zebra", "some words and more words")
    titles = pages.titles("zebra", weights=Weights(1, 0, 0))
    assert titles[0] == "a zebra"
    assert set(titles) == {"a zebra", "headed", "linked", "plain"}


def test_b17_words_in_the_order_of_the_question_come_first(pages):
    pages.add("a", "black tea is drunk here and green cups are there")
    pages.add("b", "green tea is drunk here and black cups are there")
    assert pages.titles("green tea") == ["b", "a"]
    assert pages.titles("black tea") == ["a", "b"]


def test_b17_the_score_is_the_weighted_sum_of_its_parts(pages):
    pages.add("sure", "wild bees", confidence=1.0)
    pages.add("bees bees", "bees", confidence=0.2)
    first = pages.find("bees", weights=Weights(1, 0, 0)).hits[0]
    assert (first.page.title, first.placed.text) == ("bees bees", 1.0)
    hit = pages.find("bees", weights=Weights(0.1, 1, 0)).hits[0]
    assert hit.page.title == "sure"
    assert hit.placed.score == pytest.approx(0.1 * hit.placed.text + hit.placed.confidence)


def test_b17_pages_that_hubs_link_to_have_authority(pages):
    for name in ("x", "y"):
        pages.add(name, "bees")
    for n in range(3):
        pages.add(f"http://hub{n}.test/", "links", links={"y": "y"})
    found = pages.find("bees", weights=Weights(1, 0, 1)).hits
    assert [(hit.page.title, hit.placed.authority) for hit in found] == [("y", 1.0), ("x", 0.0)]
    assert pages.titles("bees", sort="authority")[0] == "y"


@pytest.mark.parametrize(("often", "rows"), [(100, 2), (40_000, 1)])
def test_b17_the_order_of_words_that_all_texts_have_is_not_looked_at_in_them(often, rows):
    query = QueryCompiler([], False, str, lambda word: often).query(parse("old bees"))
    assert repr(query).count("PhraseQuery") == rows, "in titles, and in texts where that tells something"


def test_b17_other_orders_are_by_confidence_and_by_date(shelf):
    shelf.set("Honey", confidence=0.99)
    assert shelf.titles("bees", sort="confidence")[0] == "Honey"
    assert shelf.titles("bees OR sulphur", sort="date") == ["Roses", "Wild bees", "Honey", "Sulphur"]


@pytest.mark.parametrize(
    ("vague", "found"), [(False, {"first", "below"}), (True, {"first", "below", "second", "above"})]
)
def test_b17_a_vague_topic_also_takes_what_is_close_to_it(pages, vague, found):
    names = {"above": 0, "first": 1, "other": 2}
    for name, topic in names.items():
        pages.add(name, "bees", topic=topic)
    pages.add("second", "bees", topic=3, confidence=0.8, topics=((3, 0.8), (1, 0.7)))
    pages.library.topic_names(("Science / Biology / Insects",))
    pages.add("below", "bees", topic=4)
    assert set(pages.titles("bees", topic="Science / Biology", vague=vague)) == found


def test_b17_in_a_topic_the_confidence_is_that_of_the_topic(pages):
    pages.add("a", "bees", topic=3, confidence=0.8, topics=((3, 0.8), (1, 0.7)))
    assert pages.find("bees", topic="Roses").hits[0].placed.confidence == 0.8
    assert pages.find("bees", topic="Science / Biology", vague=True).hits[0].placed.confidence == 0.7


def test_b17_where_no_page_has_all_words_those_with_some_are_shown(shelf):
    found = shelf.find("honey zeppelin site:h.test")
    assert (found.some, [hit.page.title for hit in found.hits]) == (True, ["Honey"])
    assert not shelf.find("zeppelin").hits


def test_c7_pages_are_counted_by_topic_community_host_year_and_type(shelf):
    shelf.add("http://far.test/", links={"Honey": "x"})
    shelf.set("Honey", links=np.array([target("http://far.test/").id]).tobytes())
    shelf.communities("h.test")
    found = shelf.find("bees")
    assert found.facets["topic"] == [("Science / Biology", 2), ("Roses", 1)]
    assert found.facets["community"] == [(found.hits[0].community.name, 2)]
    assert found.facets["host"] == [("h.test", 2), ("b.org", 1)]
    assert found.facets["year"] == [("2021", 2), ("2019", 1)]
    assert found.facets["type"] == [("html", 2), ("pdf", 1)]


@pytest.mark.parametrize(
    ("query", "more", "found"),
    [
        ("bees", {}, {"Wild bees", "Honey", "Roses"}),
        ("bees", {"every": True}, {"Wild bees", "Honey", "Roses", "Off"}),
        ("bees topic:none", {}, {"Off"}),
        ("bees", {"topic": "None"}, {"Off"}),
        ("honey OR topic:none", {}, {"Honey", "Off", "Far off"}),
        ("bees -topic:none", {"every": True}, {"Wild bees", "Honey", "Roses"}),
        ("bees", {"topic": "Roses", "every": True}, {"Roses"}),
        ("far", {"every": True, "sort": "date"}, {"Far off"}),
    ],
)
def test_b17_pages_on_no_topic_are_found_only_when_asked_for(shelf, query, more, found):
    shelf.add("Off", "bees", topic=-1)
    shelf.add("Far off", "something else", topic=-1)
    shelf.add("Hidden", "bees", topic=-1, flags=1)
    assert set(shelf.titles(query, **more)) == found
    assert shelf.find(query, **more).total == len(found)


def test_b17_pages_on_no_topic_that_fit_are_counted_where_they_are_left_out(shelf):
    shelf.add("Off", "bees and zebras", topic=-1)
    shelf.add("Far off", "something else", topic=-1)
    assert (shelf.find("bees").left_out, shelf.find("zebra").left_out, shelf.find("honey").left_out) == (1, 1, 0)
    assert shelf.find("zebra honey").left_out == 0, "some of the words are not enough"
    assert shelf.find("bees", every=True).left_out == shelf.find("bees topic:none").left_out == 0
    assert shelf.find("bees", topic="Roses").left_out == 0
    assert shelf.find("bees").facets["topic"] == [("Science / Biology", 2), ("Roses", 1)]
    assert ("none", 1) in shelf.find("bees", every=True).facets["topic"]


def test_b17_a_page_on_no_topic_has_the_confidence_for_the_nearest_and_no_authority(pages):
    pages.add("Off", "bees", topic=-1, confidence=0.4)
    pages.add("hub", "bees", topic=-1, confidence=0.2, links={"Off": "x"})
    found = pages.find("bees", every=True, sort="confidence").hits
    assert [(hit.placed.confidence, hit.placed.authority) for hit in found] == [(0.4, 0.0), (0.2, 0.0)]


def test_b17_words_are_held_against_the_best_page_on_a_topic_where_others_are_left_out(shelf):
    shelf.add("bees bees", "bees", topic=-1)
    assert max(hit.placed.text for hit in shelf.find("bees").hits) == 1.0
    assert shelf.find("bees", every=True).hits[0].page.title == "bees bees"


def test_b17_a_page_that_lost_its_topic_is_left_out_even_before_the_index_knows(shelf):
    shelf.add("Off", "bees", topic=-1)
    sync(shelf.library)
    search = SearchIndex(shelf.library)
    shelf.set("Wild bees", topic=-1)
    assert {hit.page.title for hit in search.find(SearchRequest("bees")).hits} == {"Honey", "Roses"}
    assert len(search.find(SearchRequest("bees", every=True)).hits) == 4


@settings(max_examples=50)
@given(st.lists(st.sampled_from("🐦 $%&!?;,.€→•|/~^=<>#@§"), min_size=1).map("".join))
def test_b17_signs_and_emoji_beside_a_word_change_nothing(signs):
    assert meant(parse(f"bees {signs}")) == meant(parse(f"{signs} bees")) == QueryWord("bees")
    assert meant(parse(f"bees OR {signs} title:€")) == QueryWord("bees")


@pytest.mark.parametrize("query", ["🐦", "-🐦", '"…"', "$ OR €", "title:€", "x" * 64])
def test_b17_a_question_of_signs_alone_is_refused(query):
    with pytest.raises(UsageError, match="no word to look for"):
        meant(parse(query))


@pytest.mark.parametrize(("query", "marks"), [("the honey", {"honey"}), ("the", {"The"})])
def test_b17_stop_words_are_marked_where_there_is_no_other(shelf, query, marks):
    shown = next(hit.snippet for hit in shelf.find(query).hits if hit.page.title == "Honey")
    assert {piece for piece, mark in shown.parts() if mark} == marks


def test_b17_stop_words_are_not_enough_where_some_words_are(shelf):
    assert not shelf.find("zeppelin the").total
    assert not shelf.find("zeppelin *").total
    assert shelf.find("zeppelin the honey").total == 1


def test_f35_what_says_noindex_is_not_shown_even_before_the_index_knows(shelf):
    shelf.add("hidden", "bees", flags=1)
    sync(shelf.library)
    search = SearchIndex(shelf.library)
    shelf.set("Wild bees", flags=1)
    assert {hit.page.title for hit in search.find(SearchRequest("bees")).hits} == {"Honey", "Roses"}


def test_no_topic_or_word_that_is_not_there_breaks_it(shelf):
    with pytest.raises(UsageError, match="did you mean 'Roses'"):
        shelf.find("bees", topic="Rose")
    with pytest.raises(UsageError, match="did you mean 'Garden'"):
        first_on(["Garden / Bees", "Garden / Roses"], "garten")
    with pytest.raises(UsageError, match="no word to look for"):
        shelf.find("?! ++")


def test_the_best_of_many_are_found_though_not_all_are_looked_at(pages, monkeypatch):
    rng = np.random.default_rng(1)
    for n in range(120):
        pages.add(f"p{n}", "bee " * int(rng.integers(1, 9)) + "x " * int(rng.integers(1, 50)), confidence=rng.random())
    weights = Weights(1, 0.3, 0.1)
    every = pages.titles("bee", top=120, weights=weights)
    monkeypatch.setattr("analecta.search.ranking._FIRST", 8)
    assert pages.titles("bee", top=5, weights=weights) == every[:5]


def test_an_address_is_found_by_its_words(pages):
    pages.add("http://h.test/some/odd-place", "text", title="")
    assert pages.find("odd place").hits[0].page.url == address("http://h.test/some/odd-place")


@pytest.mark.parametrize("query", ["url:café", "url:cafe", "url:caf%C3%A9", "url:蜂", "url:%E8%9C%82", 'url:"café 蜂"'])
def test_an_address_is_found_by_its_words_as_they_are_read(pages, query):
    pages.add("http://h.test/caf%C3%A9/%E8%9C%82", "text", title="found")
    pages.add("http://h.test/%20", "text", title="other")
    assert pages.titles(query) == ["found"]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("site:hive.test", "port"),
        ("site:hive.test:8080", "port"),
        ("site:bücher.test", "books"),
        ("site:http://www.bees.test/", "bees"),
        ("site:*.bees.test", "bees"),
        ("site:BEES.test.", "bees"),
    ],
)
def test_a_site_may_be_said_in_any_form(pages, query, title):
    for host, called in (("hive.test:8080", "port"), ("xn--bcher-kva.test", "books"), ("www.bees.test", "bees")):
        pages.add(f"http://{host}/", "text", title=called)
    assert pages.titles(query) == [title]
