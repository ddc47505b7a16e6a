"""One partition's file: a batch is one transaction, every URL has one row."""

import contextlib
import sqlite3

import pytest
from making import candidate, page_row, shard_at, states, target

from analecta.errors import ResourceError
from analecta.model import FoundBy, UrlState
from analecta.store.partition import SOFT404, PageRecord, Shard
from analecta.store.schema import OLDEST_SCHEMA, SCHEMA
from analecta.store.sqlite import connect


def added(shard, *rows):
    """Add URLs: (url, state, cold, reason, and what else a candidate has)."""
    first = shard.last_n() + 1
    shard.add((n, c, state, cold, reason) for n, (c, state, cold, reason) in enumerate(rows, first))


def queued(url, priority=0.5, cold=False, **more):
    return candidate(url, priority, **more), UrlState.QUEUED, cold, ""


def test_what_is_committed_is_there_and_what_is_not_did_not_happen(tmp_path):
    with shard_at(tmp_path / "p.db") as shard:
        added(shard, queued("http://h/1"))
        shard.commit()
        added(shard, queued("http://h/2"))
    with shard_at(tmp_path / "p.db") as shard:
        assert list(states(shard)) == [target("http://h/1").id]


def test_readers_see_the_last_commit_and_do_not_wait(tmp_path):
    with shard_at(tmp_path / "p.db") as shard, contextlib.closing(connect(tmp_path / "p.db", readonly=True)) as reader:
        count = "SELECT count(*) FROM urls"
        added(shard, queued("http://h/1"))
        assert reader.execute(count).fetchone() == (0,)
        shard.commit()
        assert reader.execute(count).fetchone() == (1,)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("DELETE FROM urls")


def test_it_knows_whether_there_is_anything_to_commit():
    with shard_at() as shard:
        assert not shard.changed
        shard.put("a", 1)
        assert shard.changed
        shard.commit()
        assert not shard.changed


def test_a_lease_gives_all_that_was_queued_in_the_order_asked_for():
    with shard_at() as shard:
        more = {"depth": 3, "parent": 9, "found_by": FoundBy.SITEMAP, "off_topic_steps": 2, "redirects": 1}
        added(shard, queued("http://h/1", 0.7, topic=4, **more), queued("http://h/2"))
        ids = [target(f"http://h/{i}").id for i in (2, 1)]
        leases = shard.lease(ids, [0.5, 0.8])
        assert [lease.id for lease in leases] == ids
        one = leases[1]
        assert (one.n, one.url, one.host, one.priority, one.topic) == (1, "http://h/1", "h", 0.8, 4)
        assert (one.depth, one.parent, one.found_by, one.off_topic_steps, one.redirects, one.tries) == (
            3,
            9,
            FoundBy.SITEMAP,
            2,
            1,
            1,
        )
        assert set(states(shard).values()) == {UrlState.LEASED}


def test_each_lease_counts_as_a_try():
    with shard_at() as shard:
        added(shard, queued("http://h/1"))
        id = target("http://h/1").id
        tries = []
        for _ in range(3):
            tries.append(shard.lease([id], [0.5])[0].tries)
            shard.settle(id, UrlState.QUEUED, "again")
        assert tries == [1, 2, 3]


def test_cold_urls_come_back_best_first_and_in_order_of_finding():
    with shard_at() as shard:
        added(shard, *(queued(f"http://h/{i}", p, cold=True) for i, p in enumerate((0.1, 0.9, 0.5, 0.9))))
        added(shard, queued("http://g/", 1.0, cold=True))
        assert shard.cold_best("h") == 0.9
        assert [n for _, n, _ in shard.warm("h", 3)] == [2, 4, 3]
        assert shard.cold_best("h") == 0.1
        assert shard.cold_hosts() == [("h", 0.1), ("g", 1.0)]
        assert (shard.warm("nobody", 5), shard.cold_best("nobody")) == ([], None)


