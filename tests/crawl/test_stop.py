"""Stop rules say why, or nothing."""

from collections import namedtuple

import pytest

from analecta.crawl import stop
from analecta.model import Tally
from analecta.settings.schema import StopSettings


def test_f03_a_disk_that_is_short_is_told_with_what_is_wanted_of_it(tmp_path):
    assert stop.disk_is_short(tmp_path, 0) is None
    words = stop.disk_is_short(tmp_path, 10**18)
    assert "and 1,000,000,000,000 MB are to stay free (stop.free_disk): make room, or set that lower" in words


def test_so_many_pages():
    rule = stop.pages(1500)
    assert rule(Tally(pages=1499), 0.0) is None
    assert rule(Tally(pages=1500), 0.0) == "1,500 pages were asked for and kept"


def test_so_much_time_counts_from_the_start():
    rule = stop.minutes(1.5)
    assert rule(Tally(), 89.9) is None
    assert rule(Tally(), 90.0) == "1.5 minutes are over"


def test_one_is_told_in_the_singular():
    assert stop.minutes(1)(Tally(), 60.0) == "1 minute is over"
    assert stop.pages(1)(Tally(pages=1), 0.0) == "1 page was asked for and kept"
    assert stop.collections(1, [0])(Tally(topics={0: 1}), 0.0) == "every topic has 1 page"


def test_s11_every_collection_must_be_full():
    rule = stop.collections(10, [0, 1])
    assert rule(Tally(topics={0: 99}), 0.0) is None
    assert rule(Tally(topics={0: 99, 1: 9}), 0.0) is None
    assert rule(Tally(topics={0: 10, 1: 10, 5: 0}), 0.0) == "every topic has 10 pages"


@pytest.mark.parametrize(
    ("settings", "topics", "count"),
    [
        (StopSettings(), [0], 0),
        (StopSettings(pages=5), [0], 1),
        (StopSettings(minutes=5), [0], 1),
        (StopSettings(per_topic=5), [0], 1),
        (StopSettings(per_topic=5), [], 0),
        (StopSettings(pages=1, minutes=1, per_topic=1), [0], 3),
    ],
)
def test_only_the_rules_asked_for_are_made(settings, topics, count):
    assert len(stop.rules(settings, topics)) == count


def test_f03_a_short_disk_is_noticed_before_it_is_full(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(stop, "disk_usage", lambda _: usage(10**9, 0, 400_000_000))
    assert stop.disk_is_short(tmp_path, 400_000_000) is None
    assert "only 400 MB are free" in stop.disk_is_short(tmp_path, 400_000_001)


def test_f03_the_disk_of_the_folder_is_looked_at(tmp_path):
    assert stop.disk_is_short(tmp_path, 0) is None
    assert str(tmp_path) in stop.disk_is_short(tmp_path, 1 << 62)
