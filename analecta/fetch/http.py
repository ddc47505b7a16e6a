"""One request, one answer: libcurl's multi handle behind the Fetch seam.

No redirect is followed here: each hop is a new request, with its own checks. Names are resolved by our resolver,
the addresses are checked by the guard and pinned, and the guard sees each address again at the moment it is dialled.
Handles are set up once and kept: a request sets little more than its URL.
"""

import asyncio
import re
import time

import pycurl

from analecta.errors import SettingsError
from analecta.fetch import tls
from analecta.fetch.budget import SMALL, MemoryBudget, needed
from analecta.fetch.connections import Connections
from analecta.fetch.dns import NoAddress, Resolver
from analecta.fetch.guard import Guard
from analecta.fetch.message import ACCEPTED, decode, request_head
from analecta.fetch.multi import Multi
from analecta.fetch.transfer import SILENT, FetchLimits, Transfer
from analecta.model import FetchResult, NoResponse, Request, Response

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

# Scheme, name, port, path and query of a canonical URL; what does not fit is not asked for.
_PARTS = re.compile(r"(https?)://(\[[0-9a-fA-F:.]+\]|[\w.~!$&'()*+,;=-]+)(:[0-9]{1,5})?(/[!\"$-~]*)", re.ASCII)
_FIXED = re.compile(r"(?:(https?)://)?((\[[0-9a-fA-F:.]+\]|[\w.-]+):[0-9]{1,5})/?")
_LOOPBACK = re.compile(r"127\.[0-9.]+|localhost|\[::1\]")
_MEMORY = 256_000_000  # bytes of bodies at a time, where nothing else is said
_OTHER_CONNECTIONS = 8  # kept connections that may turn out to be of no use, before a request is given up
_UNCLEAN = re.compile(r"[^\x20-\x7e\xa0-\xff]")


