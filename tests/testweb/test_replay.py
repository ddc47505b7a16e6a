import gzip
import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from analecta.errors import UsageError
from analecta.testweb.process import ServerProcess
from analecta.testweb.search import WebSearch
from analecta.testweb.warc_index import WarcIndex
from analecta.testweb.webs import Replay, SearchedWeb, make
from tests.process import heed

PAGE = (
    b"<html><head><title>On %b</title></head><body><script>hidden()</script><p>All about %b and more.</p></body></html>"
)


def record(url, block, kind="response", **more):
    head = {"WARC-Type": kind, "WARC-Target-URI": url, "WARC-Date": "2024-05-01T00:00:00Z", **more}
    head |= {"WARC-Record-ID": "<urn:uuid:00000000-0000-4000-8000-000000000001>", "Content-Length": str(len(block))}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in head.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def said(body, status=b"200 OK", head=b"Content-Type: text/html"):
    return b"HTTP/1.1 %b\r\n%b\r\n\r\n%b" % (status, head, body)


def page(words):
    return said(PAGE % (words, words))


def warc(path, *records, packed=True):
    path.write_bytes(b"".join(gzip.compress(one) if packed else one for one in records))
    return path


@pytest.fixture
def archives():
    opened = []

    def load(*paths):
        opened.append(WarcIndex(paths))
        return opened[-1]

    yield load
    for one in opened:
        one.close()


@pytest.mark.parametrize("packed", [True, False])
def test_the_archived_bytes_are_served_whatever_the_scheme(tmp_path, archives, packed):
    big = b"x" * 200_000
    found = archives(
        warc(
            tmp_path / "a.warc",
            record("https://a.test/1", page(b"bees")),
            record("http://a.test/2", said(big)),
            packed=packed,
        )
    )
    assert found.answer("http://a.test/1").body == found.answer("https://a.test/1").body == PAGE % (b"bees", b"bees")
    assert found.answer("https://a.test/2").body == big


def test_what_was_not_archived_is_404(tmp_path, archives):
    web = Replay(archives(warc(tmp_path / "a.warc.gz", record("http://a.test/1", page(b"bees")))))
    assert web.answer("a.test", "/2", {}).status == 404
    assert web.answer("a.test", "/robots.txt", {}).status == 404


def test_status_and_headers_are_kept_and_those_of_the_connection_are_not(tmp_path, archives):
    head = b"Content-Type: text/x\r\nConnection: close\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\nX-Own: 1"
    block = said(b"4\r\nWiki\r\n5;a=b\r\npedia\r\n0\r\n\r\n", b"418 I'm a teapot", head)
    answer = archives(warc(tmp_path / "a.warc.gz", record("http://a.test/", block))).answer("http://a.test/")
    assert (answer.status, answer.reason, answer.body) == (418, b"I'm a teapot", b"Wikipedia")
    assert answer.head == b"Content-Type: text/x\r\nX-Own: 1\r\n"


def test_a_body_that_is_only_called_chunked_is_left_alone(tmp_path, archives):
    block = said(b"plain text", head=b"Transfer-Encoding: chunked")
    assert (
        archives(warc(tmp_path / "a.warc.gz", record("http://a.test/", block))).answer("http://a.test/").body
        == b"plain text"
    )


@pytest.mark.parametrize("block", [b"HTTP/2 200 \r\nA: b\r\n\r\n%b", b"HTTP/1.0 200 OK\nA: b\n\n%b"])
def test_answers_over_http_2_and_heads_with_bare_line_ends_are_served(tmp_path, archives, block):
    body = b"one\r\n\r\ntwo"
    answer = archives(warc(tmp_path / "a.warc.gz", record("http://a.test/", block % body))).answer("http://a.test/")
    assert (answer.status, answer.head, answer.body) == (200, b"A: b\r\n", body)


def test_coded_bodies_stay_coded(tmp_path, archives):
    body = gzip.compress(b"hello")
    block = said(body, head=b"Content-Encoding: gzip\r\nContent-Type: text/html")
    answer = archives(warc(tmp_path / "a.warc.gz", record("http://a.test/", block))).answer("http://a.test/")
    assert answer.body == body
    assert b"Content-Encoding: gzip" in answer.head


def test_revisits_are_resolved_by_digest_and_by_address(tmp_path, archives):
    one = record("http://a.test/1", page(b"bees"), WARC_Payload_Digest="sha1:AAA")
    by_digest = record("http://a.test/2", said(b""), "revisit", WARC_Payload_Digest="sha1:AAA")
    by_address = record("http://a.test/3", b"", "revisit", WARC_Refers_To_Target_URI="http://a.test/1")
    found = archives(warc(tmp_path / "a.warc.gz", one, by_digest, by_address))
    assert {found.answer(f"http://a.test/{i}").body for i in (1, 2, 3)} == {PAGE % (b"bees", b"bees")}


def test_a_redirect_to_https_does_not_hide_the_page_nor_loop(tmp_path, archives):
    def moved(url):
        return record(url, said(b"", b"301 Moved", b"Location: " + url.replace("http:", "https:").encode()))

    real = record("https://a.test/1", page(b"bees"))
    found = archives(warc(tmp_path / "a.warc.gz", real, moved("http://a.test/1"), moved("http://a.test/2")))
    assert found.answer("http://a.test/1").status == 200
    assert found.answer("http://a.test/2") is None


