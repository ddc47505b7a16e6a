"""One libcurl handle with the places its callbacks write to: set up once, used for many requests."""

import asyncio
import ssl
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import msgspec
import pycurl

from analecta.fetch import tls
from analecta.fetch.budget import MemoryBudget
from analecta.fetch.connections import Connections, Ends, OpenConnection
from analecta.fetch.guard import Guard
from analecta.fetch.message import final_block, parse_head
from analecta.fetch.multi import CANCELLED, QuietSocket
from analecta.model import NoResponse


class FetchLimits(msgspec.Struct, frozen=True):
    """What a request may take, in seconds and bytes; and whose certificates are checked, by which authorities."""

    connect_timeout: float = 10.0
    first_byte_timeout: float = 20.0
    deadline: float = 60.0
    min_rate: int = 100  # bytes a second, on average over `min_rate_time` seconds
    min_rate_time: int = 20
    max_wire: int = 10_000_000  # of a body as it comes
    max_body: int = 20_000_000  # of a body decoded
    types: Mapping[str, int] = {}  # media types that have limits of their own
    allow_bad_tls: Collection[str] = ()  # hosts whose certificates are not checked; their answers say so
    ca_file: str = ""  # "": the system's


_GO, _STOP, _PAUSE = int(pycurl.PREREQFUNC_OK), int(pycurl.PREREQFUNC_ABORT), int(pycurl.WRITEFUNC_PAUSE)
SILENT = -2  # our own code beside libcurl's: nothing came in time

# libcurl's error -> our word, and whether asking again may help. Numbers where pycurl has no name or an FTP one.
WORDS: dict[int, tuple[str, bool]] = {
    CANCELLED: ("closed", True),
    SILENT: ("timeout", True),
    0: ("disconnect", True),  # libcurl is content with half a head
    pycurl.E_UNSUPPORTED_PROTOCOL: ("protocol", False),  # no status line
    pycurl.E_URL_MALFORMAT: ("bad-url", False),
    pycurl.E_COULDNT_RESOLVE_HOST: ("dns", True),
    pycurl.E_COULDNT_CONNECT: ("connect", True),
    8: ("protocol", False),  # weird server reply
    16: ("protocol", True),  # HTTP/2 framing
    pycurl.E_OPERATION_TIMEDOUT: ("timeout", True),
    pycurl.E_GOT_NOTHING: ("empty", True),
    pycurl.E_SEND_ERROR: ("disconnect", True),
    pycurl.E_RECV_ERROR: ("disconnect", True),
    pycurl.E_ABORTED_BY_CALLBACK: ("disconnect", True),  # it would have sent the request a second time
    61: ("protocol", False),  # a transfer coding nobody asked for
    92: ("protocol", True),  # HTTP/2 stream
    100: ("protocol", False),  # too many or too large headers
    **dict.fromkeys((53, 54, 58, 59, 64, 66, 77, 80, 82, 83, 90, 91, 98), ("tls", False)),
}


