"""A small fast HTTP/1.1 server for loopback, with moods: hosts that fail, stall or refuse as real ones do."""

import asyncio
import contextlib
import gc
import os
import socket
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from random import Random
from typing import TextIO

import msgspec

from analecta.signals import stop_signals

# --- Moods of hosts: slow, busy, abrupt, strict. Decides what to do with an answer; the server does it ---------------


class Mood(msgspec.Struct, frozen=True):
    """How a host behaves. Counting requests, not chance, decides, so that a second try finds it in a better mood."""

    delay: float = 0.0  # seconds before each answer
    busy_every: int = 0  # each n-th request gets a 503 with Retry-After
    cut_every: int = 0  # each n-th answer ends half way
    per_second: int = 0  # more requests within a second get a 429


class Deed(msgspec.Struct, frozen=True):
    """What to do with an answer: wait, put another status in its place (0: as it is), cut it."""

    delay: float = 0.0
    status: int = 0
    retry_after: int = 0
    cut: bool = False


NAMED = {
    "slow": Mood(delay=0.25),
    "busy": Mood(busy_every=5),
    "cutting": Mood(cut_every=6),
    "limited": Mood(per_second=5),
}


class Moods:
    """Remembers what each host was asked, and says how it takes the next request."""

    def __init__(
        self,
        moods: Mapping[str, Mood],
        draw: Callable[[], float],
        now: Callable[[], float],
        delay: float = 0.0,
        error_rate: float = 0.0,
    ) -> None:
        self.moods, self.draw, self.now = moods, draw, now
        self.delay, self.error_rate = delay, error_rate
        self._asked: dict[str, int] = {}
        self._second: dict[str, tuple[int, int]] = {}
        self.even = not moods and not delay and not error_rate

    def next(self, host: str, target: str) -> Deed:
        """How `host` takes a request for `target`; its robots.txt is always answered."""
        mood = self.moods.get(host, Mood())
        delay = self.delay + mood.delay
        if target == "/robots.txt":
            return Deed(delay)
        if self.error_rate and self.draw() < self.error_rate:
            # Half of the errors are a 503, a quarter a 500, a quarter a broken answer.
            chance = self.draw()
            return Deed(delay, 503, 1) if chance < 0.5 else Deed(delay, 500 if chance < 0.75 else 0, cut=chance >= 0.75)
        asked = self._asked[host] = self._asked.get(host, 0) + 1
        if mood.busy_every and asked % mood.busy_every == 0:
            return Deed(delay, 503, 1)
        if mood.per_second and self._in_this_second(host) > mood.per_second:
            return Deed(delay, 429, 1)
        return Deed(delay, cut=bool(mood.cut_every) and asked % mood.cut_every == 0)

    def _in_this_second(self, host: str) -> int:
        second = int(self.now())
        before, count = self._second.get(host, (second, 0))
        self._second[host] = (second, count + 1 if before == second else 1)
        return self._second[host][1]


# --- server ----------------------------------------------------------------------------------------------------------
# A small fast HTTP/1.1 server for loopback: GET and HEAD, keep-alive, pipelining; any host name is answered.
#
# The host comes from the Host header or from an absolute request target (so it can be used as a proxy, too).
# It trusts its clients, which are tests and our own crawls: it is no server for the open network.


HERE = ("localhost", "127.0.0.1")  # asked by these names, a web tells of itself
MAX_HEAD = 65_536  # bytes of a request head; more is no request of ours


class ServedResponse(msgspec.Struct, frozen=True, gc=False):
    """An answer: `head` holds header lines, each ending in CRLF, without Content-Length and Connection."""

    status: int = 200
    head: bytes = b""
    body: bytes = b""
    reason: bytes = b""


Answer = Callable[[str, str, Mapping[str, str]], ServedResponse]

_STATUS = {one.value: b"HTTP/1.1 %d %b\r\n" % (one.value, one.phrase.encode()) for one in HTTPStatus}
_PLAIN = b"Content-Type: text/plain\r\n"
TEXT = b"Content-Type: text/plain; charset=utf-8\r\n"


def wire(answer: ServedResponse, *, head_only: bool = False) -> bytes:
    """An answer as it goes over the wire."""
    status = answer.status
    line = _STATUS.get(status) if not answer.reason else None
    line = line or b"HTTP/1.1 %d %b\r\n" % (status, answer.reason or b"Odd")
    if status == 304 or status == 204 or status < 200:
        return b"%b%b\r\n" % (line, answer.head)
    body = b"" if head_only else answer.body
    return b"%b%bContent-Length: %d\r\n\r\n%b" % (line, answer.head, len(answer.body), body)


