"""F09-F16, F18, F33: servers that misbehave cost their own URLs, and nothing else."""

import gzip

from analecta.model import UrlState
from tests.crawls import soundness
from tests.crawls.driver import Memory, crawl, kept, make_library, pages, states
from tests.crawls.site import html, site
from tests.hostile import answer, drip, in_turn, raw, silence

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def crowd(count: int) -> dict[str, tuple[str, ...]]:
    """A site of so many pages, each linking to the next, whose home page links to the first."""
    return {"good.test/": ("/0",), **{f"good.test/{i}": (f"/{i + 1}",) if i + 1 < count else () for i in range(count)}}


def test_f09_a_host_that_never_answers_is_backed_off_and_the_others_go_on(tmp_path):
    with site({"mute.test/": silence(), "mute.test/1": silence()}, crowd(30)) as server:
        seeds = ["http://mute.test/", "http://mute.test/1", "http://good.test/"]
        library = make_library(
            tmp_path / "lib", seeds, server.address, fetch={"parallel": 2, "first_byte_timeout": 0.4}
        )
        crawl(library)
    assert len(kept(library)) == 31
    ends = states(library)
    assert ends["http://mute.test/"][0] == ends["http://mute.test/1"][0] == UrlState.FAILED
    asked = [asked.at for asked in server.asked if asked.host == "mute.test"]
    assert len(asked) <= 7  # each of two URLs three times, and the robots.txt
    soundness.check(library)


