"""Hostile files end the child, never us; each says so in one sentence (F32)."""

import os
from pathlib import Path

import pytest

from analecta.errors import UsageError
from analecta.parse.sandbox import ChildLimits
from analecta.sources.papers.reader import read_paper, read_paper_apart
from tests.sources.papers.pdf import assemble
from tests.sources.papers.samples import two_columns

ONE_PAGE = [
    b"<< /Type /Catalog /Pages 2 0 R >>",
    b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>",
]
LOOP = assemble(ONE_PAGE, b"/Prev 000")  # the last word but one of the file says where the table of objects is


def test_a_paper_read_apart_is_the_same_paper(tmp_path: Path) -> None:
    path = tmp_path / "bees.pdf"
    path.write_bytes(two_columns())
    assert read_paper_apart(path) == read_paper(path.read_bytes())


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(LOOP.replace(b"/Prev 000", b"/Prev " + LOOP.split()[-2]), id="xref loop"),
        pytest.param(assemble(ONE_PAGE).replace(b"/Size 4", b"/Size 2147483647"), id="huge size"),
        pytest.param(
            assemble([ONE_PAGE[0], b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 99999999 >>"]), id="pages of themselves"
        ),
        pytest.param(b"%PDF-1.7\n" + os.urandom(4096), id="noise"),
    ],
)
def test_f32_broken_pdfs_say_so_in_one_sentence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad.pdf"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"bad\.pdf: [^\n]{20,}$"):
        read_paper_apart(path, ChildLimits(20))


def test_f32_a_pdf_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "slow.pdf"
    path.write_bytes(two_columns())
    with pytest.raises(UsageError, match=r"more than 0\.01 s"):
        read_paper_apart(path, ChildLimits(0.01))


def test_f32_a_pdf_that_takes_too_much_memory_is_stopped(tmp_path: Path) -> None:
    body = b"<< /Length 100000000 >>\nstream\n" + b"BT (x) Tj ET\n" * 1_500_000 + b"endstream"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>"
    path = tmp_path / "big.pdf"
    path.write_bytes(assemble([*ONE_PAGE[:2], page, body]))
    with pytest.raises(UsageError, match=r"big\.pdf: "):
        read_paper_apart(path, ChildLimits(30, 192 * 1024 * 1024))


def test_files_that_are_missing_or_huge_say_so(tmp_path: Path) -> None:
    path = tmp_path / "huge.pdf"
    with path.open("wb") as file:
        file.truncate(2 * 1024**3)  # sparse: it takes no room
    with pytest.raises(UsageError, match="2048 MB are too much"):
        read_paper_apart(path)
    with pytest.raises(UsageError, match="no such file"):
        read_paper_apart(tmp_path / "none.pdf")
