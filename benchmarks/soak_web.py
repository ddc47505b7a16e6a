"""Serves the hostile mixture from a process of its own, and writes down when each request came and was answered.

The times are what the harness judges by, so they must not blame the crawler for what the server did. `arrival` is
when the loop woke up for the request; if the loop was busy before, the request may have come up to `slack` seconds
earlier. `end` is read before the last bytes are written: the client cannot have seen them earlier.
"""

import asyncio
import contextlib
import json
import os
import selectors
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple, Self

from soak_hosts import HostileWeb, Reply

FLUSH = 0.2  # seconds after which log lines are on file


class Request(NamedTuple):
    """One request: `how` is what became of it: kept, closed, reset, gone (the client left), or open at the end."""

    arrival: float
    end: float
    slack: float
    host: str
    path: str
    status: int
    how: str


class Selector(selectors.DefaultSelector):  # type: ignore[valid-type,misc]
    """Knows when it woke up, and how long what it wakes up for may have waited."""

    woke = slack = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for events."""
        called, busy_since = time.monotonic(), self.woke
        events = super().select(timeout)
        self.woke = time.monotonic()
        self.slack = 0.0 if self.woke - called > 0.0005 else called - busy_since
        return events


class Log:
    """Lines of requests that are over; written a few times a second."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a")
        self._lines: list[str] = []

    def __call__(self, request: Request) -> None:
        """Note a request that is over."""
        first = f"{request.arrival:.6f}\t{request.end:.6f}\t{request.slack:.6f}"
        self._lines.append(f"{first}\t{request.host}\t{request.path}\t{request.status}\t{request.how}\n")

    def flush(self) -> None:
        """Put on file what was noted."""
        self._file.writelines(self._lines)
        self._file.flush()
        self._lines.clear()


class Connection(asyncio.Protocol):
    """One client; its requests are answered one after another."""

    def __init__(self, web: HostileWeb, selector: Selector, log: Log, all_open: set["Connection"]) -> None:
        self.web, self.selector, self.log, self.all_open = web, selector, log, all_open
        self.buffer = b""
        self.task: asyncio.Task[None] | None = None
        self.current: Request | None = None
        self.may_write = asyncio.Event()
        self.may_write.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.all_open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone, perhaps before its answer was whole."""
        self.all_open.discard(self)
        if self.task and self.current:
            self.task.cancel()
            self.over(self.selector.woke - self.selector.slack, "gone")

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        self.may_write.clear()

    def resume_writing(self) -> None:
        """It has caught up."""
        self.may_write.set()

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        self.buffer += data
        if b"\r\n\r\n" in self.buffer and not self.current:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            path = lines[0].split(" ")[1]
            host = next((line[5:].strip().lower() for line in lines if line.lower().startswith("host:")), "")
            self.current = Request(self.selector.woke, 0.0, self.selector.slack, host.partition(":")[0], path, 0, "")
            reply = self.web.answer(self.current.host, path)
            self.current = self.current._replace(status=reply.status)
            self.task = asyncio.get_running_loop().create_task(self.send(reply))

    async def send(self, reply: Reply) -> None:
        """Write an answer as it is meant to come."""
        end = time.monotonic()
        for wait, piece in reply.pieces:
            if wait:
                await asyncio.sleep(wait)
            await self.may_write.wait()
            end = time.monotonic()
            self.transport.write(piece)
        self.over(end, {"keep": "kept", "close": "closed", "reset": "reset"}[reply.end])
        if reply.end == "reset":
            linger = struct.pack("ii", 1, 0)
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.transport.abort() if not self.transport.get_write_buffer_size() else self.transport.close()
        elif reply.end == "close":
            self.transport.close()

    def over(self, end: float, how: str) -> None:
        """Note the request under way."""
        if self.current:
            self.log(self.current._replace(end=end, how=how))
            self.current = None


async def serve(web: HostileWeb, selector: Selector, log: Log) -> None:
    """Serve until standard input ends."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), told.set)
    all_open: set[Connection] = set()
    server = await loop.create_server(lambda: Connection(web, selector, log, all_open), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    while not told.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(told.wait(), FLUSH)
        log.flush()
    for connection in all_open:
        connection.over(time.monotonic(), "open")
    log.flush()
    os._exit(0)  # endless answers need no farewell


class SoakServer:
    """The mixture, served while the `with` block lasts: `.address`, and `.requests()` so far, by arrival."""

    def __init__(self, hosts: int, seed: int, delay: float, log: Path) -> None:
        self.web = HostileWeb(hosts, seed, delay)  # to know what is what; the child answers
        self.log, self.address, self.pid = log, "", 0
        self._order = json.dumps({"hosts": hosts, "seed": seed, "delay": delay, "log": str(log)})

    def __enter__(self) -> Self:
        command = [sys.executable, __file__, self._order]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._child.stdout
        self.address, self.pid = f"127.0.0.1:{int(self._child.stdout.readline())}", self._child.pid
        return self

    def __exit__(self, *_: object) -> None:
        assert self._child.stdin
        assert self._child.stdout
        self._child.stdin.close()
        self._child.stdout.close()
        self._child.wait(60)

    def requests(self) -> list[Request]:
        """What was asked and is over, in the order in which it came."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        rows = (line.split("\t") for line in lines)
        found = [Request(float(a), float(e), float(s), h, p, int(n), how) for a, e, s, h, p, n, how in rows]
        return sorted(found)


def main() -> None:
    """The child: serve what was ordered."""
    order = json.loads(sys.argv[1])
    with contextlib.suppress(OSError):
        os.nice(-10)  # where it may: a clock that comes late measures itself
    selector = Selector()
    log = Log(Path(order["log"]))
    web = HostileWeb(order["hosts"], order["seed"], order["delay"])
    web.prepare()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        runner.run(serve(web, selector, log))


if __name__ == "__main__":
    main()
