from hypothesis import given
from hypothesis import strategies as st

from analecta.publish.oai.tokens import Token, opened, sealed

KEY = b"k" * 32
numbers = st.integers(0, 2**62)
tokens = st.builds(
    Token, st.text(max_size=20), st.text(max_size=9), st.text(max_size=40), st.none() | numbers, st.none() | numbers,
    numbers, numbers, numbers, numbers, numbers,
)  # fmt: skip


@given(tokens)
def test_a_token_is_opened_as_it_was_sealed(token):
    assert opened(sealed(token, KEY), KEY, token.expires) == token


@given(tokens)
def test_f46_an_expired_token_is_none(token):
    assert opened(sealed(token, KEY), KEY, token.expires + 1) is None


@given(tokens, st.data())
def test_f46_a_token_of_which_one_letter_was_changed_is_none(token, data):
    text = sealed(token, KEY)
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("Az09-_=+/ é").filter(lambda one: one != text[place]))
    assert opened(text[:place] + letter + text[place + 1 :], KEY, 0) is None


@given(st.text())
def test_f46_what_is_no_token_is_none(text):
    assert opened(text, KEY, 0) is None


@given(tokens)
def test_f46_the_token_of_another_library_is_none(token):
    assert opened(sealed(token, KEY), b"l" * 32, 0) is None
