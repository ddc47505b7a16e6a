import gzip
import io
import os
import re
import struct
import tarfile
import zipfile
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analecta.parse import DOCUMENTS, READ_DOCUMENT, PageSandbox, Parser
from analecta.parse.documents import document
from analecta.parse.documents.document import Document, ReadingStopped
from analecta.parse.documents.pdf import read_pdf
from analecta.parse.fallback import bare_page
from analecta.parse.sandbox import ChildLimits
from analecta.parse.sniff import DOC, DOCX, EPUB, GZIP, ODT, PDF, PPTX, RTF, TAR, XLSX, ZIP
from tests.crawls.driver import wait_for
from tests.effort import little_work
from tests.parse.pages import answer, any_page, target
from tests.tools import GHOSTSCRIPT, needs_ghostscript, running

from . import making
from .making import GOOD, WORDS, understood


@pytest.fixture(scope="module")
def parser():
    with Parser() as parser:
        yield parser


def loop(body: bytes) -> bytes:
    """The same PDF with a cross-reference table that names itself as the one before it."""
    start = body.index(b"xref\n0")
    return body.replace(b"/Root", b"/Prev %d/Root" % start)


def deep_outline(depth: int) -> bytes:
    extra = {i: f"<</Title(Deep)/First {i + 1} 0 R/Last {i + 1} 0 R>>" for i in range(100, 100 + depth)}
    return making.pdf(more="/Outlines 100 0 R", extra=extra)


def deep_pages(depth: int) -> bytes:
    objects = {1: "<</Type/Catalog/Pages 2 0 R>>"}
    objects |= {i: f"<</Type/Pages/Count 1/Kids[{i + 1} 0 R]>>" for i in range(2, depth)}
    return making.written(objects | {depth: "<</Type/Pages/Count 1/Kids[2 0 R]>>"})


def predicted_bomb() -> bytes:
    data = zlib.compress(zlib.compress(bytes(300_000_000), 9), 9).decode("latin-1")
    stream = f"<</Length {len(data)}/Filter[/FlateDecode/FlateDecode]>>stream\n{data}\nendstream"
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>"
    return making.written(
        {1: "<</Type/Catalog/Pages 2 0 R>>", 2: "<</Type/Pages/Kids[3 0 R]/Count 1>>", 3: page, 4: stream}
    )


HOSTILE_PDFS = {
    "xref loop": lambda: loop(making.pdf()),
    "huge size": lambda: making.pdf().replace(b"/Size 12", b"/Size 2147483647"),
    "huge count": lambda: making.pdf().replace(b"/Count 1", b"/Count 2147483647"),
    "deep outline": lambda: deep_outline(20_000),
    "deep pages": lambda: deep_pages(20_000),
    "truncated": lambda: making.pdf()[:-300],
    "unpacks to 300 MB": predicted_bomb,
    "deep arrays": lambda: making.pdf(more="/X" + "[" * 100_000),
    "only a header": lambda: b"%PDF-1.7\n",
}


@pytest.mark.parametrize("name", HOSTILE_PDFS)
def test_f32_hostile_pdfs_leave_us_alive(parser, name):
    page = any_page(parser, HOSTILE_PDFS[name](), content_type=PDF)
    assert page.mime == PDF
    assert page.limits or WORDS in page.text
    assert WORDS in any_page(parser, making.pdf()).text


def test_f32_an_encrypted_pdf_is_kept_and_says_so():
    locked = f"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{'11' * 32}>/U<{'22' * 32}>>>/ID[<00><00>]"
    assert understood(PDF, making.pdf(trailer=locked)).limits == "encrypted"


def test_f32_a_pdf_of_pictures_says_that_it_has_no_text():
    document = understood(PDF, making.pdf("0 0 Td", title=""))
    assert (document.text.strip(), document.limits) == ("", "scanned: no text")


def test_f32_a_long_pdf_is_read_as_far_as_time_allows():
    clock = iter(range(100))
    document = Document()
    with pytest.raises(ReadingStopped, match="only the first 3 of 9 pages"):
        read_pdf(making.pdf(*["(Bees) Tj"] * 9), document, 3, lambda: next(clock))
    assert document.text.count("Bees") == 3


def test_f32_text_is_cut_at_a_bound(monkeypatch):
    monkeypatch.setattr(document, "MAX_TEXT", 100)
    cut = understood(DOCX, making.docx("<d>" + "<w:p><w:t>Bees and bees</w:t></w:p>" * 20 + "</d>"))
    assert (len(cut.text), cut.limits) == (100, "text-cut")


