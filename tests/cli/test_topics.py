"""The tree of topics as it grows and shrinks, over libraries that were crawled."""

import json
import tomllib
from shutil import copytree

import msgspec
import pytest

import analecta.cli.topics  # noqa: F401
from analecta.store.library import LibraryFolder
from analecta.testweb.process import PocketServer
from analecta.views.clusters import ClusterPage, ListedPage, PageCluster, TopicClusters, save
from tests.cli.test_cli import analecta as run
from tests.making import shard_at

SUBJECTS = ("beekeeping", "astronomy")


@pytest.fixture(scope="module")
def pocket():
    with PocketServer(size=300, moody=False) as server:
        yield server


@pytest.fixture(scope="module")
def crawled(pocket, tmp_path_factory):
    """A library of one topic that is really two."""
    folder = tmp_path_factory.mktemp("topics")
    (folder / "seeds").write_text("\n".join(url for name in SUBJECTS for url in pocket.web.seeds(name, 4)))
    run("new", folder / "lib", "--seeds", folder / "seeds", "--topic", "hobbies")
    crawl(folder / "lib", pocket, 120, "--workers", 1)
    save(LibraryFolder(folder / "lib"), analysis(LibraryFolder(folder / "lib"), pocket))
    return folder / "lib"


@pytest.fixture
def lib(crawled, tmp_path):
    return copytree(crawled, tmp_path / "lib")


def crawl(lib, pocket, pages, *more):
    run("crawl", lib, "--pages", pages, "--connect-to", pocket.address, "--seed", 1, *more)


def analysis(library, pocket):
    """What a perfect analysis would find: the two subjects."""
    truth = {page.url: page.topic for page in pocket.web.pages(links=False)}
    with library.snapshot() as snapshot:
        found = [item for item in snapshot.shown_pages(0) if truth.get(item.url) in SUBJECTS]
    clusters = [cluster(name, [item for item in found if truth[item.url] == name]) for name in SUBJECTS]
    return TopicClusters("hobbies", 1.0, len(found), 0, 99, "given", {}, clusters, [[1, 0], [0, 1]], [[0, 0], [0, 0]])


def cluster(name, found):
    members = [ClusterPage(i.id, i.url, i.title, i.host, 1 - n / 1000, i.confidence) for n, i in enumerate(found)]
    examples = [ListedPage(i.id, i.url, "\x1b]52;c;aGk=\x07" + i.title, i.host, 1.0) for i in found[:3]]
    return PageCluster(name.title(), [name], len(found), 0.5, [], examples, [], [], members)


def listed(lib):
    found = json.loads(run("topics", "list", lib, "--json").stdout)["topics"]
    return {branch["topic"]: branch for branch in found}


def test_b19_the_tree_grows_and_its_pages_move_at_once(lib):
    before = listed(lib)["hobbies"]
    said = run("topics", "split", lib, "hobbies", "--examples", 5).stdout
    assert "2 new topics; 8 seeds of hobbies went to them" in said
    after = listed(lib)
    assert (after["hobbies / Beekeeping"]["depth"], after["hobbies"]["seeds"]) == (1, 0)
    assert after["hobbies"]["below"] > 20
    assert after["hobbies"]["pages"] + after["hobbies"]["below"] == before["pages"]


def test_b19_a_crawl_after_a_split_finds_pages_of_the_subtopics(lib, pocket):
    run("topics", "split", lib, "hobbies")
    split = listed(lib)
    crawl(lib, pocket, 60)
    truth = {page.url: page.topic for page in pocket.web.pages(links=False)}
    after = listed(lib)
    assert after["hobbies"]["below"] > split["hobbies"]["below"]
    with LibraryFolder(lib).snapshot() as snapshot:
        bees = [truth.get(item.url) for item in snapshot.shown_pages(1)]
    assert bees.count("beekeeping") > 0.9 * len(bees) > 10
    assert "hobbies / Beekeeping" in run("status", lib).stdout


def test_b19_undo_brings_settings_tree_and_pages_back(lib, pocket):
    text, tree = (lib / "analecta.toml").read_bytes(), listed(lib)
    run("topics", "split", lib, "hobbies")
    said = run("topics", "undo", lib).stdout
    assert "The split of hobbies is undone. Gone: hobbies / Beekeeping, hobbies / Astronomy." in said
    assert ((lib / "analecta.toml").read_bytes(), listed(lib)) == (text, tree)
    assert LibraryFolder(lib).topic_names() == ["hobbies"]


def test_b19_undo_after_a_crawl_leaves_no_trace_of_the_subtopics(lib, pocket):
    examples = given(lib)
    run("topics", "split", lib, "hobbies")
    crawl(lib, pocket, 30)
    assert len(given(lib)) > len(examples)
    run("topics", "undo", lib)
    assert given(lib) == examples
    crawl(lib, pocket, 20)
    assert json.loads(run("status", lib, "--json").stdout)["topics"].keys() == {"hobbies"}


def given(lib):
    """The examples as the judge would see them: URL and number of the topic."""
    with LibraryFolder(lib).shards() as shards:
        return {row for shard in shards for row in shard.execute("SELECT url, topic FROM urls WHERE priority >= 1e6")}


