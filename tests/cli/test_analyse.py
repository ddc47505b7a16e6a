"""The command `analyse`, as scripts and people see it."""

import json

import pytest
from msgspec.structs import replace

from analecta.cli.analyse import _told
from analecta.views.clusters import survey
from tests.cli.test_cli import analecta as run
from tests.views.test_survey import made, wild


def analyse(*words, code=0):
    return run("analyse", *words, code=code)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return made(tmp_path_factory.mktemp("analyse") / "lib", wild(title="A \x1b[31mwren\u202e"))


def test_p7_clusters_are_shown_and_kept_and_next_steps_are_told(library):
    said = analyse(library.folder, "--topic", "nature", "--clusters", 2)
    assert "Cluster" in said.stdout
    assert "2 clusters of 30 pages" in said.stderr
    assert f"analecta map {library.folder}" in said.stderr
    assert (library.folder / "analysis" / "nature.json").exists()


@pytest.mark.parametrize(
    ("dropped", "told"),
    [
        (81, "of 243 pages; left out: 81 of which the judge was least sure"),
        (279, "left out: 81 of which the judge was least sure, 198 that share no telling word with others"),
    ],
)
def test_p7_it_is_told_why_pages_are_left_out(library, dropped, told):
    found = survey(library, "nature", 2)
    assert _told(replace(found, pages=324, dropped=dropped)).endswith(told)


def test_f39_titles_cannot_move_the_cursor(library):
    said = analyse(library.folder, "--clusters", 2)
    assert "\\x1b[31mwren\\u202e" in said.stdout
    assert "\x1b" not in said.stdout


def test_b19_json_is_one_object_with_the_impurity_of_each_number(library):
    found = json.loads(analyse(library.folder, "--json").stdout)
    assert found["chosen"] == "auto"
    assert next(iter(found["impurity"])) == "2"
    assert len(found["clusters"]) == 2


def test_b19_a_wrong_number_and_an_unknown_topic_are_bad_use(library):
    assert "neither a number from 1 to 100 nor auto" in analyse(library.folder, "--clusters", "many", code=2).stderr
    assert "no topic 'x'; valid are: nature, other" in analyse(library.folder, "--topic", "x", code=2).stderr
