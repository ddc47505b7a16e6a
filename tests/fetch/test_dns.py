import asyncio
import threading
from collections.abc import Awaitable, Callable

from analecta.fetch.dns import Addresses, NoAddress, Resolved, Resolver
from analecta.fetch.guard import Guard
from analecta.fetch.http import Http
from analecta.model import NoResponse, Request, Response
from tests.fetch.name_server import AAAA, NXDOMAIN, SERVFAIL, A, NameServer, Reply
from tests.hostile import HostileServer, answer

PUBLIC, OTHER = "93.184.216.34", "93.184.216.35"


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


def ask(
    work: Callable[[Resolver, NameServer], Awaitable[None]], clock: Clock | None = None, **names: list[Reply]
) -> NameServer:
    """Run some work with a resolver that asks a server with these names."""

    async def run() -> NameServer:
        async with NameServer(**names) as server:
            now = clock or Clock()
            resolver = Resolver(Guard(), [server.address], timeout=0.15, max_ttl=900.0, now=now)
            try:
                await work(resolver, server)
            finally:
                await resolver.close()
            return server

    return asyncio.run(run())


def ips(found: Resolved) -> tuple[str, ...]:
    assert isinstance(found, Addresses), found
    return found.ips


def why(found: Resolved) -> tuple[str, bool]:
    assert isinstance(found, NoAddress), found
    return found.reason, found.retry


def test_a_host_is_asked_for_once_while_its_answer_is_good() -> None:
    clock = Clock()

    async def work(resolver: Resolver, server: NameServer) -> None:
        assert ips(await resolver.resolve("a.test")) == (PUBLIC,)
        clock.time += 299
        await resolver.resolve("a.test")
        assert server.asked["a.test", A] == 1
        clock.time += 2
        assert resolver.cached("a.test") is None

    ask(work, clock, a_test=[[(PUBLIC, 300)]])


def test_the_time_to_live_is_kept_within_bounds() -> None:
    async def work(resolver: Resolver, _: NameServer) -> None:
        short, long = await resolver.resolve("short.test"), await resolver.resolve("long.test")
        assert isinstance(short, Addresses)
        assert isinstance(long, Addresses)
        assert (short.until, long.until) == (1060, 1900)

    ask(work, short_test=[[(PUBLIC, 0)]], long_test=[[(PUBLIC, 10**6)]])


def test_a_host_with_only_ipv6_is_found() -> None:
    async def work(resolver: Resolver, _: NameServer) -> None:
        assert ips(await resolver.resolve("six.test")) == ("2606:4700::1111",)

    assert ask(work, six_test=[[("2606:4700::1111", 60)]]).asked["six.test", AAAA] == 1


def test_callers_for_one_host_share_one_lookup() -> None:
    async def work(resolver: Resolver, _: NameServer) -> None:
        resolver.look_ahead("a.test")
        found = await asyncio.gather(*(resolver.resolve("a.test") for _ in range(20)))
        assert {ips(one) for one in found} == {(PUBLIC,)}

    assert ask(work, a_test=[[(PUBLIC, 60)]]).asked["a.test", A] == 1


def test_a_caller_that_gives_up_does_not_spoil_it_for_others() -> None:
    async def work(resolver: Resolver, _: NameServer) -> None:
        first = asyncio.create_task(resolver.resolve("a.test"))
        second = asyncio.create_task(resolver.resolve("a.test"))
        await asyncio.sleep(0)
        first.cancel()
        assert ips(await second) == (PUBLIC,)

    ask(work, a_test=[[(PUBLIC, 60)]])


def test_looking_ahead_is_bounded() -> None:
    async def work(resolver: Resolver, server: NameServer) -> None:
        resolver.ahead = 3
        for n in range(50):
            resolver.look_ahead(f"h{n}.test")
        while len({name for name, _ in server.asked}) < 3:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert len({name for name, _ in server.asked}) == 3

    ask(work)


def test_the_cache_drops_what_was_used_longest_ago() -> None:
    async def work(resolver: Resolver, _: NameServer) -> None:
        resolver.size = 2
        for host in ("a.test", "b.test", "a.test", "c.test"):
            await resolver.resolve(host)
        assert resolver.cached("a.test") is not None
        assert resolver.cached("b.test") is None

    ask(work, a_test=[[(PUBLIC, 60)]], b_test=[[(PUBLIC, 60)]], c_test=[[(PUBLIC, 60)]])


