"""Back-links of a replayed web: `link:URL` at the search that answers as SearXNG does."""

import json
from urllib.parse import quote

import pytest

from analecta.testweb.community_web import CommunityWebServer
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.search import MadeUpPages, WebSearch
from analecta.testweb.webs import Replay, SearchedWeb
from tests.testweb.test_replay import archives, record, said, warc  # noqa: F401

PAGES = {
    "http://a.test/dir/1": b'<a href="2">x</a> <A class=y HREF=\'/3\'>y</A> <a href="https://b.test/?q=1&amp;r=2#top">z</a>',
    "http://a.test/dir/2": b'<base href="http://c.test/deep/"><a href=1>x</a><a href="http://a.test/3"></a>',
    "http://a.test/3": b'<a href="/3">itself</a> <link href="/dir/1"> no <!-- anchors -->',
}


@pytest.fixture
def web(tmp_path, archives):  # noqa: F811
    found = archives(
        warc(tmp_path / "a.warc.gz", *(record(url, said(body + b" words")) for url, body in PAGES.items()))
    )
    return SearchedWeb(Replay(found).answer, WebSearch(found))


def linking(web, url):
    body = web.answer("localhost", f"/search?format=json&q={quote('link:' + url, safe='')}", {}).body
    return [result["url"] for result in json.loads(body)["results"]]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.test/3", ["http://a.test/dir/1", "http://a.test/dir/2"]),
        ("https://a.test/dir/2", ["http://a.test/dir/1"]),
        ("http://b.test/?q=1&r=2", ["http://a.test/dir/1"]),
        ("http://c.test/deep/1", ["http://a.test/dir/2"]),
        ("http://a.test/dir/1", []),
        ("no url", []),
    ],
)
def test_the_pages_that_link_to_a_url_are_found_whether_it_is_archived_or_not(web, url, expected):
    assert linking(web, url) == expected


def test_that_it_knows_back_links_is_announced_where_searxng_tells_of_itself(web):
    assert json.loads(web.answer("localhost", "/config", {}).body)["backlinks"] == "link:"
    assert Replay(web.search.archives).answer("localhost", "/config", {}).status == 404


@pytest.mark.parametrize("made", [PocketWeb(300), CommunityWebServer(100)])
def test_made_up_webs_can_be_searched_and_what_asks_not_to_be_listed_is_not_found(made):
    web = SearchedWeb(made.answer, WebSearch(MadeUpPages(made.answer, made.listed)))
    found = json.loads(web.answer("127.0.0.1", "/search?format=json&q=bees", {}).body)["results"]
    assert {web.answer(*url[7:].replace("/", " /", 1).split(" "), {}).status for url in web.search.urls} == {200}
    assert found[0]["url"] in web.search.urls
    if isinstance(made, PocketWeb):
        assert not {one.url for one in made.pages() if "noindex" in one.robots or not one.allowed} & {*web.search.urls}