def overlapping(count: int) -> bytes:
    """Files that share one kernel, each quoting the headers of those behind it (Fifield 2019)."""
    kernel = zlib.compress(bytes(1_000_000), 9)[2:-4]
    heads = [struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 0, 0, 0, 0, 5, 0) + b"f%04d" % i for i in range(count)]
    body, places, directory = b"", [], b""
    for head in heads:
        places.append(len(body))
        body += head
    body += kernel
    for i, place in enumerate(places):
        packed = len(body) - place - len(heads[0])
        directory += struct.pack(
            "<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 0, 0, packed, 1_000_000, 5, 0, 0, 0, 0, 0, place
        )
        directory += b"f%04d" % i
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(directory), len(body), 0)
    return body + directory + end


def big(name: str) -> bytes:
    return making.zipped({"[Content_Types].xml": "<T/>", name: b"<a>" + b" " * 300_000_000})


def lying(body: bytes, size: int) -> bytes:
    """The same zip file, whose directory claims that its last member has another size."""
    at = body.rindex(b"PK\1\2")
    return body[: at + 24] + struct.pack("<I", size) + body[at + 28 :]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (lambda: big("word/document.xml"), "zip bomb: more than 268435456 bytes"),
        (lambda: making.docx(more=b" " * 20_000_000), "zip bomb: a member grows more than 200 times"),
        (lambda: overlapping(50), "zip bomb: members overlap"),
        (lambda: making.docx(**{"../../etc/passwd": b"x"}), "leads out of it"),
        (lambda: making.docx(**{"/etc/passwd": b"x"}), "leads out of it"),
        (lambda: making.docx(**{"..\\evil": b"x"}), "leads out of it"),
        (lambda: making.docx()[:-200], "broken zip"),
        (lambda: making.zipped({f"f{i}": b"" for i in range(20_001)}), "more than 10000 members"),
        (lambda: making.docx().replace(b"word/document.xml", b"word/document.xxx"), "the main part is missing"),
    ],
)
def test_f32_hostile_zips_are_refused_and_say_why(body, why):
    made = body()
    with little_work():
        document = understood(DOCX, made)
    assert why in document.limits
    assert document.text == ""


def test_f32_a_member_larger_than_it_claims_is_not_read_further():
    body = lying(making.zipped({"a.txt": b"bees " * 1_000_000}), 100)
    assert len(understood(ZIP, body).text) < 1000


def test_f32_an_encrypted_member_is_not_asked_for():
    body = bytearray(making.docx())
    for at in range(len(body) - 4):
        if body[at : at + 4] == b"PK\1\2":
            body[at + 8] |= 1
    assert understood(DOCX, bytes(body)).limits == "encrypted"


MORE = "".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(12))
LAUGHS = f"<!DOCTYPE x [<!ENTITY a 'ha'>{MORE}]>"
OUTSIDE = "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"


@pytest.mark.parametrize("doctype", [LAUGHS, OUTSIDE])
def test_f31_entities_are_refused_in_documents(doctype):
    xml = f"{doctype}<d><w:p><w:t>&a;</w:t></w:p></d>"
    assert understood(DOCX, making.docx(xml)).limits == "DOCTYPE refused"
    odt = understood(ODT, making.odt(xml))
    assert (odt.limits, odt.text) == ("DOCTYPE refused", "")


def test_f31_nesting_is_bounded():
    assert "nested more than 500" in understood(DOCX, making.docx("<a>" * 100_000)).limits
    assert "nested more than 500" in understood(RTF, b"{\\rtf1" + b"{" * 100_000).limits


def test_f31_what_was_read_before_the_break_is_kept():
    document = understood(DOCX, making.docx(f"<d><w:p><w:t>{WORDS}</w:t></w:p><broken"))
    assert WORDS in document.text
    assert document.limits.startswith("broken XML")


def test_f32_links_and_devices_in_a_tar_are_passed_over():
    def special(name, kind):
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        return info

    kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE)
    body = making.tarred({"a.txt": WORDS.encode()}, *(special(f"x{i}.txt", kind) for i, kind in enumerate(kinds)))
    document = understood(TAR, body)
    assert (document.headings, document.limits) == (["a"], "")


def test_f32_a_gz_bomb_is_not_unpacked():
    bomb = gzip.compress(bytes(200_000_000))
    with little_work():
        assert understood(GZIP, bomb).limits.startswith("gz bomb")