class Transfer:
    """A handle and what it has heard so far; `guard` sees each address as it is dialled, but for a `fixed` one."""

    def __init__(
        self,
        limits: FetchLimits,
        connections: Connections,
        budget: MemoryBudget,
        guard: Guard,
        fixed: str,
        verify: bool,
    ) -> None:
        self.curl = pycurl.Curl()
        self.lines: list[bytes] = []
        self.chunks: list[bytes] = []
        self.dialled: list[int] = []  # sockets that were opened for this request
        self.fields: list[str] = []  # the header fields the handle was last given
        self._limits = limits
        self._connection: OpenConnection | None = None
        self._connections = connections
        self._budget = budget
        self._guard = None if fixed else guard
        self.begin()
        self._set_up(fixed)
        self.check_certificates(verify)

    def _set_up(self, fixed: str) -> None:
        """Give the handle all that stays the same from request to request."""
        limits = self._limits
        options: dict[int, object] = {
            pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
            pycurl.FOLLOWLOCATION: 0,
            pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
            pycurl.HTTP_CONTENT_DECODING: 0,
            pycurl.HTTP_TRANSFER_DECODING: 1,
            pycurl.PATH_AS_IS: 1,
            pycurl.PROXY: "",  # an environment variable must not open a second door
            pycurl.NOSIGNAL: 1,
            pycurl.BUFFERSIZE: 1 << 17,  # a document in few pieces; buffers are the multi handle's, not one each
            pycurl.CONNECTTIMEOUT_MS: int(limits.connect_timeout * 1000),
            pycurl.TIMEOUT_MS: int(limits.deadline * 1000),
            pycurl.LOW_SPEED_LIMIT: limits.min_rate,
            pycurl.LOW_SPEED_TIME: limits.min_rate_time,
            pycurl.HEADERFUNCTION: self.lines.append,  # libcurl itself caps size and number
            pycurl.WRITEFUNCTION: self._write,
            pycurl.OPENSOCKETFUNCTION: self._dial,
            pycurl.SOCKOPTFUNCTION: self._opened,
            pycurl.PREREQFUNCTION: self._leaving,
        }
        if ca_file := limits.ca_file or system_ca_file():
            options[pycurl.CAINFO] = ca_file
        if fixed:
            options[pycurl.CONNECT_TO] = [f"::{fixed}"]  # each host has connections of its own all the same
        for option, value in options.items():
            self.curl.setopt(option, value)

    def begin(
        self,
        future: "asyncio.Future[tuple[int, str]] | None" = None,
        since: float = 0.0,
        sent: Callable[[], bool] | None = None,
    ) -> None:
        """Forget the last answer; `future` gets the error code and words of the next, `sent` is asked as it leaves."""
        self.lines.clear()
        self.chunks.clear()
        self.dialled.clear()
        self.cut = False
        self.refused = ""  # why the guard would not have the address that was to be dialled
        self.unwanted: tuple[str, str] | None = None  # reason and words, where the body is of no use to us
        self.since = since
        self._room = self._limits.max_wire
        self._left = False  # whether the request has gone out
        self._stale = False  # whether a kept connection was of no use
        self._too_soon = False  # whether the host may not be asked now, after all
        self._sent = sent
        self._future = future

    def check_certificates(self, verify: bool) -> None:
        """Whether the next answer must come with a valid certificate."""
        self.curl.setopt(pycurl.SSL_VERIFYPEER, int(verify))
        self.curl.setopt(pycurl.SSL_VERIFYHOST, 2 * verify)

    def done(self, code: int, words: str) -> None:
        """The transfer has ended."""
        if self._connection is not None:
            self._connection.leave(bool(self.lines) and self.lines[0].startswith(b"HTTP/2"))
            self._connection = None
        if self._future is not None and not self._future.done():
            self._future.set_result((code, words))

    def is_unsent(self) -> bool:
        """Whether the request did not leave for want of a clean connection: another try is no repeat."""
        return self._stale and not self._left

    def head(self) -> tuple[int, bytes, dict[str, str]] | None:
        """Status, raw head and headers, if a whole head came."""
        block = final_block(self.lines)
        return parse_head(block) if block else None

    def take_wire(self) -> bytes:
        """The body as far as it came, which is then no longer held here."""
        wire = self.chunks[0] if len(self.chunks) == 1 else b"".join(self.chunks)
        self.chunks.clear()
        return wire

    def failure(self, url: str, code: int, words: str) -> NoResponse:
        """Why there is no answer."""
        if self.refused:
            return NoResponse(url, "guard", self.refused, refused=True)
        if self._too_soon:
            return NoResponse(url, "turn", retry=True)
        if code == pycurl.E_ABORTED_BY_CALLBACK:
            words = "the kept connection broke, or the server refused the stream"
        if code in (pycurl.E_SSL_CONNECT_ERROR, pycurl.E_SSL_CACERT):
            reason = self._tls_reason(code, words)
            return NoResponse(url, reason, words, retry=reason in tls.RETRY)
        reason, retry = WORDS.get(code, ("client", True))
        return NoResponse(url, reason, words, retry=retry)

    def _tls_reason(self, code: int, words: str) -> str:
        if code == pycurl.E_SSL_CACERT:
            return tls.certificate_reason(self.curl.getinfo(pycurl.SSL_VERIFYRESULT), words)
        return tls.handshake_reason(words)

    def truncated(self, code: int) -> str:
        """WARC's word for why the body is short."""
        if self.cut:
            return "length"
        if code in (pycurl.E_OPERATION_TIMEDOUT, SILENT):
            return "time"
        return "disconnect" if code else ""

    def _dial(self, _purpose: int, address: "pycurl.CurlSockAddr") -> QuietSocket | int:
        """The last look at an address, whatever way it came."""
        why = self._guard.refusal(address.addr[0]) if self._guard else None
        if why:
            self.refused = why
            return int(pycurl.SOCKET_BAD)
        return QuietSocket(address.family, address.socktype, address.protocol)

    def _opened(self, fd: int, _purpose: int) -> int:
        self.dialled.append(fd)
        return int(pycurl.SOCKOPT_OK)

    def _leaving(self, *ends: *Ends) -> int:
        """The request is about to go out. libcurl would repeat it by itself: that is for the queue to decide."""
        if self._left or self._too_soon:
            return _STOP
        if self.dialled:
            self._connections.add(ends, self.dialled)
            self.dialled.clear()
        connection = self._connections.by_ends.get(ends)
        if connection is not None:
            if not connection.is_clean():
                connection.cut()
                self._stale = True
                return _GO
            self._connection = connection.take()
        if self._sent is not None and not self._sent():
            self._too_soon = True
            return _STOP
        self._left = True
        return _GO

    def _write(self, chunk: bytes) -> int | None:
        if self._budget.used >= self._budget.limit and self._budget.must_pause(self, self._resume):
            return _PAUSE  # it comes again
        if not self.chunks:
            self._size_up()
        self._room -= len(chunk)
        if self._room < 0:
            chunk = chunk[: self._room]
            self.cut = True
        self.chunks.append(chunk)
        self._budget.take(len(chunk))
        return 0 if self.cut else None  # 0 is not the length of the chunk: libcurl ends the transfer

    def _resume(self) -> None:
        """There is room again."""
        if self._future is not None and not self._future.done():
            self.curl.pause(pycurl.PAUSE_CONT)

    def _size_up(self) -> None:
        """The first bytes are here: a type with a limit of its own is taken whole, or not at all (B2)."""
        types = self._limits.types
        if not types:
            return
        mime, length = "", 0  # 0 where it is not told
        for line in self.lines:
            name = line[:15].lower()
            if name.startswith(b"content-type:"):
                mime = line[13:].partition(b";")[0].decode("latin-1").strip().lower()
            elif name.startswith(b"content-length:"):
                told = line[15:].strip()
                length = int(told) if told.isdigit() else 0
        limit = types.get(mime, types.get(f"{mime.partition('/')[0]}/*"))
        if limit is None:
            return
        if limit == 0:
            self.unwanted = "type", mime
        else:
            self.unwanted = "size", f"{mime}, more than {limit:,} bytes"  # if it comes to that
        self._room = limit if length <= limit else 0


def system_ca_file() -> str:
    """The system's certificate bundle. pycurl's wheel looks for it where only some systems have it."""
    common = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
    for path in (ssl.get_default_verify_paths().cafile, *common):
        if path and Path(path).is_file():
            return path
    return ""
