"""Names to addresses, on c-ares in the asyncio loop: no threads, so slow names hold up nobody else.

A host is refused when any of its addresses is not public: whoever mixes them in is up to something (F17).
"No such host" is remembered for a short time; a time-out or a failing server is not: that is not the host's word (F18).
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import msgspec
import pycares
from pycares import errno

from analecta.fetch.guard import Guard


class Addresses(msgspec.Struct, frozen=True):
    """Where a host is: addresses that passed the guard, good until `until` on the resolver's clock."""

    ips: tuple[str, ...]
    until: float = 0.0


class NoAddress(msgspec.Struct, frozen=True):
    """Why there is no address to dial; `reason` is a word of fetch.REASONS."""

    reason: str
    detail: str = ""
    retry: bool = False
    until: float = 0.0


Resolved = Addresses | NoAddress

# The host's own word that there is nothing; all other errors are those of name servers on the way.
_NOTHING = frozenset((errno.ARES_ENOTFOUND, errno.ARES_ENODATA, errno.ARES_ENONAME))
_HOPELESS = frozenset((errno.ARES_EBADNAME, errno.ARES_EBADQUERY, errno.ARES_EBADSTR))
# The second is asked only when the first has nothing.
_STEPS = (
    (pycares.QUERY_TYPE_A, pycares.ARecordData),
    (pycares.QUERY_TYPE_AAAA, pycares.AAAARecordData),
)


@dataclass(eq=False)
class Resolver:
    """Resolves hosts through the system's name servers, or those given as "ADDRESS" or "ADDRESS:PORT".

    The rest says how they are asked, and how long what they say is good, in seconds.
    """

    guard: Guard
    servers: Sequence[str] = ()
    timeout: float = 3.0
    tries: int = 2
    min_ttl: float = 60.0
    max_ttl: float = 86_400.0
    negative_ttl: float = 300.0
    size: int = 100_000  # hosts that are remembered
    ahead: int = 200  # lookups in progress, above which none is started ahead of need
    now: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._cache: dict[str, Resolved] = {}
        self._asking: dict[str, asyncio.Future[Resolved]] = {}
        self._channel: pycares.Channel | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._sockets: set[int] = set()

    def cached(self, host: str) -> Resolved | None:
        """What is known of a host without asking."""
        known = self._cache.get(host)
        if known is None:
            return None
        if known.until <= self.now():
            del self._cache[host]
            return None
        self._cache[host] = self._cache.pop(host)  # used last, dropped last
        return known

    async def resolve(self, host: str) -> Resolved:
        """The addresses of a host, or why there are none. Callers that ask for one host share one lookup."""
        known = self.cached(host) or self._literal(host)
        if known is not None:
            return known
        # Shielded: a caller that gives up must not take the answer from the others.
        return await asyncio.shield(self._ask(host))

    def look_ahead(self, host: str) -> None:
        """Start a lookup that will soon be needed, unless many are under way."""
        if len(self._asking) < self.ahead and self.cached(host) is None and self._literal(host) is None:
            self._ask(host)

    async def close(self) -> None:
        """Give up all lookups and close the sockets."""
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.cancel()
            for fd in list(self._sockets):
                self._on_socket(fd, False, False)
            channel.close()
        if self._timer is not None:
            self._timer.cancel()

    def _literal(self, host: str) -> Resolved | None:
        """An address written as such needs no lookup, but the same check."""
        try:
            address = str(ip_address(host.strip("[]")))
        except ValueError:
            return None
        return self._checked((address,), float("inf"))

    def _checked(self, ips: tuple[str, ...], until: float) -> Resolved:
        refusals = filter(None, map(self.guard.refusal, ips))
        why = next(refusals, None)
        return NoAddress("guard", why, until=until) if why else Addresses(ips, until)

    def _ask(self, host: str) -> "asyncio.Future[Resolved]":
        if host in self._asking:
            return self._asking[host]
        future: asyncio.Future[Resolved] = asyncio.get_running_loop().create_future()
        self._asking[host] = future
        self._query(host, 0)
        return future

    def _query(self, host: str, step: int) -> None:
        channel = self._open()
        kind, data = _STEPS[step]

        def answered(result: "pycares.DNSResult | None", error: int | None) -> None:
            records = result.answer if result is not None else []
            found = [(r.data.addr, r.ttl) for r in records if isinstance(r.data, data)]
            if found:
                ttl = min(max(min(ttl for _, ttl in found), self.min_ttl), self.max_ttl)
                self._settle(host, self._checked(tuple(ip for ip, _ in found), self.now() + ttl))
            elif (error is None or error == errno.ARES_ENODATA) and step + 1 < len(_STEPS):
                self._query(host, step + 1)
            else:
                self._settle(host, self._nothing(error))

        try:
            channel.query(host, kind, callback=answered)
        except (pycares.AresError, UnicodeError, ValueError) as problem:
            self._settle(host, NoAddress("no-such-host", str(problem), until=self.now() + self.negative_ttl))
        self._tick()

    def _nothing(self, error: int | None) -> NoAddress:
        words = "no address" if error is None else str(errno.strerror(error))
        if error is None or error in _NOTHING or error in _HOPELESS:
            return NoAddress("no-such-host", words, until=self.now() + self.negative_ttl)
        return NoAddress("dns", words, retry=True)

    def _settle(self, host: str, found: Resolved) -> None:
        future = self._asking.pop(host, None)
        if found.until:
            while len(self._cache) >= self.size:
                del self._cache[next(iter(self._cache))]
            self._cache.pop(host, None)
            self._cache[host] = found
        if future is not None and not future.done():
            future.set_result(found)

    def _open(self) -> "pycares.Channel":
        if self._channel is None:
            self._channel = pycares.Channel(
                timeout=self.timeout,
                tries=self.tries,
                servers=self.servers or None,
                sock_state_cb=self._on_socket,
            )
        return self._channel

    def _on_socket(self, fd: int, readable: bool, writable: bool) -> None:
        loop = asyncio.get_running_loop()
        self._sockets.discard(fd)
        loop.remove_reader(fd)
        loop.remove_writer(fd)
        if readable:
            self._sockets.add(fd)
            loop.add_reader(fd, self._process, fd, pycares.ARES_SOCKET_BAD)
        if writable:
            self._sockets.add(fd)
            loop.add_writer(fd, self._process, pycares.ARES_SOCKET_BAD, fd)

    def _process(self, readable: int, writable: int) -> None:
        if self._channel is not None:
            self._channel.process_fd(readable, writable)
            self._tick()

    def _tick(self) -> None:
        """Have c-ares called again when its next time-out is due."""
        if self._timer is not None or self._channel is None or not self._asking:
            return
        wait = max(0.01, float(self._channel.timeout(1.0)))  # type: ignore[no-untyped-call]
        self._timer = asyncio.get_running_loop().call_later(wait, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._process(pycares.ARES_SOCKET_BAD, pycares.ARES_SOCKET_BAD)
