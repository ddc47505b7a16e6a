"""What `analecta search` and `analecta index` show."""

import io
import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

import analecta.cli.search  # noqa: F401
from analecta.cli import app
from analecta.errors import UsageError


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
    lines = [line.strip() for line in done.stdout.splitlines()]
    shown = ["http://h.test/Wild_bees", "Science / Biology", "Bees are running wild in the garden."]
    assert lines[3:6] == shown
    assert "words 1.00, sure 0.90" in lines[6]
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


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("zebra", "What could help: another word."),
        (
            "bees zebra crossing",
            "No page has all of the words (none has zebra and crossing); 2 pages with some",
        ),
        ("bees foo:bar", "(none has foo:bar; no field is called foo)"),
        ("foo:bar", "No field is called foo: there are title:, url:, site:"),
        ("http://zebra.test", "What could help: another word."),
        ("site:nowhere.org", "the question *, which shows the hosts"),
        ("bees type:zebra", "the question without type:zebra, which no page has"),
        ("bees -bees", "fewer words, or others"),
    ],
)
def test_it_says_what_no_page_has(shelf, query, said):
    found = run("search", shelf, query).stdout
    assert said in found
    assert ("o field is called" in found) == ("foo:" in query)


def test_b17_pages_on_no_topic_are_told_of_and_shown_with_all(pages):
    pages.add("On", "Red bees.")
    pages.add("Off", "Blue bees.", topic=-1, confidence=0.3)
    folder = pages.library.folder
    assert "1 page on no topic fits too: --all finds it" in run("search", folder, "bees").stdout
    none = run("search", folder, "blue")
    assert "--all: 1 page on no topic fits too" in none.stdout
    assert f"search {folder} --all blue" in none.stderr
    found = run("search", folder, "blue", "--all").stdout
    assert "on no topic" in found
    assert "nearest topic 0.30" in found


def test_b17_json_has_what_was_left_out_and_what_no_page_has(pages):
    pages.add("On", "Red bees.")
    pages.add("Off", "Blue bees.", topic=-1)
    found = json.loads(run("search", pages.library.folder, "red zebra", "--json").stdout)
    assert (found["all_words"], found["missing"], found["left_out"]) == (False, ["zebra"], 0)
    found = json.loads(run("search", pages.library.folder, "blue", "--all", "--json").stdout)
    assert [hit["topic"] for hit in found["hits"]] == ["none"]
    assert json.loads(run("search", pages.library.folder, "bees", "--json").stdout)["left_out"] == 1


@pytest.mark.parametrize(
    ("words", "titles"),
    [(["bees", "-garden"], 1), (["-garden", "bees"], 1), (["bees", "-honey"], 2), (["bees", "--", "-garden"], 1)],
)
def test_b17_a_word_with_a_minus_needs_no_quotation_marks(shelf, words, titles):
    assert f"{titles} page" in run("search", shelf, "--top", 5, *words).stdout


def test_options_stay_options_beside_words_with_a_minus(shelf):
    assert "greater than or equal to 1" in run("search", shelf, "bees", "-garden", "--top", "-5").stderr
    assert "No such option: --tpo" in run("search", shelf, "bees", "--tpo", "5").stderr
    assert "Usage" in run("search", "-h").stdout


def test_an_address_is_whole_on_its_line_and_all_else_is_set_in(pages, monkeypatch):
    far = f"http://h.test/{'long-way/' * 12}"
    pages.add(far, "Wild bees live in the ground. " * 9, title="Bees")
    out = io.StringIO()
    narrow = Console(file=out, width=40)
    monkeypatch.setattr("analecta.cli.search.console", lambda stderr=False: narrow)
    run("search", pages.library.folder, "bees")
    first, *rest = out.getvalue().split("\n\n")[1].splitlines()
    assert first == "  1  Bees"
    assert rest[0] == f"     {far}"
    assert len(rest) > 6
    assert all(line.startswith("     ") and len(line) <= 40 and line == line.rstrip() for line in rest[1:])


def test_a_question_that_makes_no_sense_is_one_sentence(shelf):
    done = run("search", shelf, "bees (wild")
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == "this bracket is never closed (at character 6 of the question)"


def test_f45_index_makes_it_keeps_it_and_makes_it_anew(shelf):
    assert "2 pages indexed" in run("index", shelf).stdout
    assert "up to date" in run("index", shelf).stdout
    assert "as asked" in run("index", shelf, "--rebuild").stdout
    assert json.loads(run("index", shelf, "--json").stdout)["index"]["pages"] == 2
    assert "1 page found" in run("search", shelf, "garden", "--rebuild").stdout


def test_c7_communities_stand_above_the_pages_with_their_reasons(village):
    done = run("search", village.library.folder, "wooden", "hives")
    above, _, pages = done.stdout.partition("1 page found")
    assert "2 sites, 2 pages, 1 of them found" in above
    assert "wooden in titles of its pages; hives in its name, names of its sites and titles of its pages" in above
    assert "bees.test" in above
    assert "http://hives.test/" in pages


def test_c7_inside_pages_stand_under_their_communities_and_json_has_all(village):
    folder = village.library.folder
    shown = run("search", folder, "hives OR moon", "--inside").stdout
    order = [shown.index(word) for word in ("hives.test", "Wooden hives", "moon.test", "Moon craters")]
    assert order == sorted(order)
    found = json.loads(run("search", folder, "hives", "--community", "hives.test", "--json").stdout)
    (one,) = found["communities"]
    assert (one["sites"], one["pages"], one["found"]) == (["bees.test", "hives.test"], 2, 1)
    assert [why["word"] for why in one["why"]] == ["hives"]
    assert {"sites", "titles"} <= set(one["why"][0]["in"])
    assert found["hits"][0]["community"] == {"number": one["number"], "name": one["name"]}
