import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.errors import BadUse
from analecta.seed import READERS
from analecta.seed.urls import address, read_urls


def seeds(path, data: bytes):
    path.write_bytes(data)
    return read_urls(path, "roses")


def test_one_url_a_line_makes_a_topic(tmp_path):
    reading = seeds(tmp_path / "s", b"https://a.test/\nhttp://b.test/x?y=1\n")
    assert reading.topics[0].name == "roses"
    assert reading.topics[0].seeds == ("https://a.test/", "http://b.test/x?y=1")


def test_comments_blank_lines_bom_and_crlf_are_no_seeds(tmp_path):
    data = b"\xef\xbb\xbf# mine\r\n\r\n  https://a.test/ # the best\r\nhttps://b.test/#part\r\n"
    reading = seeds(tmp_path / "s", data)
    assert reading.topics[0].seeds == ("https://a.test/", "https://b.test/")
    assert not reading.skipped


def test_a_file_in_utf_16_is_read(tmp_path):
    reading = seeds(tmp_path / "s", "https://a.test/ä".encode("utf-16"))
    assert reading.topics[0].seeds == ("https://a.test/%C3%A4",)


def test_the_same_page_twice_is_one_seed(tmp_path):
    reading = seeds(tmp_path / "s", b"https://a.test/\nHTTP://A.test:80/\nhttps://a.test/#x\n")
    assert reading.topics[0].seeds == ("https://a.test/",)
    assert reading.repeated == 2


def test_bare_hosts_are_taken_as_https(tmp_path):
    reading = seeds(tmp_path / "s", b"example.org\nexample.org/roses?x\nexample.org:8443/\n")
    assert reading.topics[0].seeds == (
        "https://example.org/",
        "https://example.org/roses?x",
        "https://example.org:8443/",
    )


def test_bad_lines_are_reported_with_their_number_and_skipped(tmp_path):
    reading = seeds(tmp_path / "s", b"https://a.test/\nftp://b.test/\n\ntwo words\nroses\nhttps://[::/\n")
    assert [skipped.line for skipped in reading.skipped] == [2, 4, 5, 6]
    assert all(skipped.why for skipped in reading.skipped)


@pytest.mark.parametrize("data", [b"", b"# nothing\n", b"mailto:me@b.test\n", b"\xff\x00\xfe"])
def test_a_file_without_any_seed_is_bad_use(tmp_path, data):
    with pytest.raises(BadUse):
        seeds(tmp_path / "s", data)


def test_a_file_that_is_not_there_is_bad_use(tmp_path):
    with pytest.raises(BadUse, match="No such file"):
        read_urls(tmp_path / "none", "x")


@given(st.text(max_size=60))
def test_any_line_is_an_address_or_has_a_reason(words):
    url, why = address(words.strip() or "x")
    assert bool(url) != bool(why)


def test_each_reader_has_a_name():
    assert READERS["seeds"] is read_urls
