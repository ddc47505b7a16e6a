"""Papers as files that people correct, and several papers at once."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analecta.errors import UsageError
from analecta.sources.papers.paper import Paper, Reference, Section, from_toml, to_toml
from analecta.sources.papers.queries import in_words, own_text, related, shared, weighed_queries
from analecta.sources.papers.reader import read_brought

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=30)
MANY = st.lists(WORDS, max_size=4).map(tuple)
REFERENCES = st.builds(Reference, WORDS, MANY, WORDS, WORDS)
PAPERS = st.builds(
    Paper,
    title=WORDS,
    authors=MANY,
    affiliations=MANY,
    abstract=WORDS,
    keywords=MANY,
    references=st.lists(REFERENCES, max_size=4).map(tuple),
)


def paper(title: str, *references: str) -> Paper:
    return Paper(title=title, references=tuple(Reference(reference) for reference in references))


@given(PAPERS)
@settings(max_examples=60, deadline=None)
def test_a_paper_written_and_read_again_is_the_same(written: Paper) -> None:
    assert from_toml(to_toml(written), "p") == written


def test_a_person_may_write_less_and_a_bare_year() -> None:
    found = from_toml('title = "Hives"\n[[references]]\ntitle = "Wax"\nyear = 2005\n', "p")
    assert msgspec.structs.asdict(found.references[0]) == {"title": "Wax", "authors": (), "year": "2005", "raw": ""}


@pytest.mark.parametrize(
    ("text", "why"), [("title = ", "no TOML"), ("title = 3", r"\$\.title"), ("references = 3", "array")]
)
def test_a_file_that_makes_no_sense_says_where(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "mine.TOML").write_text(text)
    with pytest.raises(UsageError, match=f"mine.TOML, .*{why}"):
        read_brought(tmp_path / "mine.TOML")


def test_shared_references_weigh_more_however_they_are_spelt() -> None:
    papers = [
        paper("A", "Wax", "On-line Hives: a Survey"),
        paper("B", "Online hives — A survey"),
        paper("C", "Nectar", ""),
    ]
    assert shared(papers) == [("On-line Hives: a Survey", 2 / 3), ("Wax", 1 / 3), ("Nectar", 1 / 3)]
    assert shared([]) == []


def test_queries_are_exact_phrases_titles_first_then_shared_ones() -> None:
    papers = [paper('The "good" hive', "Wax and wane", "Old hives"), paper("Bees at work", "Old Hives.", "Nectar")]
    assert list(weighed_queries(papers)) == ['"The good hive"', '"Bees at work"', '"Old hives"', '"Wax and wane"']


def test_papers_that_share_references_or_refer_to_one_another_are_of_one_subject() -> None:
    bees = paper("Bees at work", "Old hives", "Wax and wane", "Suffix stripping")
    wax = paper("Wax", "OLD HIVES", "Wax: and wane")
    chess = paper("Endgames", "Suffix stripping", "Rooks")  # a tool in common is no subject in common
    drones = paper("Drones", "Bees at work.")
    assert related([bees, chess, wax, drones]) == [[bees, wax, drones], [chess]]
    assert related([]) == []


def test_what_papers_share_weighs_more_and_their_own_titles_most() -> None:
    papers = [paper("Bees at work", "Old hives", "Wax and wane"), paper("On wax", "Old hives")]
    weights = {'"Bees at work"': 1.0, '"On wax"': 1.0, '"Old hives"': 1.0, '"Wax and wane"': 0.5}
    assert weighed_queries(papers) == weights


def test_words_to_ask_with_are_the_title_s_then_keywords_or_telling_words() -> None:
    named = Paper(title='The "good" hive', keywords=("honey", "wax moth"))
    telling = Paper(title="Of honey", abstract="The honey of the bees, and honey is what it is; wax is not.")
    assert in_words([named]) == ("The good hive", "honey wax moth")
    assert in_words([telling])[1].split()[0] == "honey"
    assert "the" not in in_words([telling])[1].split()


def test_a_paper_s_own_text_has_what_it_says_and_not_who_says_it() -> None:
    whole = Paper("Hives", ("Anna Bee",), ("Hill College",), "Short.", sections=(Section("1 Wax", "Melts."),))
    assert own_text(whole) == "Hives\n\nShort.\n\n1 Wax\n\nMelts.\n"
