import asyncio
from collections.abc import Awaitable, Callable

import pytest

from analecta.fetch.http import Http
from analecta.fetch.robots import DAY, Robots, Saved
from analecta.fetch.transfer import FetchLimits
from analecta.model import Response
from tests.hostile import Behaviour, HostileServer, answer, drip, in_turn, raw, silence

DENY = b"User-agent: *\nDisallow: /x\n"
OK = b"HTTP/1.1 200 OK\r\n"


class Clock:
    def __init__(self) -> None:
        self.time = 1e9

    def __call__(self) -> float:
        return self.time


def robots(
    server: HostileServer, work: Callable[[Robots, Clock], Awaitable[None]], **parts: Callable[..., object]
) -> None:
    """Run some work with robots files from this server."""

    async def run() -> None:
        http, clock = (
            Http("T", FetchLimits(first_byte_timeout=1.0, deadline=2.0), connect_to=server.address),
            Clock(),
        )
        found = Robots(http, "Analecta", clock, **parts)  # type: ignore[arg-type]
        try:
            await work(found, clock)
        finally:
            await found.close()
            await http.close()

    asyncio.run(run())


def verdict(behaviour: Behaviour) -> tuple[bool, bool, str, int]:
    """May /x and /y be fetched, why not, and how often was the server asked, when asked for four times?"""
    seen: list[tuple[bool, bool, str]] = []

    async def work(found: Robots, _: Clock) -> None:
        for _n in range(4):
            rules = await found.rules("http://a.test/x")
        seen.append((rules.allowed("http://a.test/x"), rules.allowed("http://a.test/y"), rules.reason))

    with HostileServer(otherwise=behaviour) as server:
        robots(server, work)
    return *seen[0], len(server.asked)


def test_f19_a_file_is_obeyed() -> None:
    assert verdict(answer(DENY)) == (False, True, "robots", 1)


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden", "401 No", "410 Gone", "204 Nothing"])
def test_f19_no_file_allows_everything(status: str) -> None:
    assert verdict(answer(b"" if status[0] == "2" else DENY, status)) == (True, True, "robots", 1)


@pytest.mark.parametrize("status", ["500 Broken", "503 Busy", "429 Too Many Requests", "599 Odd"])
def test_f19_a_failing_server_allows_nothing_and_is_not_asked_again_at_once(status: str) -> None:
    assert verdict(answer(DENY, status)) == (False, False, "robots-unreachable", 1)


@pytest.mark.parametrize(
    "behaviour",
    [silence(), raw(b""), raw(b"garbage"), drip(b"#", 0.02, OK + b"\r\n"), raw(OK + b"Content-Length: 99\r\n\r\n")],
)
def test_f19_no_whole_answer_allows_nothing(behaviour: Behaviour) -> None:
    assert verdict(behaviour)[:3] == (False, False, "robots-unreachable")


def hop(to: str) -> Behaviour:
    return answer(b"", "301 Moved", location=to)


def test_f19_five_redirects_are_followed() -> None:
    chain = [hop("/1"), hop("//b.test/2"), hop("https://c.test/3"), hop("4"), hop("http://d.test/5"), answer(DENY)]
    assert verdict(in_turn(*chain)) == (False, True, "robots", 6)


def test_f19_a_sixth_redirect_is_no_file() -> None:
    assert verdict(in_turn(*(hop(f"/{i}") for i in range(9)))) == (True, True, "robots", 6)


def test_f19_a_redirect_to_itself_is_no_file_and_asked_for_once() -> None:
    assert verdict(hop("/robots.txt")) == (True, True, "robots", 1)


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://a.test/", "http://[bad/", "javascript:1"])
def test_f19_a_redirect_to_nowhere_is_no_file(to: str) -> None:
    assert verdict(hop(to)) == (True, True, "robots", 1)


def test_f19_a_redirect_without_a_location_is_no_file() -> None:
    assert verdict(answer(b"", "302 Found")) == (True, True, "robots", 1)


