import gzip
import hashlib
import json
import resource
import signal
import zipfile
from io import BytesIO

import pytest
from warcio.archiveiterator import ArchiveIterator

from analecta.errors import ResourceError, UsageError
from analecta.store.warc import records
from tests.export.exporting import exported
from tests.publish.shelf import TOPICS, Shelf

CREATED = 1_800_000_000.5


@pytest.fixture
def out(tmp_path):
    return tmp_path / "some.wacz"


def packed(library, out, topic=None, **more):
    """The files of the package, after it was written."""
    exported(library, "archive", "wacz", out, topic=topic, now=CREATED, force=True, **more)
    with zipfile.ZipFile(out) as file:
        assert file.testzip() is None
        return {name: file.read(name) for name in file.namelist()}


def listed(files, name="pages"):
    return [json.loads(line) for line in files[f"pages/{name}.jsonl"].splitlines()]


def exchanges(warc):
    """Type, URL and bytes of the records of a WARC file."""
    return [
        (one.rec_type, one.rec_headers["WARC-Target-URI"], one.content_stream().read())
        for one in ArchiveIterator(BytesIO(warc))
    ]


def test_it_has_what_wacz_1_1_1_asks_for(shelf, out):
    files = packed(shelf, out)
    about = json.loads(files["datapackage.json"])
    assert (about["profile"], about["wacz_version"]) == ("data-package", "1.1.1")
    assert about["created"] == about["modified"] == "2027-01-15T08:00:00Z"
    names = {"archive/data-00000.warc.gz", "indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"}
    assert names < {one["path"] for one in about["resources"]}


def test_digests_and_sizes_are_those_of_the_files(shelf, out):
    files = packed(shelf, out)
    for one in json.loads(files["datapackage.json"])["resources"]:
        data = files.pop(one["path"])
        assert (one["hash"], one["bytes"]) == (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))
    said = json.loads(files.pop("datapackage-digest.json"))
    assert said["hash"] == f"sha256:{hashlib.sha256(files.pop('datapackage.json')).hexdigest()}"
    assert files == {}


def test_what_is_compressed_is_not_compressed_again(shelf, out):
    packed(shelf, out)
    with zipfile.ZipFile(out) as file:
        kinds = {one.filename: one.compress_type for one in file.infolist() if one.filename.endswith(".gz")}
    assert len(kinds) == 2
    assert set(kinds.values()) == {zipfile.ZIP_STORED}


def test_the_same_library_gives_the_same_bytes(shelf, out):
    packed(shelf, out)
    first = out.read_bytes()
    packed(shelf, out)
    assert out.read_bytes() == first


def test_records_are_copied_byte_for_byte_with_their_requests(shelf, out):
    files = packed(shelf, out, "birds / owls")
    (warc,) = (data for name, data in files.items() if name.startswith("archive/"))
    source = next((shelf.archive).glob("*.gz"))
    (owl,) = (one for one in records(source, source.stat().st_size) if one.url.endswith("/owl"))
    assert warc.endswith(source.read_bytes()[owl.offset : owl.offset + owl.whole])
    assert [kind for kind, _, _ in exchanges(warc)] == ["warcinfo", "response", "request"]


def test_the_first_record_tells_what_it_is_part_of_and_who_crawled(shelf, out):
    files = packed(shelf, out, "bees")
    _, _, said = exchanges(files["archive/data-00000.warc.gz"])[0]
    assert b"isPartOf: bees\r\n" in said
    assert b"operator: me@example.org\r\n" in said


def test_the_index_leads_to_the_copied_records(grown, out, monkeypatch):
    monkeypatch.setattr("analecta.export.wacz.WARC_SIZE", 200_000)
    files = packed(grown, out)
    lines = gzip.decompress(files["indexes/index.cdx.gz"]).decode().splitlines()
    assert len([name for name in files if name.startswith("archive/")]) > 2
    for line in lines:
        one = json.loads(line.split(" ", 2)[2])
        start = int(one["offset"])
        member = files[f"archive/{one['filename']}"][start : start + int(one["length"])]
        assert f"WARC-Target-URI: {one['url']}\r\n".encode() in gzip.decompress(member)


