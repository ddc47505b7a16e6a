"""Whole papers, made by the tests: what is read of them."""

import pytest

from analecta.errors import UsageError
from analecta.sources.papers.reader import read_paper
from tests.sources.papers.pdf import BOLD, ROMAN, Text, assemble, hanging, make_pdf, paragraph
from tests.sources.papers.samples import BY_AUTHOR, FILLER, NUMBERED, TITLES, one_column, two_columns


def test_head_of_a_paper_in_two_columns_with_blocks_of_authors() -> None:
    paper = read_paper(two_columns())
    assert paper.title == "Where Honey Comes From: Notes of a Wandering Beekeeper"
    assert paper.authors == ("Anna Bee", "Carl M. Dee")
    assert paper.affiliations == ("University of Meadows, Germany", "Institute of Hives, France")


def test_abstract_and_keywords_that_run_in() -> None:
    paper = read_paper(two_columns())
    assert paper.abstract == "We tell where honey comes from and why bees are a kind of crawler."
    assert paper.keywords == ("honey", "bees", "focused crawling")


def test_columns_are_read_one_after_the_other_without_running_feet() -> None:
    text = read_paper(two_columns()).sections[0].text
    places = [text.index(words) for words in ("Crawlers", "Second column", "Left of", "Right of")]
    assert places == sorted(places)
    assert "Proceedings" not in text


def test_superscripts_join_authors_to_affiliations_and_are_left_out() -> None:
    paper = read_paper(one_column())
    assert paper.authors == ("Zoe Abel", "Max Cook")
    assert paper.affiliations == ("Department of Bees, Hill College, USA", "Wax Laboratory, Combs 7, Norway")


def test_title_is_not_the_journal_and_keeps_its_numbers() -> None:
    paper = read_paper(one_column())
    assert paper.title == "Type 2 Hives and Their Keepers"
    assert [section.title for section in paper.sections] == ["1 Introduction", "2 Methods of keeping"]


def test_footnotes_are_left_out() -> None:
    text = " ".join(section.text for section in read_paper(one_column()).sections)
    assert "nobody reads" not in text
    assert text.count("Crawlers follow") == 18


@pytest.mark.parametrize(
    "heading", ["References", "7. BIBLIOGRAPHY", "Literature Cited", "Works Cited", "References and Notes"]
)
@pytest.mark.parametrize("entries", [NUMBERED, BY_AUTHOR, [f"{i}. {entry[4:]}" for i, entry in enumerate(NUMBERED, 1)]])
def test_references_by_any_name_and_numbering(heading: str, entries: list[str]) -> None:
    for paper in (read_paper(one_column(entries, heading)), read_paper(two_columns(entries, heading))):
        assert len(paper.references) == 4
        assert all(ref.title.startswith(title) for ref, title in zip(paper.references, TITLES, strict=False))


def test_an_appendix_ends_the_references() -> None:
    paper = read_paper(one_column(after="A Tables of nectar"))
    assert [ref.year for ref in paper.references] == ["1999", "2003", "2005", "2010"]
    assert "Crawlers" not in paper.references[-1].raw


def test_references_run_on_over_columns_and_pages() -> None:
    entries = [
        f'[{i}] A. Bee, "On the flight of bee number {i} over hills," Bee World, {1900 + i}.' for i in range(1, 61)
    ]
    page = [(50, 760, 12, BOLD, "References"), *hanging(50, 740, entries[:25]), *hanging(320, 740, entries[25:50])]
    paper = read_paper(make_pdf(paragraph(50, 700, FILLER), page, hanging(50, 740, entries[50:])))
    assert [ref.year for ref in paper.references] == [str(1900 + i) for i in range(1, 61)]
    assert {ref.title[:22] for ref in paper.references} == {"On the flight of bee n"}


