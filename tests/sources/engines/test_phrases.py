from hypothesis import given
from hypothesis import strategies as st

from analecta.sources.engines.engine import MAX_LENGTH, MAX_WORDS, EngineHit, may_hold, phrases, tidy


def test_p2_a_title_is_asked_for_as_it_stands() -> None:
    assert tidy(' “On  the nature: of Bees" ') == '"On the nature: of Bees"'
    assert phrases("wax “Bees: a Study”") == ["bees a study"]


def test_a_page_that_shows_title_and_text_without_the_phrase_is_dropped() -> None:
    wanted = phrases('"Wild bees" honey')
    assert may_hold(EngineHit("u", "On WILD, bees", "text"), wanted)
    assert not may_hold(EngineHit("u", "wild", "bees"), wanted)
    assert not may_hold(EngineHit("u", "bees", "wild beeswax"), wanted)


def test_what_is_not_known_speaks_for_the_page() -> None:
    assert may_hold(EngineHit("u", "", "something else"), ["wild bees"])
    assert may_hold(EngineHit("u", "something else"), ["wild bees"])


def test_a_long_title_is_cut_between_words_and_stays_a_phrase() -> None:
    cut = tidy('"' + "bees " * 1000 + '"')
    assert cut == '"' + " ".join(["bees"] * MAX_WORDS) + '"'
    assert tidy("„wild bees“ «honey»") == '"wild bees" "honey"'


@given(st.text(max_size=1500))
def test_a_query_as_sent_is_short_and_its_quotes_are_paired(query: str) -> None:
    sent = tidy(query)
    assert len(sent) <= MAX_LENGTH
    assert sent.count('"') % 2 == 0
    assert tidy(sent) == sent