def test_the_small_index_leads_to_the_blocks_of_the_large_one(grown, out):
    files = packed(grown, out)
    first, *lines = files["indexes/index.idx"].decode().splitlines()
    assert json.loads(first.split(" ", 2)[2]) == {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}
    assert len(lines) > 1
    for line in lines:
        key, time, fields = line.split(" ", 2)
        block = json.loads(fields)
        data = files["indexes/index.cdx.gz"][block["offset"] : block["offset"] + block["length"]]
        assert gzip.decompress(data).decode().startswith(f"{key} {time} {{")


def test_pages_on_topics_are_listed_and_apart_from_them_the_others(shelf, out):
    files = packed(shelf, out)
    head, *pages = listed(files)
    assert head == {"format": "json-pages-1.0", "id": "pages", "title": "All pages", "hasText": False}
    assert [page["url"][14:] for page in pages] == ["wren", "robin", "owl", "bee"]
    assert pages[0]["ts"] == "2023-11-14T22:13:22.123456Z"
    assert [page["url"][14:] for page in listed(files, "extraPages")[1:]] == ["wren-copy", "other"]


def test_the_list_has_the_text_of_pages_where_asked(shelf, out):
    head, *pages = listed(packed(shelf, out, text=True))
    assert head["hasText"] is True
    assert pages[0]["text"] == "words"


def test_an_example_is_the_page_to_show_first(shelf, out):
    assert json.loads(packed(shelf, out)["datapackage.json"])["mainPageUrl"] == "http://h.test/wren"
    assert json.loads(packed(shelf, out, "bees")["datapackage.json"])["mainPageUrl"] == "http://h.test/bee"


def test_f35_what_owners_want_no_copy_of_is_left_out_and_told(shelf, out):
    files = packed(shelf, out)
    warc = gzip.decompress(files["archive/data-00000.warc.gz"])
    assert b"secret" not in warc + gzip.decompress(files["indexes/index.cdx.gz"])
    assert "2 pages whose owners want no copy" in json.loads(files["datapackage.json"])["description"]
    everything = packed(shelf, out, all=True)
    assert b"secret" in gzip.decompress(everything["archive/data-00000.warc.gz"])


def test_f37_hostile_titles_stay_in_their_strings(tmp_path, out):
    title = '</script><script>\u202e\0\r\n"{{7*7}}'
    with Shelf(tmp_path / "lib") as shelf:
        shelf.library.topic_names((*TOPICS, title))
        shelf.page("http://h.test/a", title=title, topic=len(TOPICS))
    files = packed(shelf.library, out, title)
    assert listed(files)[1]["title"] == json.loads(files["datapackage.json"])["title"] == title
    _, _, said = exchanges(files["archive/data-00000.warc.gz"])[0]
    assert '\r\nisPartOf: </script><script>\u202e\0 "{{7*7}}\r\n' in said.decode()


def test_the_summary_counts_pages_answers_bytes_and_what_is_left_out(shelf, out):
    told, left = exported(shelf, "archive", "wacz", out, topic="birds", now=CREATED)
    assert told == f"4 pages, 6 records, {out.stat().st_size:,} bytes: {out}"
    assert left == "Left out: 1 page whose owners want no copy shown (--all has them)."


def test_a_name_has_to_end_in_wacz(shelf, tmp_path):
    with pytest.raises(UsageError, match=r"has to end in \.wacz"):
        exported(shelf, "archive", "wacz", tmp_path / "some.zip")


def test_a_file_is_replaced_only_when_asked(shelf, out):
    out.write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        exported(shelf, "archive", "wacz", out)
    assert out.read_text() == "mine"


def test_when_nothing_may_be_shown_that_is_told(tmp_path, out):
    with Shelf(tmp_path / "lib") as shelf:
        shelf.page("http://h.test/a", flags=4)
    with pytest.raises(UsageError, match="want no copy shown"):
        exported(shelf.library, "archive", "wacz", out, topic="birds")
    assert not out.exists()


@pytest.fixture
def small_disk():
    """Files can grow to 100 kB only, as if the disk were full then."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, old)


def test_f03_a_full_disk_leaves_nothing_half_written(grown, out, small_disk):
    with pytest.raises(ResourceError, match=r"cannot write .*some.wacz: File too large"):
        exported(grown, "archive", "wacz", out)
    assert list(out.parent.iterdir()) == []
