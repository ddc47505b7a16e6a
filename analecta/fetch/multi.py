"""libcurl's multi handle driven by the asyncio loop: many transfers, one thread, no select().

libcurl says which sockets it waits for and when it wants to be called; the loop calls `socket_action`.
The sockets are watched by a selector of our own, which the loop watches as one file: wishes change twice a request,
and changing the loop's own readers each time would cost a third of the whole.
"""

import asyncio
import select
import selectors
import socket
from collections.abc import Callable
from typing import TypeAlias

import pycurl

Done = Callable[[int, str], None]  # libcurl's error code (0 = fine) and its words

CANCELLED = -1
_OFF = float("inf")
_IN, _OUT = 1, 4  # epoll's numbers
_EVENTS = {pycurl.POLL_IN: _IN, pycurl.POLL_OUT: _OUT, pycurl.POLL_INOUT: _IN | _OUT}


class SelectorPoller:
    """What is used of select.epoll, for systems without: an eighth slower a request."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.close = self._selector.close

    def register(self, fd: int, events: int) -> None:
        """Watch a socket."""
        self._selector.register(fd, (events & _IN) | (events & _OUT) >> 1)

    def modify(self, fd: int, events: int) -> None:
        """Watch it for something else."""
        self._selector.modify(fd, (events & _IN) | (events & _OUT) >> 1)

    def unregister(self, fd: int) -> None:
        """Watch it no longer."""
        self._selector.unregister(fd)

    def poll(self, timeout: float) -> list[tuple[int, int]]:
        """What is ready now."""
        return [(key.fd, (e & 1) | (e & 2) << 1) for key, e in self._selector.select(timeout)]

    def fileno(self) -> int:
        """The one file that stands for all."""
        return int(self._selector.fileno())


Poller: TypeAlias = "select.epoll | SelectorPoller"


def best_poller() -> Poller:
    """The quickest that the system has."""
    return select.epoll() if hasattr(select, "epoll") else SelectorPoller()


class QuietSocket(socket.socket):
    """A socket that closes itself when dropped: pycurl duplicates what OPENSOCKETFUNCTION returns."""

    def __del__(self) -> None:
        self.close()


class Multi:
    """Runs transfers; `start` calls back when one is done. Bound to the loop it is made in."""

    def __init__(self, connections: int, poller: Callable[[], Poller] = best_poller) -> None:
        self._loop = asyncio.get_running_loop()
        self._sockets = poller()
        self._watched: set[int] = set()
        self._loop.add_reader(self._sockets.fileno(), self._ready)
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._in_flight: dict[pycurl.Curl, Done] = {}
        self._due = _OFF  # when libcurl wants to be called
        self._rings = _OFF  # when the loop will call us: a timer that rings early is cheaper than one moved often
        self._timer: asyncio.Handle | None = None

    def start(self, curl: pycurl.Curl, done: Done) -> None:
        """Begin a transfer; `done` is called from the loop, never from here."""
        self._multi.add_handle(curl)
        self._in_flight[curl] = done

    def stop(self, curl: pycurl.Curl, code: int = CANCELLED, words: str = "") -> None:
        """End a transfer early, if it still runs; its `done` gets the given code."""
        if curl in self._in_flight:
            self._end(curl, code, words)

    def in_flight(self) -> list[pycurl.Curl]:
        """The transfers under way."""
        return list(self._in_flight)

    def close(self) -> None:
        """Stop everything and close all connections."""
        for curl in self.in_flight():
            self.stop(curl)
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._sockets.fileno())
        self._multi.close()
        self._sockets.close()

    def _on_socket(self, what: int, fd: int, _multi: object, _data: object) -> None:
        if what == pycurl.POLL_REMOVE:
            if fd in self._watched:
                self._watched.discard(fd)
                self._sockets.unregister(fd)
        elif fd in self._watched:
            self._sockets.modify(fd, _EVENTS[what])
        else:
            self._watched.add(fd)
            self._sockets.register(fd, _EVENTS[what])

    def _ready(self) -> None:
        for fd, events in self._sockets.poll(0):
            if fd in self._watched:  # what was done for another socket may have ended this one
                ready = pycurl.CSELECT_OUT if events & _OUT else 0
                self._act(fd, ready | pycurl.CSELECT_IN if events & ~_OUT else ready)

    def _on_timer(self, milliseconds: int) -> None:
        if milliseconds < 0:
            self._due = _OFF
            return
        self._due = self._loop.time() + milliseconds / 1000
        if self._due < self._rings:
            self._arm(milliseconds / 1000)

    def _arm(self, delay: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._rings = self._due
        self._timer = self._loop.call_later(delay, self._ring) if delay else self._loop.call_soon(self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._rings = _OFF
        if self._due == _OFF:
            return
        wait = self._due - self._loop.time()
        if wait > 0.001:
            self._arm(wait)
        else:
            self._due = _OFF
            self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _act(self, fd: int, mask: int) -> None:
        _, running = self._multi.socket_action(fd, mask)
        if running < len(self._in_flight):
            self._reap()

    def _reap(self) -> None:
        more = 1
        while more:
            more, fine, failed = self._multi.info_read()
            for curl in fine:
                self._end(curl, 0, "")
            for curl, code, words in failed:
                self._end(curl, code, words)

    def _end(self, curl: pycurl.Curl, code: int, words: str) -> None:
        done = self._in_flight.pop(curl)
        self._multi.remove_handle(curl)
        done(code, words)
