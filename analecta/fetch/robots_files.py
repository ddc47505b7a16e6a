"""Robots files by URL: each is fetched once, however many sites redirect there, and shared while it is good."""

import asyncio
from collections.abc import Callable

import msgspec

from analecta.fetch.rules import MAX_SIZE
from analecta.model import Answer, NoAnswer, Request, Target
from analecta.protocols import Fetch
from analecta.urls import canonical

_ROOM = 8_000_000  # bytes of files that are kept for others that redirect there


class Later(msgspec.Struct, frozen=True):
    """The host of a robots file cannot be asked now: come again after so many seconds."""

    wait: float


class RobotsFile(msgspec.Struct, frozen=True):
    """What came of asking for one URL. `status` is 0 where there was no whole answer, for the reason `cause`."""

    fetched_at: float
    status: int
    body: bytes = b""
    location: str = ""  # where a redirect leads; "" where that is nowhere
    cause: str = ""
    detail: str = ""
    hopeless: bool = False  # asking again would be in vain

    @property
    def failed(self) -> bool:
        """Whether this is no answer to go by (RFC 9309 2.3.1.4)."""
        return self.status in (0, 429) or self.status >= 500


class RobotsFiles:
    """Fetches robots files. A file is good for `max_age` seconds, a failure for `back_off`."""

    def __init__(self, fetch: Fetch, now: Callable[[], float], keep: Callable[[Answer], object]) -> None:
        self.fetch = fetch
        self.now = now
        self.keep = keep
        self._asking: dict[str, asyncio.Task[RobotsFile | Later]] = {}
        self._kept: dict[str, RobotsFile] = {}
        self._size = 0

    async def get(self, target: Target, max_age: float, back_off: float) -> RobotsFile | Later:
        """The file at a URL; callers for one URL share one fetch."""
        kept = self._kept.get(target.url)
        if kept is not None:
            if kept.fetched_at <= self.now() < kept.fetched_at + (back_off if kept.failed else max_age):
                return kept
            self._drop(target.url)
        task = self._asking.get(target.url)
        if task is None:
            task = self._asking[target.url] = asyncio.create_task(self._ask(target))
            task.add_done_callback(lambda _: self._asking.pop(target.url, None))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Give up the fetches under way."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, target: Target) -> RobotsFile | Later:
        got = await self.fetch(Request(target.url, target.host))
        if isinstance(got, NoAnswer):
            if got.reason == "turn":
                return Later(got.wait)
            return self._share(target, _failure(self.now(), got))
        self.keep(got)
        if got.truncated in ("time", "disconnect"):
            return self._share(target, RobotsFile(self.now(), 0, cause=got.truncated))
        if 300 <= got.status < 400:
            hop = canonical(got.headers["location"], target.url) if "location" in got.headers else None
            return self._share(target, RobotsFile(self.now(), got.status, location=hop.url if hop else ""))
        return self._share(target, RobotsFile(self.now(), got.status, got.body[: MAX_SIZE + 1]))

    def _share(self, target: Target, file: RobotsFile) -> RobotsFile:
        if file.cause != "closed":
            self._drop(target.url)
            self._kept[target.url] = file
            self._size += _size(target.url, file)
        while self._size > _ROOM:
            self._drop(next(iter(self._kept)))
        return file

    def _drop(self, url: str) -> None:
        file = self._kept.pop(url, None)
        if file is not None:
            self._size -= _size(url, file)


def _failure(now: float, no: NoAnswer) -> RobotsFile:
    return RobotsFile(now, 0, cause=no.reason, detail=no.detail, hopeless=not no.retry)


def _size(url: str, file: RobotsFile) -> int:
    return 500 + len(url) + len(file.body) + len(file.location)