def test_each_scheme_host_and_port_has_its_own_file() -> None:
    async def work(found: Robots, _: Clock) -> None:
        for url in ("http://a.test/", "https://a.test/", "http://a.test:81/", "http://b.test/", "http://a.test/2"):
            await found.rules(url)

    with HostileServer(otherwise=answer(DENY)) as server:
        robots(server, work)
    assert [asked.host for asked in server.asked] == ["a.test", "a.test", "a.test:81", "b.test"]


def test_callers_for_one_site_share_one_fetch() -> None:
    async def work(found: Robots, _: Clock) -> None:
        assert found.peek("http://a.test/1") is None
        rules = await asyncio.gather(*(found.rules(f"http://a.test/{n}") for n in range(30)))
        assert len(set(map(id, rules))) == 1
        assert found.peek("http://a.test/other") is rules[0]

    with HostileServer(otherwise=answer(DENY)) as server:
        robots(server, work)
    assert len(server.asked) == 1


def test_f20_a_file_is_asked_for_again_after_a_day() -> None:
    async def work(found: Robots, clock: Clock) -> None:
        assert (await found.rules("http://a.test/x")).allowed("http://a.test/x")
        clock.time += DAY - 1
        assert found.peek("http://a.test/x") is not None
        clock.time += 2
        assert found.peek("http://a.test/x") is None
        assert not (await found.rules("http://a.test/x")).allowed("http://a.test/x")

    with HostileServer(otherwise=in_turn(answer(b""), answer(DENY))) as server:
        robots(server, work)


def test_f19_an_unreachable_file_is_tried_again_later_and_later() -> None:
    waits: list[float] = []

    async def work(found: Robots, clock: Clock) -> None:
        for _ in range(4):
            rules = await found.rules("http://a.test/x")
            waits.append(rules.retry_at - clock.time)
            clock.time = rules.retry_at

    with HostileServer(otherwise=in_turn(*[answer(b"", "500 No")] * 3, answer(DENY))) as server:
        robots(server, work)
    assert waits == [60, 120, 240, DAY]
    assert len(server.asked) == 4


def test_f07_a_clock_set_back_does_not_freeze_an_unreachable_site() -> None:
    async def work(found: Robots, clock: Clock) -> None:
        await found.rules("http://a.test/x")
        clock.time -= DAY
        assert (await found.rules("http://a.test/x")).allowed("http://a.test/y")

    with HostileServer(otherwise=in_turn(answer(b"", "500 No"), answer(DENY))) as server:
        robots(server, work)


def test_every_answer_is_handed_on_to_be_kept() -> None:
    kept: list[Response] = []

    async def work(found: Robots, _: Clock) -> None:
        await found.rules("http://a.test/")

    with HostileServer(otherwise=in_turn(hop("/r"), answer(DENY))) as server:
        robots(server, work, keep=kept.append)
    assert [(one.url, one.status) for one in kept] == [("http://a.test/robots.txt", 301), ("http://a.test/r", 200)]


def test_a_saved_file_outlives_the_process() -> None:
    saved: dict[str, Saved] = {}

    async def work(found: Robots, _: Clock) -> None:
        assert not (await found.rules("http://a.test/")).allowed("http://a.test/x")

    with HostileServer(otherwise=answer(DENY)) as server:
        for _ in range(3):
            robots(server, work, load=saved.get, save=saved.__setitem__)
    assert saved == {"http://a.test": (1e9, 200, DENY)}
    assert len(server.asked) == 1


def test_f19_a_new_run_asks_again_for_a_file_that_could_not_be_had() -> None:
    saved: dict[str, Saved] = {}
    seen: list[bool] = []

    async def work(found: Robots, _: Clock) -> None:
        seen.extend([(await found.rules("http://a.test/")).allowed("http://a.test/y") for _n in range(2)])

    with HostileServer(otherwise=in_turn(answer(b"", "500 No"), answer(DENY))) as server:
        for _ in range(2):
            robots(server, work, load=saved.get, save=saved.__setitem__)
    assert seen == [False, False, True, True]
    assert len(server.asked) == 2
