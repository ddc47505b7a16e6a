import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from analecta.cli import app
from analecta.cli.evaluate import show_crawled, show_grown
from analecta.errors import UsageError
from analecta.evaluate import communities_crawl as crawls
from analecta.evaluate.communities import CommunityQuality, draw, evaluate_communities, open_graph, read_gml, trial
from analecta.evaluate.communities_crawl import CrawlTrial

GML = 'graph [ directed 1 node [ id 1 label "a" value 0 ] node [ id 2 label "b" value 1 graphics [ x 3 ] ]\n'


def ask(*words):
    return CliRunner().invoke(app, ["evaluate", "communities", *map(str, words)])


def test_c6_communities_of_a_made_up_web_are_found_and_better_than_by_the_baselines():
    graph = open_graph("pocket:1500", None)
    found = trial(graph, draw(graph, 25, 1), 0.01, "outLink")
    assert found.against_truth.f >= 0.9
    assert found.against_truth.f >= max(found.mst_against_truth.f, found.kmeans_against_truth.f)


def test_c6_the_command_writes_figures_and_pictures(tmp_path):
    done = ask("--web", "pocket:300", "--seeds", "1,4", "-o", tmp_path, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads((tmp_path / "communities.json").read_text())
    written = {file.name for file in tmp_path.iterdir()}
    assert {"communities.md", "figure-9.svg", "figure-10-size.svg", "figure-11.svg"} <= written


def test_c6_the_web_is_called_as_replay_calls_it_or_as_it_was():
    assert open_graph("villages:300", None).name == open_graph("pocket:300", None).name == "villages:300"


def test_c6_the_tables_are_whole_at_80_columns():
    graph = open_graph("villages:300", None)
    out = io.StringIO()
    Console(file=out, width=80).print(show_grown(evaluate_communities(graph, [1, 10]), Path("folder")))
    assert "…" not in out.getvalue()
    assert len(re.findall(r"^10 +([\d.,]+ +){5,}", out.getvalue(), re.M)) == 3
    assert "folder/communities.md" in out.getvalue()


def test_c6_a_crawl_says_where_it_wrote_and_what_each_figure_is(tmp_path):
    right = CommunityQuality(0.9, 0.8, 0.85, 3)
    trial = CrawlTrial(
        web="villages:300", seeds=10, crawled=200, pages=900, planted=3, clusters=3, sites=190, everywhere=2,
        against_truth=right, against_mst=right, mst_against_truth=right, crawl_seconds=9.0, seconds=0.5,
        global_seconds=1.0, tree_seconds=0.1, scipy_seconds=0.05,
    )  # fmt: skip
    crawls.write([trial], tmp_path)
    out = io.StringIO()
    Console(file=out, width=80).print(show_crawled([trial], tmp_path))
    assert "communities-crawled.md" in out.getvalue().replace("\n", "")
    assert "| 10 | 2.00 | 400 |" in (tmp_path / "communities-crawled.md").read_text()
    assert json.loads((tmp_path / "communities-crawled.json").read_text())[0]["crawled"] == 200


def test_gml_is_read_and_what_is_nested_or_broken_is_left_out(tmp_path):
    file = tmp_path / "graph.gml"
    file.write_text(GML + "edge [ source 1 target 2 ] edge [ source 1 target 2 ] edge [ source 1 target 77 ] ] ] [")
    graph = read_gml(file)
    assert (graph.links, graph.truth) == ({"a": {"b": 2}, "b": {}}, {"a": 0, "b": 1})


@pytest.mark.parametrize("words", [("--seeds", "x"), ("--web", "elsewhere"), ("--graph", "none.gml"), ("--seeds", "0")])
def test_bad_use_is_told(words):
    assert isinstance(ask(*words).exception, UsageError)


def test_a_graph_without_truth_cannot_be_measured(tmp_path):
    (tmp_path / "g.gml").write_text("graph [ node [ id 1 ] ]")
    with pytest.raises(UsageError):
        evaluate_communities(read_gml(tmp_path / "g.gml"), [1])
