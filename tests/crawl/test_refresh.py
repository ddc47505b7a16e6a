"""Pages that are asked for again: what is gone stays archived, and a host that does not answer takes nothing away."""

from analecta.crawl.local import crawl_here
from analecta.settings.load import load
from analecta.store.revisits import revisits
from tests.crawls.driver import kept, make_library, rows, states
from tests.crawls.site import html, site
from tests.hostile import answer, in_turn, raw


def crawl(library, **asked):
    return crawl_here(library, load(library.settings_path, asked))


def test_a_page_that_is_gone_stays_in_the_library_says_so_and_is_asked_for_again(tmp_path):
    gone = in_turn(html("/x"), answer(b"", "410 Gone"), html("/x", words="it is back"))
    with site({"/x": gone}, {"/": ("/x",)}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
        crawl(library, crawl={"refresh": 0.0})
        assert "http://a.test/x" in kept(library)
        ((reason, detail),) = rows(library, "SELECT reason, detail FROM urls WHERE url = 'http://a.test/x'")
        assert reason == "http-410"
        assert detail.startswith("it was there until 20")
        assert detail.endswith("; what was kept stays")
        crawl(library, crawl={"refresh": 0.0})
        assert states(library)["http://a.test/x"] == (2, "")


def test_what_became_of_pages_asked_for_again_is_counted(tmp_path):
    tagged, moved = answer(b"", "304 Not Modified"), answer(b"", "301 Moved", location="/")
    pages = {
        "/": html("/", "/same", "/tagged", "/new", "/gone", "/moved", "/broken"),
        "/same": html("/same"),
        "/tagged": in_turn(html("/tagged", etag='"1"'), tagged),
        "/new": in_turn(html("/new"), html("/new", words="other words than there were before")),
        "/gone": in_turn(html("/gone"), answer(b"", "404 Not Found")),
        "/moved": in_turn(html("/moved"), moved),
        "/broken": in_turn(html("/broken"), answer(b"", "500 Oh")),
    }
    with site(pages) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch={"tries": 1})
        crawl(library)
        assert revisits(library) == {}
        crawl(library, crawl={"refresh": 0.0})
    assert revisits(library) == {"unchanged": 3, "changed": 1, "gone": 1, "moved": 1, "failed": 1}


def test_a_host_that_was_given_up_is_asked_again_by_the_next_crawl(tmp_path):
    paths = [f"b.test/{n}" for n in range(9)]
    pages = {"a.test/": html("/", *(f"http://{path}" for path in paths))} | dict.fromkeys(paths, raw(b""))
    with site(pages) as server:
        asked = {"tries": 1, "strikes": 3, "per_host": 1, "delay": 0.01, "back_off": 0.01, "patience": 0.0}
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch=asked)
        crawl(library)
        given_up = {url for url, (_, reason) in states(library).items() if reason == "bad-host"}
        assert given_up
        server.behaviours.update({path: html(path) for path in paths})
        crawl(library)
    assert given_up <= kept(library)
