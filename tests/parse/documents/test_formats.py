import gzip

import pytest

from analecta.parse import Parser
from analecta.parse.directives import date_of
from analecta.parse.documents.document import title_of
from analecta.parse.documents.pdf import mended
from analecta.parse.sniff import (
    DOC,
    DOCX,
    EPUB,
    GZIP,
    HTML,
    ODT,
    PDF,
    POSTSCRIPT,
    PPT,
    PPTX,
    RTF,
    TAR,
    XLSX,
    ZIP,
    sniff_type,
)
from tests.parse.pages import answer, any_page, target, urls
from tests.tools import needs_ghostscript

from . import making
from .making import GOOD, URL, WORDS, understood

DESCRIBED = [PDF, DOCX, PPTX, XLSX, ODT, EPUB, RTF, DOC, PPT]
WITH_HIVE = [DOCX, ODT, EPUB]


@pytest.fixture(scope="module")
def parser():
    with Parser() as parser:
        yield parser


@pytest.mark.parametrize("mime", GOOD)
def test_b2_documents_of_every_kind_become_pages_with_text_and_links(parser, mime):
    page = any_page(parser, GOOD[mime], content_type="application/octet-stream")
    assert (page.mime, page.limits, page.lang) == (mime, "", "en")
    assert WORDS in page.text
    assert urls(page) == [URL]


@pytest.mark.parametrize("mime", DESCRIBED)
def test_b2_a_document_tells_its_title_author_and_date(mime):
    document = understood(mime, GOOD[mime])
    assert (document.title, document.author, document.date) == ("On Bees", "A. Keeper", "2021-03-04")


@pytest.mark.parametrize("mime", [DOCX, PPTX, ODT, EPUB, RTF, DOC, PDF])
def test_b2_links_have_their_anchor_and_the_words_around(parser, mime):
    page = any_page(parser, GOOD[mime], content_type=mime)
    assert page.links[0].anchor in ("the hive", "See the hive")
    assert page.links[0].anchor in page.link_context(0)
    assert len(page.link_context(0)) > len("See the hive")


@pytest.mark.parametrize("mime", [DOCX, ODT, EPUB, PPT])
def test_b2_headings_are_told_apart(mime):
    assert understood(mime, GOOD[mime]).headings == ["The hive"]


def test_b2_slides_come_in_the_order_they_are_shown():
    document = understood(PPTX, GOOD[PPTX])
    assert document.headings == ["Slide 2 of bees", "Slide 1 of bees"]
    assert document.text.index("Slide 2") < document.text.index("Slide 1")


def test_b2_chapters_come_in_the_order_of_the_spine():
    text = understood(EPUB, GOOD[EPUB]).text
    assert text.index("The hive") < text.index("The second chapter.")


@pytest.mark.parametrize("mime", [ZIP, TAR, GZIP])
def test_b2_a_bundle_is_the_texts_of_its_members_under_their_titles(mime):
    document = understood(mime, GOOD[mime])
    assert document.headings == ["On Bees", "wasps"]
    assert document.text.index(WORDS) < document.text.index("Wasps are no bees.")


def test_b2_a_gzipped_document_is_read_but_no_bundle_in_a_bundle():
    assert WORDS in understood(GZIP, gzip.compress(making.docx())).text
    nested = understood(ZIP, making.zipped({"inner": GOOD[ZIP]}))
    assert (nested.text, nested.limits) == ("", "no documents inside")
    assert "no document inside" in understood(GZIP, gzip.compress(GOOD[GZIP])).limits


def test_b2_a_broken_member_does_not_cost_the_others():
    document = understood(ZIP, making.zipped({"bad.pdf": b"%PDF-1.4 none", "good.rtf": making.rtf()}))
    assert WORDS in document.text
    assert document.limits == "bad.pdf: broken PDF: cannot be opened"


def test_b2_word_fields_and_text_boxes_are_read_once():
    box = "<w:txbxContent><w:p><w:r><w:t>Box</w:t></w:r></w:p></w:txbxContent>"
    field = "".join(
        f"<w:r>{part}</w:r>"
        for part in (
            "<w:fldChar w:fldCharType='begin'/>",
            f'<w:instrText> HYPERLINK "{URL}" \\o "x"</w:instrText>',
            "<w:fldChar w:fldCharType='separate'/>",
            "<w:t>shown</w:t>",
            "<w:fldChar w:fldCharType='end'/>",
        )
    )
    alternative = (
        f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    )
    document = understood(DOCX, making.docx(f"<w:document><w:p>{field}</w:p><w:p>{alternative}</w:p></w:document>"))
    assert document.text.split() == ["shown", "Box"]
    assert [(link.url, link.anchor, link.at) for link in document.links] == [(URL, "shown", 0)]


def test_b2_rtf_reads_code_pages_unicode_and_passes_over_pictures():
    assert understood(RTF, making.rtf()).text.startswith("The hive of the Königin €\n")
    assert understood(RTF, b"{\\rtf1 a{\\pict\\bin5 }}{{}}b}").text == "ab"


