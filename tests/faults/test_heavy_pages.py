"""F62: pages that take long to parse, to judge or to follow do not keep a partition from its other hosts."""

import asyncio
import gc
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest

from analecta.crawl.engine import Engine
from analecta.model import FoundBy
from analecta.parse import TOO_LATE, UNREAD, PageSandbox, Parser
from analecta.parse.page_sandbox import TIME_UP
from analecta.parse.sandbox import ChildLimits
from analecta.store.library import LibraryFolder
from tests.crawls.alone import crawl_alone
from tests.crawls.driver import make_library, pages, rows
from tests.crawls.site import html
from tests.hostile import Behaviour, HostileServer, answer
from tests.parse.pages import answer as page_answer
from tests.parse.pages import target


def nested(i: int) -> bytes:
    """2,000 links within 500 inline elements: the words around each are looked for at every level."""
    links = "".join(f'<a href="http://far{i}.test/{k}">a</a>' for k in range(2200))
    return ("<p>" + "<span>" * 500 + links).encode()


def misnested(i: int) -> bytes:
    """25 KB of which the parser makes two million elements."""
    return ("<table>" + "".join(f"<b a{k}>" for k in range(500)) + f"<tr>x{i}" * 4400).encode()


def noise(i: int) -> bytes:
    """Letters of many scripts: the slowest to cut into words."""
    return b"<p>" + random.Random(i).randbytes(450_000).translate(bytes(c | 0x80 for c in range(256)))


def ideographs(i: int) -> bytes:
    chance = random.Random(i)
    return ("<p>" + "".join(chr(chance.randint(0x4E00, 0x9000)) for _ in range(170_000))).encode()


def attributes(i: int) -> bytes:
    return b"<p " + b" ".join(b"a%d=%d" % (k, i) for k in range(150_000)) + b">x"


KINDS = {nested: 11, misnested: 2, noise: 4, ideographs: 4, attributes: 4}


class Turns:
    """The work of each callback of the event loop, in seconds of this thread; garbage of other tests is no work."""

    def __init__(self) -> None:
        self.worked: list[float] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        run = asyncio.Handle._run

        def watched(handle: asyncio.Handle) -> None:
            began = time.thread_time()
            run(handle)
            self.worked.append(time.thread_time() - began)

        gc.collect()
        gc.freeze()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asyncio.Handle, "_run", watched)
            yield
        gc.unfreeze()


def test_f62_twenty_five_heavy_pages_are_never_worked_on_in_one_turn(tmp_path):
    """Each on a host of its own, all there at once. Before, one turn took nearly all of the time."""
    bodies = {f"{kind.__name__}{i}.test/": kind(i) for kind, count in KINDS.items() for i in range(count)}
    heavy = {name: answer(body, content_type="text/html") for name, body in bodies.items()}
    seeds = [f"http://{name}" for name in heavy]
    together: list[int] = []

    def watch(engine: Engine) -> None:
        keep = engine.ingest.keep

        def noted(settled):
            together.append(len(settled.pages))
            kept = keep(settled)
            if sum(together) == len(heavy):
                engine.control.over = lambda: True
            return kept

        engine.ingest.keep = noted

    turns = Turns()
    with HostileServer(heavy) as server:
        fetch = {"deadline": 30.0, "first_byte_timeout": 20.0}
        library = make_library(tmp_path / "lib", seeds, server.address, fetch=fetch)
        with turns.watched():
            crawl_alone(library, watch, 100.0)
    assert len(pages(library)) == len(heavy)
    total, longest = sum(turns.worked), max(turns.worked)
    print(f"\nF62: {len(heavy)} heavy pages, {total:.2f} s of work in the loop, {longest:.2f} s at once, by {together}")
    assert longest < total / 4
    assert max(together) < len(heavy) / 2


