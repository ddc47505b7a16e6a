"""The commands `communities` and `sites`, and what `crawl --community` says where there is none."""

import json
import shutil

import pytest
from typer.testing import CliRunner

import analecta.cli.communities  # noqa: F401 (brings its commands)
from analecta.cli import app
from analecta.errors import BadUse


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


def test_one_community_is_shown_whole_and_its_graph_is_written(grown, tmp_path):
    text = said("communities", grown.folder, "--community", "1", "-o", tmp_path / "g.graphml")
    one = json.loads(said("communities", grown.folder, "--community", "1", "--json"))
    assert all(member["site"] in text for member in one["members"])
    assert (tmp_path / "g.graphml").stat().st_size > 1000


def seen(library):
    return json.loads(said("communities", library, "--json"))["found"]["communities"]


def test_c1_sites_are_edited_and_undone(library):
    first, other = (one["seeds"][0] for one in seen(library)[:2])
    assert f"{first} is part of {other}" in said("sites", library, "--merge", first, other)
    assert first not in [member["site"] for one in seen(library) for member in one["members"]]
    assert f"{other}/x/ is a site of its own" in said("sites", library, "--split", f"{other}/x/")
    assert len(json.loads(said("sites", library, "--json"))["edits"]) == 2
    assert "no longer" in said("sites", library, "--undo")
    said("sites", library, "--undo")
    assert said("sites", library) == "A site is a host (sites.by).\n"


def test_what_cannot_be_is_said(library):
    with pytest.raises(BadUse, match="one at a time"):
        said("sites", library, "--undo", "--recount")
    with pytest.raises(BadUse, match="no community"):
        said("crawl", library, "--community", "nobody.test")
    assert "counted anew" in said("sites", library, "--recount")
