import pytest

from analecta.errors import UsageError
from analecta.publish.site_folder import MARKER, write_folder


def test_files_are_written_with_their_folders(tmp_path):
    assert write_folder(tmp_path / "site", [("a.html", "é"), ("b/c.html", "c")]) == 2
    assert (tmp_path / "site/a.html").read_text("utf-8") == "é"
    assert (tmp_path / "site/b/c.html").read_text() == "c"


def test_a_site_is_known_by_its_marker_and_replaced(tmp_path):
    write_folder(tmp_path / "site", [("old.html", "")])
    write_folder(tmp_path / "site", [("new.html", "")])
    assert sorted(path.name for path in tmp_path.rglob("*")) == [MARKER, "new.html", "site"]


def test_a_folder_without_the_marker_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="was not made by"):
        write_folder(tmp_path, [("a.html", "")])
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
