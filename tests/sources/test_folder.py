import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.errors import ResourceError, UsageError
from analecta.settings.schema import NegativeSettings
from analecta.sources.collector import combine
from analecta.sources.files import bring, place, take_back
from analecta.sources.folder import read_examples, safe


def folder(path, files):
    """A folder with these files; bytes or text by path."""
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def shown(reading):
    """The seeds and the names of the files of each topic."""
    return {t.name: (list(t.seeds), [path.rpartition("/")[2] for path in t.examples]) for t in reading.topics}


def skips(reading):
    return {skipped.text: skipped.why for skipped in reading.skipped}


TREE = {
    "loose.txt": "about gardens",
    "Roses/a.html": "<p>roses</p>",
    "Roses/Old roses/b.txt": "old roses",
    "Roses/more.urls": "https://a.test/ # good\nb.test\nftp://c.test/\n",
    "others/wine.txt": "rosé",
    "others/deep/w.urls": "https://w.test/",
}


def test_folders_are_topics_and_folders_in_them_the_tree(tmp_path):
    reading = read_examples(folder(tmp_path / "Garden", TREE), "lib")
    assert shown(reading) == {
        "Roses": (["https://a.test/", "https://b.test/"], ["a.html"]),
        "lib": ([], ["loose.txt"]),
        "Roses / Old roses": ([], ["b.txt"]),
    }
    assert reading.files[str(tmp_path / "Garden" / "Roses" / "a.html")] == "topics/Garden/Roses/a.html"
    skipped = reading.skipped[0]
    assert (skipped.file, skipped.line, skipped.text) == (str(tmp_path / "Garden/Roses/more.urls"), 3, "ftp://c.test/")


def test_others_is_what_is_not_meant_with_all_that_lies_below(tmp_path):
    reading = read_examples(folder(tmp_path / "g", TREE), "lib")
    assert reading.others == NegativeSettings(("https://w.test/",), (str(tmp_path / "g" / "others" / "wine.txt"),))
    nested = read_examples(folder(tmp_path / "h", {"Roses/OTHERS/a.txt": "x"}), "lib")
    assert list(shown(nested)) == ["Roses / OTHERS"]


def test_a_text_of_addresses_alone_is_a_list(tmp_path):
    files = {
        "a/list.txt": "# mine\nhttps://a.test/\n\nhttp://b.test/x\n",
        "a/text.txt": "see https://c.test/ for roses",
    }
    assert shown(read_examples(folder(tmp_path, files), "x")) == {
        "a": (["https://a.test/", "http://b.test/x"], ["text.txt"])
    }


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_list_may_have_the_mark_of_its_encoding(tmp_path, encoding):
    data = "https://a.test/\r\nhttps://b.test/\r\n".encode(encoding)
    assert shown(read_examples(folder(tmp_path, {"a/list.txt": data}), "x")) == {
        "a": (["https://a.test/", "https://b.test/"], [])
    }


def test_a_list_that_cannot_be_read_is_told_and_left_out(tmp_path):
    reading = read_examples(folder(tmp_path, {"a/x.urls": b"http://a.test/\xff", "a/y.txt": "text"}), "x")
    assert shown(reading) == {"a": ([], ["y.txt"])}
    assert skips(reading) == {"a/x.urls": "it is not a text file in UTF-8 (byte 14); save it as UTF-8"}


def test_loose_files_cannot_be_of_a_topic_that_is_called_as_what_is_not_meant(tmp_path):
    files = {"loose.txt": "x", "OTHERS/wine.txt": "y", "Roses/a.txt": "z"}
    with pytest.raises(UsageError, match="OTHERS is what is not meant: name a --topic"):
        read_examples(folder(tmp_path, files), "OTHERS")
    (tmp_path / "loose.txt").unlink()
    assert list(shown(read_examples(tmp_path, "OTHERS"))) == ["Roses"]


def test_a_folder_by_two_names_is_brought_once(tmp_path, monkeypatch):
    path = folder(tmp_path / "g", {"a/x.txt": "1"})
    monkeypatch.chdir(tmp_path)
    both = combine([(name, read_examples(name, "t")) for name in (path, Path("g"))])
    assert len(both.topics[0].examples) == len(both.files) == both.repeated == 1


