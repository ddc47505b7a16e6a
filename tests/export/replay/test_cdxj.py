import json

import pytest

from analecta.errors import UsageError
from analecta.store.archive import RecordPlace, read_record
from analecta.store.library import LibraryFolder
from tests.export.exporting import exported
from tests.publish.shelf import Shelf


def index(library, out, topic=None, **more):
    """The index as (key, time, fields), after it was written."""
    exported(library, "archive", "cdxj", out, topic=topic, force=True, **more)
    parts = (line.split(" ", 2) for line in out.read_text().splitlines())
    return [(key, time, json.loads(fields)) for key, time, fields in parts]


def ends(lines):
    return [fields["url"].rpartition("/")[2] for _, _, fields in lines]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "index.cdxj"


def test_lines_are_sorted_by_their_bytes(grown, out):
    told = exported(grown, "archive", "cdxj", out)
    lines = out.read_bytes().splitlines()
    assert lines == sorted(lines)
    assert told[0] == f"{len(lines)} records."
    assert len(lines) > 300


def test_every_line_leads_to_its_record(grown, out):
    for _, time, fields in index(grown, out, all=True):
        place = RecordPlace(0, int(fields["offset"]), int(fields["length"]))
        record = read_record(grown.archive / fields["filename"], place).decode("latin-1")
        assert f"\r\nWARC-Target-URI: {fields['url']}\r\n" in record
        assert f"\r\nWARC-Payload-Digest: {fields['digest']}\r\n" in record
        assert "".join(filter(str.isdigit, record.split("WARC-Date: ")[1][:19])) == time


def test_redirects_errors_and_copies_are_in_it(shelf, out):
    lines = index(shelf, out)
    assert {fields["status"] for _, _, fields in lines} == {"200", "301", "404"}
    assert [fields["mime"] for _, _, fields in lines if fields["url"].endswith("-copy")] == ["warc/revisit"]


def test_f35_what_owners_want_no_copy_of_is_left_out_and_counted(shelf, out):
    told = exported(shelf, "archive", "cdxj", out)
    assert told[1:] == ["Left out: 2 pages whose owners want no copy shown (--all has them)."]
    assert {"secret", "unlisted", "secret-copy"}.isdisjoint(ends(index(shelf, out)))
    assert {"secret", "unlisted", "secret-copy"} < set(ends(index(shelf, out, all=True)))


def test_f44_pages_that_could_not_be_read_may_say_noarchive(tmp_path, out):
    with Shelf(tmp_path / "lib") as shelf:
        shelf.page("http://h.test/a")
        shelf.said("http://h.test/deadly")
        shelf.shard.settle(shelf.url("http://h.test/deadly"), 3, "poison")
    assert ends(index(shelf.library, out)) == ["a"]
    told = exported(shelf.library, "archive", "cdxj", out, force=True)
    assert told == ["1 record."]  # and none is left out: it is not known what their owners want


def test_a_topic_has_its_pages_those_below_it_and_the_redirects_to_them(shelf, out):
    assert ends(index(shelf, out, "birds")) == ["moved", "owl", "robin", "w", "wren", "wren-copy"]
    assert ends(index(shelf, out, "birds / owls")) == ["owl"]


def test_a_copy_brings_the_record_that_has_its_payload(tmp_path, out):
    with Shelf(tmp_path / "lib") as shelf:
        shelf.page("http://h.test/a", topic=2)
        shelf.page("http://h.test/b", topic=2, like="http://h.test/a")
        shelf.page("http://h.test/c", like="http://h.test/b", body=b"<p>http://h.test/a")
        shelf.page("http://h.test/d", topic=2)
    assert ends(index(shelf.library, out, "birds")) == ["a", "b", "c"]


def test_a_page_with_several_topics_is_of_each(tmp_path, out):
    with Shelf(tmp_path / "lib") as shelf:
        shelf.page("http://h.test/a", topic=2, topics=b"\x92\x92\x02\xca\x3f\x00\x00\x00\x92\x00\xca\x3e\x00\x00\x00")
        shelf.page("http://h.test/b", topic=2)
    assert ends(index(shelf.library, out, "birds")) == ["a"]


def test_what_a_running_crawl_has_not_committed_is_not_in_it(tmp_path, out):
    with Shelf(tmp_path / "lib") as shelf:
        shelf.page("http://h.test/a")
        shelf.commit()
        shelf.page("http://h.test/b")
        shelf.archive.flush()
        assert ends(index(shelf.library, out)) == ["a"]


def test_a_topic_that_is_not_there_is_told_with_the_nearest(shelf, out):
    with pytest.raises(UsageError, match="no topic 'bird'; did you mean 'birds'"):
        exported(shelf, "archive", "cdxj", out, topic="bird")


def test_a_library_without_pages_is_told(tmp_path, out):
    library = LibraryFolder.create(tmp_path / "lib", 'recipe = "adaptive"\n')
    with pytest.raises(UsageError, match="no pages yet: crawl it first"):
        exported(library, "archive", "cdxj", out)
    with pytest.raises(UsageError, match="no topic 'x' yet: crawl it first"):
        exported(library, "archive", "cdxj", out, topic="x")


def test_a_file_is_replaced_only_when_asked(shelf, out):
    out.write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        exported(shelf, "archive", "cdxj", out)
    assert out.read_text() == "mine"


def test_without_a_path_it_goes_to_standard_output(shelf, out, capfdbinary):
    exported(shelf, "archive", "cdxj", out)
    exported(shelf, "archive", "cdxj")
    assert capfdbinary.readouterr().out == out.read_bytes()
