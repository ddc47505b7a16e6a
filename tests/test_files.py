import os

import pytest

from analecta.errors import ResourceError, UsageError
from analecta.files import check_ours, whole_file, whole_folder


def is_ours(folder):
    return (folder / "ours").exists()


def fill(folder, *names):
    with whole_folder(folder, is_ours) as part:
        for name in ("ours", *names):
            (part / name).write_text(name)


def broken(part):
    (part / "ours").write_text("new")
    raise ZeroDivisionError


def test_a_file_takes_its_name_when_all_is_written(tmp_path):
    with whole_file(tmp_path / "a") as out:
        out.write(b"new")
        assert not (tmp_path / "a").exists()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"new")]


def test_folders_above_a_file_are_made(tmp_path):
    with whole_file(tmp_path / "b/c/a") as out:
        out.write(b"new")
    assert (tmp_path / "b/c/a").read_bytes() == b"new"


def test_what_the_disk_refuses_is_told_with_the_file_that_it_was(tmp_path):
    (tmp_path / "b").write_text("")
    with pytest.raises(ResourceError, match=r"cannot write .*b/a: Not a directory$"), whole_file(tmp_path / "b/a"):
        pass
    with pytest.raises(ResourceError, match=r"a: No such file or directory \(.*lost\)"), whole_file(tmp_path / "a"):
        (tmp_path / "lost").read_bytes()


def test_a_device_is_written_to(tmp_path):
    with whole_file(tmp_path / "null") as out:
        out.write(b"")
    with whole_file(type(tmp_path)(os.devnull)) as out:
        out.write(b"x")
    assert not os.path.isfile(os.devnull)


def test_a_second_time_the_whole_folder_is_new(tmp_path):
    fill(tmp_path / "site", "old")
    fill(tmp_path / "site", "new")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["new", "ours", "site"]


def test_what_is_not_ours_is_never_replaced(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="was not made by"):
        fill(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_empty_folder_is_taken_and_a_file_or_a_link_is_not(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    check_ours(tmp_path / "empty", is_ours)
    for name in ("file", "link"):
        with pytest.raises(UsageError):
            check_ours(tmp_path / name, is_ours)


def test_a_folder_that_fails_half_way_leaves_the_one_before(tmp_path):
    fill(tmp_path / "site")
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "site", is_ours) as part:
        broken(part)
    assert (tmp_path / "site/ours").read_text() == "ours"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_what_a_killed_run_left_is_taken_away_and_what_another_writes_is_not(tmp_path):
    gone, running = (tmp_path / f".site.{process}.part" for process in (2**31 - 1, os.getppid()))
    for left in (gone, running):
        (left / "inner").mkdir(parents=True)
    fill(tmp_path / "site")
    assert sorted(path.name for path in tmp_path.iterdir()) == [running.name, "site"]


def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="cannot write"):
        fill(tmp_path / "file" / "site")
