import contextlib
import hashlib
import json
import pickle
import zipfile
from shutil import copytree

import pytest

from analecta.errors import LibraryBusy, UsageError
from analecta.export.bundle import MANIFEST, Decision, allowed
from analecta.export.bundle.read import open_bundle
from analecta.export.bundle.repeat import compare
from analecta.export.bundle.write import write_bundle
from analecta.store.library import LibraryFolder
from analecta.views.rows import LeftOut, pages


@pytest.fixture(scope="session")
def bundle(grown, tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle") / "b.zip"
    write_bundle(grown, path)
    return path


def contents(path):
    with zipfile.ZipFile(path) as file:
        return {info: file.read(info) for info in file.infolist()}


def named(path):
    return {info.filename: content for info, content in contents(path).items()}


# --- what is in it ---------------------------------------------------------------------------------------------------


def test_a_bundle_holds_settings_models_versions_runs_and_decisions(bundle, grown):
    found = named(bundle)
    assert found["settings/analecta.toml"] == grown.settings_path.read_bytes()
    assert json.loads(found["settings/resolved.json"])["judge"]["kind"] == "profile"
    assert json.loads(found["versions.json"])["libraries"]["numpy"]
    assert json.loads(found["runs.jsonl"].splitlines()[0])["asked"]["partitions"] == 2
    assert {f"models/{one['hash']}.npz" for one in json.loads(found["models.json"])} <= found.keys()


def test_every_url_has_its_decision_and_pages_are_in_order(bundle, grown):
    found = [json.loads(line) for line in named(bundle)["decisions.jsonl"].splitlines()]
    with grown.shards() as shards:
        assert len(found) == sum(shard.execute("SELECT count(*) FROM urls").fetchone()[0] for shard in shards)
    order = [one["url"] for one in sorted((one for one in found if one.get("order")), key=lambda one: one["order"])]
    assert order == [row["final_url"] for row in pages(grown, LeftOut(), everything=True)]
    assert any(one["state"] == "refused" and one["reason"] for one in found)


def test_the_manifest_has_the_digest_of_every_file_and_of_the_archive(bundle, grown):
    found = named(bundle)
    manifest = json.loads(found.pop(MANIFEST))
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}
    assert {one["name"]: one["sha256"] for one in manifest["files"]} == digests
    warcs = {f"archive/{path.name}": path.read_bytes() for path in grown.archive.iterdir()}
    assert {one["name"]: one["sha256"] for one in manifest["archive"]} == {
        name: hashlib.sha256(content).hexdigest() for name, content in warcs.items()
    }


