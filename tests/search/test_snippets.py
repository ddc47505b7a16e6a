from hypothesis import given
from hypothesis import strategies as st

from analecta.search.snippets import WIDTH, folded, snippet

LONG = "Nothing of interest is here. " * 50


def marked(found):
    return [piece for piece, mark in found.parts() if mark]


def test_b17_words_are_marked_in_all_their_forms():
    found = snippet("Running is fun; he runs, she ran, all run.", {"run"}, set())
    assert marked(found) == ["Running", "runs", "run"]


def test_b17_the_part_with_the_most_different_words_is_shown():
    text = f"A bee. {LONG} The bee makes honey. {LONG} Honey."
    found = snippet(text, {"bee", "honey"}, set())
    assert marked(found) == ["bee", "honey"]
    assert found.text.startswith("… ")


MENU = "The Bee Shop\nHome\n|\nLinks\n|\nAbout\n|\nBees\nOur honey\n"


def test_prose_is_shown_rather_than_a_menu():
    assert snippet(f"{MENU}All bees fly far out on a warm day.", {"bee"}, set()).text.startswith("All bees fly")
    assert snippet(f"{MENU}All wasps fly far out on a warm day.", set(), set()).text.startswith("All wasps")


def test_what_only_a_menu_has_is_shown_of_it():
    found = snippet(f"{MENU}All bees fly far out on a warm day.", {"bee", "honey"}, set())
    assert marked(found) == ["Bee", "Bees", "honey", "bees"]
    assert snippet("a\nb\nc\nd\n", set(), set()).text == "a b c d"


def test_a_snippet_ends_with_a_whole_word():
    assert snippet(LONG, set(), set()).text.endswith(("interest…", "Nothing…", "here.…", "of…", "is…"))


def test_accents_and_case_make_no_difference():
    assert marked(snippet("Ein CAFÉ in Łódź", {"cafe"}, set())) == ["CAFÉ"]


def test_characters_of_scripts_without_spaces_are_marked_one_by_one():
    assert marked(snippet("我们在北京", set(), {"北", "京"})) == ["北", "京"]


def test_words_as_written_are_not_marked_inside_others():
    assert marked(snippet("the theme of the bee", set(), {"the"})) == ["the", "the"]


@given(st.text(), st.sets(st.text(min_size=1, max_size=5), max_size=3))
def test_f37_marks_lie_in_the_text_whatever_it_is(text, words):
    found = snippet(text, words, words)
    assert len(found.text) <= WIDTH + 4
    assert "".join(piece for piece, _ in found.parts()) == found.text
    assert all(0 <= begin < end <= len(found.text) for begin, end in found.marks)


@given(st.text())
def test_folding_keeps_every_character_in_its_place(text):
    assert len(folded(text)) == len(text)
