import json

import pytest
from typer.testing import CliRunner

from analecta.cli import app
from analecta.errors import BadUse
from analecta.evaluate.communities import draw, evaluate_communities, trial
from analecta.evaluate.communities_graphs import open_graph, read_gml

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


def test_gml_is_read_and_what_is_nested_or_broken_is_left_out(tmp_path):
    file = tmp_path / "graph.gml"
    file.write_text(GML + "edge [ source 1 target 2 ] edge [ source 1 target 2 ] edge [ source 1 target 77 ] ] ] [")
    graph = read_gml(file)
    assert (graph.links, graph.truth) == ({"a": {"b": 2}, "b": {}}, {"a": 0, "b": 1})


@pytest.mark.parametrize("words", [("--seeds", "x"), ("--web", "elsewhere"), ("--graph", "none.gml"), ("--seeds", "0")])
def test_bad_use_is_told(words):
    assert isinstance(ask(*words).exception, BadUse)


def test_a_graph_without_truth_cannot_be_measured(tmp_path):
    (tmp_path / "g.gml").write_text("graph [ node [ id 1 ] ]")
    with pytest.raises(BadUse):
        evaluate_communities(read_gml(tmp_path / "g.gml"), [1])
