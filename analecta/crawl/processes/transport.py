"""Carries messages between the partitions and the coordinator of one machine: a socket pair for each two.

Message boundaries are kept and nothing waits: a message that finds the other's buffer full is lost, which the
exchange expects (crawl/processes/exchange.py). A cluster would put another transport in this place.
"""

import contextlib
import select
import socket
from collections.abc import Iterable, Mapping

import msgspec

from analecta.settings.schema import Settings

MAX_MESSAGE = 150_000
_KIND = getattr(socket, "SOCK_SEQPACKET", socket.SOCK_DGRAM)


class PeerGone(ConnectionError):
    """The other end was closed: its process is no more."""


class WorkerJob(msgspec.Struct):
    """What a worker is told at its start, as JSON on standard input; `ends` are its sockets by peer."""

    library: str
    me: int
    partitions: int
    settings: Settings
    ends: dict[int, int]


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends."""
    ends = socket.socketpair(socket.AF_UNIX, _KIND)
    for end in ends:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    return ends


class SocketTransport:
    """The ends that one party holds, by the number of the party at the other end."""

    def __init__(self, ends: Mapping[int, socket.socket]) -> None:
        self.ends = dict(ends)

    def send(self, to: int, message: bytes) -> None:
        """Send without waiting."""
        with contextlib.suppress(BlockingIOError, OSError):
            self.ends[to].send(message)

    def receive(self) -> list[bytes]:
        """All that has arrived; PeerGone where a peer's process has ended."""
        messages = []
        for end in self.ends.values():
            while True:
                try:
                    message = end.recv(2 * MAX_MESSAGE)
                except BlockingIOError:
                    break
                except OSError as error:
                    raise PeerGone(str(error)) from error
                if not message:
                    raise PeerGone("end of messages")
                messages.append(message)
        return messages

    def close(self) -> None:
        """Close all ends."""
        for end in self.ends.values():
            end.close()


def wait(lines: Iterable[SocketTransport], seconds: float) -> None:
    """Until something has arrived on one of the lines, but not longer than so many seconds."""
    select.select([end for line in lines for end in line.ends.values()], [], [], seconds)
