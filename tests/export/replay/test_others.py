"""What the tools of others say of our files; each test is skipped where its tool is not installed."""

import contextlib
import http.client
import json
import random
import socket
import subprocess
import time
import zipfile
from collections import Counter

from analecta.store.archive import RecordPlace, read_answer
from analecta.urls import canonical
from tests.export.exporting import exported
from tests.publish.shelf import Shelf

BITS = "a B / // .. . %2e %252E %2F % ? & = + %20 ä %ff # %23 ~ sid= 0123456789abcdef0123456789abcdef ( x.aspx ; [ | ^"


def test_wacz_validate_finds_nothing_wrong(grown, tmp_path, run):
    for topic in (None, grown.topic_names()[0]):
        exported(grown, "archive", "wacz", tmp_path / "a.wacz", topic=topic, now=1.8e9, text=True, force=True)
        said = run("wacz", "validate", "-f", tmp_path / "a.wacz")
        assert said.returncode == 0, said.stdout + said.stderr


def test_our_index_is_that_of_cdxj_indexer_to_the_byte(grown, tmp_path, run):
    exported(grown, "archive", "cdxj", tmp_path / "ours.cdxj", all=True)
    theirs = run("cdxj-indexer", "--sort", grown.archive)
    assert (tmp_path / "ours.cdxj").read_text() == theirs.stdout


def test_the_index_of_a_package_is_that_of_cdxj_indexer(grown, tmp_path, run):
    exported(grown, "archive", "wacz", tmp_path / "a.wacz", topic=grown.topic_names()[0])
    zipfile.ZipFile(tmp_path / "a.wacz").extractall(tmp_path)
    theirs = run("cdxj-indexer", "--sort", tmp_path / "archive")
    ours = subprocess.run(
        ["gzip", "-dc", tmp_path / "indexes/index.cdx.gz"], capture_output=True, text=True, check=True
    )
    assert ours.stdout == theirs.stdout


def test_odd_urls_have_the_keys_that_others_give_them(tmp_path, run):
    dice = random.Random(5)
    hosts = ("h.test", "www.h.test", "www2.h.test:8080", "192.0.2.1", "[2001:db8::1]:81", "bücher.test", "a_b.test.")
    with Shelf(tmp_path / "lib") as shelf:
        for n in range(500):
            end = "".join(dice.choices(BITS.split(), k=n % 9))
            if found := canonical(f"http://{dice.choice(hosts)}/{end}"):
                shelf.said(found.url)
    exported(shelf.library, "archive", "cdxj", tmp_path / "ours.cdxj")
    assert (tmp_path / "ours.cdxj").read_text() == run("cdxj-indexer", "--sort", shelf.library.archive).stdout


def test_warcio_and_gzip_find_the_copied_archive_whole(grown, tmp_path, run):
    exported(grown, "archive", "wacz", tmp_path / "a.wacz", topic=grown.topic_names()[0])
    zipfile.ZipFile(tmp_path / "a.wacz").extractall(tmp_path)
    (warc,) = (tmp_path / "archive").iterdir()
    assert run("warcio", "check", warc).returncode == 0
    assert run("gzip", "-t", warc).returncode == 0


@contextlib.contextmanager
def wayback(program, folder):
    """A pywb that serves the collections of a folder: its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [program, "-p", str(port), "-b", "127.0.0.1"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield _awaited(port)
        finally:
            process.terminate()


def _awaited(port):
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return port
        time.sleep(0.1)
    raise TimeoutError


def replayed(port, time, url):
    """Status and body as the server of the page sent them."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("GET", f"/c/{time}id_/{url}", headers={"Accept-Encoding": "gzip, deflate, br, zstd"})
        said = connection.getresponse()
        return str(said.status), said.read()


def checked(port, archive, index, count=20):
    """Replay a random choice of what an index has, copies of pages and redirects among it: how many were right.

    To pywb `www.h.test/a` and `h.test/a` are one, and where one leads to the other it shows the page at once, or says
    400 where it does not have that: only keys with one line are asked for, and no redirects of www.
    """
    keys = Counter(line.split(" ", 1)[0] for line in index.splitlines())
    split = (line.split(" ", 2) for line in index.splitlines())
    lines = [(key, when, json.loads(fields)) for key, when, fields in split]
    payloads = {one["digest"]: one for _, _, one in lines if one.get("mime") != "warc/revisit"}
    asked = [(when, one) for key, when, one in lines if keys[key] == 1 and not _folded(one)]
    random.Random(7).shuffle(asked)
    copies = [line for line in asked if line[1].get("mime") == "warc/revisit"][:3]
    redirects = [line for line in asked if line[1]["status"] == "301"][:1]
    for when, one in asked[:count] + copies + redirects:
        held = payloads[one["digest"]]
        _, body = read_answer(archive / held["filename"], RecordPlace(0, int(held["offset"]), int(held["length"])))
        assert replayed(port, when, one["url"]) == (one["status"], body), one
    return count * (len(asked) >= count), len(copies), len(redirects)


def _folded(one):
    return one["status"] == "301" and "//www." in one["url"]


def test_a_package_replays_in_pywb_with_the_right_bytes(grown, tmp_path, run, tool):
    exported(grown, "archive", "wacz", tmp_path / "a.wacz")
    program = tool("wayback")
    run("wb-manager", "init", "c", cwd=tmp_path)
    assert run("wb-manager", "add", "--unpack-wacz", "c", tmp_path / "a.wacz", cwd=tmp_path).returncode == 0
    home = tmp_path / "collections/c"
    with wayback(program, tmp_path) as port:
        assert checked(port, home / "archive", (home / "indexes/index.cdxj").read_text()) == (20, 3, 1)


def test_the_library_itself_replays_in_pywb_by_our_index(grown, tmp_path, tool):
    program = tool("wayback")
    home = tmp_path / "collections/c"
    home.mkdir(parents=True)
    (home / "archive").symlink_to(grown.archive)
    (home / "indexes").mkdir()
    exported(grown, "archive", "cdxj", home / "indexes/index.cdxj")
    with wayback(program, tmp_path) as port:
        assert checked(port, grown.archive, (home / "indexes/index.cdxj").read_text()) == (20, 3, 1)
