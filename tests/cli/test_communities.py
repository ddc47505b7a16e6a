"""The commands `communities` and `sites`, and what `crawl --community` says where there is none."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import analecta.cli.communities  # noqa: F401 (brings its commands)
from analecta.cli import app
from analecta.errors import UsageError
from analecta.store.library import LibraryFolder


@pytest.fixture
def library(grown, tmp_path):
    shutil.copytree(grown.folder, tmp_path / "lib")
    return tmp_path / "lib"


def said(*words):
    done = CliRunner().invoke(app, list(map(str, words)))
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def test_communities_are_shown_with_members_and_reasons(grown):
    text = said("communities", grown.folder)
    assert "a seed" in text
    assert "sites" in text
    found = json.loads(said("communities", grown.folder, "--json"))["found"]
    assert found["communities"][0]["name"] in text


def test_the_graph_may_lie_in_a_new_folder(grown, tmp_path):
    said("communities", grown.folder, "-o", tmp_path / "new" / "deep" / "g.gexf")
    assert (tmp_path / "new/deep/g.gexf").stat().st_size > 1000


def test_one_community_is_shown_whole_and_its_graph_is_written(grown, tmp_path):
    text = said("communities", grown.folder, "--community", "1", "-o", tmp_path / "g.graphml")
    one = json.loads(said("communities", grown.folder, "--community", "1", "--json"))
    assert all(member["site"] in text for member in one["members"])
    assert (tmp_path / "g.graphml").stat().st_size > 1000


def directory(library):
    """One of a host that has pages in it."""
    with LibraryFolder(library).shards() as shards:
        urls = [
            url for shard in shards for (url,) in shard.execute("SELECT url FROM urls WHERE url LIKE '%/articles/%'")
        ]
    return urls[0].partition("://")[2].partition("articles/")[0] + "articles/"


def unread(*words, stderr):
    """The exit code of a command whose reader has gone."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as out:
        command = [sys.executable, "-m", "analecta", *map(str, words)]
        return subprocess.run(command, stdout=out, stderr=stderr, check=False)


@pytest.mark.parametrize("words", [["communities"], ["communities", "--json"], ["export", "pages"]])
def test_what_nobody_reads_any_more_is_no_failure(grown, words):
    words = [words[0], grown.folder, *words[1:]]
    assert unread(*words, stderr=subprocess.STDOUT).returncode == 0
    done = unread(*words, stderr=subprocess.PIPE)
    assert done.returncode == 0
    assert b"rror" not in done.stderr


def seen(library):
    return json.loads(said("communities", library, "--json"))["found"]["communities"]


def test_c1_sites_are_edited_and_undone(library):
    first, other = (one["seeds"][0] for one in seen(library)[:2])
    assert f"{first} is part of {other}" in said("sites", library, "--merge", first, other)
    assert first not in [member["site"] for one in seen(library) for member in one["members"]]
    assert other in said("communities", library, "--community", first)
    below = directory(library)
    assert f"{below} is a site of its own" in said("sites", library, "--split", below)
    assert len(json.loads(said("sites", library, "--json"))["edits"]) == 2
    assert "no longer" in said("sites", library, "--undo")
    said("sites", library, "--undo")
    assert said("sites", library) == "A site is a host (sites.by).\n"


def test_c1_what_is_no_site_is_told_before_it_is_written(library):
    first, other = (one["seeds"][0] for one in seen(library)[:2])
    with pytest.raises(UsageError, match=f"no site {first}x; did you mean {first}"):
        said("sites", library, "--merge", f"{first}x", other)
    with pytest.raises(UsageError, match=r"no site nosuch\.invalid$"):
        said("sites", library, "--merge", first, "nosuch.invalid")
    with pytest.raises(UsageError, match="is no site but a part of"):
        said("sites", library, "--merge", f"{first}/x/", other)
    with pytest.raises(UsageError, match="knows no address below"):
        said("sites", library, "--split", f"{first}/nowhere/")
    assert json.loads(said("sites", library, "--json"))["edits"] == []


def test_what_cannot_be_is_said(library):
    with pytest.raises(UsageError, match="one at a time"):
        said("sites", library, "--undo", "--recount")
    with pytest.raises(UsageError, match="no community"):
        said("crawl", library, "--community", "nobody.test")
    assert "counted anew" in said("sites", library, "--recount")
