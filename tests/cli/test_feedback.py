"""`analecta feedback` and `analecta retrain`, on a library grown from the pocket web."""

import json
import re
import shutil

import pytest
from typer.testing import CliRunner

import analecta.cli.feedback  # noqa: F401
from analecta.cli import app
from analecta.errors import AnalectaError, LibraryBusy, UsageError
from analecta.learning.reclassify import stored
from analecta.store.library import LibraryFolder
from analecta.store.library_db import lesson_wanted, said
from analecta.views.collections import collections


def run(*words):
    done = CliRunner().invoke(app, [*map(str, words)])
    if isinstance(done.exception, AnalectaError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def lib(grown, tmp_path):
    shutil.copytree(grown.folder, tmp_path / "lib")
    return tmp_path / "lib"


@pytest.fixture
def best(grown):
    """The best pages of the first topic."""
    return [ranked.item.url for ranked in collections(grown)[0].items]


def test_b18_feedback_is_taken_down_listed_and_taken_back(lib, best):
    done = run("feedback", lib, *best[:2], "--bad", "--note", "a shop \x1b[31m")
    assert f"is about none of the topics: {best[0]}" in done.stdout
    assert "analecta retrain" in done.stderr
    run("feedback", lib, best[2].removeprefix("http://"), "--good")
    listed = run("feedback", lib, "--list").stdout
    assert [url in listed for url in best[:4]] == [True, True, True, False]
    assert "(a shop \\x1b[31m)" in listed
    assert "Not all of this is learnt from yet." in listed
    assert "3 words on pages, not learnt from yet" in run("status", lib).stdout
    assert f"shows beekeeping: {best[2]}" in run("feedback", lib, "--undo").stdout
    assert [word.url for word in said(LibraryFolder(lib))] == best[:2]


def test_b18_pages_may_come_from_a_file_and_are_taken_once_or_not_at_all(lib, best, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text(f"# wrong\n{best[0]}\n{best[0]}\n{best[1]}  # this too\n")
    assert len(json.loads(run("feedback", lib, "-f", path, "--bad", "--json").stdout)["said"]) == 2
    path.write_text(f"{best[3]}\nhttp://nowhere.example/\n")
    with pytest.raises(UsageError, match=r"nowhere\.example/ is no page"):
        run("feedback", lib, "-f", path, "--bad")
    assert len(said(LibraryFolder(lib))) == 2


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "say one of --good"),
        (("URL", "--good", "--bad"), "say one of --good"),
        (("--good",), "of which pages"),
        (("URL", "--good", "--topic", "beekeping"), "did you mean 'beekeeping'"),
        (("--undo",), "nothing is left to take back"),
        (("URL", "--undo"), "--undo does not go together with URL"),
        (("URL", "--list", "--topic", "nosuch", "--note", "x", "--text", "x"), "URL, --topic, --note, --text"),
        (("URL", "--show", "--file", "nofile"), "--show does not go together with --file"),
        (("URL", "--drop", "--topic", "beekeeping", "--text", "x"), "--drop does not go together with --topic, --text"),
    ],
)
def test_b18_feedback_that_makes_no_sense_is_said_so(lib, best, words, complaint):
    with pytest.raises(UsageError, match=complaint):
        run("feedback", lib, *(best[0] if word == "URL" else word for word in words))


def test_b18_retraining_shows_what_came_in_and_what_went_out(lib, best):
    run("feedback", lib, *best[:3], "--bad")
    told = run("retrain", lib, "--dry-run").stdout
    assert "beekeeping: " in told
    assert " went out" in told
    assert "would change" in told
    found = json.loads(run("retrain", lib, "--json").stdout)
    out = {one["url"]: one for one in found["changes"] if one["change"] == "out"}
    assert {*best[:3]} <= set(out)
    assert (out[best[0]]["before"], out[best[0]]["after"], out[best[0]]["said"]) == ("beekeeping", "", True)
    assert out[best[0]]["title"]


