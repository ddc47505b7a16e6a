"""F16, F23-F26: what webs are like: endless, full of copies and of addresses that lead inwards."""

import asyncio
import socket
from collections import Counter
from pathlib import Path

import pytest

from analecta.model import FoundBy, UrlState
from analecta.store.library import LibraryFolder
from analecta.store.partition import SOFT404
from analecta.testweb.pages import PARKED
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.process import PocketServer, ServerProcess
from tests.crawls import soundness
from tests.crawls.driver import Memory, crawl, kept, make_library, page_text, pages, rows, states
from tests.crawls.site import html, prose, site
from tests.fetch.name_server import NameServer
from tests.hostile import HostileServer, answer

# --- F16: addresses that lead inwards --------------------------------------------------------------------------------

INWARDS = [
    "http://127.0.0.2:{port}/",
    "http://0x7f.0.0.2:{port}/",
    "http://2130706434:{port}/",
    "http://１２７.0.0.2:{port}/",
    "http://[::ffff:127.0.0.2]:{port}/",
    "http://[64:ff9b::7f00:2]:{port}/",
    "http://[::1]:{port}/",
    "http://169.254.169.254/latest/meta-data/",
    "http://inwards.test:{port}/",
    "http://mixed.test:{port}/",
]


def crawl_by_name(library: LibraryFolder, **names: object) -> None:
    """Crawl without connect_to: names are looked up at a name server on loopback."""

    async def run() -> None:
        async with NameServer(**names) as dns:
            fetch = {"dns": [dns.address], "allow": ["127.0.0.1/32"], "delay": 0.0}
            await asyncio.to_thread(crawl, library, fetch=fetch)

    asyncio.run(run())


def inwards(tmp_path: Path, server: HostileServer, hrefs: list[str]) -> LibraryFolder:
    """A library whose seed, at a public name, has redirects to these addresses."""
    server.behaviours["/"] = html("/", *(f"/{i}" for i in range(len(hrefs))), "/good")
    for i, href in enumerate(hrefs):
        server.behaviours[f"/{i}"] = answer(b"", "302 Found", location=href.encode().decode("latin-1"))
    return make_library(tmp_path / "lib", [f"http://public.test:{server.port}/"], contact="someone@example.org")


def test_f16_redirects_to_inner_addresses_make_no_connection(tmp_path):
    with site({}, {"/good": ()}) as server, socket.create_server(("127.0.0.2", server.port)) as inner:
        inner.setblocking(False)
        library = inwards(tmp_path, server, [href.format(port=server.port) for href in INWARDS])
        names = {"public_test": [[("127.0.0.1", 60)]], "inwards_test": [[("127.0.0.2", 60)]]}
        crawl_by_name(library, **names, mixed_test=[[("127.0.0.1", 60), ("127.0.0.2", 60)]])
        with pytest.raises(BlockingIOError):
            inner.accept()
    assert kept(library) == {f"http://public.test:{server.port}/", f"http://public.test:{server.port}/good"}
    ends = {url: end for url, end in states(library).items() if "public.test" not in url}
    assert len(ends) == 7  # four ways to write 127.0.0.2 are one
    assert UrlState.DONE not in {state for state, _ in ends.values()}
    soundness.check(library)


def test_f16_what_the_guard_refuses_is_written_down_as_refused(tmp_path):
    with site({}, {"/good": ()}) as server:
        library = inwards(tmp_path, server, [f"http://127.0.0.2:{server.port}/"])
        crawl_by_name(library, public_test=[[("127.0.0.1", 60)]])
    assert states(library)[f"http://127.0.0.2:{server.port}/"] == (UrlState.REFUSED, "guard")


