import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.publish.summary import LONGEST, first_words, summary, tidy

SENTENCE = "Bees are flying insects that are known for their role in pollination and for making honey."


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


def test_where_there_is_no_sentence_the_longest_words_do():
    assert summary("a\nsome words without an end") == "a some words without an end"
    assert summary("") == ""


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
