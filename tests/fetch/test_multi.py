import asyncio
from collections.abc import Callable

import pycurl
import pytest

from analecta.fetch.multi import CANCELLED, Multi, Poller, SelectorPoller, best_poller
from tests.hostile import HostileServer, answer, silence


@pytest.mark.parametrize("poller", [best_poller, SelectorPoller])
def test_transfers_run_with_either_poller(poller: Callable[[], Poller]) -> None:
    async def run(address: str) -> list[tuple[int, int]]:
        multi, loop = Multi(10, poller), asyncio.get_running_loop()
        ended = []
        for _ in range(3):
            curl, body, future = pycurl.Curl(), list[bytes](), loop.create_future()
            curl.setopt(pycurl.URL, f"http://{address}/")
            curl.setopt(pycurl.WRITEFUNCTION, body.append)
            multi.start(curl, lambda code, _, future=future: future.set_result(code))
            ended.append((await future, len(b"".join(body))))
            curl.close()
        multi.close()
        return ended

    with HostileServer(otherwise=answer(b"x" * 300_000)) as server:
        assert asyncio.run(run(server.address)) == [(0, 300_000)] * 3
    assert server.connections == 1


def test_closing_ends_what_is_under_way() -> None:
    async def run(address: str) -> list[int]:
        multi, codes = Multi(10), list[int]()
        curl = pycurl.Curl()
        curl.setopt(pycurl.URL, f"http://{address}/")
        multi.start(curl, lambda code, _: codes.append(code))
        while not server.asked:
            await asyncio.sleep(0.01)
        multi.close()
        curl.close()
        return codes

    with HostileServer(otherwise=silence()) as server:
        assert asyncio.run(run(server.address)) == [CANCELLED]
