import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from analecta.cli.render import next_steps, shown
from analecta.text.display import plain


@pytest.mark.parametrize(
    "title",
    ["\x1b]52;c;cm0gLXJm\x07", "\x1b[2J\x1b[31mred", "\x9b31m", "over\rwritten", "a\u202egnp.exe", "\u2066x\u2069"],
)
def test_f39_titles_show_visible_escapes_only(title):
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system=None, width=200).print(shown(title))
    assert out.getvalue() == plain(title) + "\n"
    assert plain(title).isprintable()


@given(st.text(st.characters()))
def test_f39_no_control_or_direction_mark_is_left(text):
    left = {unicodedata.category(c) for c in plain(text)} & {"Cc", "Cs", "Zl", "Zp"}
    assert not left
    assert not {unicodedata.bidirectional(c) for c in plain(text)} & {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI"}


def test_letters_of_all_languages_stay():
    assert plain("Ærø 日食 שלום नमस्ते 👩‍🔬") == "Ærø 日食 שלום नमस्ते 👩‍🔬"


def test_markup_in_a_title_is_only_text():
    out = io.StringIO()
    Console(file=out, width=80).print(shown("[bold]x[/bold] [link=http://e.test]y"))
    assert out.getvalue() == "[bold]x[/bold] [link=http://e.test]y\n"


def test_commands_to_copy_quote_the_folder(tmp_path):
    assert next_steps(tmp_path / "my lib", "status LIB").plain == f"  analecta status '{tmp_path}/my lib'"