def test_f17_any_private_answer_refuses_the_host() -> None:
    async def work(resolver: Resolver, _: NameServer) -> None:
        assert why(await resolver.resolve("mixed.test")) == ("guard", False)
        assert why(await resolver.resolve("zero.test")) == ("guard", False)

    ask(work, mixed_test=[[(PUBLIC, 60), ("10.0.0.1", 60)]], zero_test=[[("0.0.0.0", 60)]])


def test_f17_a_rebinding_answer_with_no_time_to_live_is_not_used() -> None:
    clock = Clock()

    async def work(resolver: Resolver, _: NameServer) -> None:
        assert ips(await resolver.resolve("a.test")) == (PUBLIC,)
        assert ips(await resolver.resolve("a.test")) == (PUBLIC,)
        clock.time += 100
        assert why(await resolver.resolve("a.test")) == ("guard", False)

    ask(work, clock, a_test=[[(PUBLIC, 0)], [("127.0.0.1", 0)]])


def test_f17_the_client_dials_only_what_was_checked() -> None:
    async def run(server: HostileServer) -> list[object]:
        script: list[Reply] = [[("127.0.0.1", 0)]]
        async with NameServer(a_test=script) as names:
            guards = Guard(["127.0.0.0/8"]), Guard()
            # The resolver lets the address through, the client's own guard sees it when it is dialled.
            clients = [Http("T", guard=g, resolver=Resolver(guards[0], [names.address])) for g in guards]
            got: list[object] = [await http(Request(f"http://a.test:{server.port}/", "")) for http in clients]
            for http in clients:
                await http.close()
            return got

    with HostileServer(otherwise=answer(b"inside")) as server:
        allowed, refused = asyncio.run(run(server))
    assert isinstance(allowed, Response)
    assert isinstance(refused, NoResponse)
    assert (refused.reason, refused.refused, server.connections) == ("guard", True, 1)
    assert server.asked[0].host == f"a.test:{server.port}"


def test_f18_no_such_host_is_remembered_for_a_short_time() -> None:
    clock = Clock()

    async def work(resolver: Resolver, server: NameServer) -> None:
        assert why(await resolver.resolve("none.test")) == ("no-such-host", False)
        await resolver.resolve("none.test")
        assert server.asked["none.test", A] == 1
        clock.time += 301
        assert resolver.cached("none.test") is None

    ask(work, clock, none_test=[NXDOMAIN])


def test_f18_a_time_out_is_not_remembered() -> None:
    async def work(resolver: Resolver, _: NameServer) -> None:
        assert why(await resolver.resolve("slow.test")) == ("dns", True)
        assert ips(await resolver.resolve("slow.test")) == (PUBLIC,)

    ask(work, slow_test=[None, None, [(PUBLIC, 60)]])


def test_f18_a_failing_server_is_not_remembered() -> None:
    async def work(resolver: Resolver, server: NameServer) -> None:
        assert why(await resolver.resolve("sick.test")) == ("dns", True)
        server.names["sick.test"] = [[(PUBLIC, 60)]]
        assert ips(await resolver.resolve("sick.test")) == (PUBLIC,)

    ask(work, sick_test=[SERVFAIL])


def test_f18_another_server_is_asked_when_one_fails() -> None:
    async def run() -> Resolved:
        async with NameServer(a_test=[SERVFAIL]) as sick, NameServer(a_test=[[(OTHER, 60)]]) as well:
            resolver = Resolver(Guard(), [sick.address, well.address], timeout=0.2)
            try:
                return await resolver.resolve("a.test")
            finally:
                await resolver.close()

    assert ips(asyncio.run(run())) == (OTHER,)


def test_f18_five_thousand_slow_hosts_hold_up_nobody_and_start_no_threads() -> None:
    async def work(resolver: Resolver, _: NameServer) -> None:
        threads = threading.active_count()
        resolver.timeout = 20.0
        slow = []
        for n in range(5000):
            slow.append(asyncio.create_task(resolver.resolve(f"h{n}.slow.test")))
            if n % 50 == 0:
                await asyncio.sleep(0.005)  # what a name server's socket cannot hold at once is lost, as on any network
        assert ips(await resolver.resolve("quick.test")) == (PUBLIC,)
        assert threading.active_count() <= threads + 1
        assert not any(task.done() for task in slow[:10])
        for task in slow:
            task.cancel()

    names: dict[str, list[Reply]] = {f"h{n}_slow_test": [None] for n in range(5000)}
    ask(work, **names, quick_test=[[(PUBLIC, 60)]])


def test_literals_need_no_server() -> None:
    async def work(resolver: Resolver, server: NameServer) -> None:
        assert ips(await resolver.resolve(PUBLIC)) == (PUBLIC,)
        assert why(await resolver.resolve("[::1]")) == ("guard", False)
        assert not server.asked

    ask(work)