def test_the_same_library_gives_the_same_bytes(bundle, grown, tmp_path):
    copy = LibraryFolder(copytree(grown.folder, tmp_path / grown.folder.name))
    write_bundle(copy, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == bundle.read_bytes()


def test_example_files_are_in_it_but_nothing_from_outside(grown, tmp_path):
    folder = copytree(grown.folder, tmp_path / "lib")
    (tmp_path / "secret").write_text("secret")
    (folder / "topics").mkdir()
    (folder / "topics" / "rose.txt").write_text("roses")
    (folder / "topics" / "link").symlink_to(tmp_path / "secret")
    text = (folder / "analecta.toml").read_text()
    (folder / "analecta.toml").write_text(text + '[others]\nexamples = ["topics/rose.txt", "../secret"]\n')
    write_bundle(LibraryFolder(folder), tmp_path / "b.zip")
    assert [name for name in named(tmp_path / "b.zip") if name.startswith("files/")] == ["files/topics/rose.txt"]


@pytest.fixture
def taught(grown, tmp_path):
    """A function: a library whose crawl learnt from files of these names; none of the files is there."""
    folder = copytree(grown.folder, tmp_path / "lib")
    (folder / "topics").mkdir()

    def teach(*names):
        library = LibraryFolder(folder)
        with library.database() as db:
            asked = json.loads(db.execute("SELECT asked FROM runs WHERE n = 1").fetchone()[0])
            asked["settings"]["others"]["examples"] = names
            db.execute("UPDATE runs SET asked = ? WHERE n = 1", (json.dumps(asked),))
        return library

    return teach


@pytest.mark.parametrize("name", ["../outside.html", "./topics/rose.txt", "topics/link", "site/index.html"])
def test_a_library_that_learnt_from_what_cannot_be_put_in_is_not_bundled(taught, tmp_path, name):
    library = taught(name)
    (tmp_path / "outside.html").write_text("roses")
    (library.folder / "topics" / "link").symlink_to(tmp_path / "outside.html")
    with pytest.raises(UsageError, match=f"it learnt from '{name}', which cannot be put in; copy that file into"):
        write_bundle(library, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_two_files_that_differ_in_case_alone_are_not_bundled(taught, tmp_path):
    library = taught()
    for name in ("rose.txt", "Rose.txt"):
        (library.folder / "topics" / name).write_text("roses")
    with pytest.raises(UsageError, match="has the name of another file but for its case"):
        write_bundle(library, tmp_path / "b.zip")


def test_an_example_that_was_deleted_since_is_told(taught, tmp_path):
    assert write_bundle(taught("topics/gone.txt"), tmp_path / "b.zip").gone == ["topics/gone.txt"]
    with open_bundle(tmp_path / "b.zip") as found:
        assert found.manifest.gone == ["topics/gone.txt"]


def test_a_library_that_is_being_crawled_is_not_bundled(grown, tmp_path):
    library = LibraryFolder(copytree(grown.folder, tmp_path / "lib"))
    with library.lock(), pytest.raises(LibraryBusy, match="when the crawl is over"):
        write_bundle(library, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


# --- those that somebody sent ----------------------------------------------------------------------------------------


def changed(bundle, path, change):
    """A copy of a bundle with other files in it: `change` is given a dict of names and contents."""
    found = contents(bundle)
    files = {info.filename: (info, content) for info, content in found.items()}
    change(files)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, (info, content) in files.items():
            info.filename = name
            file.writestr(info, content)
    return path


def listed(files):
    """Let the manifest agree with the files, as who means ill would."""
    info, text = files[MANIFEST]
    manifest = json.loads(text)
    inside = {name: content for name, (_, content) in files.items() if name != MANIFEST}
    manifest["files"] = [
        {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in inside.items()
    ]
    files[MANIFEST] = info, json.dumps(manifest).encode()


def refused(path, why):
    with pytest.raises(UsageError, match=why), open_bundle(path):
        pass


def test_a_bundle_that_was_made_here_is_opened(bundle, grown):
    with open_bundle(bundle) as found:
        assert found.settings() == grown.settings_path.read_text()
        assert sum(1 for one in found.decisions() if one.order) == found.manifest.pages
        assert found.runs()[0].tally["pages"] == 450


@pytest.mark.parametrize(
    "name",
    [
        "../evil", "/etc/evil", "files/../../evil", "files//evil", "files/./x", "files/a\\..\\evil", "evil.py",
        "files/analecta.toml", "files/LIBRARY.DB", "files/archive/x", "models/evil.pkl", "models/../x.npz",
        "archive/../x.warc.gz", "archive/a/b.warc.gz", "files/a\nb", "settings/other.toml", "files/" + "a/" * 30 + "b",
        "files/library.db-wal", "files/Library.db-journal", "files/library.db-shm", "files/oai.db-wal",
        "files/index.lock", "files/li\u200cbrary.db-wal", "files/\uff53hards/p00.db-wal", "files/topics/" + "ä" * 128,
    ],
)  # fmt: skip
def test_f41_names_that_lead_elsewhere_are_refused(bundle, tmp_path, name):
    def add(files):
        files[name] = zipfile.ZipInfo("x"), b"evil"
        listed(files)

    assert not allowed(name)
    refused(changed(bundle, tmp_path / "b.zip", add), "is refused: .* is no file of a bundle")


def test_f41_a_link_is_refused(bundle, tmp_path):
    def add(files):
        info = zipfile.ZipInfo("x")
        info.create_system, info.external_attr = 3, 0o120777 << 16
        files["files/link"] = info, b"/etc/passwd"
        listed(files)

    refused(changed(bundle, tmp_path / "b.zip", add), "no ordinary file")


def test_f41_wrong_digests_and_sizes_are_refused(bundle, tmp_path):
    def alter(files):
        info, content = files["settings/analecta.toml"]
        files["settings/analecta.toml"] = info, content.replace(b"recipe", b"recipf")

    def lengthen(files):
        info, content = files["decisions.jsonl"]
        files["decisions.jsonl"] = info, content + b"{}\n"

    refused(changed(bundle, tmp_path / "a.zip", alter), "not what the manifest says")
    refused(changed(bundle, tmp_path / "b.zip", lengthen), "not what the manifest says")


def test_f41_files_that_are_not_listed_or_not_there_are_refused(bundle, tmp_path):
    def more(files):
        files["files/more"] = zipfile.ZipInfo("x"), b"more"

    refused(changed(bundle, tmp_path / "a.zip", more), "not those of its manifest")
    refused(changed(bundle, tmp_path / "b.zip", lambda files: files.pop("README.md")), "not those of its manifest")
    refused(changed(bundle, tmp_path / "c.zip", lambda files: files.pop(MANIFEST)), "lacks its manifest")


def test_f41_a_bomb_is_refused_before_it_goes_off(bundle, tmp_path):
    def add(files):
        info = zipfile.ZipInfo("x")
        info.compress_type = zipfile.ZIP_DEFLATED
        files["files/bomb"] = info, bytes(50_000_000)

    refused(changed(bundle, tmp_path / "b.zip", add), "far larger than it looks")


def test_f41_two_files_of_one_name_are_refused(bundle, tmp_path):
    def add(files):
        files["readme.MD"] = files["README.md"]

    refused(changed(bundle, tmp_path / "b.zip", add), "two files of one name")


def test_f41_a_file_below_a_file_is_refused(bundle, tmp_path):
    def add(files):
        files |= {name: (zipfile.ZipInfo("x"), b"x") for name in ("files/topics/A", "files/topics/a/b")}

    refused(changed(bundle, tmp_path / "b.zip", add), "or one below another: 'files/topics/a/b'")


def test_f41_a_pickle_in_the_place_of_a_model_is_never_loaded(bundle, tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    def swap(files):
        name = next(name for name in files if name.endswith(".npz"))
        files[name] = files[name][0], pickle.dumps(Evil())
        listed(files)

    with open_bundle(changed(bundle, tmp_path / "b.zip", swap)) as found:
        assert found.runs()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("content", [b"", b"PK\3\4 not really", b"\x00" * 100])
def test_f41_what_is_no_zip_file_is_refused(tmp_path, content):
    (tmp_path / "b.zip").write_bytes(content)
    refused(tmp_path / "b.zip", "is no bundle")


@pytest.mark.parametrize("place", range(0, 100, 7))
def test_f41_a_damaged_bundle_is_refused_or_whole(bundle, tmp_path, place):
    data = bytearray(bundle.read_bytes())
    data[len(data) * place // 100] ^= 0x55
    (tmp_path / "b.zip").write_bytes(data)
    found = None
    with contextlib.suppress(UsageError), open_bundle(tmp_path / "b.zip") as opened:
        found = opened.manifest
    assert found in (None, _manifest(bundle))


def _manifest(path):
    with open_bundle(path) as found:
        return found.manifest


# --- how two crawls compare ------------------------------------------------------------------------------------------


def order(*names, topic="t"):
    return [Decision(f"http://a.test/{name}", "done", topic=topic, order=n) for n, name in enumerate(names, 1)]


def test_the_first_difference_is_named():
    found = compare(order(*"abcd"), order(*"abdc"))
    assert (found.identical, found.differs, found.held) == (False, 3, False)
    assert (found.wanted[-1], found.got[-1], found.jaccard) == ("c", "d", 1.0)
    longer = compare(order(*"ab"), order(*"abc"))
    assert (longer.differs, longer.wanted, longer.got[-1]) == (3, "", "c")


def test_without_an_order_half_of_the_pages_must_come_again():
    assert compare(order(*"abcdefghij"), order(*"jihgfvwxyz"), why="no seed").held
    assert not compare(order(*"abcdefghij"), order(*"abcduvwxyz"), why="no seed").held


def test_what_was_asked_for_in_vain_counts_as_a_difference():
    assert compare(order(*"abcd"), order(*"abc"), beyond=2).jaccard == 0.5
    assert compare(order("a"), order("a", topic="u")).topics == 0.0