def test_hot_rows_are_queued_or_leased_and_not_cold():
    with shard_at() as shard:
        added(shard, queued("http://h/1", 0.3), queued("http://h/2", cold=True), queued("http://h/3"))
        shard.settle(target("http://h/3").id, UrlState.DONE)
        assert shard.hot_rows().fetchall() == [(0.3, 1, target("http://h/1").id, "h")]


def test_spilled_urls_are_cold():
    with shard_at() as shard:
        added(shard, queued("http://h/1", 0.3), queued("http://h/2", 0.4))
        shard.spill([(0.5, target("http://h/1").id)])
        assert shard.cold_hosts() == [("h", 0.5)]
        assert len(shard.hot_rows().fetchall()) == 1


def test_the_worst_of_a_topic_are_the_least_and_the_latest():
    with shard_at() as shard:
        added(shard, *(queued(f"http://h/{i}", p, topic=1) for i, p in enumerate((0.5, 0.1, 0.5, 0.9))))
        added(shard, queued("http://h/x", 0.0, topic=2))
        assert shard.worst(1, 2) == [target("http://h/1").id, target("http://h/2").id]


def test_settling_what_is_queued_leaves_the_rest_alone_and_counts_by_topic():
    with shard_at() as shard:
        added(shard, *(queued(f"http://h/{i}", topic=i % 2) for i in range(5)))
        ids = [target(f"http://h/{i}").id for i in range(5)]
        shard.lease(ids[:1], [0.5])
        assert shard.settle_queued(ids, UrlState.FAILED, "bad-host") == {0: 2, 1: 2}
        assert list(states(shard).values()) == [UrlState.LEASED] + [UrlState.FAILED] * 4


def test_a_url_has_one_row_and_the_first_word_counts():
    with shard_at() as shard:
        added(shard, queued("http://h/", 0.9))
        added(shard, queued("http://h/", 0.1), (candidate("http://h/"), UrlState.REFUSED, False, "scope-host"))
        assert shard.db.execute("SELECT state, priority, reason FROM urls").fetchall() == [(0, 0.9, None)]


@pytest.mark.parametrize(("reason", "state"), [("nofollow", 0), ("shunned", 0), ("scope-host", 4), ("trap-depth", 4)])
def test_only_links_that_nobody_let_us_follow_are_redeemed(reason, state):
    with shard_at() as shard:
        added(shard, (candidate("http://h/"), UrlState.REFUSED, False, reason))
        added(shard, queued("http://h/", 0.9))
        assert shard.db.execute("SELECT state FROM urls").fetchall() == [(state,)]


def test_a_page_may_get_another_way_and_a_try_be_taken_back():
    with shard_at() as shard:
        added(shard, queued("http://h/"))
        one = shard.lease([target("http://h/").id], [0.5])[0]
        shard.rename(one.id, "https://h/", 1)
        shard.settle(one.id, UrlState.QUEUED, "http-301", tries=one.tries - 1)
        again = shard.lease([one.id], [0.5])[0]
        assert (again.url, again.redirects, again.tries) == ("https://h/", 1, 1)


# --- after a crash ---------------------------------------------------------------------------------------------------


def test_leases_are_released_and_their_try_does_not_count():
    with shard_at() as shard:
        added(shard, queued("http://h/1", topic=3), queued("http://h/2"))
        shard.lease([target("http://h/1").id], [0.5])
        assert shard.release_leases(0, 3) == {3: 1}
        assert set(states(shard).values()) == {UrlState.QUEUED}
        assert shard.lease([target("http://h/1").id], [0.5])[0].tries == 1


def test_f44_a_url_that_ends_the_process_three_times_is_set_aside():
    with shard_at() as shard:
        added(shard, queued("http://h/bad"), queued("http://h/good"))
        bad, good = target("http://h/bad").id, target("http://h/good").id
        for crash in range(3):
            assert states(shard)[bad] == UrlState.QUEUED
            shard.lease([bad, good], [0.5, 0.5])
            back = shard.release_leases(bad, 3)
            assert back == ({0: 2} if crash < 2 else {0: 1})
        assert states(shard) == {bad: UrlState.FAILED, good: UrlState.QUEUED}
        assert shard.db.execute("SELECT reason, detail FROM urls WHERE id = ?", (bad,)).fetchone() == (
            "poison",
            "ended the process 3 times",
        )


