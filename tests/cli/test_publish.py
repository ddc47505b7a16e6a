"""What `analecta publish` does (S13)."""

import json

import pytest
from typer.testing import CliRunner

from analecta.cli import publish  # noqa: F401
from analecta.cli.app import app
from analecta.errors import UsageError
from analecta.settings.edit import first_settings
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder


def run(*words):
    return CliRunner().invoke(app, ["publish", *map(str, words)])


def test_s13_publish_writes_a_site_and_says_where(grown, tmp_path):
    done = run(grown.folder, "-o", tmp_path / "site", "--top", 5, "--title", "Bees & stars")
    assert (done.exit_code, "2 topics" in done.output) == (0, True)
    assert "Without --base-url" in done.output
    assert "<title>Bees &amp; stars</title>" in (tmp_path / "site/index.html").read_text("utf-8")


def test_s13_copies_are_left_out_on_request(grown, tmp_path):
    done = json.loads(run(grown.folder, "-o", tmp_path / "site", "--top", 5, "--no-copies", "--json").stdout)
    assert (done["topics"], done["copies"]) == (2, 0)
    assert not (tmp_path / "site/copies").exists()


def test_publish_never_replaces_what_it_did_not_make(tmp_path):
    library = LibraryFolder.create(tmp_path / "lib", first_settings([Topic("a", ("http://a.test/",))], "adaptive"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home/letter.txt").write_text("")
    done = run(library.folder, "-o", tmp_path / "home")
    assert isinstance(done.exception, UsageError)
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("option", [("--top", "0"), ("--per-host", "-1")])
def test_numbers_that_make_no_sense_are_refused(tmp_path, option):
    assert run(tmp_path, "-o", tmp_path / "site", *option).exit_code == 2