# Names without numbers: pages that only count look like a trap, and would wait for the heavy ones by rights.
NAMES = "amber birch cobalt dune ember fjord grove heron iris jade kelp lark moss nectar opal pine quartz reed".split()
BEGUN = 3  # where each chain of light pages is when the heavy ones come
OTHERS = [f"{name}.test" for name in ("anna", "berta", "clara", "dora", "emma")]


def all_at_once(heavy: dict[str, bytes]) -> dict[str, Behaviour]:
    """Heavy pages that come together, when all are asked for and each other host is under way."""
    awaited = {*heavy, *(f"{host}/{NAMES[BEGUN]}" for host in OTHERS)}
    there = asyncio.Event()

    def held(name: str, behave: Behaviour) -> Behaviour:
        async def when_there(reader, writer):
            awaited.discard(name)
            if not awaited:
                there.set()
            await there.wait()
            await behave(reader, writer)

        return when_there

    found = {name: held(name, answer(body, content_type="text/html")) for name, body in heavy.items()}
    for host in OTHERS:
        found |= {f"{host}/{name}": html(f"/{host}/{name}", after) for name, after in pairwise([*NAMES, "end"])}
        found[f"{host}/{NAMES[BEGUN]}"] = held(f"{host}/{NAMES[BEGUN]}", found[f"{host}/{NAMES[BEGUN]}"])
    return found


def test_f62_other_hosts_keep_their_rate_while_twenty_five_heavy_pages_are_worked_on(tmp_path):
    """Before, no other host was asked for a page until the last heavy page was done, 25 s later."""
    heavy = {f"{kind.__name__}{i}.test/": kind(i) for kind, count in KINDS.items() for i in range(count)}
    seeds = [f"http://{name}" for name in heavy] + [f"http://{host}/{NAMES[0]}" for host in OTHERS]
    done: list[int] = []  # pages that other hosts were asked for since, when each heavy page was done

    def watch(engine: Engine) -> None:
        keep = engine.ingest.keep

        def noted(settled):
            kept = keep(settled)
            asked = sum(one.host in OTHERS and one.path.strip("/") in NAMES[BEGUN + 1 :] for one in [*server.asked])
            done.extend(asked for one in settled.pages if f"{one.lease.host}/" in heavy)
            if len(done) == len(heavy):
                engine.control.over = lambda: True
            return kept

        engine.ingest.keep = noted

    with HostileServer(all_at_once(heavy)) as server:
        fetch = {"deadline": 60.0, "first_byte_timeout": 60.0, "delay": 0.05}
        library = make_library(tmp_path / "lib", seeds, server.address, fetch=fetch)
        crawl_alone(library, watch, 200.0)
    print(f"\nF62: other hosts' pages asked for when each heavy page was done: {done}")
    assert len(done) == len(heavy)
    assert done[-1] > 4 * len(OTHERS)


def many_tags(i: int) -> bytes:
    return b"<p>%d" % i + b"<i>x" * 6000


def test_f62_heavy_pages_that_wait_for_the_child_do_not_keep_documents_and_other_hosts_waiting(tmp_path, monkeypatch):
    """The child ends none of 25 pages, but by its limit of 2 s, until a document is read. Before, that came last."""
    monkeypatch.setenv("UNTIL", str(tmp_path / "read"))
    heavy = {f"heavy{i}.test/": answer(many_tags(i), content_type="text/html") for i in range(25)}
    chain = {f"chain.test/{i}": html(f"/{i}", f"/{i + 1}") for i in range(9)}
    chain["chain.test/9"] = html("/9", "http://document.test/")
    rtf = answer(rb"{\rtf1 Some words in a document.}", content_type="application/rtf")
    home = html("/", *(f"http://{name}" for name in heavy), "http://chain.test/0")
    order: list[str] = []

    def watch(engine: Engine) -> None:
        sandbox = engine.fetcher.parser.sandbox
        sandbox.function, sandbox.limits = "tests.parse.crashing:until_told", ChildLimits(2.0)
        keep, keep_late = engine.ingest.keep, engine.ingest.keep_late

        def note(*urls: str) -> None:
            order.extend(urls)
            if "http://document.test/" in urls:
                (tmp_path / "read").touch()

        def noted(settled):
            kept = keep(settled)
            note(*(one.lease.url for one in settled.pages if getattr(one.page, "limits", "") != UNREAD))
            return kept

        def noted_late(late):
            kept = keep_late(late)
            note(*(one.lease.url for one in late))
            return kept

        engine.ingest.keep, engine.ingest.keep_late = noted, noted_late

    with HostileServer(heavy | chain | {"home.test/": home, "document.test/": rtf}) as server:
        library = make_library(tmp_path / "lib", ["http://home.test/"], server.address)
        crawl_alone(library, watch, 200.0)
    assert len(order) == len(pages(library)) == 25 + 10 + 2
    for url in ("http://chain.test/9", "http://document.test/"):
        before = sum("heavy" in other for other in order[: order.index(url)])
        print(f"F62: {before} of 25 heavy pages before {url}")
        assert before < 20


