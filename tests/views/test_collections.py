import shutil
import sqlite3
from contextlib import closing

import msgspec
import pytest

from analecta.errors import UsageError
from analecta.store.library import LibraryFolder
from analecta.store.library_db import record
from analecta.store.partition import NOINDEX, SOFT404
from analecta.views.collections import collections
from tests.publish.shelf import Given, html, shelved


@pytest.fixture
def library(grown, tmp_path):
    shutil.copytree(grown.folder, tmp_path / "lib")
    return LibraryFolder(tmp_path / "lib")


def change(library, query, *values):
    """Change rows in all partitions."""
    for number in range(library.partitions):
        with closing(sqlite3.connect(library.shard_path(number))) as db, db:
            db.execute(query, values)


def urls(collection):
    return [ranked.item.url for ranked in collection.items]


def test_s12_each_topic_has_its_best_pages_in_ranks(grown):
    found = collections(grown, most=20)
    assert [(one.number, one.topic) for one in found] == list(enumerate(grown.topic_names()))
    for one in found:
        assert [ranked.rank for ranked in one.items] == list(range(1, 21))
        assert one.pages > 20


def test_s12_authority_is_against_the_best_of_the_topic(grown):
    for one in collections(grown, most=1000, per_host=0):
        weights = [ranked.authority for ranked in one.items]
        assert (min(weights) >= 0.0, max(weights)) == (True, 1.0)
        assert len(set(weights)) > 10


def test_s12_in_a_library_of_one_host_its_own_links_tell_authority(tmp_path):
    links = "".join(f'<a href="http://a.test/{name}">x</a>' for name in ("best", "best", "good"))
    pages = [Given(f"http://a.test/{name}", html(name, foot=links)) for name in ("one", "two", "good")]
    pages.append(Given("http://a.test/best", html("best", foot='<a href="http://a.test/one">x</a>')))
    (birds, *_) = collections(shelved(tmp_path / "lib", *pages))
    weights = {ranked.item.title: ranked.authority for ranked in birds.items}
    assert weights["best"] == 1.0 > weights["good"] > weights["one"] >= weights["two"] == 0.0


def test_s12_no_host_has_two_pages_before_every_host_has_one(grown):
    for one in collections(grown, most=1000, per_host=1):
        hosts = [ranked.item.host for ranked in one.items if not ranked.kind]
        assert len(hosts) > len(set(hosts)) == len(set(hosts[: len(set(hosts))])) > 1


def test_s12_without_a_limit_the_scores_decide(grown):
    for one in collections(grown, most=1000, per_host=0):
        scores = [ranked.score for ranked in one.items]
        assert scores == sorted(scores, reverse=True)


def test_s12_topics_can_be_asked_for_and_an_unknown_one_is_told(grown):
    second = grown.topic_names()[1]
    assert [one.number for one in collections(grown, [second])] == [1]
    with pytest.raises(UsageError, match="no topic 'nonsense'"):
        collections(grown, ["nonsense"])


def test_s12_examples_are_out_unless_asked_for(grown):
    without, with_them = (collections(grown, most=1000, examples=asked)[0] for asked in (False, True))
    assert not any(ranked.item.example for ranked in without.items)
    assert with_them.pages - without.pages == sum(ranked.item.example for ranked in with_them.items) > 0


def test_s9_a_page_with_two_topics_enters_both_with_the_confidence_of_each(library):
    url = urls(collections(library)[0])[0]
    both = msgspec.msgpack.encode([(0, 0.9), (1, 0.99)])
    change(library, "UPDATE pages SET topics = ? WHERE id = (SELECT id FROM urls WHERE url = ?)", both, url)
    one, two = collections(library, most=1000)
    sure = [next(r.confidence for r in of.items if r.item.url == url) for of in (one, two)]
    assert sure == [0.9, 0.99]


@pytest.mark.parametrize("what", [f"flags = {NOINDEX}", f"flags = {SOFT404}", "duplicate_of = 1", "status = 404"])
def test_f35_what_must_not_be_shown_is_in_no_collection(library, what):
    url = urls(collections(library)[0])[0]
    change(library, f"UPDATE pages SET {what} WHERE id = (SELECT id FROM urls WHERE url = ?)", url)
    assert url not in urls(collections(library, most=1000)[0])


@pytest.mark.parametrize("what", [f"flags = {NOINDEX}", "status = 404", "duplicate_of = 1", "confidence = NULL"])
def test_s12_the_history_counts_the_items_that_a_collection_can_have(library, what):
    change(library, f"UPDATE pages SET {what} WHERE seq % 3 = 0")
    both = msgspec.msgpack.encode([(0, 0.9), (1, 0.6)])
    change(library, "UPDATE pages SET topics = ? WHERE topic = 0 AND seq % 3 = 1", both)
    counted = {moment.topic: moment.items for moment in record(library, 451)}
    assert counted == {one.number: one.pages for one in collections(library)}


def test_s12_a_library_that_was_never_crawled_has_empty_collections(tmp_path):
    library = LibraryFolder.create(tmp_path / "lib", "")
    assert collections(library) == []
    library.topic_names(("one",))
    assert [(one.topic, one.pages, one.items) for one in collections(library)] == [("one", 0, [])]


def test_s12_a_collection_can_be_had_while_another_process_writes(library):
    before = collections(library)
    with closing(sqlite3.connect(library.shard_path(0))) as db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE pages SET confidence = 0")
        assert collections(library) == before


def test_s12_the_same_library_gives_the_same_collections(grown):
    assert collections(grown) == collections(grown)
