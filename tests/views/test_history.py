"""The collector's history: written while a crawl runs, shown by status, exported as a table (S12)."""

import sqlite3
from contextlib import closing
from shutil import copytree

import pytest

from analecta.cli.status import sparkline
from analecta.store.library import HistoryPoint, LibraryFolder
from analecta.store.library_db import record
from analecta.views.rows import LeftOut, history, pages
from analecta.views.status import status


@pytest.fixture
def copy(grown, tmp_path):
    return LibraryFolder(copytree(grown.folder, tmp_path / "lib"))


def items(library, topic):
    """The confidences of a topic's items, from the exported rows, best first."""
    rows = [row for row in pages(library, LeftOut()) if row["topic"] == topic and row["depth"] > 0]
    return sorted((row["confidence"] for row in rows if not row["duplicate_of"]), reverse=True)


def test_s12_the_best_items_of_every_topic_are_recorded(copy):
    for moment in record(copy, 451, best=10):
        found = items(copy, copy.topic_names()[moment.topic])
        best = found[:10]
        assert moment.items == len(found) > 10
        assert moment[5:] == pytest.approx((best[-1], sum(best) / 10, best[0]))


def test_s12_records_add_up_in_the_history_of_the_run(copy):
    before = len(copy.history())
    added = record(copy, 451, wall=lambda: 5.0)
    assert copy.history()[before:] == added
    assert {(moment.run, moment.at, moment.pages) for moment in added} == {(copy.last_run().n, 5.0, 451)}


def test_s12_a_topic_without_items_has_no_record(copy):
    with closing(sqlite3.connect(copy.shard_path(0))) as p0, closing(sqlite3.connect(copy.shard_path(1))) as p1:
        for db in (p0, p1):
            db.execute("UPDATE pages SET duplicate_of = 1 WHERE topic = 0")
            db.commit()
    assert [moment.topic for moment in record(copy, 451)] == [1]


def test_s12_a_library_from_before_the_history_gets_one(copy):
    with copy.database() as db:
        db.execute("DROP TABLE history")
    assert copy.history() == []
    assert record(copy, 451) == copy.history() != []


def test_s12_rows_name_topics_and_times(copy):
    copy.remember([HistoryPoint(7, 0.0, 20, 1, 30, 0.25, 0.5, 1.0)])
    *_, row = history(copy, LeftOut())
    assert row["topic"] == copy.topic_names()[1]
    assert row["at"] == "1970-01-01T00:00:00.000Z"


def test_s12_status_has_the_last_figures_and_all_of_the_history(copy):
    copy.remember([HistoryPoint(7, 0.0, 20, 1, 30, 0.25, 0.5, 1.0)])
    found = status(copy)
    last = found.collections[copy.topic_names()[1]]
    assert (last.items, last.least, last.mean, last.most) == (30, 0.25, 0.5, 1.0)
    assert len(found.history) == len(copy.history())


def test_s12_a_sparkline_goes_from_low_to_high_and_keeps_its_width():
    assert sparkline([0.1, 0.2, 0.8]) == "▁▂█"
    assert sparkline([0.5, 0.505]) == "▄▄"
    assert len(sparkline([i / 100 for i in range(100)])) == 16
    assert sparkline([]) == ""
