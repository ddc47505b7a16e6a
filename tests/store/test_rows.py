import shutil
import sqlite3
from contextlib import closing

import pytest

from analecta.store.library import LibraryFolder
from analecta.store.partition import NOARCHIVE, NOINDEX, SOFT404


@pytest.fixture
def library(grown, tmp_path):
    shutil.copytree(grown.folder, tmp_path / "lib")
    return LibraryFolder(tmp_path / "lib")


def shown(library, topic=None):
    with library.snapshot() as snapshot:
        return list(snapshot.shown_pages(topic))


def change(library, item, columns):
    with closing(sqlite3.connect(library.shard_path(item.shard))) as db, db:
        db.execute(f"UPDATE pages SET {columns} WHERE seq = ?", (item.seq,))


def test_items_are_the_pages_on_a_topic_each_once(grown):
    found = shown(grown)
    assert len({item.id for item in found}) == len({item.url for item in found}) == len(found) > 50
    assert all(item.topic >= 0 and item.topics[0][0] == item.topic for item in found)
    assert [len(shown(grown, topic)) for topic in (0, 1)] == [sum(i.topic == t for i in found) for t in (0, 1)]


@pytest.mark.parametrize("columns", ["topic = -1", "duplicate_of = 7", "status = 404"])
def test_what_is_on_no_topic_or_a_copy_or_no_page_is_not_shown(library, columns):
    one = shown(library)[0]
    change(library, one, columns)
    assert one.id not in {item.id for item in shown(library)}


@pytest.mark.parametrize("flag", [NOINDEX, SOFT404])
def test_f35_what_says_noindex_or_only_looks_like_a_page_is_not_shown(library, flag):
    one = shown(library)[0]
    change(library, one, f"flags = flags | {flag}")
    assert one.id not in {item.id for item in shown(library)}


def test_f35_noarchive_and_what_is_reserved_come_along(library):
    one = shown(library)[0]
    change(library, one, f"flags = flags | {NOARCHIVE}, reserved = 'ai-train=no'")
    again = next(item for item in shown(library) if item.id == one.id)
    assert (one.noarchive, again.noarchive, again.reserved) == (False, True, "ai-train=no")


@pytest.mark.parametrize(
    ("page", "host", "all"), [("a=no", None, "a=no"), (None, "a=no", "a=no"), ("a=no", "a=no", "a=no"),
                              ("a=no", "b=no", "a=no; b=no"), (None, None, "")],
)  # fmt: skip
def test_f36_what_page_and_host_reserve_is_both_told(library, page, host, all):
    one = shown(library)[0]
    with closing(sqlite3.connect(library.shard_path(one.shard))) as db, db:
        db.execute("UPDATE pages SET reserved = ? WHERE seq = ?", (page, one.seq))
        db.execute("UPDATE hosts SET reserved = ? WHERE name = ?", (host, one.host))
    assert shown(library)[0].reserved == all


def test_the_place_and_the_text_of_an_item_are_those_of_its_page(grown):
    one = next(item for item in shown(grown) if not item.example)
    assert one.parent
    assert one.anchor
    assert (grown.archive / one.warc).stat().st_size >= one.offset + one.length
    with grown.snapshot() as snapshot:
        assert len(snapshot.text(one).split()) > 20
