"""S14 on a library: what `analecta health` does, and what a crawl says when it has fetched the examples."""

import json

import pytest
from typer.testing import CliRunner

from analecta.cli import app
from analecta.errors import ResourceError
from analecta.settings.edit import first_settings
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder
from analecta.testweb.process import PocketServer
from tests.crawls.driver import kept


@pytest.fixture(scope="module")
def web():
    with PocketServer(400, moody=False) as server:
        yield server


def library_at(folder, web, *names):
    topics = [Topic(name, tuple(web.web.seeds(of, 5)[start : start + 5])) for name, of, start in names]
    return LibraryFolder.create(folder, first_settings(topics, "adaptive") + "\n[crawl]\nworkers = 1\n")


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_s14_health_fetches_the_examples_and_nothing_else_and_draws_them(tmp_path, web):
    one, two = web.web.topics[:2]
    library = library_at(tmp_path / "lib", web, (one, one, 0), (two, two, 0))
    done = run("health", library.folder, "--connect-to", web.address, "-o", tmp_path / "health.html", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, [topic["name"] for topic in found["topics"]]) == (0, [one, two])
    assert len(kept(library)) <= 10
    assert "<svg" in (tmp_path / "health.html").read_text()


def test_s14_a_crawl_tells_of_topics_with_too_few_examples(tmp_path, web):
    one, two = web.web.topics[:2]
    library = library_at(tmp_path / "lib", web, (one, one, 0), (two, two, 4))
    done = run("crawl", library.folder, "--pages", "30", "--connect-to", web.address)
    assert done.exit_code == 0
    assert "too few examples" in done.output


def test_s14_a_drawing_that_cannot_be_written_is_one_sentence(tmp_path, web):
    library = library_at(tmp_path / "lib", web, (web.web.topics[0], web.web.topics[0], 0))
    (tmp_path / "file").write_text("")
    done = run("health", library.folder, "--connect-to", web.address, "-o", tmp_path / "file" / "x.html")
    assert isinstance(done.exception, ResourceError)
    assert "cannot write" in str(done.exception)


def test_s14_a_topic_whose_seeds_all_went_to_its_subtopics_is_shown_by_them(tmp_path, web):
    one, two = web.web.topics[:2]
    library = library_at(tmp_path / "lib", web, ("all", one, 5), (f"all / {one}", one, 0), (f"all / {two}", two, 0))
    done = run("health", library.folder, "--connect-to", web.address)
    assert done.exit_code == 0
    assert "shown by the topics below" in " ".join(done.stdout.split())
    assert "no examples" not in done.stdout


def test_s14_health_sees_an_example_where_it_was_moved_to(tmp_path, web):
    one, two = web.web.topics[:2]
    library = library_at(tmp_path / "lib", web, (one, one, 0), (two, two, 0))
    words = ("health", library.folder, "--connect-to", web.address, "--json")
    run(*words)
    moved = [Topic(one, tuple(web.web.seeds(one, 5)[1:])), Topic(two, tuple(web.web.seeds(two, 5)))]
    moved[1] = Topic(two, (*moved[1].seeds, web.web.seeds(one, 5)[0]))
    library.settings_path.write_text(first_settings(moved, "adaptive"))
    assert [topic["examples"] for topic in json.loads(run(*words).stdout)["topics"]] == [4, 6]