def test_b2_old_word_puts_its_pieces_together_and_hides_field_codes():
    text = understood(DOC, making.doc()).text
    assert text == f"{WORDS}\nSee the hive for möre €.\n"


def test_b2_a_pdf_without_a_title_is_called_by_its_largest_type():
    page = "30 TL (A note in small type) Tj T* /F 20 Tf (The Lives of) Tj T* (Honey Bees) Tj T* /F 12 Tf (Text) Tj"
    for title in ("", "Microsoft Word - bees.doc", "untitled"):
        assert understood(PDF, making.pdf(page, title=title)).title == "The Lives of Honey Bees"


def test_b2_words_broken_at_line_ends_are_whole_again_but_urls_are_not_changed():
    assert mended("the beekee-\r\nper of bees\r\nfrom 1990-\r\n1995") == "the beekeeper of bees\nfrom 1990-\n1995"
    assert mended("at http://a.example/some-\r\nthing") == "at http://a.example/some-\nthing"
    assert "honeybees" in understood(PDF, making.pdf("(All honey-) Tj T* (bees) Tj")).text


def test_b2_ligatures_and_soft_hyphens_are_spelt_out(parser):
    body = making.odt("<o xmlns:t='t'><t:p>ﬁne ﬂow\u00aders x² ½</t:p></o>")
    assert any_page(parser, body, content_type=ODT).text == "fine flowers x² ½\n"


def test_b2_outline_is_headings():
    body = making.pdf(more="/Outlines 6 0 R", extra={6: "<</First 7 0 R>>", 7: "<</Title(One)/Next 7 0 R>>"})
    assert set(understood(PDF, body).headings) == {"One"}  # a loop, and yet it ends


@needs_ghostscript
def test_b2_postscript_is_read_by_ghostscript(parser):
    body = f"%!PS\n%%Title: (On Bees)\n/Helvetica findfont 12 scalefont setfont 72 700 moveto ({WORDS}) show showpage"
    page = any_page(parser, body, content_type="application/postscript")
    assert (page.mime, page.title, page.limits) == (POSTSCRIPT, "On Bees", "")
    assert WORDS in page.text


def test_b2_postscript_without_ghostscript_is_kept_and_says_why(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    document = understood(POSTSCRIPT, b"%!PS\nshowpage")
    assert document.limits == "PostScript: Ghostscript (gs) is not installed"


@pytest.mark.parametrize("mime", GOOD)
def test_documents_always_go_to_the_child(mime):
    parser = Parser()
    assert parser.heavy(answer(GOOD[mime], content_type="text/html"))
    assert not parser.heavy(answer("<p>x", content_type=mime))
    assert not parser.heavy(answer("words, words"))


@pytest.mark.parametrize("mime", GOOD)
def test_f33_documents_are_known_by_their_bytes(mime):
    for said in ("", "text/html", "application/zip", "application/octet-stream", PDF):
        assert sniff_type(said, GOOD[mime]) == mime


def test_f33_a_pdf_may_have_something_in_front():
    assert sniff_type(PDF, b"\n\n  junk\n" + making.pdf()) == PDF
    assert sniff_type("", b"\0\1\2" * 100 + making.pdf()) == PDF
    assert sniff_type(PDF, b"<html>" + making.pdf()) == HTML
    assert sniff_type("text/plain", b"A file begins with %PDF-1.4, they say") == "text/plain"


def test_f33_an_honest_zip_is_no_office_document():
    assert sniff_type("application/x-zip-compressed", GOOD[ZIP]) == ZIP
    assert sniff_type("application/vnd.android.package-archive", GOOD[ZIP]) == "application/vnd.android.package-archive"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("D:20210304050607+01'00'", "2021-03-04"),
        ("2021-03-04T05:06:07Z", "2021-03-04"),
        ("2021-13-04", "2021"),
        ("2021", "2021"),
        ("202103", "2021-03"),
        ("1970-01-01T00:00:00Z", ""),
        ("yesterday", ""),
    ],
)
def test_dates_are_as_exact_as_they_can_be(text, date):
    assert date_of(text) == date


@pytest.mark.parametrize(
    "words", ["Microsoft Word - x.doc", "untitled", "Untitled 1", "paper.pdf", "C:\\x\\y", "/a/b", "a/b/c", "12-3", ""]
)
def test_what_programs_write_is_no_title(words):
    assert title_of(words) == ""


def test_names_with_a_slash_or_a_point_may_be_titles():
    assert [title_of(words) for words in ("TCP/IP", "Node.js", "ASP.NET")] == ["TCP/IP", "Node.js", "ASP.NET"]


def test_document_pages_obey_headers(parser):
    page = parser(answer(making.pdf(), x_robots_tag="noindex, nofollow"), target())
    assert (page.noindex, page.nofollow) == (True, True)
