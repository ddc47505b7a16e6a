"""What a newcomer sees first: the demo's pages and the pictures of the README."""

import io
import re
import struct
from pathlib import Path

import pytest
from rich.console import Console

from analecta.cli.demo import make_demo

ROOT = Path(__file__).parents[1]
SHOWN = sorted(set(re.findall(r"docs/[\w-]+\.png", (ROOT / "README.md").read_text())))


def shown(folder, pages):
    """The pages that a demo says to open."""
    said = io.StringIO()
    assert make_demo(folder, Console(file=said, width=200), pages=pages, size=600) == 0
    return [Path(path) for path in re.findall(r"^  (/.*\.html)$", said.getvalue(), re.M)]


def test_p10_s13_the_demo_ends_with_a_map_and_a_site_to_open(tmp_path):
    pages = shown(tmp_path / "d", 120)
    assert pages == [tmp_path / "d" / "map.html", tmp_path / "d" / "site" / "index.html"]
    assert all("<title>Demo library" in page.read_text() for page in pages)


def test_p10_a_demo_of_few_pages_has_a_site_and_no_map(tmp_path):
    assert [page.name for page in shown(tmp_path / "d", 16)] == ["index.html"]


@pytest.mark.parametrize("picture", SHOWN)
def test_a_picture_is_as_large_as_a_window_and_soon_loaded(picture):
    data = (ROOT / picture).read_bytes()
    assert struct.unpack(">II", data[16:24]) == (1280, 800)
    assert len(data) < 250_000