def test_f44_a_suspect_that_is_done_meanwhile_is_left_alone():
    with shard_at() as shard:
        added(shard, queued("http://h/"))
        id = target("http://h/").id
        shard.settle(id, UrlState.DONE)
        shard.release_leases(id, 1)
        assert states(shard) == {id: UrlState.DONE}


# --- pages -----------------------------------------------------------------------------------------------------------


def kept(shard, url, **more):
    added(shard, queued(url))
    shard.add_page(page_row(target(url).id, **more), UrlState.DONE, 0, 0)
    return target(url).id


def test_a_page_settles_its_url():
    with shard_at() as shard:
        id = kept(shard, "http://h/", digest="sha1:A", fetched_at=5.0)
        assert states(shard) == {id: UrlState.DONE}
        assert shard.page_of(id) == ("http://h/", 5.0, "sha1:A")
        assert shard.page_of(1) is None


def test_a_duplicate_points_to_the_page_that_stands_for_it():
    with shard_at() as shard:
        first = kept(shard, "http://h/1")
        added(shard, queued("http://h/2"))
        second = target("http://h/2").id
        shard.add_page(page_row(second, duplicate_of=first), UrlState.ALIAS, first, 0)
        row = shard.db.execute("SELECT state, elsewhere, reason FROM urls WHERE id = ?", (second,)).fetchone()
        assert row == (UrlState.ALIAS, first, "duplicate")


def test_a_page_fetched_again_takes_the_place_of_the_old():
    with shard_at() as shard:
        id = kept(shard, "http://h/", etag="1")
        assert shard.ask_again(before=99.0) == {0: 1}
        one = shard.lease([id], [0.5])[0]
        assert (one.etag, one.page > 0) == ("1", True)
        shard.add_page(page_row(id, etag="2"), UrlState.DONE, 0, one.page)
        assert shard.db.execute("SELECT etag FROM pages").fetchall() == [("2",)]


def test_pages_kept_lately_are_not_asked_for_again():
    with shard_at() as shard:
        id = kept(shard, "http://h/", fetched_at=5.0, kept_at=50.0)
        assert shard.ask_again(before=20.0) == {}
        shard.still_stands(id, 200.0)
        assert shard.ask_again(before=100.0) == {}
        assert states(shard) == {id: UrlState.DONE}


def test_the_first_page_with_a_body_stands_for_the_others():
    with shard_at() as shard:
        first = kept(shard, "http://h/1", body=7, digest="sha1:A", fetched_at=5.0)
        kept(shard, "http://h/2", body=7, duplicate_of=first)
        assert shard.page_with_body(7) == (first, "http://h/1", 5.0, "sha1:A")
        assert shard.page_with_body(8) is None


def test_f25_pages_that_look_like_a_soft_404_are_marked_later_too():
    with shard_at() as shard:
        kept(shard, "http://h/fake", simhash=0b1011, topic=2)
        kept(shard, "http://h/real", simhash=0b1111_1111_0000, topic=2)
        kept(shard, "http://h/empty", simhash=0, topic=2)
        kept(shard, "http://other/", simhash=0b1011, topic=2)
        shard.set_soft404("h", 0b1000)
        rows = shard.db.execute("SELECT flags & ?, topic FROM pages ORDER BY seq", (SOFT404,)).fetchall()
        assert rows == [(SOFT404, -1), (0, 2), (0, 2), (0, 2)]
        assert shard.hosts.soft404s() == {"h": 8}


def test_robots_meta_and_host_pages_are_remembered():
    with shard_at() as shard:
        shard.hosts.save_robots("http://h", (1.5, 200, b"User-agent: *"))
        assert shard.hosts.load_robots("http://h") == (1.5, 200, b"User-agent: *")
        assert shard.hosts.load_robots("http://g") is None
        assert [shard.hosts.add_page("h"), shard.hosts.add_page("h")] == [1, 2]
        assert (shard.get("nothing", 7), shard.get("schema")) == (7, SCHEMA)


