import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from analecta.text.display import cell_width, clean, one_line

texts = st.text(st.characters(codec=None), max_size=60)


@given(texts)
def test_f37_no_override_control_surrogate_or_hidden_tag_is_left(text):
    found = clean(text)
    assert found.encode("utf-8").decode() == found == clean(found)
    assert not set(found) & set("\x00\x0c\x1b\x9b\u202e\u2066\ufeff\ufffe\U000e0041")


@given(texts)
def test_f37_one_line_is_one_line_and_clean(text):
    found = one_line(text)
    assert found == one_line(found) == clean(found)
    assert len(found.splitlines()) <= 1


def test_lines_and_marks_that_scripts_need_stay():
    assert clean("a\n\tb\r\n") == "a\n\tb\r\n"
    assert clean("\u200fא\u200e\u061c na\u200cme") == "\u200fא\u200e\u061c na\u200cme"


def test_f37_what_hides_is_dropped_and_what_is_no_character_is_seen():
    assert clean("a\u202egpj.exe\u2066b\U000e0041") == "agpj.exeb"
    assert clean("a\ud800\ufffe") == "a\ufffd\ufffd"
    assert one_line(" a \x00 b\x0bc\u2028d ") == "a b c d"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bees",
        "Bienenstöcke",
        "e\u0301",
        "蜂蜜",
        "한글",
        "\u1112\u1161\u11ab",
        "नमस्ते",
        "שָׁלוֹם",
        "สวัสดี",
        "🐝",
        "👩\u200d🌾",
        "…–",
    ],
)
def test_width_is_that_of_a_terminal(text):
    assert cell_width(text) == cell_len(text)
