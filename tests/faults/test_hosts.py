"""F64, F65, F68, F69, F72: hosts that refuse, fail or share. The judge of each test is the server's own log."""

import asyncio
import random
import statistics
import threading
import time
from collections import Counter, defaultdict
from itertools import cycle, pairwise

import pytest
from making import candidate, pushed, shard_at

from analecta.frontier.frontier import Frontier, FrontierLimits
from analecta.frontier.hosts import Politeness
from analecta.model import UrlState
from analecta.settings.load import with_recipe
from tests.crawls import soundness
from tests.crawls.alone import crawl_alone
from tests.crawls.driver import crawl, kept, make_library, states
from tests.crawls.site import html, site
from tests.fetch.name_server import NameServer
from tests.hostile import answer, in_turn, raw

SOON = 0.02  # the log notes a request when it was read, not when it was sent


def gaps(times):
    return [after - before for before, after in pairwise(sorted(times))]


def star(host, count):
    """A home page that links to so many pages."""
    return {f"{host}/": tuple(f"/{i}" for i in range(count)), **{f"{host}/{i}": () for i in range(count)}}


# --- F64: a host that only refuses ------------------------------------------------------------------------------------


def test_f64_a_host_that_only_refuses_is_given_up_and_tried_again_by_the_next_run(tmp_path):
    calm = threading.Event()

    async def storm(reader, writer):
        page = html("/") if calm.is_set() else answer(b"", "429 Too Many Requests", retry_after="1")
        await page(reader, writer)

    busy = {f"a.test/{i}": storm for i in range(12)}
    home = html("/", *(f"http://a.test/{i}" for i in range(12)))
    with site({"b.test/": home} | busy) as server:
        fetch = {"patience": 3.0, "back_off": 0.3, "per_host": 1}
        library = make_library(tmp_path / "lib", ["http://b.test/"], server.address, fetch=fetch, stop={"idle": 60.0})
        ending = crawl(library)
        assert ending.reason == "nothing is left to fetch"
        ends = Counter(end for url, end in states(library).items() if "a.test" in url)
        assert ends == {(UrlState.FAILED, "busy-host"): 12}, "none has used up its tries"
        asked = server.times()["a.test"]
        assert 3 <= len(asked) <= 40  # more would be a storm of ours
        calm.set()
        crawl(library)
    assert len([url for url in kept(library) if "a.test" in url]) >= 1
    assert not [url for url, end in states(library).items() if end[0] == UrlState.FAILED]
    soundness.check(library)


def test_f64_a_host_whose_robots_txt_never_comes_is_given_up_and_tried_again(tmp_path):
    home = {"b.test/": html("/", "http://a.test/0", "http://a.test/1"), "a.test/robots.txt": answer(b"", "503 Busy")}

    def hasty(engine):
        engine.fetcher.requests.robots.back_off = 0.3

    with site(home) as server:
        library = make_library(tmp_path / "lib", ["http://b.test/"], server.address, fetch={"patience": 2.0})
        crawl_alone(library, hasty)
        ends = {url: end for url, end in states(library).items() if "a.test" in url}
        assert ends == {f"http://a.test/{i}": (UrlState.FAILED, "robots-unreachable") for i in range(2)}
        assert {asked.path for asked in server.asked if asked.host == "a.test"} == {"/robots.txt"}
        server.behaviours["a.test/robots.txt"] = answer(b"", "404 None")
        server.behaviours |= {f"a.test/{i}": html(f"/{i}") for i in range(2)}
        crawl(library)
    assert len(kept(library)) == 3


def test_f64_a_crawl_ends_where_only_hosts_that_refuse_are_left(tmp_path):
    busy = answer(b"", "503 Busy", retry_after="1")
    home = html("/", "http://a.test/0", "http://a.test/1")
    with site({"b.test/": home, "a.test/0": busy, "a.test/1": busy}) as server:
        library = make_library(tmp_path / "lib", ["http://b.test/"], server.address, stop={"idle": 3.0})
        ending = crawl(library)
    assert "fail or refuse" in ending.reason
    assert states(library)["http://a.test/0"][0] == UrlState.QUEUED


# --- F65: many hosts whose robots.txt redirects to one ----------------------------------------------------------------


def moved(to):
    return answer(b"", "301 Moved", location=to)