class ServerConnection(asyncio.Protocol):
    """One client. Requests are answered in order; a delayed answer holds back those after it."""

    def __init__(self, answer: Answer, moods: Moods, log: TextIO | None) -> None:
        self.answer, self.moods, self.log = answer, moods, log
        self.buffer = b""
        self.waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        self.transport = transport
        self.write: Callable[[bytes], None] = transport.write  # type: ignore[attr-defined]

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        if self.waiting:
            self.waiting.cancel()

    def data_received(self, data: bytes) -> None:
        """Bytes have come: answer each request that is whole."""
        self.buffer = self.buffer + data if self.buffer else data
        if not self.waiting:
            self._work()

    def _work(self) -> None:
        while self.buffer and not self.waiting and not self.transport.is_closing():
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self.buffer) > MAX_HEAD:
                    self._end(ServedResponse(431))
                return
            head, self.buffer = self.buffer[:end], self.buffer[end + 4 :]
            self._request(head.decode("latin-1"))

    def _request(self, head: str) -> None:
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        target, _, version = rest.rpartition(" ")
        if method not in ("GET", "HEAD") or not target:
            self._end(ServedResponse(405 if target else 400, b"Allow: GET, HEAD\r\n"))
            return
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        host = headers.get("host", "")
        if target[0] != "/":
            _, _, after = target.partition("://")
            host, slash, path = after.partition("/")
            target = slash + path or "/"
        host = host.partition(":")[0].lower() if ":" in host else host.lower()
        close = version == "HTTP/1.0" or headers.get("connection", "").lower() == "close"
        deed = None if self.moods.even else self.moods.next(host, target)
        if deed and deed.status:
            answer = ServedResponse(deed.status, _PLAIN + b"Retry-After: %d\r\n" % deed.retry_after, b"Not now.\n")
        else:
            answer = self.answer(host, target, headers)
        if self.log:  # on file before the answer is sent
            self.log.write(f"{time.monotonic():.6f}\t{host}\t{target}\t{answer.status}\n")
        data = wire(answer, head_only=method == "HEAD")
        cut = deed is not None and deed.cut
        if deed and deed.delay:
            self.waiting = asyncio.get_running_loop().call_later(deed.delay, self._send_late, data, cut, close)
        else:
            self._send(data, cut, close)

    def _send_late(self, data: bytes, cut: bool, close: bool) -> None:
        self.waiting = None
        self._send(data, cut, close)
        self._work()

    def _send(self, data: bytes, cut: bool, close: bool) -> None:
        self.write(data[: len(data) // 2] if cut else data)
        if cut or close:
            self.transport.close()

    def _end(self, answer: ServedResponse) -> None:
        self._send(wire(answer), False, True)


async def listen(answer: Answer, listener: socket.socket, moods: Moods, log: TextIO | None = None) -> asyncio.Server:
    """Start answering on a socket, in the loop that runs."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: ServerConnection(answer, moods, log), sock=listener, backlog=2048)


def bind(port: int, shared: bool = True) -> socket.socket:
    """A listening socket on loopback; port 0 takes a free one. Several processes may share a port."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared and hasattr(socket, "SO_REUSEPORT"):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    return listener


class LogLine(msgspec.Struct, frozen=True):
    """A line of the request log: monotonic time, host, target and status, with tabs between."""

    time: float
    host: str
    target: str
    status: int


def read_log(path: Path) -> list[LogLine]:
    """What a server was asked, in order of time."""
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    return sorted((LogLine(float(t), h, p, int(s)) for t, h, p, s in lines), key=lambda noted: noted.time)


class ServerOptions(msgspec.Struct, frozen=True):
    """How a server listens (port 0 takes a free one), and how it fails; `log` is the file of its requests."""

    port: int = 0
    delay: float = 0.0
    error_rate: float = 0.0
    processes: int = 1
    log: str = ""


def serve(
    answer: Answer,
    options: ServerOptions = ServerOptions(),
    moods: Mapping[str, Mood] = {},
    ready: Callable[[int], None] = lambda port: None,
    lifeline: int | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM, SIGHUP or the end of `lifeline` (a file descriptor); `ready` is told the port.

    Further processes are forked when the answer is at hand, so that they share its memory.
    """
    port, processes = options.port, options.processes
    bind(port, shared=False).close()  # a port that another server has is an error, not one to share
    listener = bind(port)
    port = listener.getsockname()[1]
    children, end = _fork(processes - 1) if processes > 1 else ([], None)
    if processes > 1 and end is not None and not children:  # a child: it lives as long as its parent holds the pipe
        listener.close()
        listener, lifeline, ready = bind(port), end, lambda port: None
    watch = Moods(moods, Random(0).random, time.monotonic, options.delay, options.error_rate)
    gc.freeze()  # what was loaded stays: the collector need not look at it again
    try:
        with open(options.log, "a", buffering=1, encoding="utf-8") if options.log else contextlib.nullcontext() as log:
            asyncio.run(_until_told(answer, listener, watch, log, lifeline, lambda: ready(port)))
    finally:
        if end is not None:
            os.close(end)
        for child in children:
            os.waitpid(child, 0)
        if processes > 1 and not children:
            os._exit(0)


def _fork(count: int) -> tuple[list[int], int | None]:
    """Fork: the parent gets its children and the pipe end that keeps them alive; a child gets ([], its end)."""
    read, write = os.pipe()
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            os.close(write)
            return [], read
        children.append(child)
    os.close(read)
    return children, write


async def _until_told(
    answer: Answer,
    listener: socket.socket,
    moods: Moods,
    log: TextIO | None,
    lifeline: int | None,
    ready: Callable[[], None],
) -> None:
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    for number in stop_signals():
        loop.add_signal_handler(number, told.set)
    if lifeline is not None:
        loop.add_reader(lifeline, told.set)  # nothing is ever written: readable means closed
    server = await listen(answer, listener, moods, log)
    ready()
    await told.wait()
    server.close()
    if lifeline is not None:
        loop.remove_reader(lifeline)