def test_splits_are_undone_one_after_the_other(lib):
    run("topics", "split", lib, "hobbies", "--clusters", "1")
    run("topics", "split", lib, "hobbies", "--clusters", "2")
    assert "1 earlier split can be undone" in run("topics", "undo", lib).stdout
    assert listed(lib).keys() == {"hobbies", "hobbies / Beekeeping"}
    assert "No other split is left" in run("topics", "undo", lib).stdout
    assert "there is no split to undo" in run("topics", "undo", lib, code=2).stderr


def test_the_same_split_again_changes_nothing(lib):
    run("topics", "split", lib, "hobbies", "--examples", 3)
    text, tree = (lib / "analecta.toml").read_bytes(), listed(lib)
    assert "Nothing is new." in run("topics", "split", lib, "hobbies", "--examples", 3, code=3).stdout
    assert ((lib / "analecta.toml").read_bytes(), listed(lib)) == (text, tree)
    assert "No other split is left" in run("topics", "undo", lib).stdout


def test_b19_undo_brings_pages_back_from_a_subtopic_that_was_there_before(lib):
    with (lib / "analecta.toml").open("a") as file:
        file.write('\n[[topics]]\nname = "hobbies / Beekeeping"\nseeds = ["http://bees.test/"]\n')
    run("topics", "split", lib, "hobbies", "--clusters", "2")
    tree = listed(lib)
    run("topics", "split", lib, "hobbies", "--clusters", "1")
    assert listed(lib)["hobbies / Beekeeping"]["pages"] > tree["hobbies / Beekeeping"]["pages"] == 0
    run("topics", "undo", lib)
    assert listed(lib) == tree


def test_the_number_of_a_topic_that_pages_have_besides_another_is_not_given_anew(lib):
    LibraryFolder(lib).topic_names(("hobbies", "gone"))
    with shard_at(LibraryFolder(lib).shard_path(0)) as shard:
        packed = msgspec.msgpack.encode(((0, 0.9), (1, 0.4)))
        shard.db.execute("UPDATE pages SET topics = ? WHERE seq = (SELECT max(seq) FROM pages)", (packed,))
        shard.commit()
    run("topics", "split", lib, "hobbies", "--clusters", "1")
    run("topics", "undo", lib)
    assert LibraryFolder(lib).topic_names() == ["hobbies", "gone"]


def test_settings_that_were_edited_since_are_put_back_only_by_force(lib):
    text = (lib / "analecta.toml").read_text()
    run("topics", "split", lib, "hobbies")
    edited = (lib / "analecta.toml").read_text() + "# mine\n"
    (lib / "analecta.toml").write_text(edited)
    assert "was edited since 'hobbies' was split: --force" in run("topics", "undo", lib, code=2).stderr
    run("topics", "undo", lib, "--force")
    assert (lib / "analecta.toml").read_text() == text
    assert (lib / "analecta.toml.before").read_text() == edited


def test_a_dry_run_shows_suggestions_and_writes_nothing(lib):
    before = (lib / "analecta.toml").read_bytes()
    said = run("topics", "split", lib, "hobbies", "--dry-run", "--clusters", "2").stdout
    assert "   1  Beekeeping" in said
    assert "+  2  Astronomy" in said
    assert "\\x1b]52" in said
    assert "\x1b]52" not in said
    assert (lib / "analecta.toml").read_bytes() == before


def test_the_split_as_one_json_object(lib):
    said = json.loads(run("topics", "split", lib, "hobbies", "--json", "--clusters", "1").stdout)
    assert [one["label"] for one in said["suggestions"]] == ["Beekeeping", "Astronomy"]
    assert [topic["name"] for topic in said["topics"]] == ["hobbies / Beekeeping"]
    assert said["written"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["hobies"], "did you mean 'hobbies'"),
        (["hobbies", "--clusters", "3"], "numbers from 1 to 2"),
        (["hobbies", "--clusters", "one"], "not 'one'"),
        (["hobbies", "--clusters", ","], "not ','"),
    ],
)
def test_what_makes_no_sense_is_said(lib, words, complaint):
    assert complaint in run("topics", "split", lib, *words, code=2).stderr


def test_a_topic_that_was_not_analysed_cannot_be_split(lib):
    other = msgspec.structs.replace(analysis_of(lib), topic="Hobbies")
    (lib / "analysis" / "hobbies.json").unlink()
    save(LibraryFolder(lib), other)
    assert "was not analysed yet: `analecta analyse" in run("topics", "split", lib, "hobbies", code=2).stderr


def analysis_of(lib):
    return msgspec.json.decode((lib / "analysis" / "hobbies.json").read_bytes(), type=TopicClusters)


def test_a_page_that_moved_keeps_being_an_example_under_its_new_address(lib):
    """As where the address that a person gave redirects: the page stands under another."""
    seed = listed_seeds(lib)[0]
    with shard_at(LibraryFolder(lib).shard_path(0)) as shard:
        new = shard.db.execute("SELECT max(id) FROM urls WHERE state = 2 AND priority < 1").fetchone()[0]
        shard.db.execute("UPDATE urls SET state = 5, reason = 'http-301', elsewhere = ? WHERE url = ?", (new, seed))
        shard.db.execute("UPDATE urls SET found = 2, priority = 1e6 WHERE id = ?", (new,))
        shard.commit()
    before = given(lib)
    run("topics", "split", lib, "hobbies")
    run("topics", "undo", lib)
    assert given(lib) == before
    assert len(before) == 9


def listed_seeds(lib):
    return tomllib.loads((lib / "analecta.toml").read_text())["topics"][0]["seeds"]
