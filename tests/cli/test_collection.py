"""What `analecta collection` shows, on a library grown from the pocket web."""

import json

import pytest
from typer.testing import CliRunner

import analecta.cli.collection
import analecta.cli.export  # noqa: F401
from analecta.cli import app
from analecta.communities.view import Community, CommunityIndex, CommunityList, CommunityMember, index_communities
from analecta.errors import ResourceError, UsageError
from analecta.store.site_rules import Sites
from analecta.views.collections import collections


def run(*words):
    return CliRunner().invoke(app, ["collection", *map(str, words)])


def exported(folder, *words):
    done = CliRunner().invoke(app, ["export", str(folder), "collection", *words])
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def judged(grown, tmp_path):
    path = tmp_path / "judged.tsv"
    lines = [f"{r.item.url}\t{'no' if r.rank % 2 else 'yes'}" for one in collections(grown) for r in one.items]
    path.write_text("\n".join(lines))
    return path


def test_s12_the_table_has_rank_score_title_host_and_why(grown):
    done = run(grown.folder, "--top", 3)
    first = collections(grown, most=3)[0].items[0]
    line = next(line for line in done.stdout.splitlines() if first.item.title in line)
    assert line.split()[:2] == ["1", f"{first.score:.2f}"]
    assert f"sure {first.confidence:.2f}, authority {first.authority:.2f}" in line
    assert f"explain {grown.folder} {first.item.url}" in done.stderr


def test_s12_json_has_all_figures_of_the_topic_asked_for(grown):
    topic = grown.topic_names()[1]
    found = json.loads(run(grown.folder, "--topic", topic, "--top", 4, "--per-host", 1, "--json").stdout)
    (only,) = found["collections"]
    assert (only["topic"], [item["rank"] for item in only["items"]]) == (topic, [1, 2, 3, 4])
    assert set(only["items"][0]) > {"url", "title", "score", "confidence", "authority", "kind"}


def test_s17_precision_is_told_and_drawn(grown, judged, tmp_path):
    done = run(grown.folder, "--top", 10, "--judged", judged, "-o", tmp_path / "picture.html")
    assert done.stdout.count("Precision: 0.40 at 5 (2 of 5), 0.50 at 10 (5 of 10)") == 2
    assert "Precision against rank" in (tmp_path / "picture.html").read_text()


def test_s17_precision_is_in_the_json(grown, judged):
    found = json.loads(run(grown.folder, "--judged", judged, "--json").stdout)
    assert found["collections"][0]["precision"][0] == {"at": 5, "judged": 5, "good": 2, "precision": 0.4}


def test_s12_the_picture_is_html_or_svg_by_its_name(grown, tmp_path):
    assert run(grown.folder, "-o", tmp_path / "p.svg").exit_code == 0
    assert (tmp_path / "p.svg").read_text().startswith("<svg")
    assert isinstance(run(grown.folder, "-o", tmp_path / "p.png").exception, UsageError)
    assert run(grown.folder, "-o", tmp_path / "new" / "p.svg").exit_code == 0
    assert isinstance(run(grown.folder, "-o", tmp_path / "p.svg" / "p.svg").exception, ResourceError)


def test_c7_a_collection_can_be_of_one_community_alone(grown):
    one = index_communities(grown).communities[0]
    found = [json.loads(run(grown.folder, "--community", said, "--json").stdout) for said in ("1", one.name)]
    items = [item for each in found[0]["collections"] for item in each["items"]]
    assert found[0] == found[1]
    assert {item["community"] for item in items} == {one.name}
    assert {item["host"] for item in items} <= {member.site for member in one.members}


def test_c7_a_page_has_the_score_that_it_has_among_all_whatever_is_asked_for(grown):
    everything = collections(grown, most=999)
    host = min(everything[0].items, key=lambda ranked: ranked.authority).item.host
    own = Community(1, "own", [], 1, [CommunityMember(host, "", 1)], [])
    homes = CommunityIndex(Sites(), CommunityList([own]), "own")
    alone = {r.item.id: r.score for one in collections(grown, homes=homes) for r in one.items}
    assert alone.items() <= {r.item.id: r.score for one in everything for r in one.items}.items()
    assert alone


def test_c7_an_export_of_a_collection_has_communities_and_can_be_of_one(grown):
    names = {one.name for one in index_communities(grown).communities}
    whole, alone = (exported(grown.folder, *more) for more in ((), ("--community", "1")))
    assert {row["community"] for row in whole} == names
    assert {row["community"] for row in alone} < names
    refused = CliRunner().invoke(app, ["export", str(grown.folder), "pages", "--community", "1"])
    assert "--community is for `export LIB collection`" in str(refused.exception)


def test_a_community_that_is_not_there_is_one_sentence(grown):
    done = run(grown.folder, "--community", "nonsense")
    assert isinstance(done.exception, UsageError)
    assert "no community 'nonsense'" in str(done.exception)


def test_a_topic_that_is_not_there_is_one_sentence(grown):
    done = run(grown.folder, "--topic", "nonsense")
    assert isinstance(done.exception, UsageError)
    assert "nonsense" in str(done.exception)
