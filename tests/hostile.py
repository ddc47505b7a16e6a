"""A raw TCP server that misbehaves to order: each path has a behaviour, an async function of reader and writer.

with HostileServer({"/slow": drip(b"x", every=0.1)}) as server:
    ... connect to server.address ...; server.asked tells what came, and when
"""

import asyncio
import ssl
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Self

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Asked(NamedTuple):
    """One request that came in: when (monotonic clock), on which connection, for whom, and its raw head."""

    at: float
    connection: int
    host: str
    path: str
    head: bytes


def answer(body: bytes = b"", status: str = "200 OK", **headers: str) -> Behaviour:
    """A well-behaved answer; `content_type="text/html"` makes a Content-Type field. Keeps the connection."""
    fields = {"Content-Length": str(len(body))} | {k.replace("_", "-").title(): v for k, v in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return raw(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body, close=False)


def raw(data: bytes, close: bool = True) -> Behaviour:
    """Exactly these bytes, then the connection is closed (or kept)."""

    async def behave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if close:
            writer.close()

    return behave


def silence() -> Behaviour:
    """Nothing at all, for ever."""
    return drip(b"", every=3600)


def drip(piece: bytes, every: float, first: bytes = b"") -> Behaviour:
    """`first`, then a piece every so often, for ever; with `every=0` as fast as it goes."""

    async def behave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(every)

    return behave


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """The first behaviour at the first request, and so on; the last one stays."""
    left = list(behaviours)

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(reader, writer)

    return behave


class HostileServer:
    """Runs in a thread of its own while the `with` block lasts. A key "host/path" goes before a plain "/path"."""

    def __init__(
        self,
        behaviours: Mapping[str, Behaviour] | None = None,
        otherwise: Behaviour | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.behaviours = dict(behaviours or {})
        self.otherwise = otherwise or answer(b"not here", "404 Not Found")
        self.tls = tls
        self.asked: list[Asked] = []
        self.connections = 0
        self.most_at_once = 0
        self.address = ""
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="hostile-server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60), "the hostile server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)
        assert not self._thread.is_alive(), "the hostile server did not stop"

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.address.rpartition(":")[2])

    def times(self) -> dict[str, list[float]]:
        """When each host was asked, by its Host field."""
        found: dict[str, list[float]] = defaultdict(list)
        for asked in self.asked:
            found[asked.host].append(asked.at)
        return found

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [asked.path for asked in self.asked]

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self.tls, backlog=1024)
        self.address = "{}:{}".format(*server.sockets[0].getsockname())
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task, writer in list(self._open.items()):
            task.cancel()
            writer.transport.abort()
        await asyncio.gather(*self._open, return_exceptions=True)
        await asyncio.sleep(0.01)  # lets the transports close their sockets

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        self.connections += 1
        self.most_at_once = max(self.most_at_once, len(self._open))
        try:
            await self._converse(reader, writer, self.connections)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            self._open.pop(task, None)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        while not writer.is_closing():
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            host = next((line[5:].strip() for line in lines if line.lower().startswith("host:")), "")
            path = lines[0].split(" ")[1]
            self.asked.append(Asked(time.monotonic(), connection, host, path, head))
            bare = path.partition("?")[0]
            known = self.behaviours.get(host + bare) or self.behaviours.get(bare)
            await (known or self.otherwise)(reader, writer)