def test_f32_ole_loops_end():
    body = bytearray(making.doc())
    body[-512:] = struct.pack("<128I", *[0] * 128)
    assert "broken" in understood(DOC, bytes(body)).limits
    assert understood(DOC, making.doc(flags=0x0300)).limits == "encrypted"


def test_f32_truncated_documents_say_that_they_were_larger(parser):
    cut = answer(making.docx()[:-200], content_type=DOCX)
    cut.truncated = "length"
    page = parser(cut, target())
    assert page.limits.startswith("larger than may be fetched; broken zip")


@pytest.mark.parametrize(("order", "why"), [("segfault", "SIGSEGV"), ("hang", "stopped after 1 s"), ("raise", "Value")])
def test_f32_a_document_that_kills_the_child_is_kept_as_binary(monkeypatch, order, why):
    monkeypatch.setenv("PYTHONPATH", "tests/parse")
    with Parser() as parser:
        parser.reader = PageSandbox("crashing:parse", ChildLimits(1), instead=bare_page)
        page = parser(answer(b"%PDF-" + order.encode()), target())
    assert why in page.limits
    assert (page.mime, page.text, page.mime in DOCUMENTS) == (PDF, "", True)


BOUND = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CHANGES = st.lists(st.tuples(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=4)), min_size=1, max_size=6)


def mutated(body: bytes, changes: list[tuple[int, bytes]], end: int) -> bytes:
    changed = bytearray(body)
    for place, new in changes:
        at = place % len(changed)
        changed[at : at + len(new)] = new
    return bytes(changed[: len(changed) - end % (len(changed) * 4) if end % 4 == 0 else len(changed)])


@pytest.mark.parametrize("mime", [mime for mime in GOOD if mime != PDF])
@BOUND
@given(changes=CHANGES, end=st.integers(0, 1 << 20))
def test_f32_readers_never_raise_anything_but_stopped(mime, changes, end):
    with little_work():
        document = understood(mime, mutated(GOOD[mime], changes, end))
    assert not document.limits.startswith("parse-crashed")


@pytest.mark.parametrize("mime", [DOCX, PPTX, XLSX, ODT, EPUB, ZIP])
def test_f32_a_member_that_lost_its_name_is_none(mime):
    """A flipped byte in the directory of a zip file ends the name of a member before it begins."""
    body = bytearray(GOOD[mime])
    for entry in re.finditer(b"PK\1\2", GOOD[mime]):
        body[entry.start() + 46] = 0
    assert not understood(mime, bytes(body)).limits.startswith("parse-crashed")


@BOUND
@given(changes=CHANGES, end=st.integers(0, 1 << 20))
def test_f32_mutated_pdfs_always_give_a_page(parser, changes, end):
    page = any_page(parser, b"%PDF-1.4\n" + mutated(GOOD[PDF], changes, end), content_type=PDF)
    assert page.mime == PDF
    assert not page.limits.startswith("parse-crashed")


TAGS = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 1 << 16)), min_size=1, max_size=5)


@pytest.mark.parametrize("mime", [DOCX, PPTX, XLSX, ODT, EPUB])
@BOUND
@given(which=st.integers(0, 20), swaps=TAGS)
def test_f32_xml_whose_tags_are_shuffled_is_stopped_or_read(mime, which, swaps):
    """A changed zip file is mostly stopped by its checksums: so here what is inside is changed."""
    with zipfile.ZipFile(io.BytesIO(GOOD[mime])) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = sorted(parts)[which % len(parts)]
    tags = re.split(rb"(?=<)", parts[name])
    for one, other in swaps:
        one, other = one % len(tags), other % len(tags)
        tags[one], tags[other] = tags[other], tags[one]
    parts[name] = b"".join(tags)
    assert not understood(mime, making.zipped(parts)).limits.startswith("parse-crashed")


@needs_ghostscript
def test_f32_ghostscript_dies_with_the_child(tmp_path, monkeypatch):
    """Known among the processes of the machine by the folder that it is started from."""
    (tmp_path / "gs").symlink_to(GHOSTSCRIPT)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with Parser() as parser:
        parser.reader = PageSandbox(READ_DOCUMENT, ChildLimits(1.5), instead=bare_page)
        page = any_page(parser, b"%!PS an endless one\n{} loop", content_type="application/postscript")
    assert page.limits == "parse-limited: stopped after 1.5 s"
    wait_for(lambda: not running(str(tmp_path / "gs")))


def test_s10_a_document_without_text_says_why(parser):
    page = any_page(parser, making.docx("<d/>"), content_type=DOCX)
    assert (page.text, page.limits, page.mime in DOCUMENTS) == ("", "no text", True)