def test_f62_a_host_that_uses_up_the_time_of_the_child_is_read_in_haste(tmp_path):
    with Parser() as parser:
        parser.sandbox = PageSandbox("tests.parse.crashing:hang", ChildLimits(0.2))
        found = [parser(page_answer(many_tags(i)), target()).limits for i in range(TOO_LATE + 2)]
        other = parser(page_answer(many_tags(0)), target("http://other.test/"))
    assert [limits.startswith(TIME_UP) for limits in found] == [True] * TOO_LATE + [False] * 2
    assert found[-1] == "parse-limited: 3 pages of its host took too long"
    assert other.limits.startswith(TIME_UP)


# --- large sitemaps --------------------------------------------------------------------------------------------------


def sitemap(count: int) -> Behaviour:
    urls = "".join(f"<url><loc>http://a.test/page/{i}</loc></url>" for i in range(count))
    return answer(f"<urlset>{urls}</urlset>".encode(), content_type="application/xml")


def mapped(count: int) -> dict[str, Behaviour]:
    rules = answer(b"User-agent: *\nDisallow: /page/\nSitemap: http://a.test/map.xml\n", content_type="text/plain")
    return {"/": html("/"), "/robots.txt": rules, "/map.xml": sitemap(count)}


def offered(engine: Engine, sizes: list[int], enough: int) -> None:
    """Note how many pages of a sitemap are added at a time; with `enough` the crawl ends."""
    add = engine.discovery.add

    def noted(candidates):
        add(candidates)
        count = sum(candidate.found_by == FoundBy.SITEMAP for candidate in candidates)
        sizes.extend([count] if count else [])
        if count and sum(sizes) == enough:
            engine.control.over = lambda: True

    engine.discovery.add = noted


def known(library: LibraryFolder) -> int:
    return rows(library, "SELECT count(*) FROM urls WHERE url LIKE '%/page/%'")[0][0]


def test_f62_a_sitemap_of_50000_urls_is_read_aside_and_taken_in_slices(tmp_path):
    sizes: list[int] = []
    turns = Turns()
    with HostileServer(mapped(50_000)) as server:
        fetch = {"deadline": 30.0, "first_byte_timeout": 20.0}
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch=fetch)
        with turns.watched():
            crawl_alone(library, lambda engine: offered(engine, sizes, 50_000), 100.0)
    print(f"\nF62: {sum(turns.worked):.2f} s of work in the loop, {max(turns.worked):.2f} s at once")
    assert (len(sizes), max(sizes), sum(sizes), known(library)) == (100, 500, 50_000, 50_000)
    assert max(turns.worked) < sum(turns.worked) / 4


def test_f62_a_sitemap_that_was_taken_in_half_is_read_again(tmp_path):
    with HostileServer(mapped(2_000)) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl_alone(library, lambda engine: offered(engine, [], 1000))
        assert known(library) == 1000
        crawl_alone(library, lambda engine: offered(engine, [], 2000))
    assert known(library) == 2000
    assert server.paths().count("/map.xml") == 2
