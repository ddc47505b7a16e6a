"""F54, F55: outputs that would overwrite a library, and settings that name files outside of it."""

import json
import os
import sqlite3
import zipfile
from pathlib import Path
from shutil import copytree

import pytest

from analecta.cli import app
from analecta.errors import UsageError
from analecta.export.bundle.repeat import repeat
from analecta.export.bundle.write import write_bundle
from analecta.learning.examples import given_files
from analecta.parse.saved_page import read_example
from analecta.publish.site import publish
from analecta.settings.schema import Settings, Topic
from analecta.sources.files import bring
from analecta.store.library import LibraryFolder
from analecta.store.output import check_output, output
from analecta.testweb.process import PocketServer
from tests.crawls.driver import crawl, make_library
from tests.crawls.site import site
from tests.publish.shelf import Given, html, shelved

# --- F54 -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path) -> LibraryFolder:
    made = shelved(tmp_path / "lib", Given("http://a.test/", html("Wrens")), Given("http://b.test/", html("Owls")))
    made.settings_path.write_text('[[topics]]\nname = "birds"\nseeds = ["http://a.test/"]\n')
    return made


def content(folder: Path) -> dict[str, bytes]:
    """All files of a library, but for the logs that SQLite keeps beside its own."""
    paths = (path for path in folder.rglob("*") if path.suffix not in (".db-wal", ".db-shm"))
    files = (path for path in paths if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def run(*words: object) -> None:
    app([str(word) for word in words], standalone_mode=False)


COMMANDS = (
    ("export", "pages", "--format", "csv"), ("export", "links"), ("export", "collection", "--format", "bibtex"),
    ("export", "graph"), ("export", "corpus"), ("bundle",), ("map",), ("publish",),
    ("communities",), ("collection",), ("health",), ("crawl", "--connect-to", "127.0.0.1:9", "--publish"),
)  # fmt: skip
PLACES = (
    "library.db", "analecta.toml", "shards/p00.db", "archive/p00-00000.warc.gz", "archive/new.html", "new.gexf",
    "site/index.html", "topics/new/deep.csv", ".", "models",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_f54_no_command_writes_into_a_library_even_by_force(library, tmp_path, command, monkeypatch):
    other = copytree(library.folder, tmp_path / "other")
    (tmp_path / "way").symlink_to(other)
    (tmp_path / "leaf.gexf").symlink_to(library.folder / "library.db")
    before = content(library.folder), content(other)
    name, *rest = command
    flag = rest.pop() if rest and rest[-1] == "--publish" else "-o"
    force = ["--force"] if name not in ("publish", "crawl") and "corpus" not in rest else []
    monkeypatch.chdir(other / "shards")
    paths = [library.folder / place for place in PLACES]
    paths += [tmp_path / "way" / place for place in PLACES]
    paths += [Path("p00.db"), Path("../library.db"), Path("new.gexf"), tmp_path / "leaf.gexf"]
    for path in paths:
        with pytest.raises(UsageError, match=r"inside the library|not made by this command|a graph is|a picture is"):
            run(name, library.folder, *rest, flag, path, *force)
    assert (content(library.folder), content(other)) == before


def test_f54_only_a_site_and_a_map_have_a_place_in_a_library(library):
    publish(library, library.folder / "site")
    publish(library, library.folder / "site")
    check_output(library.folder / "map.html", "map")
    with pytest.raises(UsageError, match="inside the library"):
        check_output(library.folder / "map.html", "csv")
    with pytest.raises(UsageError, match="inside the library"):
        check_output(library.folder / "site" / "map.html", "map")


def test_f54_a_damaged_library_is_one_still(library):
    library.settings_path.unlink()
    with pytest.raises(UsageError, match="inside the library"):
        check_output(library.folder / "archive" / "x.csv", "csv")


def test_f54_an_output_that_shares_its_bytes_with_a_library_leaves_them_there(library, tmp_path):
    os.link(library.settings_path, tmp_path / "t.csv")
    before = library.settings_path.read_bytes()
    with output(tmp_path / "t.csv", "csv", force=True) as out:
        out.write(b"url,title\n")
    assert library.settings_path.read_bytes() == before


def some_database(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()


def some_document(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("word/document.xml", "<w:document/>")


def some_text(path: Path) -> None:
    path.write_text("Dear diary, what a day it was.\n")


@pytest.mark.parametrize("make", [some_database, some_document, some_text])
@pytest.mark.parametrize(
    "command", [("export", "pages"), ("export", "pages", "--format", "csv"), ("export", "graph"), ("bundle",)]
)
def test_f54_a_file_of_another_kind_is_replaced_only_by_force(library, tmp_path, make, command):
    path = tmp_path / "x"
    make(path)
    before = path.read_bytes()
    name, *rest = command
    with pytest.raises(UsageError, match="--force"):
        run(name, library.folder, *rest, "-o", path)
    assert path.read_bytes() == before
    run(name, library.folder, *rest, "-o", path, "--force")
    run(name, library.folder, *rest, "-o", path)  # it is of this kind now
    assert path.read_bytes() != before


def test_f54_a_site_that_has_a_library_in_it_is_not_replaced(library, tmp_path):
    publish(library, tmp_path / "site")
    inner = copytree(library.folder, tmp_path / "site" / "deep" / "lib")
    with pytest.raises(UsageError, match="holds the library"):
        publish(library, tmp_path / "site")
    assert (inner / "library.db").exists()


def test_f54_an_evaluation_is_not_written_into_a_library(library):
    for command in (["evaluate", "--web", "pocket:60", "--recipes", "adaptive"], ["evaluate", "communities"]):
        with pytest.raises(UsageError, match="inside the library"):
            run(*command, "-o", library.folder / "archive")


def test_f54_a_writer_that_fails_leaves_what_was_there(tmp_path):
    (tmp_path / "t.csv").write_text("url,title\n")
    with pytest.raises(TypeError), output(tmp_path / "t.csv", "csv") as out:
        out.writelines([b"half", None])
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("t.csv", "url,title\n")]


# --- F55 -------------------------------------------------------------------------------------------------------------


def naming(library: LibraryFolder, name: str) -> None:
    with library.settings_path.open("a") as file:
        file.write(f"[others]\nexamples = [{json.dumps(name)}]\n")


@pytest.mark.parametrize("name", ["../secret.txt", "topics/../../secret.txt", "{}/secret.txt", "topics/link.txt"])
def test_f55_a_crawl_learns_from_no_file_outside_its_library(tmp_path, name):
    (tmp_path / "secret.txt").write_text("root:x:0:0 the secret words " * 20)
    with site({}, {"/": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, judge={"kind": "profile"})
        (library.folder / "topics").mkdir()
        (library.folder / "topics" / "link.txt").symlink_to(tmp_path / "secret.txt")
        naming(library, name.format(tmp_path))
        with pytest.raises(UsageError, match=r"outside the library: copy it into .*topics"):
            crawl(library)
    assert not server.paths()
    assert not any(b"secret words" in body for body in content(library.folder).values())


def test_f55_a_file_of_the_library_is_an_example_also_by_a_link_inside_it(tmp_path):
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "a.txt").write_text("roses")
    (tmp_path / "topics" / "b.txt").symlink_to("a.txt")
    settings = Settings(topics=(Topic("x", examples=("topics/a.txt", "topics/b.txt", "topics/gone.txt")),))
    assert len(given_files(settings, ["x"], tmp_path)) == 3
    (tmp_path / "topics" / "gone.txt").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="outside the library"):
        given_files(settings, ["x"], tmp_path)


def test_f55_pipes_devices_and_giants_are_no_examples(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "giant").open("wb") as file:
        file.truncate(2_000_000_000)
    for name in ("pipe", "giant"):
        with pytest.raises(OSError, match=r"no ordinary file|larger than 20 MB"):
            read_example(tmp_path / name)


def test_f55_a_bundle_whose_settings_name_files_outside_is_refused(tmp_path):
    with PocketServer(size=120, moody=False) as web:
        library = LibraryFolder.create(tmp_path / "lib", "")
        seeds = json.dumps(web.web.seeds(web.web.topics[0], 2))
        library.settings_path.write_text(f'[[topics]]\nname = "a"\nseeds = {seeds}\n')
        fetch = {"fetch": {"connect_to": web.address}, "stop": {"pages": 5, "free_disk": 0}, "crawl": {"workers": 1}}
        crawl(library, **fetch)
    naming(library, "topics/x.txt")
    (library.folder / "topics").mkdir()
    (library.folder / "topics" / "x.txt").write_text("roses")
    write_bundle(library, tmp_path / "b.zip", archive=True)
    forge(tmp_path / "b.zip", tmp_path / "forged.zip", b"topics/x.txt", b"../../../etc/passwd")
    with pytest.raises(UsageError, match=r"refused: the example '../../../etc/passwd' is not in it"):
        repeat(tmp_path / "forged.zip", tmp_path / "again")
    assert not (tmp_path / "again").exists()


def forge(bundle: Path, forged: Path, old: bytes, new: bytes) -> None:
    """The same bundle with other settings, and a table of contents that agrees with them."""
    import hashlib

    with zipfile.ZipFile(bundle) as source:
        files = {name: source.read(name) for name in source.namelist()}
    name = "settings/analecta.toml"
    files[name] = files[name].replace(old, new)
    manifest = json.loads(files["manifest.json"])
    for entry in manifest["files"]:
        if entry["name"] == name:
            entry |= {"size": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()}
    manifest["files"] = [entry for entry in manifest["files"] if entry["name"] != "files/topics/x.txt"]
    files.pop("files/topics/x.txt")
    files["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(forged, "w") as out:
        for one, body in files.items():
            out.writestr(one, body)


def test_f55_what_is_added_is_not_copied_out_of_the_library_by_a_link(tmp_path):
    library = make_library(tmp_path / "lib", ["http://a.test/"])
    (tmp_path / "away").mkdir()
    (library.folder / "topics").symlink_to(tmp_path / "away")
    (tmp_path / "rose.txt").write_text("roses")
    with pytest.raises(Exception, match="leads out of it"):
        bring({str(tmp_path / "rose.txt"): "topics/x/rose.txt"}, library.folder)
    assert not [*(tmp_path / "away").iterdir()]
