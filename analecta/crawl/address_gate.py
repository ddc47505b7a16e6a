"""The limits per IP address for a crawl in order: there each request waits in place, for none may overtake another."""

import asyncio
import time
from collections.abc import Callable

import msgspec

from analecta.frontier.hosts import IpLimits
from analecta.model import FetchResult, Request
from analecta.protocols import FetchFunction, Locate

_SOON = 0.05  # seconds after which to look again whether a request has left or ended


class AddressGate:
    """Asks when the address of a request may be asked; `locate` tells it."""

    def __init__(
        self, ask: FetchFunction, addresses: IpLimits, locate: Locate, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.ask, self.addresses, self.locate, self.clock = ask, addresses, locate, clock

    async def __call__(self, request: Request) -> FetchResult:
        """Ask for one URL."""
        ip = await self.locate(request.host)
        if not ip:
            return await self.ask(request)
        address = self.addresses.at(ip)
        while not self.addresses.free(address, self.clock()):
            await asyncio.sleep(max(_SOON, address.next - self.clock()))
        self.addresses.take(address)
        unsent = True

        def sent() -> bool:
            nonlocal unsent
            if request.sent is not None and not request.sent():
                return False
            unsent = False
            self.addresses.left(address, self.clock())
            return True

        try:
            return await self.ask(msgspec.structs.replace(request, sent=sent))
        finally:
            address.flying -= 1
            address.unsent -= unsent
