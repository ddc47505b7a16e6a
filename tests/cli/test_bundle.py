"""A crawl is bundled and repeated by commands, over the archive alone."""

import json
import os
import zipfile
from shutil import copytree

import pytest

import analecta.cli.bundle  # noqa: F401
from analecta.store.library import LibraryFolder
from analecta.testweb.process import PocketServer
from tests.cli.test_cli import analecta as run
from tests.export.test_bundle import changed, listed

SLOW = ["orchard-corner", "cedar-gazette"]  # one asks for a delay, the robots.txt of the other is broken


@pytest.fixture(scope="module")
def pocket():
    with PocketServer(size=300, moody=False) as server:
        yield server


def grow(folder, pocket, *words):
    """A library with two runs and a file of examples; hosts that must be waited for are left alone."""
    (folder / "mine" / "bees").mkdir(parents=True)
    (folder / "mine" / "bees" / "note.txt").write_text("Bees live in hives and make honey of nectar. " * 5)
    (folder / "seeds").write_text("\n".join(pocket.web.seeds("beekeeping", 4)))
    run("new", folder / "lib", "--seeds", folder / "seeds", "--examples", folder / "mine", "--topic", "bees")
    with (folder / "lib" / "analecta.toml").open("a") as file:
        file.write(f"\n[scope]\nexclude = {SLOW}\n[stop]\nidle = 1.0\n")
    for pages in (50, 30):
        run("crawl", folder / "lib", "--pages", pages, "--connect-to", pocket.address, *words)
    return folder / "lib"


@pytest.fixture(scope="module")
def ordered(pocket, tmp_path_factory):
    return grow(tmp_path_factory.mktemp("ordered"), pocket, "--seed", 7, "--workers", 1)


@pytest.fixture(scope="module")
def whole(ordered):
    run("bundle", ordered, "-o", ordered.parent / "whole.zip", "--archive")
    return ordered.parent / "whole.zip"


@pytest.fixture(scope="module")
def again(whole):
    """The library made anew from the bundle, and what was said of it."""
    folder = whole.parent / "again"
    return folder, run("repeat", whole, folder).stdout


def test_a_repeated_crawl_keeps_the_same_pages_in_the_same_order(again, ordered, tmp_path):
    folder, said = again
    assert "80 pages then, 80 now, 80 of them the same (Jaccard 1.000); 100.0% of these on the same topic." in said
    assert "The order is identical.\nThat is as promised." in said
    bundles = [json.loads(run("bundle", lib, "-o", tmp_path / "b", "--json").stdout) for lib in (ordered, folder)]
    assert bundles[0]["manifest"]["order"] == bundles[1]["manifest"]["order"]


def test_the_judges_of_both_crawls_have_learnt_the_same_by_themselves(again, ordered):
    folder, _ = again
    assert sorted(os.listdir(folder / "models")) == sorted(os.listdir(ordered / "models"))
    assert LibraryFolder(folder).get("model") == LibraryFolder(ordered).get("model") != ""


def test_the_archive_may_be_elsewhere(ordered, tmp_path):
    said = run("bundle", ordered, "-o", tmp_path / "b.zip").stdout
    assert f"analecta repeat {tmp_path / 'b.zip'} again --archive {ordered / 'archive'}" in said
    assert "name the WARC files with --archive" in run("repeat", tmp_path / "b.zip", tmp_path / "x", code=2).stderr
    words = ("--archive", ordered / "archive", "--json")
    found = json.loads(run("repeat", tmp_path / "b.zip", tmp_path / "again", *words).stdout)
    assert (found["identical"], found["archive"], found["ordered"]) == (True, True, True)


@pytest.fixture(scope="module")
def unordered(pocket, tmp_path_factory):
    return grow(tmp_path_factory.mktemp("unordered"), pocket, "--workers", 2)


def test_another_archive_is_told_and_the_first_difference_named(whole, unordered, tmp_path):
    said = run("repeat", whole, tmp_path / "again", "--archive", unordered / "archive", code=1).stdout
    assert "The order differs from page" in said
    assert "The WARC files are not those of the first crawl" in said
    assert said.endswith("That is not as promised.\n")


def test_without_an_order_most_pages_come_again(unordered, tmp_path):
    run("bundle", unordered, "-o", tmp_path / "b.zip", "--archive")
    said = json.loads(run("repeat", tmp_path / "b.zip", tmp_path / "again", "--json").stdout)
    assert (said["ordered"], said["why"]) == (False, "2 partitions worked side by side")
    assert 40 <= said["shared"] <= said["then"]
    assert said["held"]


def test_nothing_is_overwritten_and_nothing_left_behind(whole, ordered, tmp_path):
    assert "exists already" in run("repeat", whole, ordered, code=2).stderr
    (tmp_path / "b.zip").write_bytes(whole.read_bytes()[:-100])
    run("repeat", tmp_path / "b.zip", tmp_path / "again", code=2)
    assert os.listdir(tmp_path) == ["b.zip"]


def test_f41_an_example_outside_the_bundle_is_refused(whole, tmp_path):
    def reach(files):
        info, text = files["runs.jsonl"]
        files["runs.jsonl"] = info, text.replace(b"topics/mine/bees/note.txt", b"../../../../etc/passwd")
        listed(files)

    path = changed(whole, tmp_path / "b.zip", reach)
    assert "'../../../../etc/passwd' is not in it" in run("repeat", path, tmp_path / "again", code=2).stderr
    assert not (tmp_path / "again").exists()


def test_f41_a_file_that_its_settings_do_not_name_is_refused(whole, tmp_path):
    def add(files):
        files["files/notes.txt"] = zipfile.ZipInfo("x"), b"mine"
        listed(files)

    path = changed(whole, tmp_path / "b.zip", add)
    assert "know nothing of the file 'notes.txt'" in run("repeat", path, tmp_path / "again", code=2).stderr
    assert not (tmp_path / "again").exists()


def test_an_example_that_is_gone_takes_the_promise_of_an_order_with_it(ordered, tmp_path):
    library = copytree(ordered, tmp_path / "lib")
    (library / "topics" / "mine" / "bees" / "note.txt").unlink()
    run("bundle", library, "-o", tmp_path / "b.zip", "--archive")
    found = json.loads(run("repeat", tmp_path / "b.zip", tmp_path / "again", "--json").stdout)
    assert found["why"] == "the example 'topics/mine/bees/note.txt' is not in the bundle"


def test_f41_models_of_a_bundle_are_not_taken_over(whole, tmp_path):
    def swap(files):
        for name in [name for name in files if name.startswith("models/")]:
            files[name] = files[name][0], b"evil"
        listed(files)

    run("repeat", changed(whole, tmp_path / "b.zip", swap), tmp_path / "again")
    assert b"evil" not in {path.read_bytes() for path in (tmp_path / "again" / "models").iterdir()}