@pytest.mark.parametrize("href", ["file:///etc/passwd", "ftp://public.test/x", "gopher://public.test/"])
def test_f16_redirects_to_other_schemes_are_refused_as_policy(tmp_path, href):
    with site({"/": html("/", "/away"), "/away": answer(b"", "302 Found", location=href)}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    assert states(library)["http://a.test/away"][0] == UrlState.REFUSED


# --- F23, F24: without end -------------------------------------------------------------------------------------------


def test_f23_a_page_of_a_million_links_is_cut_and_starves_nobody(tmp_path):
    links = b"".join(b"<a href=/x%d>%d</a>" % (i, i) for i in range(1_000_000))
    good = {f"good.test/{i}": (f"/{i + 1}",) for i in range(20)} | {"good.test/20": ()}
    with site({"many.test/": answer(links, content_type="text/html")}, good) as server:
        seeds = ["http://good.test/0", "http://many.test/"]
        fetch = {"deadline": 20.0}
        library = make_library(tmp_path / "lib", seeds, server.address, scope={"exclude": ["/x"]}, fetch=fetch)
        memory = Memory()
        crawl(library, memory)
    assert len(kept(library)) == 22
    assert rows(library, "SELECT count(*) FROM urls")[0][0] <= 2100
    assert memory.growth < 200_000_000  # half of it was seen; a million links as objects would be far more
    soundness.check(library)


@pytest.mark.parametrize("kind", ["calendar", "facets", "repeating", "session", "relative"])
def test_f24_a_trap_takes_at_most_a_twentieth_of_the_pages_while_real_ones_remain(tmp_path, kind):
    with ServerProcess("tests.faults.traps:make", {"kind": kind}) as web:
        library = make_library(tmp_path / "lib", ["http://a.test/"], web.address, fetch={"parallel": 8})
        crawl(library, stop={"pages": 300})
    inside = [url for url in kept(library) if "/trap/" in url]
    assert len(kept(library)) >= 300
    assert len(inside) <= 15


@pytest.fixture(scope="module", params=["adaptive", "breadth-first"])
def crawled(request, tmp_path_factory) -> tuple[LibraryFolder, PocketWeb]:
    """The pocket web, crawled for as many pages as it has real ones, with a judge."""
    folder = tmp_path_factory.mktemp("webs")
    with PocketServer(700, moody=False) as web:
        seeds = {topic: web.web.seeds(topic, 3) for topic in web.web.topics}
        judge = {"kind": "centroid"}
        library = make_library(folder / "lib", seeds, web.address, recipe=request.param, judge=judge)
        crawl(library, stop={"pages": 600})
    return library, web.web


def trapped(crawled: tuple[LibraryFolder, PocketWeb]) -> tuple[Counter[str], int]:
    """How many pages lie in each kind of trap, and how many there are in all."""
    library, web = crawled
    found = [truth for url in kept(library) if (truth := web.truth(url, links=False))]
    odd = [web.plan.by_host[truth.url.split("/")[2]].odd for truth in found if truth.kind == "trap"]
    return Counter(odd), len(found)


def test_f24_the_traps_of_the_pocket_web_take_little(crawled):
    traps, total = trapped(crawled)
    del traps["session"]
    assert total > 500
    assert traps.total() <= 0.05 * total
    soundness.check(crawled[0])


def test_f24_session_ids_of_the_pocket_web_take_little(crawled):
    traps, total = trapped(crawled)
    assert traps["session"] <= 0.03 * total


def found_out(crawled: tuple[LibraryFolder, PocketWeb], *kinds: str) -> tuple[int, int]:
    """Of the copies whose original was fetched too: how many are known as such, and how many there are."""
    library, web = crawled
    by_url = {page["url"]: page for page in pages(library)}
    truths = [truth for url in by_url if (truth := web.truth(url, links=False)) and truth.kind in kinds]
    copies = [truth for truth in truths if truth.duplicate_of in by_url]
    known = [t for t in copies if by_url[t.url]["duplicate_of"] or by_url[t.duplicate_of]["duplicate_of"]]
    return len(known), len(copies)


def test_f25_exact_copies_in_the_pocket_web_point_to_what_stands_for_them(crawled):
    known, copies = found_out(crawled, "mirror", "alias", "trap")
    assert copies > 4  # how many of them a crawl meets depends on the order of answers
    assert known == copies


def test_f25_near_duplicates_in_the_pocket_web_are_found(crawled):
    known, copies = found_out(crawled, "near-duplicate")
    assert copies > 3
    assert known >= 0.5 * copies


def test_f25_a_parked_domain_is_on_no_topic(crawled):
    library, _ = crawled
    assert [page["url"] for page in pages(library) if page["url"].split("/")[2] in PARKED and page["topic"] >= 0] == []


# --- F25, F26: the same again ----------------------------------------------------------------------------------------


def test_f25_a_host_that_has_a_page_for_everything_is_found_out_by_a_probe(tmp_path):
    sorry = page_text("x/", "y/", title="Not found", words="We are sorry, this page could not be found on our server.")
    real = {"/real-1": ("/real-2",), "/real-2": ("/real-3",), "/real-3": ()}
    server = site(
        {"/": html("/", *(f"/missing-{c}" for c in "abcdef"), "/real-1"), "/robots.txt": answer(b"", "404 No")}, real
    )
    server.otherwise = answer(sorry, content_type="text/html")
    with server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch={"parallel": 2})
        crawl(library, stop={"pages": 200})
    probes = rows(library, "SELECT reason FROM urls WHERE found = ?", int(FoundBy.PROBE))
    assert probes == [("probe",)]
    assert sum(path.startswith("/no-such-page-") for path in server.paths()) == 1
    fakes = [page for page in pages(library) if page["flags"] & SOFT404]
    assert {page["url"] for page in pages(library)} - {page["url"] for page in fakes} == {
        f"http://a.test/{name}" for name in ("", "real-1", "real-2", "real-3")
    }
    assert {page["topic"] for page in fakes} == {-1}
    assert len(server.asked) < 60  # its links lead to ever more of the same, and are not followed
    soundness.check(library)


def test_f26_all_ways_to_write_one_page_are_one_record(tmp_path):
    body = page_text(title="Jugs", words=prose("jugs"))
    same = [
        "/~jug/?a=1&b=2",
        "https://a.test/~jug/?a=1&b=2",
        "http://A.TEST:80/%7Ejug/?a=1&b=2#top",
        "/%7ejug/?a=1&b=2",
    ]
    alike = ["http://www.a.test/~jug/?a=1&b=2", "/~jug/?b=2&a=1", "/~jug?a=1&b=2"]
    with site({"a.test/": html("/", *same, *alike)}) as server:
        server.behaviours |= {path: answer(body, content_type="text/html") for path in ("/~jug/", "/~jug")}
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    assert server.paths().count("/~jug/?a=1&b=2") == 2  # with and without www
    found = rows(library, "SELECT url, id, state, elsewhere FROM urls WHERE url LIKE '%jug%'")
    stands = [id for _, id, state, _ in found if state == UrlState.DONE]
    assert len(found) == 4
    assert len(stands) == 1
    assert [elsewhere for _, _, state, elsewhere in found if state == UrlState.ALIAS] == stands * 3
    assert len(soundness.headers(library, "revisit")) == 3
    soundness.check(library)


def test_f26_a_host_that_moved_to_https_is_one_page(tmp_path):
    with site(
        {"/": html("/", "http://b.test/x", "https://b.test/x", "https://b.test/y")}, {"/x": (), "/y": ()}
    ) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    assert len(kept(library)) == 3
    assert server.paths().count("/x") == 1
