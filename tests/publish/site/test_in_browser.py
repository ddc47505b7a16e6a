"""The site in a browser and before the checkers that others wrote."""

import re
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar
from urllib.parse import quote

import pytest

from analecta.communities.view import index_communities
from analecta.urls import hex_id
from tests.browser import Browser, needs_axe, needs_browser, needs_nu, nu
from tests.publish.site.conftest import EVIL, best_of


@pytest.fixture(scope="module")
def pages(hostile):
    folder = hostile.folder.parent / "site"
    copy = folder / f"copies/{hex_id(best_of(hostile)[0].id)}.html"
    return [
        *(page for where in ("", "topics/", "communities/") for page in sorted(folder.glob(f"{where}*.html"))),
        copy,
    ]


@needs_browser
def test_f37_nothing_runs_and_nothing_leaves_the_file(pages):
    with Browser() as browser:
        for page in pages:
            browser.open(page)
            browser.run("new Promise(done => setTimeout(done, 100))")
            assert browser.run("typeof window.hit") == "undefined", page
            assert (browser.requests(), browser.complaints()) == ([], []), page


@needs_browser
def test_s13_the_search_finds_words_of_any_script_and_shows_them_as_words(hostile):
    search = (hostile.folder.parent / "site/search.html").as_uri()
    with Browser() as browser:
        for query, title in (("蜂蜜", "養蜂の道具と蜂蜜"), ("العسل", "العسل الطبيعي"), ("onerror", '"><img src=x')):
            browser.open(f"{search}?q={query}")
            assert title in browser.run("document.querySelector('#found h2').textContent")
            assert browser.run("document.querySelectorAll('#found img, #found script').length") == 0
        browser.open(f"{search}?q=zzzzqqq")
        assert browser.run("document.getElementById('told').textContent") == "No page has these words."


@needs_browser
def test_s13_the_search_leaves_out_pages_with_words_after_a_minus(published):
    with Browser() as browser:

        def found(query):
            browser.open(f"{(published / 'search.html').as_uri()}?q={quote(query)}")
            return int(re.match(r"(\d*)", browser.run("document.getElementById('told').textContent"))[1] or 0)

        every, honey, old = found("-zzzz"), found("honey"), found("history")
        assert 0 < found("honey history") < min(honey, old)
        assert found("honey -history") == honey - found("honey history")
        assert found("-history") == every - old
        assert found('honey -"history zzzz"') == found("honey - 🐝") == honey
        assert found("honey -honey") == 0


@needs_browser
def test_s13_the_search_works_by_keyboard_from_the_front_page(hostile):
    with Browser() as browser:
        browser.open(hostile.folder.parent / "site/index.html")
        browser.run("document.getElementById('q').focus()")
        browser.events.clear()
        browser.press(*"honey", "Enter")
        while not any(event.get("method") == "Page.loadEventFired" for event in browser.events):
            browser.events.append(browser.hear())
        assert browser.run("location.search") == "?q=honey"
        assert browser.run("document.querySelectorAll('#found li').length") > 0


@needs_axe
@pytest.mark.parametrize(("width", "dark"), [(390, False), (1440, True)])
def test_s13_pages_are_accessible_and_fit_the_screen(pages, width, dark):
    with Browser(width, 900, dark) as browser:
        for page in pages[::-2] if dark else pages[::2]:
            browser.open(page)
            assert browser.axe() == [], page
            assert browser.run("document.documentElement.scrollWidth") == width, page


@needs_nu
def test_s13_pages_are_valid_html(pages, published):
    assert nu([*pages, *published.glob("*.html"), *sorted(published.glob("copies/*.html"))[:5]]) == []


class Counting(BaseHTTPRequestHandler):
    """Says no to everything, and counts."""

    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        self.send_error(404)

    def log_message(self, *_):
        pass


@pytest.fixture
def leak():
    with ThreadingHTTPServer(("127.0.0.1", 0), Counting) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        Counting.asked.clear()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@needs_browser
def test_f37_frame_and_policy_alone_would_stop_a_page_that_nobody_cleaned(pages, leak, tmp_path):
    raw = escape(EVIL.decode().replace("leak.test", leak))
    page = re.sub(r'srcdoc="[^"]*"', lambda _: f'srcdoc="{raw}"', pages[-1].read_text("utf-8"))
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>| sandbox="[^"]*"', "", page)
    for name, text, quiet in (("held.html", page, True), ("bare.html", bare, False)):
        (tmp_path / name).write_text(text, "utf-8")
        with Browser() as browser:
            browser.open(tmp_path / name)
            browser.run("new Promise(done => setTimeout(done, 500))")
        assert (Counting.asked == []) == quiet, Counting.asked


@needs_browser
def test_s13_the_feed_stands_with_the_other_links_on_a_small_screen(published):
    places = "[...document.querySelectorAll('.top nav a')].map(a => [a.textContent, Math.round(a.offsetTop)])"
    with Browser(400, 800) as browser:
        for page in ("index.html", "search.html"):
            browser.open(published / page)
            found = dict(browser.run(places))
            assert found["Feed"] == found["Search"]


@needs_browser
def test_c7_what_the_search_finds_leads_to_its_community(published, grown):
    homes = index_communities(grown)
    home = next(home for item in best_of(grown) if (home := homes.of(item.url, item.host)))
    with Browser() as browser:
        browser.open(f"{(published / 'search.html').as_uri()}?q={quote(home.name)}")
        found = browser.run("[...document.querySelectorAll('#found a')].map(a => [a.textContent, a.href])")
    assert [home.name, (published / f"communities/{home.number}.html").as_uri()] in found
