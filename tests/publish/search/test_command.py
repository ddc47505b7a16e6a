"""What `analecta search` and `analecta index` show."""

import json

import pytest
from typer.testing import CliRunner

import analecta.cli.searching  # noqa: F401
from analecta.cli import app
from analecta.errors import BadUse


def run(*words):
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def shelf(pages):
    pages.add("Wild bees", "Bees are running wild in the garden.", topic=1)
    pages.add("Evil \x1b[31m", "A bee with \u202e tricks and [bold]markup[/bold].", topic=3)
    return pages.library.folder


def test_b17_search_shows_title_address_topic_reasons_and_snippet(shelf):
    done = run("search", shelf, "garden", "bees")
    assert "1 page found" in done.stdout
    assert "http://h.test/Wild_bees  Science / Biology" in done.stdout
    assert "words 1.00, sure 0.90" in done.stdout
    assert "Bees are running wild in the garden." in done.stdout
    assert f"explain {shelf} http://h.test/Wild_bees" in done.stderr


def test_f37_hostile_text_cannot_reach_the_terminal(shelf):
    done = run("search", shelf, "tricks")
    assert "\\x1b[31m" in done.stdout
    assert "\\u202e" in done.stdout
    assert "[bold]markup[/bold]" in done.stdout
    assert not {"\x1b", "\u202e"} & set(done.stdout)


def test_b17_json_explains_the_weights_and_marks_the_words(shelf):
    done = json.loads(run("search", shelf, "garden", "--weights", "authority=0", "--json").stdout)
    (hit,) = done["hits"]
    ((begin, end),) = hit["marks"]
    assert hit["snippet"][begin:end] == "garden"
    assert done["weights"]["text"] == {"weight": 0.8, "of": "how well the words fit"}
    assert hit["score"] == pytest.approx(0.8 * hit["text"] + 0.1 * hit["confidence"])
    assert done["facets"]["topic"] == [{"value": "Science / Biology", "pages": 1}]


def test_b17_topic_sort_and_top_are_heeded(shelf):
    done = json.loads(run("search", shelf, "bees", "--topic", "Roses", "--sort", "confidence", "--json").stdout)
    assert [hit["topic"] for hit in done["hits"]] == ["Roses"]
    assert len(json.loads(run("search", shelf, "bees", "--top", 1, "--json").stdout)["hits"]) == 1


def test_where_nothing_is_found_it_says_what_could_help(shelf):
    done = run("search", shelf, '"zebra crossing" after:2020', "--topic", "Roses")
    assert "Nothing found" in done.stdout
    assert all(said in done.stdout for said in ("quotation marks", "--vague", "many pages do not say theirs"))


def test_a_question_that_makes_no_sense_is_one_sentence(shelf):
    done = run("search", shelf, "bees (wild")
    assert isinstance(done.exception, BadUse)
    assert str(done.exception) == "this bracket is never closed (at character 6 of the question)"


def test_f45_index_makes_it_keeps_it_and_makes_it_anew(shelf):
    assert "2 pages indexed" in run("index", shelf).stdout
    assert "up to date" in run("index", shelf).stdout
    assert "as asked" in run("index", shelf, "--rebuild").stdout
    assert json.loads(run("index", shelf, "--json").stdout)["index"]["pages"] == 2
    assert "1 page found" in run("search", shelf, "garden", "--rebuild").stdout
