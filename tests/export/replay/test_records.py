import pytest

from analecta.errors import ResourceError
from analecta.store.archive import Archive, OriginalRecord
from analecta.store.warc import info, records
from tests.making import answer


@pytest.fixture
def archive(tmp_path):
    made = Archive(tmp_path, "p00", info={"operator": "me"})
    yield made
    made.close()


def read(archive):
    archive.flush()
    return list(records(archive.path(0), archive.length))


def test_an_answer_is_told_with_the_bytes_of_its_request(archive):
    place = archive.write(answer("http://h.test/a"))
    end = archive.length
    archive.write(answer("http://h.test/b"))
    first, second = read(archive)
    assert (first.offset, first.length, first.whole) == (place.offset, place.length, end - place.offset)
    assert (second.url, second.offset) == ("http://h.test/b", end)


def test_dates_have_microseconds(archive):
    archive.write(answer(began=1_700_000_000.123456))
    assert read(archive)[0].date == "2023-11-14T22:13:20.123456Z"


def test_a_revisit_tells_what_it_refers_to(archive):
    archive.write(answer("http://h.test/b"), original=OriginalRecord("http://h.test/a", 1.0, "sha1:X"))
    (one,) = read(archive)
    assert (one.kind, one.refers_to, one.mime) == ("revisit", "http://h.test/a", "warc/revisit")


@pytest.mark.parametrize(
    ("head", "status", "mime"),
    [
        (b"HTTP/1.1 404 Not Found\r\n\r\n", "404", None),
        (b"HTTP/1.1 200 OK\r\ncontent-type:text/html;charset=x\r\n\r\n", "200", "text/html"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: \r\n\r\nContent-Type: a/b", "200", ""),
        (b"HTTP/1.1 200 OK\nX-Content-Type: a/b\n\nContent-Type: c/d", "200", None),
        (b"HTTP/1.1 200 OK\r\nContent-Type: caf\xe9\r\n\r\n", "200", "café"),
        (b"nonsense", "", None),
    ],
)
def test_f14_odd_heads_are_read_as_far_as_they_go(archive, head, status, mime):
    archive.write(answer(head=head))
    (one,) = read(archive)
    assert (one.status, one.mime) == (status, mime)


def test_a_body_larger_than_memory_is_worth_is_passed_over(archive):
    archive.write(answer("http://h.test/big", bytes(3_000_000)))
    archive.write(answer("http://h.test/packed", b"%PDF-" + bytes(range(256)) * 2000))
    archive.write(answer("http://h.test/c"))
    assert [one.url[-3:] for one in read(archive)] == ["big", "ked", "t/c"]


def test_what_is_not_committed_is_not_read(archive):
    archive.write(answer("http://h.test/a"))
    archive.flush()
    length = archive.length
    with archive.path(0).open("ab") as file:
        file.write(b"half a rec")
    assert len(list(records(archive.path(0), length))) == 1


@pytest.mark.parametrize("damage", ["cut", "spoil"])
def test_f02_a_damaged_file_is_told_by_its_place(archive, damage):
    archive.write(answer("http://h.test/a"))
    place = archive.write(answer("http://h.test/b"))
    archive.flush()
    data = archive.path(0).read_bytes()
    archive.path(0).write_bytes(data[: place.offset + 9] + b"!" * 99 * (damage == "spoil"))
    with pytest.raises(ResourceError, match=f"byte {place.offset:,}"):
        list(records(archive.path(0), archive.length))


def test_the_first_record_says_how_a_file_was_made(archive):
    archive.flush()
    assert info(archive.path(0), archive.length)["operator"] == "me"
