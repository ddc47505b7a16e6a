from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.errors import UsageError
from analecta.sources import SOURCES
from analecta.sources.files import MAX_BYTES
from analecta.sources.lists import read_urls
from analecta.urls import address, address_line, evident


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
    with pytest.raises(UsageError):
        seeds(tmp_path / "s", data)


def test_a_file_that_is_not_there_is_bad_use(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        read_urls(tmp_path / "none", "x")


@given(st.text(max_size=60))
def test_any_line_is_an_address_or_has_a_reason(words):
    for read in (address, address_line):
        url, why = read(words.strip() or "x")
        assert bool(url) != bool(why)


@pytest.mark.parametrize(
    ("words", "is_link"),
    [
        ("https://a.test", True),
        ("www.a.test/x", True),
        ("javascript:x()", True),
        ("Node.js", False),
        ("C: intro", False),
    ],
)
def test_a_name_with_a_dot_is_no_link_where_names_may_stand(words, is_link):
    assert evident(words) == is_link


def test_each_reader_has_a_name():
    assert list(SOURCES) == ["seeds", "examples", "bookmarks", "outline", "feed", "sites"]
    assert SOURCES["seeds"] is read_urls


# --- files that are no good, for every reader of a file --------------------------------------------------------------

OF_FILES = {name: read for name, read in SOURCES.items() if name != "examples"}


@pytest.mark.parametrize("read", OF_FILES.values(), ids=OF_FILES)
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"\x7fELF\x02\x01\x00\x00\xff\xfe\x90", "text file|no bookmark file|no feed"),
        (b"caf\xe9 \xff\n", "UTF-8|no bookmark file|no feed"),
        (b"<!DOCTYPE html><title>News</title><p>Read <a href='/x'>this</a>", "bookmark|DOCTYPE|usable"),
    ],
)
def test_a_file_of_the_wrong_kind_is_one_sentence(tmp_path, read, data, said):
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(UsageError, match=said) as raised:
        read(tmp_path / "f", "x")
    assert str(tmp_path / "f") in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("read", OF_FILES.values(), ids=OF_FILES)
def test_a_folder_a_large_file_and_an_address_are_refused(tmp_path, read):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2_000_000_000)  # takes no room on the disk
    for path, said in ((tmp_path, "Is a directory"), (tmp_path / "large", "larger than 50 MB")):
        with pytest.raises(UsageError, match=said):
            read(path, "x")
    with pytest.raises(UsageError, match="save what is there to a file"):
        read(Path("https://a.test/feed.xml"), "x")


def test_a_file_that_may_not_be_read_is_bad_use(tmp_path):
    path = tmp_path / ("n" * 300)  # a name that is too long: root may read what others may not
    with pytest.raises(UsageError, match="cannot read"):
        read_urls(path, "x")


def test_what_grows_while_it_is_read_is_refused_too():
    with pytest.raises(UsageError, match="larger"):
        read_urls(Path("/dev/zero"), "x")
    assert MAX_BYTES == 50_000_000
