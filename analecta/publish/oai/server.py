"""The HTTP side of OAI-PMH: GET, HEAD and POST on one address, a thread for each harvester, one thread that keeps up.

It trusts nobody: requests are bounded in size, time and number, and no header of theirs comes back in an answer.
"""

import contextlib
import gzip
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from analecta.errors import BadUse, Environment
from analecta.publish.oai import records
from analecta.publish.oai.answers import Site
from analecta.publish.oai.keeping import Keeper, keeping
from analecta.publish.oai.protocol import Repository
from analecta.store.library import Library

PATH = "/oai"
_MOST_BODY = 65_536  # bytes of a POST; the longest honest request has some hundreds
_MOST_FIELDS = 20
_MOST_CLIENTS = 64  # at a time
_PATIENCE = 30.0  # seconds that a client may be silent
_FORM = "application/x-www-form-urlencoded"
_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?=,|$)")
_DOMAIN = re.compile(r"[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+", re.ASCII)  # as the schema of oai-identifier has it
_EMAIL = re.compile(r"\S+@(\S+\.)+\S+")
_HERE = ("127.0.0.1", "localhost", "::1")


class Asked(msgspec.Struct, frozen=True):
    """How a person wants the records served; port 0 takes a free one."""

    host: str = "127.0.0.1"
    port: int = 8099
    base_url: str = ""  # where harvesters find it, behind a proxy
    email: str = ""
    page_size: int = 100


def serve(
    library: Library,
    asked: Asked,
    now: Callable[[], float],
    ready: Callable[[str, int], None],
    stop: threading.Event,
    trouble: Callable[[str], None],
) -> None:
    """Serve a library's records until told to stop; `ready` hears the address and how many records there are."""
    email = _email(asked)
    if asked.base_url and not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", asked.base_url):
        raise BadUse(
            f"{asked.base_url} is no address for a repository: it must read like https://library.example.org/oai"
        )
    with keeping(library, now, repository_id(library, asked.base_url)) as keeper:
        first = keeper.sync()
        with _listening(asked) as server:
            url = asked.base_url or f"http://{_written_host(asked.host)}:{server.server_port}{PATH}"
            server.repository = _repository(keeper, library.folder.resolve().name, url, email, asked)
            server.file, server.trouble = keeper.path, trouble
            with _in_a_thread(server):
                ready(url, first.records if first else 0)
                keeper.run(stop, trouble)


def repository_id(library: Library, base_url: str) -> str:
    """The middle part of identifiers, as it is first chosen: the host of the address, or the library's name."""
    host = (urlsplit(base_url).hostname or "").lower()
    if _DOMAIN.fullmatch(host):
        return host
    name = re.sub("[^a-z0-9]+", "-", library.folder.resolve().name.lower()).strip("-")
    return f"{name if name[:1].isalpha() else f'library-{name}'.strip('-')}.analecta.invalid"


def _email(asked: Asked) -> str:
    """The protocol wants an address; a server that only this machine reaches may do without."""
    if not asked.email and asked.host in _HERE and not asked.base_url:
        return "nobody@localhost.invalid"
    if not _EMAIL.fullmatch(asked.email):
        raise BadUse("harvesters must be told an e-mail address: give --admin-email, or set contact in analecta.toml")
    return asked.email


def _repository(keeper: Keeper, name: str, url: str, email: str, asked: Asked) -> Repository:
    began, repository = (records.get(keeper.db, key) for key in ("began", "repository"))
    site = Site(name or "library", url, email, repository, began, asked.page_size)
    return Repository(site, records.get(keeper.db, "key"), keeper.clock)


def _written_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


# --- HTTP ----------------------------------------------------------------------------------------------------------


class _Server(ThreadingHTTPServer):
    """Takes as many clients as there are places; others are told to come again."""

    daemon_threads = True
    file: Path
    repository: Repository
    trouble: Callable[[str], None]

    def __init__(self, address: tuple[str, int], family: socket.AddressFamily) -> None:
        self.address_family = family
        self.places = threading.BoundedSemaphore(_MOST_CLIENTS)
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a client in a thread of its own."""
        if self.places.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with contextlib.suppress(OSError):
            request.sendall(b"HTTP/1.1 503 Busy\r\nRetry-After: 10\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """In that thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Tell what went wrong; a client that has gone did nothing wrong."""
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            self.trouble(f"a request could not be answered: {error!r}")


class _Handler(BaseHTTPRequestHandler):
    """Answers one client, with a connection to the records of its own."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Analecta", ""
    timeout = _PATIENCE
    disable_nagle_algorithm = True  # with it a body would wait 40 ms for the acknowledgement of its head
    server: _Server

    def handle(self) -> None:
        """Answer its requests, one after another."""
        with records.reading(self.server.file) as self.db:
            super().handle()

    def do_GET(self) -> None:
        """The arguments are in the address."""
        if self._found():
            self._answer(urlsplit(self.path).query)

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        """The arguments are in the body."""
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not re.fullmatch(r"\d{1,15}", length, re.ASCII):
            self._refuse(HTTPStatus.LENGTH_REQUIRED)
        elif int(length) > _MOST_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        elif self.headers.get_content_type() != _FORM:
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        else:
            body = self.rfile.read(int(length))
            if self._found():
                self._answer(body.decode("utf-8", "replace"))

    def _other(self) -> None:
        self._refuse(HTTPStatus.METHOD_NOT_ALLOWED)

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _other  # noqa: N815

    def _found(self) -> bool:
        found = urlsplit(self.path).path in (PATH, PATH + "/")
        if not found:
            self._refuse(HTTPStatus.NOT_FOUND)
        return found

    def _answer(self, query: str) -> None:
        try:
            arguments = parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        self._send(HTTPStatus.OK, "text/xml; charset=utf-8", self.server.repository.answer(self.db, arguments))

    def _refuse(self, status: HTTPStatus) -> None:
        """What is no request of the protocol; the connection ends, for there may be a body that nobody read."""
        self.close_connection = True
        words = f"{status.phrase}. This is OAI-PMH: ask {self.server.repository.site.base_url}?verb=Identify\n"
        self._send(status, "text/plain; charset=utf-8", words.encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        packed = status == HTTPStatus.OK and bool(_GZIP.search(self.headers.get("Accept-Encoding", "")))
        body = gzip.compress(body, 3, mtime=0) if packed else body
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), "Vary": "Accept-Encoding"}
        headers |= {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'"}
        headers |= {"Content-Encoding": "gzip"} if packed else {}
        headers |= {"Allow": "GET, HEAD, POST"} if status == HTTPStatus.METHOD_NOT_ALLOWED else {}
        headers |= {"Connection": "close"} if self.close_connection else {}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: who harvests what is nobody's business."""


@contextlib.contextmanager
def _listening(asked: Asked) -> Iterator[_Server]:
    try:
        family, *_, address = socket.getaddrinfo(asked.host, asked.port, type=socket.SOCK_STREAM)[0]
        server = _Server((str(address[0]), int(address[1])), family)
    except OSError as error:
        raise Environment(f"cannot listen on {asked.host} port {asked.port}: {error.strerror or error}") from error
    with server:
        yield server


@contextlib.contextmanager
def _in_a_thread(server: _Server) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
