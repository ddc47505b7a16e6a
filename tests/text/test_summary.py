import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.text.summary import LONGEST, first_words, name_of, summary, tidy

SENTENCE = "Bees are in_flight insects that are known for their role in pollination and for making honey."


@pytest.mark.parametrize(
    "menu",
    [
        "Home\n|\nAbout us\n|\nContact\n",
        "Flag\nCoat of arms\nMotto: none\nCapital\nSarajevo\nArea\n51,197 km²\n",
        "Please accept all cookies:\n",
        "Hrvatska listen), officially the Republic of Croatia, is a country in Europe at the Adriatic.\n",
        "B. c. fulva (Vancouver Goose) B. c. maxima (Giant Goose) B. c. interior (Interior Goose) The Goose Book.\n",
    ],
)
def test_menus_tables_and_names_are_passed_over(menu):
    assert summary(menu + SENTENCE, "Bees") == SENTENCE


def test_a_sentence_that_links_tore_apart_is_whole_again():
    torn = (
        "In\nphysics\n, the\nneutron\nis a\nsubatomic particle with no net\nelectric charge\n(or none to speak of\n)."
    )
    whole = "In physics, the neutron is a subatomic particle with no net electric charge (or none to speak of)."
    assert summary(f"Neutron\n{torn}\nNotes", "Neutron") == whole


def test_sentences_on_what_the_title_names_come_before_a_caption():
    caption = "This closeup shows the prominent mandibles and the comparatively small compound eyes."
    assert summary(f"{caption}\n{SENTENCE}", "Bees of the world") == SENTENCE


def test_texts_without_spaces_have_sentences_too():
    text = "ホーム\n養蜂とは、蜂蜜や蜜蝋などを採るために、ミツバチを飼うことである。古代から行われている。"
    assert summary(text, "養蜂").startswith("養蜂とは、")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\nsome words without an end",
        "Previous: What we learned from a hundred hives\nNext: The trouble with late swarms\n© The Redshift Corner.",
        "Computing distances between the words (a.b)\n" * 20 + "and so on.",
    ],
)
def test_where_there_is_no_sentence_nothing_is_told(text):
    assert summary(text) == ""


def test_a_short_sentence_does_where_there_is_no_longer_one():
    assert summary("Bees fly from flower to flower.\nHome") == ""
    assert summary("Home\nBees fly from flower to flower in May and June.") == (
        "Bees fly from flower to flower in May and June."
    )
    assert summary(f"Bees fly from flower to flower in May and June.\n{SENTENCE}") == SENTENCE


def test_the_foot_of_a_page_does_not_go_on_with_a_sentence():
    assert summary(f"{SENTENCE} © The Bee Corner. Kept by volunteers.") == SENTENCE


@given(st.text(max_size=3000), st.text(max_size=30))
def test_a_summary_is_short_and_in_one_line(text, title):
    found = summary(text, title)
    assert len(found) <= LONGEST
    assert "\n" not in found


def test_first_words_are_new_and_each_once():
    assert first_words("Bees make honey. Bees sleep, 7 bees!", "honey", 10) == ["bees", "make", "sleep"]
    assert len(first_words(SENTENCE, "", 4)) == 4


def test_marks_stand_close_to_words():
    assert tidy("ant , ( Formica ) !") == "ant, (Formica)!"


@pytest.mark.parametrize("title", ["", " \n", "\u200b", "\u200f\xad\u2060"])
def test_a_page_whose_title_is_not_to_be_seen_is_called_by_its_address(title):
    assert name_of(title, "http://a.test/") == "http://a.test/"
    assert name_of(f"{title}שלום\u200f  !", "http://a.test/").endswith("שלום\u200f !")