def test_every_page_column_is_in_the_table():
    with shard_at() as shard:
        columns = [row[1] for row in shard.db.execute("PRAGMA table_info(pages)")]
    assert sorted(PageRecord.__struct_fields__) == sorted(set(columns) - {"seq"})


# --- files that are not ours -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "words"), [(SCHEMA + 1, "update Analecta"), (OLDEST_SCHEMA - 1, "cannot be migrated")]
)
def test_f08_another_schema_is_refused_with_a_message(tmp_path, version, words):
    with shard_at(tmp_path / "p.db") as shard:
        shard.put("schema", version)
        shard.commit()
    with pytest.raises(ResourceError, match=words) as raised:
        Shard(tmp_path / "p.db")
    assert f"schema {version}" in str(raised.value)


def test_f08_a_refused_file_is_not_touched(tmp_path):
    with shard_at(tmp_path / "p.db") as shard:
        added(shard, queued("http://h/"))
        shard.put("schema", SCHEMA + 1)
        shard.commit()
    with pytest.raises(ResourceError):
        Shard(tmp_path / "p.db")
    with contextlib.closing(connect(tmp_path / "p.db", readonly=True)) as db:
        assert db.execute("SELECT count(*) FROM urls").fetchone() == (1,)


def test_a_file_that_is_no_database_is_refused_with_a_message(tmp_path):
    (tmp_path / "p.db").write_bytes(b"this is no database, it only looks like one\n" * 100)
    with pytest.raises(ResourceError, match=r"p\.db"):
        Shard(tmp_path / "p.db")


def test_f01_a_shard_that_was_killed_while_it_was_made_is_made_again(tmp_path):
    with contextlib.closing(connect(tmp_path / "p.db")):
        pass
    with shard_at(tmp_path / "p.db") as shard:
        assert shard.get("schema") == SCHEMA


@pytest.mark.parametrize("name", ["a b", "what?", "#1", "100%41", "é", "a&b=c", "file:x"])
def test_folders_may_have_any_name(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    with shard_at(folder / "p.db") as shard:
        assert (folder / "p.db").stat().st_size > 0
        assert shard.db.execute("PRAGMA database_list").fetchone()[2] == str(folder / "p.db")


def test_pages_that_were_to_be_asked_for_again_stand_where_that_comes_to_nothing():
    with shard_at() as shard:
        page, copy = kept(shard, "http://h/page"), target("http://h/copy").id
        added(shard, queued("http://h/copy"))
        shard.add_page(page_row(copy, duplicate_of=7), UrlState.ALIAS, 7, 0)
        shard.ask_again(1e12)
        shard.settle(copy, UrlState.QUEUED, "timeout")  # a first try
        assert shard.settle_queued([page, copy], UrlState.FAILED, "bad-host") == {0: 2}
        rows = shard.db.execute("SELECT state, reason, elsewhere FROM urls ORDER BY n").fetchall()
        assert rows == [(UrlState.DONE, None, None), (UrlState.ALIAS, "duplicate", 7)]


def test_pages_that_are_gone_are_asked_for_again_too_but_not_such_as_end_the_process():
    with shard_at() as shard:
        gone, poison = kept(shard, "http://h/gone"), kept(shard, "http://h/poison")
        shard.settle(gone, UrlState.FAILED, "http-410")
        shard.settle(poison, UrlState.FAILED, "poison")
        assert shard.ask_again(before=99.0) == {0: 1}
        assert states(shard) == {gone: UrlState.QUEUED, poison: UrlState.FAILED}


def test_a_host_is_given_up_for_one_run():
    with shard_at() as shard:
        added(shard, *((candidate(f"http://h/{why}"), UrlState.FAILED, False, why) for why in ("bad-host", "http-404")))
        assert shard.try_hosts_again() == {0: 1}
        assert states(shard) == {target("http://h/bad-host").id: 0, target("http://h/http-404").id: UrlState.FAILED}
        assert shard.try_hosts_again() == {}