def test_superscript_numbers_and_no_heading_of_a_list_are_understood() -> None:
    texts: list[Text] = [(60, 740, 12, BOLD, "References")]
    for i, entry in enumerate(NUMBERED):
        texts += [(60, 720 - 40 * i + 4, 6, ROMAN, str(i + 1)), *paragraph(66, 720 - 40 * i, entry[4:], 9, 80)]
    raised = read_paper(make_pdf(paragraph(60, 700, FILLER, width=100), texts))
    bare = read_paper(make_pdf(paragraph(60, 700, FILLER, width=100), hanging(60, 740, NUMBERED)))
    assert [ref.title for ref in raised.references[:2]] == [ref.title for ref in bare.references[:2]] == TITLES[:2]
    assert len(raised.references) == len(bare.references) == 4


def test_a_long_title_below_the_larger_name_of_a_journal() -> None:
    head: list[Text] = [
        (60, 760, 20, BOLD, "Journal of Bees"),
        (60, 740, 9, ROMAN, "arXiv:1207.0001v2 [cs.DL] 3 Jul 2012"),
    ]
    lines = [
        "A very long title of a paper about bees that",
        "goes on over three lines of the page",
        "and asks: do bees dream?",
    ]
    head += [(60, 700 - 20 * i, 16, ROMAN, line) for i, line in enumerate(lines)]
    paper = read_paper(make_pdf([*head, (60, 600, 12, BOLD, "1 Introduction"), *paragraph(60, 580, FILLER, width=100)]))
    assert paper.title == " ".join(lines)
    assert [section.title for section in paper.sections] == ["1 Introduction"]


def test_an_abstract_without_heading_is_what_stands_before_the_introduction() -> None:
    top: list[Text] = [
        (60, 720, 12, BOLD, "Bees as crawlers"),
        (60, 700, 10, ROMAN, "Anna Bee"),
        (60, 688, 10, ROMAN, "Hill College"),
    ]
    text = [*paragraph(60, 660, FILLER[:330], width=100), (60, 560, 10, ROMAN, "1. INTRODUCTION")]
    paper = read_paper(make_pdf([*top, *text, *paragraph(60, 540, FILLER, width=100)]))
    assert (paper.authors, paper.affiliations) == (("Anna Bee",), ("Hill College",))
    assert paper.abstract == FILLER[:330].strip()


def test_entries_without_indents_are_told_apart_by_space_and_by_keys() -> None:
    spaced: list[Text] = [(60, 760, 12, BOLD, "References")]
    for i, entry in enumerate(BY_AUTHOR):
        spaced += paragraph(60, 730 - 40 * i, entry, 9, 60)
    keyed = [f"[Key{i:02}] {entry[4:]}" for i, entry in enumerate(NUMBERED)]
    text = paragraph(60, 700, FILLER, width=100)
    assert [ref.year for ref in read_paper(make_pdf(text, spaced)).references] == ["1999", "2003", "2005", "2010"]
    assert [ref.year for ref in read_paper(one_column(keyed)).references] == ["1999", "2003", "2005", "2010"]


def test_a_paper_without_references_says_so() -> None:
    paper = read_paper(make_pdf([(60, 740, 16, BOLD, "Notes on Hives"), *paragraph(60, 700, FILLER)]))
    assert paper.references == ()
    assert paper.why == "no list of references was found"


def test_a_scan_says_so() -> None:
    with pytest.raises(UsageError, match="scan"):
        read_paper(make_pdf([], [(10, 10, 8, ROMAN, "scanned 2012")]))


def test_f32_an_encrypted_pdf_says_so() -> None:
    locked = (
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <"
        + b"00" * 32
        + b"> /U <"
        + b"11" * 32
        + b"> >> /ID [<00> <00>]"
    )
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>"]
    with pytest.raises(UsageError, match="encrypted"):
        read_paper(assemble(objects, locked))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 a zip", b"%PDF-1.7\nnothing more", b"<html></html>"])
def test_what_is_no_pdf_says_so(data: bytes) -> None:
    with pytest.raises(UsageError, match="no PDF"):
        read_paper(data)