def test_b18_retraining_is_undone_by_the_command(lib, best):
    before = stored(LibraryFolder(lib))
    run("feedback", lib, *best[:3], "--bad")
    run("retrain", lib)
    assert json.loads(run("feedback", lib, "--list", "--json").stdout)["learnt"]
    assert json.loads(run("status", lib, "--json").stdout)["learnt"]
    assert stored(LibraryFolder(lib)) != before
    assert " came in" in run("retrain", lib, "--undo").stdout
    assert stored(LibraryFolder(lib)) == before


def test_b18_after_undoing_it_is_told_that_words_stay(lib, best):
    run("feedback", lib, best[0], "--bad")
    told = run("retrain", lib).stdout
    assert re.search(r"\d\.\d\d ->    —  .*\(you said so\)", told), "no judge's confidence where a person speaks"
    done = run("retrain", lib, "--undo")
    assert "Your words stay" in done.stdout
    assert f"feedback {lib} --undo" in done.stderr
    assert "analecta crawl" not in done.stderr, "it would learn them again at once"


def test_b18_status_shows_the_model_in_use(lib, best):
    before = LibraryFolder(lib).get("model")
    run("feedback", lib, *best[:3], "--bad")
    run("retrain", lib)
    assert f"Model     {LibraryFolder(lib).get('model')[:12]}" in run("status", lib).stdout
    run("retrain", lib, "--undo")
    assert f"Model     {before[:12]}" in run("status", lib).stdout


def test_b18_explain_says_whose_verdict_it_is(lib, best):
    run("feedback", lib, best[0], "--bad")
    assert "You say otherwise" in run("explain", lib, best[0]).stdout
    run("retrain", lib)
    assert "KEPT, but about none of the topics, because you say so." in run("explain", lib, best[0]).stdout
    run("feedback", lib, best[0], "--good", "--topic", "beekeeping")
    run("retrain", lib)
    assert "a page about beekeeping (because you say so)." in run("explain", lib, best[0]).stdout
    run("feedback", lib, best[0], "--drop")
    run("retrain", lib)
    assert "you say so" not in run("explain", lib, best[0]).stdout


def test_b18_while_a_crawl_runs_it_is_asked_to_learn(lib, best):
    library = LibraryFolder(lib)
    run("feedback", lib, best[0], "--bad")
    with library.lock():
        with pytest.raises(LibraryBusy):
            run("retrain", lib)
        library.begin_run({})
        assert "it was asked to learn" in run("retrain", lib).stdout
        assert json.loads(run("retrain", lib, "--json").stdout)["asked_the_crawl"]
        with pytest.raises(LibraryBusy):
            run("retrain", lib, "--undo")
    assert lesson_wanted(library) > 0


def test_b10_a_person_confirms_what_was_found_before_the_crawl_goes_on(lib, best):
    """Archetypes: the best pages that were found are examples in full once a person has looked at them."""
    before = json.loads(run("retrain", lib, "--dry-run", "--json").stdout)["about"]
    run("feedback", lib, *best[:5], "--good")
    after = json.loads(run("retrain", lib, "--json").stdout)["about"]
    assert int(after.split()[0]) == int(before.split()[0]) + 5


def test_b10_a_page_is_trimmed_and_learnt_from_what_is_left(lib, best, tmp_path):
    text = run("feedback", lib, best[0], "--show").stdout
    assert len(text.split()) > 50
    (tmp_path / "page.txt").write_text(text[:200])
    assert "shows beekeeping" in run("feedback", lib, best[0], "--good", "--text", tmp_path / "page.txt").stdout
    assert run("feedback", lib, best[0], "--show").stdout.strip() == text[:200].strip()
    assert "(from " in run("feedback", lib, "--list").stdout
    assert json.loads(run("retrain", lib, "--json").stdout)["pages"]


@pytest.mark.parametrize("words", [("--show",), ("a.test", "b.test", "--good", "--text", "x")])
def test_trimming_is_of_one_page(lib, words):
    with pytest.raises(UsageError, match="of one page"):
        run("feedback", lib, *words)