class Http:
    """Fetches http and https URLs. Site owners see the `user_agent`, and the e-mail address `contact` if there is one.

    `connect_to` sends every request to one address, without DNS and guard.
    """

    def __init__(
        self,
        user_agent: str,
        limits: FetchLimits = FetchLimits(),
        *,
        contact: str = "",
        resolver: Resolver | None = None,
        guard: Guard | None = None,
        connect_to: str = "",
        parallel: int = 256,
        budget: MemoryBudget | None = None,
    ) -> None:
        self.limits = limits
        self.guard = guard or Guard()
        self.resolver = resolver or Resolver(self.guard)
        self.scheme, self.fixed, self.verify = _fixed_address(connect_to) if connect_to else ("", "", True)
        self.parallel = parallel
        self.now = time.time
        fields = [f"User-Agent: {user_agent}", f"Accept: {ACCEPT}", f"Accept-Encoding: {ACCEPTED}"]
        self.fields = [*fields, f"From: {contact}"] if contact else fields
        if any(_UNCLEAN.search(field) for field in self.fields):
            raise SettingsError("user agent and contact must be one line of plain text")
        self.budget = budget or MemoryBudget(_MEMORY)
        self._connections = Connections()
        self._slots = asyncio.Semaphore(parallel)
        self._idle: list[Transfer] = []
        self._all: dict[pycurl.Curl, Transfer] = {}
        self._multi: Multi | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False

    async def __call__(self, request: Request) -> FetchResult:
        """Ask for one URL."""
        url = request.url
        parts = _PARTS.fullmatch(url)
        if parts is None or int((parts[3] or ":0")[1:]) > 65535:
            return NoResponse(url, "bad-url", "not a canonical http or https URL")
        ips: tuple[str, ...] = ()
        if not self.fixed:
            found = await self.resolver.resolve(parts[2])
            if isinstance(found, NoAddress):
                return NoResponse(url, found.reason, found.detail, found.reason == "guard", found.retry)
            ips = found.ips
        async with self._slots:  # only now: a slow name server must not hold up other hosts
            if self._closed:
                return NoResponse(url, "closed", retry=True)
            return await self._ask(request, parts, ips)

    async def close(self) -> None:
        """Give up what is under way and close all connections; the resolver too."""
        self._closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._multi is not None:
            self._multi.close()
        self.budget.close()
        for transfer in self._all.values():
            transfer.curl.close()
        self._idle.clear()
        await self.resolver.close()

    async def _ask(self, request: Request, parts: "re.Match[str]", ips: tuple[str, ...]) -> FetchResult:
        loop = asyncio.get_running_loop()
        if self._multi is None:
            self._multi = Multi(self.parallel * 4)
            self._sweep(loop)
        transfer = self._idle.pop() if self._idle else self._new()
        try:
            return await self._exchange(transfer, request, parts, ips)
        finally:
            self.budget.release(len(transfer.take_wire()))  # of a request that was given up
            self.budget.ended(transfer)
            self._idle.append(transfer)

    async def _exchange(
        self, transfer: Transfer, request: Request, parts: "re.Match[str]", ips: tuple[str, ...]
    ) -> FetchResult:
        loop = asyncio.get_running_loop()
        began, since = self.now(), loop.time()
        fields = self._fields(request)
        for _ in range(1 + _OTHER_CONNECTIONS):
            code, words = await self._run(transfer, request, parts, ips, fields)
            if not code or not transfer.is_unsent() or self._closed:
                break
        if self._closed:
            return NoResponse(request.url, "closed", retry=True)
        answer = self._answer(transfer, request, code, words)
        if isinstance(answer, NoResponse):
            return answer
        answer.asked = request_head(parts[2] + (parts[3] or ""), parts[4], fields)
        answer.certificate = self._certificate(transfer, parts)
        answer.began, answer.took = began, loop.time() - since
        self.budget.hold(answer, await self._decode(answer))
        return answer

    def _answer(self, transfer: Transfer, request: Request, code: int, words: str) -> FetchResult:
        """What has come, its body still as it came."""
        head = transfer.head()
        if head is None:
            return transfer.failure(request.url, code, words)
        if transfer.cut and transfer.unwanted:
            return NoResponse(request.url, *transfer.unwanted, refused=True)
        ip, wire = transfer.curl.getinfo(pycurl.PRIMARY_IP), transfer.take_wire()
        return Response(request.url, *head, wire, wire, ip, truncated=transfer.truncated(code))

    async def _decode(self, answer: Response) -> int:
        """Undo the content coding; a large body waits for room, which is returned."""
        coding, cap = answer.headers.get("content-encoding", ""), min(SMALL, self.limits.max_body)
        if not coding and len(answer.wire) <= SMALL:
            return 0
        if coding:
            answer.body, whole = decode(answer.wire, coding, cap)
            if whole or len(answer.body) < cap or cap == self.limits.max_body:
                answer.cut = not whole and len(answer.body) == self.limits.max_body
                return 0
            answer.body = b""
        room = needed(self.limits.max_body, False) if coding else needed(len(answer.wire), True)
        try:
            await self.budget.room(room)
        except asyncio.CancelledError:
            self.budget.release(len(answer.wire))
            raise
        if coding:
            answer.body, whole = decode(answer.wire, coding, self.limits.max_body)
            answer.cut = not whole and len(answer.body) == self.limits.max_body
        return room

    async def _run(
        self, transfer: Transfer, request: Request, parts: "re.Match[str]", ips: tuple[str, ...], fields: list[str]
    ) -> tuple[int, str]:
        """Let libcurl do one transfer: its error code and words."""
        assert self._multi is not None
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[int, str]] = loop.create_future()
        try:
            transfer.begin(future, loop.time(), request.sent)
            self._aim(transfer, parts, ips, fields)
            self._multi.start(transfer.curl, transfer.done)
            return await future
        except pycurl.error as error:
            code, words = error.args
            return code, words
        except asyncio.CancelledError:
            self._multi.stop(transfer.curl)
            raise

    def _certificate(self, transfer: Transfer, parts: "re.Match[str]") -> str:
        """What is to be told of a certificate that a person allowed to be bad."""
        if parts[1] != "https" or parts[2] not in self.limits.allow_bad_tls:
            return ""
        number = transfer.curl.getinfo(pycurl.SSL_VERIFYRESULT)
        return f"not verified ({tls.certificate_reason(number)})" if number else "not verified"

    def _fields(self, request: Request) -> list[str]:
        """The header fields of a request; validators that are not clean text are left out."""
        if not request.etag and not request.modified:
            return self.fields
        validators = (("If-None-Match", request.etag), ("If-Modified-Since", request.modified))
        return self.fields + [f"{k}: {v}" for k, v in validators if v and not _UNCLEAN.search(v)]

    def _aim(self, transfer: Transfer, parts: "re.Match[str]", ips: tuple[str, ...], fields: list[str]) -> None:
        """Point the handle at the one fixed address, or at the addresses that were checked."""
        scheme, name, port, path = parts.groups("")
        if self.fixed:
            transfer.curl.setopt(pycurl.URL, f"{self.scheme}://{name}{port}{path}")
            if port and scheme != self.scheme:  # libcurl leaves out a port that is its scheme's own
                fields = [f"Host: {name}{port}", *fields]
        else:
            transfer.curl.setopt(pycurl.URL, parts.string)
            number = port[1:] or ("443" if scheme == "https" else "80")
            # "+" lets libcurl forget the entry in time, so it is given with each request.
            transfer.curl.setopt(pycurl.RESOLVE, [f"+{name}:{number}:{','.join(ips)}"])
        if self.limits.allow_bad_tls:
            transfer.check_certificates(self.verify and name not in self.limits.allow_bad_tls)
        if transfer.fields != fields:
            transfer.curl.setopt(pycurl.HTTPHEADER, "\n".join(fields).encode("latin-1").split(b"\n"))
            transfer.fields = fields

    def _new(self) -> Transfer:
        transfer = Transfer(self.limits, self._connections, self.budget, self.guard, self.fixed, self.verify)
        self._all[transfer.curl] = transfer
        return transfer

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """End transfers that have heard nothing in time; libcurl has no limit for the first byte."""
        assert self._multi is not None
        late = loop.time() - self.limits.first_byte_timeout
        for curl in self._multi.in_flight():
            transfer = self._all[curl]
            if transfer.since < late and not transfer.lines:
                self._multi.stop(curl, SILENT, f"nothing came in {self.limits.first_byte_timeout:g} s")
        pause = min(1.0, self.limits.first_byte_timeout / 4)
        self._sweeper = loop.call_later(pause, self._sweep, loop)


def _fixed_address(connect_to: str) -> tuple[str, str, bool]:
    """The scheme and address of "HOST:PORT" or "https://HOST:PORT", and whether certificates are checked there."""
    found = _FIXED.fullmatch(connect_to)
    if found is None:
        raise SettingsError(f"connect_to must be HOST:PORT or https://HOST:PORT, not {connect_to!r}")
    return found[1] or "http", found[2], not _LOOPBACK.fullmatch(found[3])
