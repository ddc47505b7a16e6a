import json

import pytest
from typer.testing import CliRunner

from analecta.cli import app
from analecta.errors import UsageError

ASKED = ["evaluate", "--web", "pocket:300", "--jobs", "1", "--min-pages", "5", "--seeds", "3", "--draws", "1"]


@pytest.fixture
def run(tmp_path):
    def call(*words):
        return CliRunner().invoke(app, [*ASKED, "-o", str(tmp_path / "out"), *words])

    return call


def test_topics_come_with_commas_or_spaces_and_json_is_what_the_file_holds(run, tmp_path):
    done = run("--recipes", "breadth-first", "--json", "--topics", "chess", "bridges,cycling")
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    assert [entry["topic"] for entry in printed["runs"]] == ["chess", "bridges", "cycling"]
    assert printed == json.loads((tmp_path / "out" / "evaluation.json").read_text())


def test_the_table_names_recipes_and_bounds(run):
    done = run("--recipes", "adaptive", "--topics", "chess", "--set", "policy.decay=0.3", "--budget", "30")
    assert done.exit_code == 0, done.output
    assert all(word in done.stdout for word in ("adaptive", "breadth-first (simulated)", "oracle", "recall@R"))


@pytest.mark.parametrize("words", [("--examples", "stars"), ("--set", "policy")])
def test_bad_use_is_told(run, words):
    done = run("--recipes", "adaptive", "--topics", "chess", *words)
    assert isinstance(done.exception, UsageError)
