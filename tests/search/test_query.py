import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.errors import UsageError
from analecta.search.query import DEEPEST, All, Either, Not, Only, Phrase, QueryWord, parse

PIECES = st.sampled_from(
    ["bee", "AND", "OR", "NOT", "-", "+", "(", ")", '"', '"a b"', "title:", "site:h.test", "after:2020", " ", ":", "é"]
)
ASKED = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map(" ".join), st.lists(PIECES).map("".join))


def understood(text):
    try:
        return parse(text)
    except UsageError as problem:
        return str(problem)


@given(ASKED)
def test_b17_whatever_is_typed_is_understood_or_told_where_not(text):
    found = understood(text)
    if isinstance(found, str):
        assert 1 <= int(re.search(r"at character (\d+) of", found)[1]) <= len(text) + 1
    else:
        assert parse(str(found)) == found


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("wild bees", All((QueryWord("wild"), QueryWord("bees")))),
        ("wild AND bees", All((QueryWord("wild"), QueryWord("bees")))),
        ("a OR b c", Either((QueryWord("a"), All((QueryWord("b"), QueryWord("c")))))),
        ("(a OR b) c", All((Either((QueryWord("a"), QueryWord("b"))), QueryWord("c")))),
        ("a -b", All((QueryWord("a"), Not(QueryWord("b"))))),
        ("NOT a", Not(QueryWord("a"))),
        ("-(a b)", Not(All((QueryWord("a"), QueryWord("b"))))),
        ("+bees", Phrase("bees")),
        ('"wild bees"', Phrase("wild bees")),
        ("title:bees", QueryWord("bees", "title")),
        ('TITLE:"wild bees"', Phrase("wild bees", "title")),
        ("site:h.test", Only("site", "h.test")),
        ('topic:"A / B"', Only("topic", "A / B")),
        ("after:2020-01-31", Only("after", "2020-01-31")),
        ("well-known a+b", All((QueryWord("well-known"), QueryWord("a+b")))),
        ("std::sort 12:30", All((QueryWord("std::sort"), QueryWord("12:30")))),
        ("and or not", All((QueryWord("and"), QueryWord("or"), QueryWord("not")))),
    ],
)
def test_b17_the_language_is_what_people_expect(text, meant):
    assert parse(text) == meant


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ("", 1, "say what to look for"),
        ("bees (wild", 6, "never closed"),
        ("bees) wild", 5, "never opened"),
        ("bees ()", 7, "nothing between"),
        ('bees "wild', 6, "no second one"),
        ("bees AND", 9, "missing here"),
        ("OR bees", 1, "missing here"),
        ("titel:bees", 1, "did you mean title:"),
        ("bees after:may", 6, "wants a date"),
        ("title:(a b)", 7, "no bracket"),
        ("wild title: bees", 6, "right after title:, without a blank"),
        ("site:h.test/bees", 1, "site: wants a host"),
        ("(" * (DEEPEST + 1) + "a", DEEPEST + 1, "too many"),
        ("a" * 3000, 2000, "at most"),
    ],
)
def test_b17_an_error_is_one_sentence_that_says_where(text, at, said):
    assert said in understood(text)
    assert f"(at character {at} of the question)" in understood(text)