def test_f65_a_robots_txt_that_120_hosts_redirect_to_is_fetched_once_for_all(tmp_path):
    hosts = [f"h{i}.test" for i in range(120)]
    pages = {f"{host}/robots.txt": moved("http://all.test/robots.txt") for host in hosts}
    pages |= {f"{host}/": html(f"/{host}") for host in hosts}
    pages["all.test/robots.txt"] = answer(b"User-agent: *\nDisallow: /x\n")
    with site(pages) as server:
        seeds = [f"http://{host}/" for host in hosts]
        library = make_library(tmp_path / "lib", seeds, server.address, fetch={"delay": 1.0}, stop={"idle": 20.0})
        crawl(library)
    assert len(kept(library)) == 120
    assert [asked.path for asked in server.asked if asked.host == "all.test"] == ["/robots.txt"]
    assert min(min(gaps(server.times()[host])) for host in hosts) > 1 - SOON


def test_f65_robots_txt_files_on_another_host_are_fetched_in_its_turns_and_nobody_is_unreachable(tmp_path):
    hosts = [f"h{i}.test" for i in range(24)]
    pages = {f"{host}/robots.txt": moved(f"http://all.test/{host}") for host in hosts}
    pages |= {f"{host}/": html(f"/{host}") for host in hosts}
    pages |= {f"all.test/{host}": answer(b"") for host in hosts}
    with site(pages) as server:
        seeds = [f"http://{host}/" for host in hosts]
        fetch = {"delay": 0.3}
        library = make_library(tmp_path / "lib", seeds, server.address, fetch=fetch, stop={"idle": 60.0})
        crawl(library)
    assert len(kept(library)) == 24
    assert len(server.times()["all.test"]) == 24
    assert min(gaps(server.times()["all.test"])) > 0.3 - SOON
    assert Counter(server.paths())["/robots.txt"] == 24, "what was read on the way there is not asked for again"


# --- F68: requests that leave early -----------------------------------------------------------------------------------


def after(seconds, behaviour):
    """The same, later."""

    async def behave(reader, writer):
        await asyncio.sleep(seconds)
        await behaviour(reader, writer)

    return behave


def test_f68_a_slow_disk_makes_no_request_early(tmp_path):
    """Every other commit after a pick takes 0.7 s: the delay runs from when a request really leaves."""
    naps = cycle((0.7, 0.0))

    def slow(engine):
        commit = engine.partition.commit

        def late():
            if engine.in_flight or len(engine.frontier):
                time.sleep(next(naps))
            commit()

        engine.partition.commit = late

    seeds = [f"http://h{h}.test/{i}" for h in range(3) for i in range(6)]
    pages = {url[7:]: after(1.2, html(url[7:])) for url in seeds}
    with site(pages) as server:
        fetch = {"delay": 1.0, "per_host": 2, "first_byte_timeout": 9.0, "deadline": 9.0}
        library = make_library(tmp_path / "lib", seeds, server.address, fetch=fetch)
        crawl_alone(library, slow, 40.0)
    assert len(kept(library)) == 18
    assert min(min(gaps(times)) for times in server.times().values()) > 0.95


# --- F69: many names on one address -----------------------------------------------------------------------------------


