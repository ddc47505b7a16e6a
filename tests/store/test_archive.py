"""The archive: what is written passes the tools of others, and what is cut is found out."""

import contextlib
import gzip
import hashlib
import io
import re
import subprocess
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making import answer
from warcio.archiveiterator import ArchiveIterator

from analecta.store.archive import (
    Archive,
    OriginalRecord,
    RecordPlace,
    deflated_member,
    last_whole_member,
    payload_digest,
    read_answer,
    read_record,
    stored_member,
    trim,
    warc_date,
)

FASTWARC = pytest.mark.filterwarnings("ignore:Use the new Reader and Writer classes:DeprecationWarning")
GZIPPED = {"content-type": "text/html", "content-encoding": "gzip"}


def records(path):
    """All records as warcio reads them: (type, headers, block)."""
    with path.open("rb") as file:
        found = []
        for record in ArchiveIterator(file, no_record_parse=True):
            headers = {name.lower(): value for name, value in record.rec_headers.headers}
            found.append((record.rec_type, headers, record.raw_stream.read()))
        return found


def kinds(path):
    return [kind for kind, _, _ in records(path)]


@pytest.fixture
def archive(tmp_path):
    made = Archive(tmp_path, "p00", info={"software": "Analecta/1", "operator": "me@example.org"})
    yield made
    with contextlib.suppress(ValueError):  # some tests have closed it
        made.close()


def written(archive, *answers):
    places = [archive.write(one) for one in answers]
    archive.close()
    return places


ANSWERS = (
    answer(),
    answer("http://h.test/big", b"x" * 300_000),
    answer("http://h.test/z", gzip.compress(b"y" * 1000), headers=GZIPPED),
    answer("http://h.test/z2", bytes(range(256)) * 600, headers=GZIPPED),
    answer("http://h.test/none", b"", asked=b""),
    answer("http://h.test/cut", b"half", truncated="length"),
)


def test_warcinfo_comes_first_then_each_response_with_its_request(archive):
    written(archive, *ANSWERS[:2])
    path = archive.path(0)
    assert kinds(path) == ["warcinfo", "response", "request", "response", "request"]
    _kind, headers, block = records(path)[0]
    assert headers["warc-filename"] == path.name
    assert b"software: Analecta/1\r\n" in block
    assert b"operator: me@example.org\r\n" in block


def test_what_is_written_passes_warcio_with_its_digests(archive):
    """Responses have digests of block and payload; other records need none, but what they have is right."""
    written(archive, *ANSWERS)
    bodies = []
    with archive.path(0).open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            body = record.raw_stream.read()
            if record.rec_type == "response":
                bodies.append(body)
                assert record.digest_checker.passed
                assert record.rec_headers.get_header("WARC-Block-Digest")
    assert bodies == [one.wire for one in ANSWERS]


def test_what_is_written_passes_gzip(archive):
    written(archive, *ANSWERS)
    path = archive.path(0)
    assert subprocess.run(["gzip", "-t", path], capture_output=True).returncode == 0
    assert gzip.decompress(path.read_bytes()).count(b"WARC/1.1\r\n") == 1 + 2 * len(ANSWERS) - 1


@FASTWARC
def test_what_is_written_passes_fastwarc(archive):
    from fastwarc.warc import ArchiveIterator as Fast

    written(archive, *ANSWERS)
    with archive.path(0).open("rb") as file:
        raw = Fast(file, parse_http=False)
        blocks = [record.verify_block_digest() for record in raw if "WARC-Block-Digest" in record.headers]
        file.seek(0)
        payloads = [r.verify_payload_digest() for r in Fast(file) if "WARC-Payload-Digest" in r.headers]
    assert blocks == [True] * len(ANSWERS)
    assert payloads == [True] * len(ANSWERS)


def test_the_payload_digest_is_that_of_the_body_as_it_came(archive):
    one = ANSWERS[2]
    written(archive, one)
    assert records(archive.path(0))[1][1]["warc-payload-digest"] == payload_digest(one.wire)
    assert payload_digest(b"") == "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=50))
def test_digests_are_sha1_in_base_32(data):
    import base64

    assert payload_digest(data) == "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def test_the_response_says_when_where_and_from_whom(archive):
    written(archive, answer("http://h.test/a?b=c"))
    _kind, headers, block = records(archive.path(0))[1]
    assert headers["warc-target-uri"] == "http://h.test/a?b=c"
    assert headers["warc-date"] == "2023-11-14T22:13:20.250000Z"
    assert headers["warc-ip-address"] == "192.0.2.1"
    assert headers["content-type"] == "application/http; msgtype=response"
    assert "warc-truncated" not in headers
    assert block.endswith(b"\r\n\r\n<p>hello")


