"""F63: all bodies together stay within a budget, and whatever its size, everything gets through."""

import asyncio
import gzip
import threading

import pytest

from analecta.fetch.budget import PARSED, MemoryBudget
from analecta.fetch.http import Http
from analecta.fetch.transfer import FetchLimits
from analecta.model import FetchResult, Request, Response
from tests.hostile import Behaviour, HostileServer, answer, drip

BODY = 2_000_000
BOMB = gzip.compress(bytes(BODY))


def bomb() -> Behaviour:
    return answer(BOMB, content_encoding="gzip")


def take_in(budget: MemoryBudget, address: str, count: int, held: float = 0.01) -> tuple[list[int], int]:
    """Ask for many at once, hold each answer a little while: the sizes of the bodies, and the most that was in use."""

    async def one(http: Http, n: int) -> int:
        got: FetchResult | None = await http(Request(f"http://h{n}.test/{n}", ""))
        assert isinstance(got, Response), got
        size = len(got.body)
        await asyncio.sleep(held)
        got = None
        return size

    async def run() -> list[int]:
        http = Http("T", FetchLimits(max_body=BODY), connect_to=address, budget=budget)
        sizes = await asyncio.gather(*(one(http, n) for n in range(count)))
        await http.close()
        return sizes

    return asyncio.run(run()), budget.peak


@pytest.mark.parametrize("limit", [1, 1_000_000, 20_000_000])
def test_f63_bombs_wait_for_each_other_and_all_get_through(limit: int) -> None:
    budget = MemoryBudget(limit)
    with HostileServer(otherwise=bomb()) as server:
        sizes, peak = take_in(budget, server.address, 60)
    assert sizes == [BODY] * 60
    assert peak <= max(limit, PARSED * BODY) + 60 * len(BOMB)
    assert budget.used == 0


@pytest.mark.parametrize("limit", [1, 1_000_000, 20_000_000])
def test_f63_bodies_on_the_wire_are_paused_and_all_get_through(limit: int) -> None:
    budget = MemoryBudget(limit)
    with HostileServer(otherwise=answer(bytes(BODY))) as server:
        sizes, peak = take_in(budget, server.address, 60)
    assert sizes == [BODY] * 60
    assert peak <= limit + (1 + PARSED) * BODY + 60 * (1 << 17), "what is paused holds little"
    assert budget.used == 0


def test_f63_answers_that_are_held_until_all_have_come_are_no_deadlock() -> None:
    """A crawl in order takes answers as they were asked for: what holds the budget may wait for what waits for it."""
    budget = MemoryBudget(1_000_000, ordered=True)

    async def run(address: str) -> list[int]:
        http = Http("T", FetchLimits(max_body=BODY), connect_to=address, budget=budget)
        got = await asyncio.gather(*(http(Request(f"http://h{n}.test/{n}", "")) for n in range(8)))
        await http.close()
        return [len(one.body) for one in got if isinstance(one, Response)]

    with HostileServer({"/0": answer(bytes(BODY)), "/1": answer(bytes(BODY))}, bomb()) as server:
        assert asyncio.run(run(server.address)) == [BODY] * 8


def test_f63_small_answers_never_wait() -> None:
    budget = MemoryBudget(10_000_000)

    async def run(address: str) -> int:
        http = Http("T", FetchLimits(max_body=BODY), connect_to=address, budget=budget)
        large = await http(Request("http://a.test/bomb", ""))
        waits = asyncio.create_task(http(Request("http://b.test/bomb", "")))
        small = [await http(Request(f"http://c.test/{n}", "")) for n in range(20)]
        assert not waits.done()
        del large
        assert isinstance(await waits, Response)
        await http.close()
        return len(small)

    with HostileServer({"/bomb": bomb()}, answer(gzip.compress(b"small"), content_encoding="gzip")) as server:
        assert asyncio.run(run(server.address)) == 20


def test_f63_what_is_given_up_gives_its_memory_back() -> None:
    budget = MemoryBudget(1_000_000)
    endless = drip(bytes(100_000), 0, b"HTTP/1.1 200 OK\r\n\r\n")

    async def run(address: str) -> None:
        http = Http("T", FetchLimits(max_body=BODY), connect_to=address, budget=budget)
        held = await http(Request("http://a.test/bomb", ""))
        tasks = [asyncio.create_task(http(Request(f"http://h{n}.test{path}", "")))
                 for n in range(4) for path in ("/bomb", "/endless")]  # fmt: skip
        await asyncio.sleep(0.5)
        assert not any(task.done() for task in tasks), "they wait for the answer that is held"
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        del held
        assert isinstance(await http(Request("http://a.test/bomb", "")), Response)
        await http.close()

    with HostileServer({"/bomb": bomb(), "/endless": endless}) as server:
        asyncio.run(run(server.address))
    assert budget.used == 0


def test_f63_an_answer_may_be_dropped_by_another_thread() -> None:
    budget = MemoryBudget(1_000_000)

    async def run(address: str) -> None:
        http = Http("T", FetchLimits(max_body=BODY), connect_to=address, budget=budget)
        for _ in range(3):
            last = [await http(Request("http://a.test/", ""))]
            thread = threading.Thread(target=last.clear)
            thread.start()
            await asyncio.to_thread(thread.join)
        await asyncio.sleep(0)
        await http.close()

    with HostileServer(otherwise=bomb()) as server:
        asyncio.run(run(server.address))
    assert budget.used == 0