class Addressed:
    """A server on many loopback addresses, and name servers that spread names over them, in a thread of its own."""

    def __init__(self, hosts):
        self.hosts = hosts  # name -> address
        self.asked = defaultdict(list)  # address -> when
        self.under_way, self.most = Counter(), Counter()
        self._loop, self._stop, self._ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self):
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self):
        names = {name: [[(ip, 60)]] for name, ip in self.hosts.items()}
        async with NameServer(**names) as self.dns:
            server = await asyncio.start_server(self._answer, "0.0.0.0", 0, backlog=1024)
            self.port = server.sockets[0].getsockname()[1]
            self._ready.set()
            await self._stop.wait()
            server.close()

    async def _answer(self, reader, writer):
        ip = writer.get_extra_info("sockname")[0]
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.asked[ip].append(time.monotonic())
                self.under_way[ip] += 1
                self.most[ip] = max(self.most[ip], self.under_way[ip])
                await asyncio.sleep(0.3)
                self.under_way[ip] -= 1
                path = head.split(b" ")[1].decode()
                host = head.partition(b"Host: ")[2].split(b":")[0].decode()
                page = answer(b"", "404 None") if path == "/robots.txt" else html(f"/{host}{path}")
                await page(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()


@pytest.mark.parametrize("ordered", [False, True])
def test_f69_one_address_is_asked_slowly_however_many_names_it_has(tmp_path, ordered):
    """30 names on two addresses of loopback: 0.1 s between two requests, two under way."""
    hosts = {f"h{i}.w{i}.test": f"127.0.7.{1 + i % 2}" for i in range(30)}
    with Addressed(hosts) as web:
        seeds = [f"http://{host}:{web.port}/" for host in hosts]
        fetch = {"delay": 0.5, "dns": [web.dns.address], "allow": ["127.0.0.0/8"]}
        fetch |= {"per_address": 4, "address_delay": 0.1}
        crawling = {"workers": 1, "ordered": ordered}
        library = make_library(tmp_path / "lib", seeds, contact="me@a.test", fetch=fetch, crawl=crawling)
        crawl(library)
    assert len(kept(library)) == 30
    # The mean, for several are under way: a server without CPU reads two at once that were sent one after the other.
    assert min(statistics.mean(gaps(times)) for times in web.asked.values()) > 0.1 - SOON
    assert max(web.most.values()) <= 4
    soundness.check(library)


# --- F72: flaky hosts -------------------------------------------------------------------------------------------------


def simulated(manners, hosts=300, minutes=20, errors=0.2, urls=350, tries=3):
    """What becomes of URLs where each request fails with a chance: the frontier alone, by a clock that is counted."""
    rng, now, flights, ends = random.Random(7), 0.0, [], Counter()
    with shard_at() as shard:
        frontier = Frontier(shard, manners, FrontierLimits(hot=10**6))
        pushed(frontier, *(candidate(f"http://h{h}/{u}", 0.5) for h in range(hosts) for u in range(urls)))
        while now < 60 * minutes:
            for lease in frontier.pop(4000, now):
                frontier.sent(lease.id, lease.host, now)
                flights.append(lease)
            now += 0.25
            for lease in flights:
                if rng.random() < errors:
                    frontier.close(lease, now, lambda host, at=now: host.failed(at, manners))
                    if lease.tries < tries:
                        lease.priority *= 0.5
                        frontier.requeue(lease, "timeout")
                    else:
                        ends["timeout"] += 1
                        shard.settle(lease.id, UrlState.FAILED, "timeout")
                else:
                    frontier.close(lease, now, lambda host, at=now: host.answered(at, manners))
                    ends["done"] += 1
                    shard.settle(lease.id, UrlState.DONE)
            flights.clear()
        bad = [name for name, host in frontier.hosts.items() if host.bad]
        (lost,) = shard.db.execute("SELECT count(*) FROM urls WHERE reason = 'bad-host'").fetchone()
    return bad, lost, ends


def test_f72_300_hosts_with_a_fifth_of_errors_lose_no_url_but_what_used_up_its_tries():
    bad, lost, ends = simulated(Politeness())
    assert (bad, lost) == ([], 0)
    assert ends["timeout"] < 0.02 * ends["done"]
    assert ends["done"] > 300 * 200


def test_f72_a_host_that_never_answers_is_given_up_after_a_bounded_time():
    bad, lost, ends = simulated(Politeness(patience=600.0), hosts=5, minutes=21, errors=1.0)
    assert len(bad) == 5
    assert lost + ends["timeout"] == 5 * 350


def test_f72_bingo_keeps_the_rule_of_the_paper():
    fetch = with_recipe("bingo", {}).fetch
    assert (fetch.strikes, fetch.patience) == (3, 0.0)
    bad, _, _ = simulated(Politeness(patience=0.0), hosts=5, minutes=2, errors=1.0)
    assert len(bad) == 5


def test_f72_a_host_that_fails_four_times_in_a_row_is_crawled_to_the_end_in_the_same_run(tmp_path):
    broken = raw(b"HTTP/1.1 200 OK\r\nX: ")
    pages = {f"a.test/{i}": in_turn(broken, html(f"/{i}")) for i in range(4)}
    home = {"a.test/": html("/", *(f"/{i}" for i in range(9)))}
    with site(home | pages, {f"a.test/{i}": () for i in range(4, 9)}) as server:
        fetch = {"back_off": 0.1, "per_host": 1, "delay": 0.05}
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch=fetch, stop={"idle": 30.0})
        ending = crawl(library)
    assert ending.reason == "nothing is left to fetch"
    assert len(kept(library)) == 10
    soundness.check(library)


def test_f72_a_crawl_ends_where_only_dead_hosts_are_left(tmp_path):
    home = html("/", *(f"http://d{h}.test/{i}" for h in range(10) for i in range(5)))
    dead = {f"d{h}.test/{i}": raw(b"") for h in range(10) for i in range(5)}
    with site({"b.test/": home} | dead) as server:
        fetch = {"back_off": 1.0, "delay": 0.1}
        library = make_library(tmp_path / "lib", ["http://b.test/"], server.address, fetch=fetch, stop={"idle": 3.0})
        ending = crawl(library)
    assert "fail or refuse" in ending.reason or "network seems to be down" in ending.reason
    assert len(kept(library)) == 1