def test_the_request_is_linked_to_its_response(archive):
    written(archive, ANSWERS[0])
    _, (_, response, _), (_, request, block) = records(archive.path(0))
    assert request["warc-concurrent-to"] == response["warc-record-id"]
    assert request["warc-record-id"] != response["warc-record-id"]
    assert request["warc-date"] == response["warc-date"]
    assert block == ANSWERS[0].asked


def test_record_ids_are_random_uuids(archive):
    written(archive, *ANSWERS)
    ids = [headers["warc-record-id"] for _, headers, _ in records(archive.path(0))]
    form = r"<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>"
    assert all(re.fullmatch(form, id) for id in ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("why", ["length", "time", "disconnect"])
def test_f10_f11_f12_a_cut_body_says_why(archive, why):
    written(archive, answer(truncated=why))
    assert records(archive.path(0))[1][1]["warc-truncated"] == why


@pytest.mark.parametrize(
    ("status", "profile"), [(200, "identical-payload-digest"), (304, "server-not-modified")]
)  # fmt: skip
def test_f34_a_revisit_has_the_right_profile_and_no_body(archive, status, profile):
    head = f'HTTP/1.1 {status} X\r\nETag: "1"\r\n\r\n'.encode()
    original = OriginalRecord("http://h.test/old", 1e9, "sha1:ABC")
    archive.write(answer("http://h.test/new", b"body", head=head, status=status), "sha1:ABC", original)
    archive.close()
    kind, headers, block = records(archive.path(0))[1]
    assert (kind, block) == ("revisit", head)
    assert headers["warc-profile"] == f"http://netpreserve.org/warc/1.1/revisit/{profile}"
    assert headers["warc-refers-to-target-uri"] == "http://h.test/old"
    assert headers["warc-refers-to-date"] == "2001-09-09T01:46:40.000000Z"
    assert headers["warc-payload-digest"] == "sha1:ABC"


@pytest.mark.parametrize("version", [b"HTTP/2", b"HTTP/2.0", b"HTTP/3"])
def test_an_http2_head_is_written_as_tools_expect_it(archive, version):
    written(archive, answer(head=version + b" 200 \r\ncontent-type: text/html\r\n\r\n"))
    assert records(archive.path(0))[1][2].startswith(b"HTTP/1.1 200 \r\n")
    with archive.path(0).open("rb") as file:
        response = next(r for r in ArchiveIterator(file) if r.rec_type == "response")
        assert response.http_headers.get_statuscode() == "200"


def test_a_record_is_found_again_by_its_place(archive):
    places = written(archive, *ANSWERS)
    for one, place in zip(ANSWERS, places, strict=True):
        record = read_record(archive.path(place.file), place)
        assert record.startswith(b"WARC/1.1\r\nWARC-Type: response\r\n")
        assert f"\r\nWARC-Target-URI: {one.url}\r\n".encode() in record
        assert record.endswith(one.head + one.wire + b"\r\n\r\n")


@pytest.mark.parametrize("end", [b"\n\n", b"\n\r\n", b"\r\n\r\n"])
def test_head_and_body_are_told_apart_whatever_ends_the_lines(archive, end):
    head = b"HTTP/1.1 200 OK\nContent-Type: text/html" + end
    bodies = (b"<p>one", b"<p>two\r\n\r\nmore\n\n", b"")
    places = written(archive, *(answer(body=body, head=head) for body in bodies))
    assert [read_answer(archive.path(0), place) for place in places] == [(head, body) for body in bodies]


def test_a_new_file_is_begun_when_one_is_full(tmp_path):
    archive = Archive(tmp_path, "p07", max_size=20_000)
    bodies = [hashlib.sha256(bytes([i])).digest() * 250 for i in range(10)]
    places = written(archive, *(answer(f"http://h.test/{i}", body, headers=GZIPPED) for i, body in enumerate(bodies)))
    assert [place.file for place in places] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
    assert [path.name for path in sorted(tmp_path.iterdir())] == [f"p07-{n:05d}.warc.gz" for n in range(4)]
    assert all(kinds(path)[0] == "warcinfo" for path in tmp_path.iterdir())


def test_a_file_is_gone_on_with_after_a_restart(tmp_path):
    first = Archive(tmp_path, "p00")
    written(first, ANSWERS[0])
    size = first.path(0).stat().st_size
    again = Archive(tmp_path, "p00")
    assert again.length == size
    assert written(again, ANSWERS[1])[0].offset == size
    assert kinds(again.path(0)).count("warcinfo") == 1


def test_flush_hands_over_what_was_written(archive):
    archive.write(ANSWERS[0])
    archive.flush()
    assert archive.path(0).stat().st_size == archive.length
    assert kinds(archive.path(0)) == ["warcinfo", "response", "request"]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300), st.sampled_from((0, 1, 65_534, 65_535, 65_536, 131_070, 131_071)))
