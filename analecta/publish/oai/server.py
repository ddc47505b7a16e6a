"""The HTTP side of OAI-PMH: GET, HEAD and POST on one address, and one thread that keeps the records up to date.

It trusts nobody: requests are bounded in size, time and number, and no header of theirs comes back in an answer.
"""

import asyncio
import contextlib
import gzip
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from analecta.errors import AnalectaError, ResourceError, UsageError
from analecta.publish.http_server import serving
from analecta.publish.oai.answers import RepositoryIdentity
from analecta.publish.oai.protocol import Repository
from analecta.publish.oai.sync import OaiSync, keeping
from analecta.store import SqliteError
from analecta.store.library import LibraryFolder
from analecta.store.schema import MetaKey
from analecta.store.sqlite import connect, meta_value

PATH = "/oai"
_MOST_BODY = 65_536  # bytes of a POST; the longest honest request has some hundreds
_MOST_FIELDS = 20
_FORM = "application/x-www-form-urlencoded"
_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?=,|$)")
_DOMAIN = re.compile(r"[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+", re.ASCII)  # as the schema of oai-identifier has it
_EMAIL = re.compile(r"[^\s@]+@[^\s@.]+(\.[^\s@.]+)+")
_HERE = ("127.0.0.1", "localhost", "::1")


class OaiServerOptions(msgspec.Struct, frozen=True):
    """How a person wants the records served; port 0 takes a free one."""

    host: str = "127.0.0.1"
    port: int = 8099
    base_url: str = ""  # where harvesters find it, behind a proxy
    email: str = ""
    page_size: int = 100


def serve(
    library: LibraryFolder,
    asked: OaiServerOptions,
    now: Callable[[], float],
    ready: Callable[[str, int], None],
    stop: threading.Event,
    trouble: Callable[[str], None],
) -> None:
    """Serve a library's records until told to stop; `ready` hears the address and how many records there are."""
    email = _email(asked)
    if asked.base_url and not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", asked.base_url):
        raise UsageError(
            f"{asked.base_url} is no address for a repository: it must read like https://library.example.org/oai"
        )
    with keeping(library, now, repository_id(library, asked.base_url)) as keeper:
        first = keeper.sync()
        with _listening(asked) as listener:
            url = asked.base_url or f"http://{_written_host(asked.host)}:{listener.getsockname()[1]}{PATH}"
            repository = _repository(keeper, library.folder.resolve().name, url, email, asked)
            with serving(_Application(repository, keeper.path, trouble), listener):
                ready(url, first.records if first else 0)
                keeper.run(stop, trouble)


def repository_id(library: LibraryFolder, base_url: str) -> str:
    """The middle part of identifiers, as it is first chosen: the host of the address, or the library's name."""
    host = (urlsplit(base_url).hostname or "").lower()
    if _DOMAIN.fullmatch(host):
        return host
    name = re.sub("[^a-z0-9]+", "-", library.folder.resolve().name.lower()).strip("-")
    return f"{name if name[:1].isalpha() else f'library-{name}'.strip('-')}.analecta.invalid"


def _email(asked: OaiServerOptions) -> str:
    """The protocol wants an address; a server that only this machine reaches may do without."""
    if not asked.email and asked.host in _HERE and not asked.base_url:
        return "nobody@localhost.invalid"
    if not _EMAIL.fullmatch(asked.email):
        raise UsageError(
            "harvesters must be told an e-mail address: give --admin-email, or set contact in analecta.toml"
        )
    return asked.email


def _repository(keeper: OaiSync, name: str, url: str, email: str, asked: OaiServerOptions) -> Repository:
    began, repository = (meta_value(keeper.db, key) for key in (MetaKey.OAI_BEGAN, MetaKey.OAI_REPOSITORY))
    site = RepositoryIdentity(name or "library", url, email, repository, began, asked.page_size)
    return Repository(site, meta_value(keeper.db, MetaKey.OAI_KEY), keeper.clock)


def _written_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


# --- HTTP ------------------------------------------------------------------------------------------------------------


class _Application:
    """Answers requests, each with a connection to the records of its own and in a thread of its own."""

    def __init__(self, repository: Repository, file: Path, trouble: Callable[[str], None]) -> None:
        self.repository, self.file, self.trouble = repository, file, trouble

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            status, body = await self._reply(scope, headers, receive)
        except (AnalectaError, OSError, SqliteError) as error:
            self.trouble(f"a request could not be answered: {error!r}")
            status, body = self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR)
        fields, body = _packed(status, body, headers.get("accept-encoding", ""))
        lines = [(name.encode(), value.encode()) for name, value in fields.items()]
        await send({"type": "http.response.start", "status": int(status), "headers": lines})
        await send({"type": "http.response.body", "body": body})

    async def _reply(self, scope: Any, headers: Mapping[str, str], receive: Any) -> tuple[HTTPStatus, bytes]:
        method, query = scope["method"], scope["query_string"]
        if method == "POST":
            if fault := _post_fault(headers):
                return self._refuse(fault)
            query = await _body(receive)
        elif method not in ("GET", "HEAD"):
            return self._refuse(HTTPStatus.METHOD_NOT_ALLOWED)
        if scope["path"] not in (PATH, PATH + "/"):
            return self._refuse(HTTPStatus.NOT_FOUND)
        try:
            arguments = parse_qsl(query.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            return self._refuse(HTTPStatus.BAD_REQUEST)
        return HTTPStatus.OK, await asyncio.to_thread(self._answer, arguments)

    def _answer(self, arguments: list[tuple[str, str]]) -> bytes:
        with contextlib.closing(connect(self.file, readonly=True)) as db:
            return self.repository.answer(db, arguments)

    def _refuse(self, status: HTTPStatus) -> tuple[HTTPStatus, bytes]:
        words = f"{status.phrase}. This is OAI-PMH: ask {self.repository.site.base_url}?verb=Identify\n"
        return status, words.encode()


def _post_fault(headers: Mapping[str, str]) -> HTTPStatus | None:
    """What is wrong with the head of a POST."""
    length = headers.get("content-length", "")
    if "transfer-encoding" in headers or not re.fullmatch(r"\d{1,15}", length, re.ASCII):
        return HTTPStatus.LENGTH_REQUIRED
    if int(length) > _MOST_BODY:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        return HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    return None


async def _body(receive: Any) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _packed(status: HTTPStatus, body: bytes, accepted: str) -> tuple[dict[str, str], bytes]:
    """The header fields and the body; after a refusal the connection ends, for there may be a body that nobody read."""
    found = status == HTTPStatus.OK
    packed = found and bool(_GZIP.search(accepted))
    body = gzip.compress(body, 3, mtime=0) if packed else body
    kind = f"text/{'xml' if found else 'plain'}; charset=utf-8"
    fields = {"Server": "Analecta", "Content-Type": kind, "Content-Length": str(len(body))}
    fields |= {"Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"}
    fields |= {"Content-Security-Policy": "default-src 'none'"}
    fields |= {"Content-Encoding": "gzip"} if packed else {}
    fields |= {"Allow": "GET, HEAD, POST"} if status == HTTPStatus.METHOD_NOT_ALLOWED else {}
    return fields | ({} if found else {"Connection": "close"}), body


@contextlib.contextmanager
def _listening(asked: OaiServerOptions) -> Iterator[socket.socket]:
    try:
        family, *_, address = socket.getaddrinfo(asked.host, asked.port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server((str(address[0]), int(address[1])), family=family)
    except OSError as error:
        raise ResourceError(f"cannot listen on {asked.host} port {asked.port}: {error.strerror or error}") from error
    with listener:
        yield listener
