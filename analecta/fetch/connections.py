"""The connections that libcurl keeps open: each is looked at before another request goes out on it.

libcurl itself looks for closed connections and for bytes nobody asked for once a second at most; what came in between
would be taken for the answer to the next request. A connection that is not clean is cut here, so that libcurl fails
to send on it and takes another: nothing has left then.
"""

import os
import select
import socket
from collections.abc import Sequence
from typing import Self

Ends = tuple[str, str, int, int]  # addresses and ports of both ends, as libcurl tells them before a request

_GONE = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


class OpenConnection:
    """One open connection; `users` are the requests under way on it, of which HTTP/2 may have many."""

    __slots__ = ("ends", "fd", "fresh", "multiplexed", "poll", "users")

    def __init__(self, fd: int, ends: Ends) -> None:
        self.fd = fd
        self.ends = ends
        self.fresh = True  # no request yet; a handshake may well leave something to be read
        self.users = 0
        self.multiplexed = False
        self.poll = select.poll()
        self.poll.register(fd, select.POLLIN | _GONE)

    def is_clean(self) -> bool:
        """Whether a request may go out: the server must not have closed it, nor sent anything unasked on HTTP/1."""
        if self.fresh or self.users:
            return True
        events = self.poll.poll(0)
        return not events or (self.multiplexed and not events[0][1] & _GONE)

    def take(self) -> Self:
        """One more request goes out on it."""
        self.fresh = False
        self.users += 1
        return self

    def leave(self, multiplexed: bool) -> None:
        """A request on it has ended; whether its answer was HTTP/2."""
        self.users -= 1
        self.multiplexed = self.multiplexed or multiplexed

    def cut(self) -> None:
        """Put a dead socket in its place: what waits to be read is gone, and sending fails."""
        ours, theirs = socket.socketpair()
        theirs.close()
        ours.setblocking(False)
        os.dup2(ours.fileno(), self.fd, inheritable=False)
        ours.close()


class Connections:
    """Finds a connection by its ends. libcurl does not tell when one closes: its entry goes when its fd comes again."""

    def __init__(self) -> None:
        self.by_ends: dict[Ends, OpenConnection] = {}
        self._by_fd: dict[int, OpenConnection] = {}

    def add(self, ends: Ends, dialled: Sequence[int]) -> None:
        """Of the sockets that were just dialled one has become the connection between these ends."""
        for fd in dialled:
            old = self._by_fd.pop(fd, None)
            if old is not None and self.by_ends.get(old.ends) is old:
                del self.by_ends[old.ends]
            if _local_port(fd) == ends[3]:
                self._by_fd[fd] = self.by_ends[ends] = OpenConnection(fd, ends)


def _local_port(fd: int) -> int:
    """The port at our end of a socket; 0 where it is closed, or no socket of the internet."""
    try:
        borrowed = socket.socket(fileno=fd)
    except OSError:
        return 0
    try:
        name = borrowed.getsockname()
        return int(name[1]) if isinstance(name, tuple) else 0
    finally:
        borrowed.detach()
