import pytest

from analecta.errors import BadUse, Environment
from analecta.publish.site.folder import MARKER, check_folder, write_folder


def test_files_are_written_with_their_folders(tmp_path):
    assert write_folder(tmp_path / "site", [("a.html", "é"), ("b/c.html", "c")]) == 2
    assert (tmp_path / "site/a.html").read_text("utf-8") == "é"
    assert (tmp_path / "site/b/c.html").read_text() == "c"


def test_a_second_time_the_whole_folder_is_new(tmp_path):
    write_folder(tmp_path / "site", [("old.html", "")])
    write_folder(tmp_path / "site", [("new.html", "")])
    assert sorted(path.name for path in tmp_path.rglob("*")) == [MARKER, "new.html", "site"]


@pytest.mark.parametrize("name", ["site", "site.part", "site.old"])
def test_what_is_not_ours_is_never_replaced(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.txt").write_text("years of work")
    with pytest.raises(BadUse, match="was not made by"):
        write_folder(tmp_path / "site", [("a.html", "")])
    assert (tmp_path / name / "thesis.txt").read_text() == "years of work"


def test_an_empty_folder_is_taken_and_a_file_or_a_link_is_not(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    check_folder(tmp_path / "empty")
    for name in ("file", "link"):
        with pytest.raises(BadUse):
            check_folder(tmp_path / name)


def test_one_that_fails_half_way_leaves_the_one_before(tmp_path):
    def broken():
        yield "a.html", "new"
        raise ZeroDivisionError

    write_folder(tmp_path / "site", [("a.html", "old")])
    with pytest.raises(ZeroDivisionError):
        write_folder(tmp_path / "site", broken())
    assert (tmp_path / "site/a.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_what_a_killed_run_left_is_taken_away(tmp_path):
    (tmp_path / "site.part").mkdir()
    (tmp_path / "site.part" / MARKER).write_text("")
    (tmp_path / "site.part/half.html").write_text("")
    write_folder(tmp_path / "site", [("a.html", "")])
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_disk_that_refuses_is_told_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Environment, match="cannot write"):
        write_folder(tmp_path / "file" / "site", [("a.html", "")])
