"""F74: WARC files that lie about their lengths, refer to nothing, inflate without end or end in the middle."""

import gzip

import pytest

from analecta.errors import UsageError
from analecta.store.archive import RecordPlace, read_answer
from analecta.testweb import warc_index
from analecta.testweb.warc_index import WarcIndex
from analecta.testweb.webs import Replay, open_web
from tests.testweb.test_replay import page, record, said, warc

GOOD = [record(f"http://a.test/{n}", page(b"bees")) for n in range(2)]
LENGTHS = [b"1000000000000", b"9223372036854775807", b"18446744073709551615", b"9" * 40, b"-5", b"abc", b"1e3", b""]


def lying(length, url="http://b.test/"):
    """A record that says it has another length."""
    block = page(b"wasps")
    true = b"Content-Length: %d\r\n" % len(block)
    return record(url, block).replace(true, b"Content-Length: %b\r\n" % length, 1)


@pytest.fixture
def replay(tmp_path):
    """Serves records from a file; a Replay of them."""
    opened = []

    def serve(*records, packed=True):
        opened.append(WarcIndex([warc(tmp_path / f"{len(opened)}.warc", *records, packed=packed)]))
        return Replay(opened[-1])

    yield serve
    for one in opened:
        one.close()


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("length", LENGTHS)
def test_f74_a_record_that_lies_about_its_length_ends_nothing(replay, length, packed):
    web = replay(*GOOD, lying(length), packed=packed)
    assert [web.answer("a.test", f"/{n}", {}).status for n in range(2)] == [200, 200]
    assert web.answer("b.test", "/", {}).status == 404
    assert len(list(web.archives.pages())) == 2
    assert web.archives.warnings


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("length", LENGTHS)
def test_f74_a_file_of_nothing_but_such_records_is_refused_with_a_sentence(tmp_path, length, packed):
    with pytest.raises(UsageError, match="WARC"):
        WarcIndex([warc(tmp_path / "a.warc", lying(length), packed=packed)])


def test_f74_a_length_within_a_member_is_capped_by_it(replay):
    web = replay(*GOOD)
    answer = warc_index.response(lying(b"1000000000000"))
    assert answer.body == web.answer("a.test", "/0", {}).body.replace(b"bees", b"wasps")


@pytest.mark.parametrize(
    "more", [{}, {"WARC_Payload_Digest": "sha1:UNKNOWN"}, {"WARC_Refers_To_Target_URI": "http://x.test/"}]
)
def test_f74_a_revisit_of_what_is_not_known_is_404(replay, more):
    revisit = record("http://b.test/", said(b""), "revisit", **more)
    web = replay(*GOOD, revisit)
    assert web.answer("a.test", "/1", {}).status == 200
    assert web.answer("b.test", "/", {}).status == 404


def test_f74_a_revisit_that_refers_to_itself_is_404(replay):
    web = replay(*GOOD, record("http://b.test/", said(b""), "revisit", WARC_Refers_To_Target_URI="http://b.test/"))
    assert web.answer("b.test", "/", {}).status == 404


def test_f74_a_record_that_inflates_without_end_is_404(replay, monkeypatch):
    monkeypatch.setattr(warc_index, "_LARGEST", 1 << 20)
    web = replay(record("http://b.test/", said(b"0" * 3_000_000)), *GOOD)
    assert web.answer("b.test", "/", {}).status == 404
    assert web.answer("a.test", "/1", {}).status == 200


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_f74_a_member_that_is_cut_short_ends_nothing(tmp_path, cut):
    file = warc(tmp_path / "a.warc.gz", *GOOD, record("http://b.test/", page(b"wasps")))
    file.write_bytes(file.read_bytes()[:-cut])
    web = Replay(WarcIndex([file]))
    assert web.answer("a.test", "/1", {}).status == 200
    assert web.answer("b.test", "/", {}).status in (404, 200)
    web.archives.close()


def test_f74_addresses_and_heads_of_records_reach_nothing_else(replay):
    odd = [
        record(url, page(b"wasps")) for url in ("file:///etc/passwd", "http:", "http://", "http:b.test/x", "httpx://b")
    ]
    split = record("http://c.test/", b"x", "resource", Content_Type="text/html\rX-Own: 1")
    web = replay(*GOOD, *odd, split)
    assert set(web.archives.hosts) <= {"a.test", "b.test", "c.test"}
    assert b"\r" not in web.answer("c.test", "/", {}).head.removesuffix(b"\r\n")


@pytest.mark.parametrize("status", [b"100 Continue", b"099 x", b"000 x"])
def test_f74_what_is_no_answer_is_not_served(tmp_path, status):
    web = open_web(str(warc(tmp_path / "a.warc.gz", *GOOD, record("http://b.test/", said(b"x", status)))))
    assert web.get("http://b.test/").status == 404
    assert len(list(web.pages())) == 2
    web.close()


@pytest.mark.parametrize(
    "place",
    [
        RecordPlace(0, 0, 10**12),
        RecordPlace(0, 10**12, 5),
        RecordPlace(0, -1, 5),
        RecordPlace(0, 0, -1),
        RecordPlace(0, 3, 9),
    ],
)
def test_f74_a_page_whose_record_lies_outside_its_file_has_none(tmp_path, place):
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(GOOD[0]))
    assert read_answer(tmp_path / "a.warc.gz", place) is None