def test_what_browsers_and_systems_leave_beside_is_passed_over(tmp_path):
    files = {"a/Roses.html": "<p>r", "a/Roses_files/x.js": "1", "a/Roses-Dateien/y.css": "2", "a/.DS_Store": b"\0\1"}
    files |= {".git/config": "x", "a/Rosesbush/z.txt": "no", "a/Roses-climbing/c.txt": "neither"}
    reading = read_examples(folder(tmp_path, files), "x")
    assert shown(reading) == {
        "a": ([], ["Roses.html"]),
        "a / Roses-climbing": ([], ["c.txt"]),
        "a / Rosesbush": ([], ["z.txt"]),
    }
    assert list(skips(reading)) == ["a/Roses-Dateien", "a/Roses_files"]


def test_the_same_file_twice_counts_once_in_a_topic(tmp_path):
    reading = read_examples(folder(tmp_path, {"a/1.txt": "same", "a/2.txt": "same", "b/3.txt": "same"}), "x")
    assert shown(reading) == {"a": ([], ["1.txt"]), "b": ([], ["3.txt"])}
    assert reading.repeated == 1


def test_two_folders_of_one_name_are_one_topic_and_told(tmp_path):
    reading = read_examples(folder(tmp_path, {"old  roses/1.txt": "a", "old\troses/2.txt": "b", "empty/.x": ""}), "x")
    assert sorted(shown(reading)["old roses"][1]) == ["1.txt", "2.txt"]
    assert reading.merged == ("old roses",)
    assert list(reading.queries) == ["empty"]


# --- what is no good -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "holds no example"),
        ({"a/x.txt": ""}, "it is empty"),
        ({"a/.hidden": "x"}, "holds no example"),
        ({"OTHERS/x.txt": "x"}, "holds only OTHERS"),
        ({"a/x.urls": "nothing here\n"}, "line 1: no usable example|more than one word"),
        ({"a/x.urls": b"\xff\xfe\xff"}, "not a text file"),
        ({"/".join("abcdefghijklmnopqrstuvwxyz") + "/x.txt": "x"}, "too deep"),
    ],
)
def test_a_folder_of_no_use_is_one_sentence(tmp_path, files, said):
    (tmp_path / "f").mkdir()
    with pytest.raises(UsageError, match=said) as raised:
        read_examples(folder(tmp_path / "f", files), "x")
    assert str(tmp_path / "f") in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_or_nothing_in_the_place_of_the_folder_is_bad_use(tmp_path):
    (tmp_path / "f").write_text("x")
    with pytest.raises(UsageError, match="is a file: --examples wants a folder"):
        read_examples(tmp_path / "f", "x")
    with pytest.raises(UsageError, match="No such file"):
        read_examples(tmp_path / "none", "x")


def test_links_in_a_ring_pipes_and_giants_are_told_and_passed_over(tmp_path):
    path = folder(tmp_path / "f", {"a/good.txt": "x"})
    (path / "a" / "up").symlink_to(path)
    (path / "a" / "ring").symlink_to(path / "a" / "ring")
    (path / "a" / "away.txt").symlink_to(folder(tmp_path, {"away.txt": "y"}) / "away.txt")
    (path / "a" / "linked.txt").symlink_to(folder(path, {"b/near.txt": "z"}) / "b/near.txt")
    os.mkfifo(path / "a" / "pipe")
    with (path / "a" / "giant").open("wb") as file:
        file.truncate(2_000_000_000)  # takes no room on the disk
    reading = read_examples(path, "x")
    assert shown(reading) == {"a": ([], ["good.txt", "linked.txt"]), "b": ([], ["near.txt"])}
    assert skips(reading) == {
        "a/up": "links to folders are not followed",
        "a/ring": "it cannot be read: Too many levels of symbolic links",
        "a/away.txt": "the link leads out of the folder: give that file or its folder, too",
        "a/pipe": "it is no ordinary file",
        "a/giant": "it is larger than 20 MB",
    }


@pytest.mark.parametrize(
    ("limits", "said"), [({"most": 10}, "10 files of"), ({"size": 50}, "0 MB"), ({"most": 2}, "10 files and folders")]
)
def test_there_is_an_end_to_how_much_is_read(tmp_path, limits, said):
    path = folder(tmp_path, {f"a/{i}.txt": f"text {i}" for i in range(12)})
    with pytest.raises(UsageError, match=f"holds more than {said}"):
        read_examples(path, "x", **limits)


