import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from analecta.communities.view import CommunityIndex, CommunityList
from analecta.export.tables import collection_rows
from analecta.model import UrlState
from analecta.store.archive import RecordPlace, read_record
from analecta.store.library import LibraryFolder
from analecta.store.partition import NOINDEX, SOFT404
from analecta.store.schema import pack_text
from analecta.store.site_rules import Sites
from analecta.urls import partition_of
from analecta.views.collections import collections
from analecta.views.rows import COLUMNS, KINDS, LeftOut, links, pages, refusals
from tests.making import target
from tests.publish.shelf import Shelf


@pytest.fixture(scope="module")
def everything(grown):
    return list(pages(grown, LeftOut(), everything=True))


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_has_the_columns_in_order(grown, kind):
    rows = list(KINDS[kind](grown, LeftOut()))
    assert rows
    assert all(list(row) == list(COLUMNS[kind]) for row in rows)


def test_pages_are_numbered_in_the_order_they_were_kept(everything):
    assert [row["order"] for row in everything] == list(range(1, len(everything) + 1))
    assert len({row["final_url"] for row in everything}) == len(everything)


def test_f35_pages_that_say_noindex_are_left_out_and_counted(grown, everything, pocket):
    left = LeftOut()
    rows = list(pages(grown, left))
    assert left.noindex == len(everything) - len(rows) > 0
    assert not any("noindex" in (pocket.web.truth(row["final_url"]).robots or "") for row in rows)


def test_a_page_behind_a_redirect_has_both_addresses(everything, pocket):
    moved = [row for row in everything if row["url"] != row["final_url"]]
    assert moved
    for row in moved:
        truth = pocket.web.truth(row["url"])
        assert truth.status in (301, 302, 307, 308)
        assert row["parent"] != row["url"]


def test_parents_are_pages_and_seeds_have_none(everything):
    known = {row["final_url"] for row in everything}
    assert all((row["parent"] in known) == (row["depth"] > 0) for row in everything if "sitemap" not in row["parent"])


def test_copies_name_the_page_that_stands_for_them(everything):
    kept = {row["final_url"] for row in everything if not row["duplicate_of"]}
    copies = [row for row in everything if row["duplicate_of"]]
    assert copies
    assert all(row["duplicate_of"] in kept for row in copies)


def test_topics_are_named_and_sure(everything):
    for row in everything:
        assert row["topics"].get(row["topic"], 0.0) == (row["confidence"] if row["topic"] else 0.0)
    assert {row["topic"] for row in everything} > {""}


def test_the_archive_has_each_page_where_the_row_says(grown, everything):
    for row in everything[::20]:
        path = grown.archive / row["warc_file"]
        record = read_record(path, RecordPlace(0, row["warc_offset"], path.stat().st_size - row["warc_offset"]))
        assert f"WARC-Target-URI: {row['final_url']}".encode() in record


def test_f36_what_is_reserved_is_left_out_for_training(grown, everything, tmp_path):
    copied = LibraryFolder(Path(copytree(grown.folder, tmp_path / "copy")))
    host = everything[0]["host"]
    with closing(sqlite3.connect(copied.shard_path(partition_of(host, copied.partitions)), isolation_level=None)) as db:
        db.execute("UPDATE hosts SET reserved = 'ai-train=no' WHERE name = ?", (host,))
    left = LeftOut()
    rows = list(pages(copied, left, everything=True, for_training=True))
    assert left.reserved == sum(row["host"] == host for row in everything)
    assert len(rows) == len(everything) - left.reserved


def test_links_lead_from_pages_to_known_urls(grown, everything, pocket):
    rows = list(links(grown, LeftOut()))
    sources = {row["source"] for row in rows}
    assert sources <= {row["final_url"] for row in everything}
    source = min(source for source in sources if not pocket.web.truth(source).duplicate_of)
    truth = {url.partition("://")[2] for url in pocket.web.truth(source).links}
    assert {row["target"].partition("://")[2] for row in rows if row["source"] == source} <= truth


def test_refusals_have_a_reason_and_a_state(grown):
    rows = list(refusals(grown, LeftOut()))
    assert {row["state"] for row in rows} == {UrlState.REFUSED.name.lower(), UrlState.FAILED.name.lower()}
    assert {"robots", "http-404"} < {row["reason"] for row in rows}


def test_reading_is_read_only(grown):
    with grown.shards() as shards, pytest.raises(sqlite3.OperationalError, match="readonly"):
        shards[0].execute("UPDATE pages SET flags = ?", (SOFT404,))
    with closing(sqlite3.connect(grown.shard_path(0))) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.fixture
def unlisted(tmp_path):
    """A library with a page that says noindex: it was copied, links to others, and is linked to."""
    quiet, seen, copy, lost = (f"http://a.test/{name}" for name in ("quiet", "seen", "copy", "lost"))
    to = {url: np.array([target(url).id], np.int64).tobytes() for url in (quiet, seen)}
    with Shelf(tmp_path / "lib") as shelf:
        shelf.page(quiet, flags=NOINDEX, links=to[seen], anchors=pack_text("Its words"))
        shelf.page(seen, links=to[quiet], anchors=pack_text("Quiet"))
        shelf.page(copy, like=quiet)
        shelf.shard.settle(shelf.url(lost), UrlState.FAILED, "http-404")
        values = (target(quiet).id, "Its words", "and those around", target(quiet).id)
        shelf.shard.db.execute("UPDATE urls SET parent = ?, anchor = ?, context = ? WHERE id != ?", values)
    return shelf.library


def test_f35_no_table_names_a_page_that_says_noindex_or_gives_its_words(unlisted):
    left = LeftOut()
    rows = [*pages(unlisted, left), *links(unlisted, left), *refusals(unlisted, left)]
    rows += collection_rows(unlisted, collections(unlisted), CommunityIndex(Sites(), CommunityList()))
    assert {row.get("url") or row.get("source") for row in rows} == {
        f"http://a.test/{n}" for n in ("seen", "copy", "lost")
    }
    assert not [word for word in ("quiet", "Its words", "around") if word in str(rows)]


def test_f35_all_pages_name_the_pages_that_they_were_found_on(unlisted):
    assert {row["parent"] for row in pages(unlisted, LeftOut(), everything=True)} == {"", "http://a.test/quiet"}