def test_both_kinds_of_member_hold_the_data(data, more):
    data += bytes(more)
    assert gzip.decompress(stored_member(data)) == data
    assert gzip.decompress(deflated_member(data)) == data


@pytest.mark.parametrize(
    ("seconds", "date"),
    [
        (0.0, b"1970-01-01T00:00:00.000000Z"),
        (1_700_000_000.999999, b"2023-11-14T22:13:20.999999Z"),
        (1_700_000_000.5, b"2023-11-14T22:13:20.500000Z"),
    ],
)
def test_dates_are_in_utc_with_microseconds(seconds, date):
    assert warc_date(seconds) == date


# --- cutting back ----------------------------------------------------------------------------------------------------


@pytest.fixture
def cut_file(archive):
    """A file of two answers; the bytes, and where each of its members ends."""
    written(archive, ANSWERS[0], ANSWERS[5])
    data, ends, start = archive.path(0).read_bytes(), [], 0
    while start < len(data):
        inflater = zlib.decompressobj(31)
        inflater.decompress(data[start:])
        start = len(data) - len(inflater.unused_data)
        ends.append(start)
    return archive.path(0), data, ends


def test_f02_a_cut_at_every_byte_is_taken_back_to_the_last_whole_record(cut_file):
    path, data, ends = cut_file
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        assert last_whole_member(path, size) == max((end for end in ends if end <= size), default=0)


def test_f02_only_the_first_bytes_count(cut_file):
    path, _, ends = cut_file
    assert last_whole_member(path, 0) == 0
    assert [last_whole_member(path, end) for end in ends] == ends


@pytest.mark.parametrize("rubbish", [b"\0" * 512, b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"\xff" * 90, b"rubbish"])
def test_f02_rubbish_after_the_last_record_is_not_one(cut_file, rubbish):
    path, data, _ = cut_file
    path.write_bytes(data + rubbish)
    assert last_whole_member(path, len(data) + len(rubbish)) == len(data)


def test_f02_what_was_not_committed_is_put_aside(cut_file, tmp_path):
    path, data, ends = cut_file
    assert trim(path, ends[2], tmp_path / "quarantine") == ends[2]
    assert path.read_bytes() == data[: ends[2]]
    assert [tail.read_bytes() for tail in (tmp_path / "quarantine").iterdir()] == [data[ends[2] :]]


def test_f02_where_committed_bytes_are_gone_whole_records_are_kept_and_the_rest_put_aside(cut_file, tmp_path):
    path, data, ends = cut_file
    path.write_bytes(data[: ends[1] + 5])
    assert trim(path, len(data), tmp_path / "quarantine") == ends[1]
    assert path.read_bytes() == data[: ends[1]]
    assert [tail.read_bytes() for tail in (tmp_path / "quarantine").iterdir()] == [data[ends[1] : ends[1] + 5]]


def test_f02_a_file_in_good_order_is_left_alone(cut_file, tmp_path):
    path, data, _ = cut_file
    assert trim(path, len(data), tmp_path / "quarantine") == len(data)
    assert path.read_bytes() == data
    assert not (tmp_path / "quarantine").exists()


def test_f02_a_file_that_is_gone_has_no_bytes(tmp_path):
    assert trim(tmp_path / "gone.warc.gz", 100, tmp_path / "quarantine") == 0


def test_a_place_beyond_the_file_is_an_error_and_not_a_page(cut_file):
    path, data, _ = cut_file
    with pytest.raises(zlib.error):
        read_record(path, RecordPlace(0, len(data), 10))
    assert io.BytesIO(data).read(2) == b"\x1f\x8b"
