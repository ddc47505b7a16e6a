"""Characters, words and lines: what is put together, and in which order."""

import pypdfium2
from hypothesis import given
from hypothesis import strategies as st

from analecta.sources.papers.glyphs import GlyphWord, accented, join_lines, plain, words_of
from analecta.sources.papers.lines import TextLine, read_lines, without_running_heads
from tests.sources.papers.pdf import BOLD, ITALIC, ROMAN, Text, make_pdf, paragraph
from tests.sources.papers.samples import FILLER


def lines_of(*pages: list[Text]) -> list[list[TextLine]]:
    document = pypdfium2.PdfDocument(make_pdf(*pages))
    try:
        return read_lines([words_of(page) for page in document])
    finally:
        document.close()


def test_words_divided_at_line_ends_are_whole_again() -> None:
    assert join_lines(["a de-", "partment of x"]) == "a department of x"
    assert join_lines(["market-", "led growth"], {"market-led"}) == "market-led growth"
    assert join_lines(["pages 325-", "349 in Mobi-", "COM"]) == "pages 325-349 in Mobi-COM"


def test_ligatures_and_glyph_accents_become_letters() -> None:
    assert plain("e\ufb03cient \ufb02ow\x02") == "efficient flow-"
    assert (accented("\u0131", "\u00b4"), accented("n", "\u02dc"), accented("c", "\u00b8")) == ("í", "ñ", "ç")


def test_an_accent_printed_over_a_letter_joins_it() -> None:
    page: list[Text] = [(60, 700, 10, ROMAN, "Lopez"), (67.2, 700, 10, ROMAN, "\u00b4"), (90, 700, 10, ROMAN, "Bee")]
    assert [line.text for line in lines_of(page)[0]] == ["López Bee"]


def test_style_and_place_of_words() -> None:
    page: list[Text] = [(60, 700, 12, BOLD, "Bold"), (100, 700, 12, ITALIC, "slanted"), (60, 680, 9, ROMAN, "plain")]
    words = [word for line in lines_of(page)[0] for word in line.words]
    assert [(word.text, word.bold, word.italic, word.size) for word in words] == [
        ("Bold", True, False, 12), ("slanted", False, True, 12), ("plain", False, False, 9),
    ]  # fmt: skip


def test_three_columns_below_a_line_over_all() -> None:
    top: list[Text] = [(60, 740, 16, BOLD, "A heading that runs over all of the three columns of it")]
    columns = [line for i in range(3) for line in paragraph(50 + 180 * i, 700, f"Column{i} begins. " + FILLER, 9, 34)]
    text = [line.text for line in lines_of([*top, *columns])[0]]
    assert [i for i, line in enumerate(text) if line.startswith(("A heading", "Column"))] == [0, 1, 32, 63]
    assert all(len(line) <= 60 for line in text)


@given(st.permutations(range(24)))
def test_lines_come_in_reading_order_whatever_the_order_in_the_file(order: list[int]) -> None:
    texts = [GlyphWord(f"left-{i:02}-and-so-on", 50, 280, 700 - 12 * i, 10) for i in range(12)]
    texts += [GlyphWord(f"right-{i:02}-and-so-on", 320, 550, 700 - 12 * i, 10) for i in range(12)]
    (lines,) = read_lines([[texts[i] for i in order]])
    assert [line.text for line in lines] == [word.text for word in texts]


def test_running_heads_go_and_page_numbers_go() -> None:
    def page(i: int) -> list[Text]:
        head: Text = (60, 780, 9, ROMAN, f"{i} Bees of the world")
        return [head, *paragraph(60, 700, f"Page {i}. {FILLER}"), (300, 30, 9, ROMAN, str(i))]

    pages = [page(1), page(2), page(3)]
    kept = without_running_heads(lines_of(*pages))
    assert [page[0].text[:7] for page in kept] == ["Page 1.", "Page 2.", "Page 3."]
    assert not any(line.text.isdigit() for page in kept for line in page)


def test_what_is_printed_sideways_is_left_out() -> None:
    data = make_pdf(paragraph(60, 700, FILLER))
    data = data.replace(b"BT /F0 10 Tf 60 700 Td", b"BT /F0 10 Tf 0 1 -1 0 30 200 Tm", 1)
    document = pypdfium2.PdfDocument(data)
    words = words_of(document[0])
    document.close()
    assert words[0].y < 700
    assert len(words) > 100