def test_several_files_and_folders_make_one_web(tmp_path, archives):
    (tmp_path / "more").mkdir()
    one = warc(tmp_path / "a.warc.gz", record("http://a.test/", page(b"bees")))
    warc(tmp_path / "more" / "b.warc.gz", record("http://b.test/", page(b"chess")))
    found = archives(one, tmp_path / "more")
    assert found.hosts == {"a.test": 1, "b.test": 1}
    assert len(found) == 2


def test_a_file_cut_short_is_served_as_far_as_it_goes(tmp_path, archives):
    path = warc(
        tmp_path / "a.warc.gz", *(record(f"http://a.test/{i}", page(os.urandom(300).hex().encode())) for i in range(5))
    )
    path.write_bytes(path.read_bytes()[:-100])
    found = archives(path)
    assert len(found) == 4
    assert "ends within a record" in found.warnings[0]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none.warc.gz", None, "no file or folder"),
        ("text.warc.gz", b"hello world\n" * 50, "not a WARC file"),
        ("empty.warc", b"", "no WARC response"),
        (
            "whole.warc.gz",
            gzip.compress(record("http://a.test/1", page(b"bees")) + record("http://a.test/2", page(b"chess"))),
            "recompress",
        ),
    ],
)
def test_bad_input_is_refused_with_a_sentence(tmp_path, name, content, says):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=says):
        WarcIndex([tmp_path / name])


def test_a_folder_without_archives_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"no \.warc"):
        WarcIndex([tmp_path])


def search(web, query, **more):
    target = "/search?" + "&".join(f"{k}={v}" for k, v in {"q": query, "format": "json", **more}.items())
    return json.loads(web.answer("localhost", target, {}).body)


@pytest.fixture
def engine(tmp_path, archives):
    words = [b"queen bees", b"bees queen", b"chess queen", b"sailing"] + [b"filler %d" % i for i in range(20)]
    found = archives(
        warc(tmp_path / "a.warc.gz", *(record(f"http://a.test/{i}", page(w)) for i, w in enumerate(words)))
    )
    return SearchedWeb(Replay(found).answer, WebSearch(found))


def test_search_finds_pages_in_the_form_of_searxng(engine):
    found = search(engine, "chess")
    assert set(found) >= {"query", "number_of_results", "results", "answers", "suggestions", "unresponsive_engines"}
    assert [(r["url"], r["title"]) for r in found["results"]] == [("http://a.test/2", "On chess queen")]
    assert "hidden" not in found["results"][0]["content"]


def test_search_honours_phrases_in_quotes(engine):
    assert search(engine, "bees+queen")["number_of_results"] == 3
    assert [r["url"] for r in search(engine, '"bees+queen"')["results"]] == ["http://a.test/1"]


def test_search_gives_further_results_page_by_page(engine):
    urls = [r["url"] for page in (1, 2) for r in search(engine, "filler", pageno=page)["results"]]
    assert len(set(urls)) == 20


def test_replay_is_served_from_its_own_process(tmp_path):
    path = warc(tmp_path / "a.warc.gz", record("https://a.test/x?b=1", page(b"bees")))
    with ServerProcess("analecta.testweb.webs:make", {"paths": [str(path)]}) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", "/x?b=1", headers={"Host": "a.test"})
        assert connection.getresponse().read() == PAGE % (b"bees", b"bees")
        connection.close()


def test_replay_says_where_it_listens_and_ends_at_ctrl_c(tmp_path):
    path = warc(tmp_path / "a.warc.gz", record("http://a.test/", page(b"bees")))
    command = [sys.executable, "-m", "analecta", "replay", str(path), "--port", "0"]
    with subprocess.Popen(command, preexec_fn=heed, stdout=subprocess.PIPE, text=True) as child:
        first = child.stdout.readline()
        child.send_signal(signal.SIGINT)
        rest = child.stdout.read()
    assert first.startswith("1 page of 1 host served on 127.0.0.1:")
    assert "connect_to" in rest
    assert child.returncode == 130


def test_a_real_archive_loads(archives):
    path = Path(os.environ.get("ANALECTA_DATA", "")) / "debdocs.warc.gz"
    if not path.is_file():
        pytest.skip("set ANALECTA_DATA to the folder with debdocs.warc.gz")
    assert len(archives(path)) == 12_456


def test_make_gives_what_a_server_process_needs(tmp_path):
    path = warc(tmp_path / "a.warc.gz", record("http://a.test/", page(b"bees")))
    web = make([str(path)], search=True)
    assert b"a.test" in web.answer("127.0.0.1", "/", {}).body
    web.search.archives.close()


def test_progress_runs_on_from_file_to_file(tmp_path):
    paths = [warc(tmp_path / f"{i}.warc.gz", record(f"http://a.test/{i}", page(b"bees"))) for i in range(3)]
    steps = []
    WarcIndex(paths, steps.append).close()
    assert steps == sorted(steps)
    assert steps[-1] == sum(path.stat().st_size for path in paths)


def test_replay_in_two_processes_answers_and_ends(tmp_path):
    path = warc(tmp_path / "a.warc.gz", record("http://a.test/", page(b"bees")))
    with ServerProcess("analecta.testweb.webs:make", {"paths": [str(path)], "search": True}, processes=2) as server:
        for _ in range(10):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("GET", "/search?q=bees&format=json", headers={"Host": "localhost"})
            assert json.loads(connection.getresponse().read())["number_of_results"] == 1
            connection.close()
