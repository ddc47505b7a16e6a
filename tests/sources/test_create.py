import contextlib
import json

import pytest

from analecta.errors import ResourceError, UsageError
from analecta.parse import Parser
from analecta.parse.saved_page import own_address, read_page
from analecta.settings.schema import NegativeSettings, Settings
from analecta.sources.create import MAX_STARTS, start
from analecta.sources.papers.paper import Paper
from tests.hostile import HostileServer, answer
from tests.sources.test_folder import folder


def begin(files, engines=None, settings=Settings()):
    return start("lib", files, [], [], engines or {}, settings, lambda _: contextlib.nullcontext())[0]


SAVED = "<!-- saved from url=(0020)https://own.test/p -->\n<p>Roses <a href='/x'>x</a> <a href='https://b.test/'>b</a>"


def test_links_of_files_are_where_to_begin_the_page_itself_first(tmp_path):
    files = {"Roses/a.html": SAVED, "Roses/b.html": "<p>roses <a href=c>c</a><a rel=nofollow href=http://n.test>n</a>"}
    topic = begin({"examples": [folder(tmp_path, files)]}).topics[0]
    assert topic.starts == ("https://own.test/p", "https://own.test/x", "https://b.test/")
    assert (topic.seeds, len(topic.examples)) == ((), 2)


def test_seeds_are_no_starts_and_others_have_none(tmp_path):
    files = {"Roses/a.html": SAVED, "Roses/s.urls": "http://b.test/\nhttps://own.test/p", "OTHERS/b.html": SAVED}
    reading = begin({"examples": [folder(tmp_path, files)]})
    assert reading.topics[0].starts == ("https://own.test/x",)
    assert reading.others == NegativeSettings((), (str(tmp_path / "OTHERS" / "b.html"),))


def test_there_are_not_too_many_places_to_begin_at(tmp_path):
    links = "".join(f"<a href=http://a.test/%s-{i}>x</a>" for i in range(90))
    files = {f"Roses/{i}.html": "<p>roses " + links.replace("%s", str(i)) for i in range(10)}
    topic = begin({"examples": [folder(tmp_path, files)]}).topics[0]
    assert len(topic.starts) == MAX_STARTS
    assert len({url.partition("-")[0] for url in topic.starts}) == 10


def test_a_file_without_text_is_told_and_left_out(tmp_path):
    files = {"Roses/a.html": SAVED, "Roses/b.bin": b"\0\1\2" * 50, "Moss/c.jpg": b"\xff\xd8\xff\xe0" * 20}
    reading = begin({"examples": [folder(tmp_path, files)]})
    assert [topic.name for topic in reading.topics] == ["Roses"]
    assert {skipped.text for skipped in reading.skipped} == {"b.bin", "c.jpg"}
    assert "no text" in reading.skipped[0].why
    with pytest.raises(UsageError, match="nor does any other file"):
        begin({"examples": [folder(tmp_path / "n", {"Moss/c.jpg": b"\xff\xd8\xff\xe0" * 20})]})


def test_files_that_lead_nowhere_need_addresses_or_an_engine(tmp_path):
    path = folder(tmp_path / "e", {"Roses/a.txt": "All about roses, and nothing else."})
    with pytest.raises(UsageError, match=r"not where to begin.*--seeds FILE.*--engine"):
        begin({"examples": [path]})
    (tmp_path / "s").write_text("https://s.test/")
    assert begin({"examples": [path], "seeds": [tmp_path / "s"]}).topics[1].name == "lib"


def test_an_engine_finds_where_to_begin_for_topics_that_files_show(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = folder(tmp_path / "e", {"Roses/a.txt": "All about roses.", "Moss/m.html": SAVED})
    body = json.dumps({"results": [{"url": "https://found.test/roses", "title": "Roses"}]}).encode()
    with HostileServer({"/search": answer(body, content_type="application/json")}) as server:
        reading = begin({"examples": [path]}, {"searxng": f"http://{server.address}/search"})
    topics = {topic.name: topic for topic in reading.topics}
    assert (topics["Roses"].seeds, topics["Roses"].starts) == ((), ("https://found.test/roses",))
    assert "https://found.test/roses" not in topics["Moss"].starts
    assert not reading.queries


def test_what_could_not_be_read_of_a_paper_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    body = json.dumps({"results": [{"url": f"https://found.test/{n}"} for n in range(9)]}).encode()
    papers = [Paper("On bees /\nand hives", why="no list of references was found")]
    with HostileServer({"/search": answer(body, content_type="application/json")}) as server:
        engines = {"searxng": f"http://{server.address}/search"}
        reading, told = start("lib", {}, [], papers, engines, Settings(), lambda _: contextlib.nullcontext())
    assert told == ["On bees /\nand hives: no list of references was found"]
    assert [topic.name for topic in reading.topics] == ["On bees/and hives"]


def test_a_feed_is_read_from_its_address():
    feed = b"<rss><channel><title>Bees</title><item><link>/1</link></item></channel></rss>"
    with HostileServer({"/feed": answer(feed), "/page": answer(b"<html><p>no feed")}) as server:
        topic = begin({"feed": [f"http://{server.address}/feed"]}).topics[0]
        assert (topic.name, topic.seeds) == ("Bees", (f"http://{server.address}/1",))
        with pytest.raises(UsageError, match="/page"):
            begin({"feed": [f"http://{server.address}/page"]})
        with pytest.raises(ResourceError, match="HTTP 404"):
            begin({"feed": [f"http://{server.address}/gone"]})


@pytest.mark.parametrize(
    ("page", "url"),
    [
        (b"<!-- saved from url=(0019)https://a.test/p?x=1&y -->", "https://a.test/p?x=1&y"),
        (b"<!--\n Page saved with SingleFile \n url: https://a.test/s \n-->", "https://a.test/s"),
        (b"<link href='https://a.test/c?x&amp;y' rel=canonical>", "https://a.test/c?x&y"),
        (b"<meta content=\"https://a.test/o\" property='og:url'/>", "https://a.test/o"),
        (b"<link rel=canonical href=/relative><p>x", None),
        (b"<a rel=canonical href=https://a.test/>", None),
    ],
)
def test_a_saved_page_says_where_it_was(page, url):
    target = own_address(page)
    assert (target and target.url) == url


def test_a_file_is_read_as_a_page_whatever_it_is(tmp_path):
    files = {"a.md": "# Roses", "b": "<html><p>Roses", "c.exe": b"MZ\0\1" * 30, "d.html": b"x\2<\3" * 99}
    folder(tmp_path, files | {"e.txt": "Röschen".encode("latin-1")})
    with Parser() as parser:
        texts = {name: read_page(tmp_path / name, name, parser).text for name in (*files, "e.txt")}
        assert "No such file" in read_page(tmp_path / "none", "none", parser).limits
    assert ("Roses" in texts.pop("a.md"), [*texts.values()]) == (True, ["Roses", "", "", "Röschen"])