# --- names and places ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Rosen & Nelken (2).html", "Rosen _ Nelken (2).html"),
        ("..", "_"),
        ("a\x1b[31m\nb.txt", "a_31m_b.txt"),
        ("薔薇.pdf", "薔薇.pdf"),
        ("n\udcff.txt", "n_.txt"),
        ("CON.txt", "_CON.txt"),
        ("x" * 250 + ".html", "x" * 68 + ".html"),
    ],
)
def test_names_are_made_safe_and_stay_readable(name, kept):
    assert safe(name) == kept


@given(st.text(min_size=1, max_size=300))
def test_a_safe_name_is_one_step_and_fits_everywhere(name):
    made = safe(name)
    assert made not in ("", ".", "..")
    assert not {*made} & {*'/\\:*?"<>|\0\n'}
    assert len(made.encode()) <= 255
    assert safe(made) == made


def test_odd_names_become_a_topic_and_places(tmp_path):
    path = tmp_path / os.fsdecode(b"ro\xffses")
    reading = read_examples(folder(path, {"a\x07b/\u202efile?.txt": "x"}), "x")
    assert [topic.name for topic in reading.topics] == ["a b"]
    assert list(reading.files.values()) == ["topics/ro_ses/a_b/_file_.txt"]


def test_files_never_overwrite_one_another(tmp_path):
    path = folder(tmp_path / "g", {"a/x?.txt": "1", "a/x*.txt": "2", "a/X_.txt": "3"})
    placed = place(read_examples(path, "t"), tmp_path / "lib")
    bring(placed.files, tmp_path / "lib")
    brought = {(tmp_path / "lib" / name).read_text() for name in placed.topics[0].examples}
    assert sorted(placed.topics[0].examples) == [
        "topics/g/a/X_.txt",
        "topics/g/a/x_-2.txt",
        "topics/g/a/x_-3.txt",
    ]
    assert brought == {"1", "2", "3"}


def test_what_is_there_already_is_not_brought_again(tmp_path):
    path, library = folder(tmp_path / "g", {"a/x.txt": "1"}), tmp_path / "lib"
    first = place(read_examples(path, "t"), library)
    bring(first.files, library)
    again = place(read_examples(path, "t"), library)
    assert (again.topics, again.files) == (first.topics, {})
    (path / "a" / "x.txt").write_text("2")
    changed = place(read_examples(path, "t"), library)
    assert list(changed.files.values()) == ["topics/g/a/x-2.txt"]


def test_a_file_and_a_folder_of_one_name_find_their_places(tmp_path):
    path, library = folder(tmp_path / "g", {"R/?": "1", "R/*/b.txt": "2"}), tmp_path / "lib"
    placed = place(read_examples(path, "t"), library)
    assert sorted(placed.files.values()) == ["topics/g/R/_-2", "topics/g/R/_/b.txt"]
    bring(placed.files, library)
    folder(library, {"topics/h/r": "a file where a folder is wanted"})
    later = place(read_examples(folder(tmp_path / "h", {"R/b.txt": "3"}), "t"), library)
    assert list(later.files.values()) == ["topics/h/R-2/b.txt"]


def test_no_file_gets_a_name_that_another_has_in_other_letters(tmp_path):
    library = folder(tmp_path / "lib", {"topics/g/a/ROSE.txt": "1"})
    placed = place(read_examples(folder(tmp_path / "g", {"a/rose.txt": "2"}), "t"), library)
    assert list(placed.files.values()) == ["topics/g/a/rose-2.txt"]


def test_a_copy_that_fails_leaves_nothing(tmp_path):
    good, library = folder(tmp_path, {"a.txt": "x"}) / "a.txt", tmp_path / "lib"
    library.mkdir()
    with pytest.raises(ResourceError, match="cannot copy"):
        bring({str(good): "topics/g/a.txt", str(tmp_path / "gone"): "topics/h/b.txt"}, library)
    assert [*library.rglob("*.txt")] == []
    take_back(bring({str(good): "topics/g/a.txt"}, library), library)
    assert [*library.rglob("*.txt")] == []