def test_f10_a_body_that_drips_for_ever_is_cut_in_time_and_says_so(tmp_path):
    slow = drip(b"x", 0.1, HTML + b"\r\n<title>Slow</title><a href=/next>next</a>")
    with site({"/": slow}, {"/next": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch={"deadline": 1.0})
        crawl(library)
    assert kept(library) == {"http://a.test/", "http://a.test/next"}
    assert "time" in [record.get("WARC-Truncated") for record in soundness.headers(library)]
    soundness.check(library)


def test_f11_an_endless_body_is_cut_at_the_cap_and_its_links_are_used(tmp_path):
    endless = drip(b"<p>again and again</p>" * 500, 0, HTML + b"\r\n<a href=/next>next</a>")
    with site({"/": endless}, {"/next": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch={"max_wire": 300_000})
        crawl(library)
    cut = {page["url"]: page["truncated"] for page in pages(library)}
    assert cut == {"http://a.test/": "length", "http://a.test/next": None}
    assert "length" in [record.get("WARC-Truncated") for record in soundness.headers(library)]
    soundness.check(library)


def test_f12_an_answer_that_breaks_off_is_asked_for_again_then_kept_as_it_is(tmp_path):
    short = raw(HTML + b"Content-Length: 5000\r\n\r\n<a href=/next>next</a>")
    healed = in_turn(short, html("/healed"))
    with site({"/": html("/", "/short", "/healed"), "/short": short, "/healed": healed}, {"/next": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    cut = {page["url"][13:]: page["truncated"] for page in pages(library)}
    assert cut == {"/": None, "/short": "disconnect", "/healed": None, "/next": None}
    assert server.paths().count("/short") == 3
    assert server.paths().count("/healed") == 2
    soundness.check(library)


def test_f12_more_bytes_than_promised_do_no_harm(tmp_path):
    long = raw(HTML + b"Content-Length: 24\r\n\r\n<a href=/next>next</a>  surplus bytes", close=False)
    with site({"/": long}, {"/next": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    assert kept(library) == {"http://a.test/", "http://a.test/next"}
    soundness.check(library)


def test_f13_a_gzip_bomb_in_a_crawl_is_cut_and_the_crawl_goes_on(tmp_path):
    bomb = gzip.compress(b"<p>boom</p>" * 20_000_000, 9)
    with site({"/": answer(bomb, content_type="text/html", content_encoding="gzip")}, crowd(5)) as server:
        seeds = ["http://good.test/", "http://a.test/"]
        library = make_library(tmp_path / "lib", seeds, server.address, fetch={"max_body": 4_000_000})
        memory = Memory()
        crawl(library, memory)
    assert len(kept(library)) == 7
    assert max(page["size"] for page in pages(library)) <= 4_000_000
    assert memory.growth < 128_000_000  # the bomb is 220 MB
    soundness.check(library)


def test_f14_strange_heads_fail_for_their_own_url_only(tmp_path):
    strange = {
        "/none": raw(b"<html>no status line"),
        "/colon": raw(b"HTTP/1.1 200:\r\nContent-Length: 2\r\n\r\nhi"),
        "/folded": raw(b"HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\nContent-Length: 2\r\n\r\nhi"),
        "/huge": raw(b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 1_000_000 + b"\r\n\r\nhi"),
        "/nul": raw(b"HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 2\r\n\r\nhi"),
        "/twice": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 7\r\n\r\nhi"),
        "/both": raw(HTML + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
        "/latin": raw(b"HTTP/1.1 200 OK\r\nX-\xe9: caf\xe9\r\nContent-Length: 2\r\n\r\nhi"),
        "/status": raw(b"HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nhi"),
    }
    with site(strange | {"/": html("/", *strange, "/good")}, {"/good": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    assert {"http://a.test/", "http://a.test/good"} <= kept(library)
    assert all(state in (UrlState.DONE, UrlState.FAILED, UrlState.ALIAS) for state, _ in states(library).values())
    soundness.check(library)


# --- redirects -------------------------------------------------------------------------------------------------------


def redirect(location: str, status: str = "302 Found") -> object:
    return answer(b"", status, location=location)


def chain(count: int) -> dict[str, object]:
    """/0 leads to /1 and so on to a page."""
    return {f"/{i}": redirect(f"/{i + 1}") for i in range(count)} | {f"/{count}": html(f"/{count}")}


def test_f15_a_chain_of_ten_is_followed_and_each_hop_is_archived(tmp_path):
    with site(chain(10)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/0"], server.address)
        crawl(library)
    assert kept(library) == {"http://a.test/10"}
    assert all(states(library)[f"http://a.test/{i}"] == (UrlState.ALIAS, "http-302") for i in range(10))
    archived = {record["WARC-Target-URI"] for record in soundness.headers(library)}
    assert {f"http://a.test/{i}" for i in range(11)} <= archived
    soundness.check(library)


def test_f15_a_chain_of_fifty_is_left_after_ten(tmp_path):
    with site(chain(50) | {"b.test/": html("/")}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/0", "http://b.test/"], server.address)
        crawl(library)
    assert kept(library) == {"http://b.test/"}
    assert [path for path in server.paths() if path[1:].isdigit()] == [f"/{i}" for i in range(11)]
    assert states(library)["http://a.test/10"] == (UrlState.FAILED, "redirect-many")


def test_f15_redirects_that_go_in_circles_end(tmp_path):
    async def further(reader, writer):
        further.count += 1
        await redirect(f"/query?n={further.count}")(reader, writer)

    further.count = 0
    circles = {
        "/": html("/", "/self", "/a", "/query", "/bare", "/relative/x", "/double", "/idn"),
        "/self": redirect("/self"),
        "/a": redirect("/b"),
        "/b": redirect("/a"),
        "/query": further,
        "/bare": raw(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", close=False),
        "/relative/x": redirect("../landed"),
        "/double": redirect("//b.test/landed"),
        "/idn": redirect("http://%C2%AD/"),
    }
    with site(circles, {"/landed": (), "b.test/landed": ("/only-b",)}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    ends = {url.removeprefix("http://a.test"): end for url, end in states(library).items()}
    assert ends["/self"] == (UrlState.FAILED, "redirect-loop")
    assert ends["/a"] == ends["/b"] == (UrlState.ALIAS, "http-302")
    assert ends["/bare"] == ends["/idn"] == (UrlState.FAILED, "redirect-bad")
    assert further.count == 11
    assert {"http://a.test/landed", "http://b.test/landed"} <= kept(library)
    soundness.check(library)


def test_f15_each_hop_is_checked_for_scope_and_robots(tmp_path):
    pages = {
        "/": html("/", "/out", "/closed"),
        "/out": redirect("http://elsewhere.test/"),
        "/closed": redirect("http://closed.a.test/secret"),
        "closed.a.test/robots.txt": answer(b"User-agent: *\nDisallow: /secret"),
    }
    with site(pages, {"elsewhere.test/": (), "closed.a.test/secret": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, scope={"hosts": ["a.test"]})
        crawl(library)
    ends = states(library)
    assert ends["http://elsewhere.test/"] == (UrlState.REFUSED, "scope-host")
    assert ends["http://closed.a.test/secret"] == (UrlState.REFUSED, "robots")
    assert "elsewhere.test" not in server.times()
    assert "/secret" not in server.paths()


# --- what bodies are -------------------------------------------------------------------------------------------------


def test_f33_bodies_are_what_they_are_whatever_the_header_says(tmp_path):
    lies = {
        "/exe": answer(b"MZ\x90\0\3\0\0\0" * 50, content_type="text/html"),
        "/pdf": answer(b"<!DOCTYPE html><title>Not a PDF</title><a href=/found>x</a>", content_type="application/pdf"),
        "/zero": answer(b"", content_type="text/html"),
        "/partial": answer(b"<title>Part</title>", "206 Partial Content", content_type="text/html"),
        "/unasked": raw(b"HTTP/1.1 304 Not Modified\r\n\r\n", close=False),
    }
    with site(lies | {"/": html("/", *lies)}, {"/found": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    mimes = {page["url"][13:]: page["mime"] for page in pages(library)}
    assert mimes["/exe"] == "application/x-msdownload"
    assert mimes["/pdf"] == mimes["/found"] == "text/html"
    assert mimes["/zero"] == "application/x-empty"
    assert states(library)["http://a.test/unasked"] == (UrlState.FAILED, "http-304")
    soundness.check(library)


# --- hosts that are not there ----------------------------------------------------------------------------------------


def test_f18_many_dead_hosts_do_not_hold_up_the_others(tmp_path):
    dead = {f"dead-{i}.test/": silence() for i in range(60)} | {
        f"dead-{i}.test/robots.txt": silence() for i in range(60)
    }
    home = html("/", "/0", *(f"http://dead-{i}.test/" for i in range(60)))
    with site(dead | {"good.test/": home}, {k: v for k, v in crowd(40).items() if k != "good.test/"}) as server:
        fetch = {"parallel": 16, "first_byte_timeout": 0.5, "tries": 2, "strikes": 2}
        library = make_library(tmp_path / "lib", ["http://good.test/"], server.address, fetch=fetch)
        crawl(library)
    assert len(kept(library)) == 41
    costs = {len(times) for host, times in server.times().items() if host != "good.test"}
    assert max(costs) <= 2  # requests that were waited for in vain, for each dead host
    soundness.check(library)
