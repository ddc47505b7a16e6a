"""An HTTP server for the open network: uvicorn, with deadlines and a bounded number of connections.

uvicorn gives no client a deadline for its request and drops nobody. Here a connection that waits, sends its request
slowly or does not take its answer is ended in time, and where there are too many, the one that waits longest is.
"""

import asyncio
import contextlib
import resource
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import msgspec
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

App = Callable[[Any, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]  # ASGI 3

_OWN_FILES = 200  # descriptors that the rest of the process may need
_BACKLOG = 128  # connections that are accepted at once, before any is dropped
_QUEUE = 1024  # connections that wait to be accepted
_BUSY = b"HTTP/1.1 503 Busy\r\nRetry-After: 10\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class ServerLimits(msgspec.Struct, frozen=True):
    """What a client may take: seconds for each step, bytes of a head, connections of all clients together."""

    idle: float = 30.0  # until the first byte of a request
    request: float = 30.0  # from there to the last, body included
    answer: float = 120.0  # for taking the answer
    head: int = 16_384
    connections: int = 500


class _ClientConnection(H11Protocol):
    """A client with a deadline for each step."""

    def __init__(self, *, limits: ServerLimits, waiting: "dict[_ClientConnection, None]", **given: Any) -> None:
        """`waiting` holds all that may be dropped for others, the one that has waited longest first."""
        super().__init__(**given)
        self.limits, self.waiting = limits, waiting
        self._deadline: asyncio.TimerHandle | None = None
        self._begun = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come: where there are too many, another goes."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            if not self.waiting:
                transport.write(_BUSY)
                transport.close()
                return
            next(iter(self.waiting)).give_up()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._allow(None)
        self.waiting.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Part of a request has come; the time for all of it runs from the first."""
        if not self._begun:
            self._begun = True
            self._allow(self.limits.request)
        super().data_received(data)

    def handle_events(self) -> None:
        """A request that is whole is answered, and its client no longer waits."""
        super().handle_events()
        if self._answering() and self in self.waiting and not self.cycle.more_body:
            del self.waiting[self]
            self._allow(self.limits.answer)

    def on_response_complete(self) -> None:
        """The answer is written, if not yet taken."""
        if self.transport.get_write_buffer_size() or self.transport.is_closing():
            self._allow(self.limits.answer)
            self.waiting[self] = None
            self._begun = False
        else:
            self._wait()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The client does not take its answer."""
        super().pause_writing()
        self.waiting[self] = None

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        if self._answering():
            self.waiting.pop(self, None)

    def shutdown(self) -> None:
        """The server ends: an answer under way is finished."""
        if self._answering():
            self.cycle.keep_alive = False
        else:
            self.transport.close()

    def give_up(self) -> None:
        """End the connection at once; what is not yet taken of an answer is lost."""
        self.waiting.pop(self, None)
        self.connections.discard(self)
        self.transport.abort()

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._begun = False
        self.waiting[self] = None
        self._allow(self.limits.idle)

    def _allow(self, seconds: float | None) -> None:
        if self._deadline:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self.give_up)


@contextlib.contextmanager
def serving(app: App, listener: socket.socket, limits: ServerLimits = ServerLimits()) -> Iterator[None]:
    """Serve an ASGI application on a bound socket, in a thread, as long as the context lasts."""
    limits = msgspec.structs.replace(limits, connections=min(limits.connections, _affordable()))
    http: Any = partial(_ClientConnection, limits=limits, waiting={})
    config = uvicorn.Config(
        app,
        http=http,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=int(limits.idle + limits.answer),  # ours come first
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=limits.head,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.01)
    listener.listen(_QUEUE)  # the kernel may hold more than asyncio accepts at once
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def _affordable() -> int:
    """How many connections the limit on open files allows."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000_000 if soft == resource.RLIM_INFINITY else max(8, soft - _OWN_FILES)
