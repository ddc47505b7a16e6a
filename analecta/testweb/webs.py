"""A web that stands still, read without a network: an archive (WARC files), or the pocket web.

Reading an archive bothers nobody, so what robots.txt says of speed is left out; what it forbids stays forbidden.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from analecta.errors import UsageError
from analecta.fetch.message import decode, parse_head
from analecta.model import FetchResult, Request, Response
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.server import ServedResponse, wire
from analecta.testweb.warc_index import WarcIndex, warc_files

POCKET = "pocket"
_SIZE = 3000
_LARGEST = 20_000_000  # bytes of a body, as a crawl has it by default
_HTML = b"Content-Type: text/html\r\n"
_MISSING = ServedResponse(404, _HTML, b"Not in the archive.\n")
_SPEED = re.compile(rb"(?im)^[ \t]*crawl-delay[ \t]*:.*$")
_NO_TOPIC = ("file", "redirect", "missing", "trap", "soft-404", "parked", "robots", "sitemap", "alias", "about")


class StillWeb(Protocol):
    """What can be asked of a web that stands still."""

    name: str
    digest: str

    async def __call__(self, request: Request) -> FetchResult:
        """The Fetch of a crawl over this web."""

    def get(self, url: str) -> Response:
        """The answer for a URL: 404 where there is none."""

    def pages(self) -> Iterator[Response]:
        """All answers, in a fixed order."""

    def subjects(self) -> dict[str, tuple[str, ...]]:
        """The subjects of pages by URL, where the web itself knows them."""

    def close(self) -> None:
        """Close its files."""


class ArchiveWeb:
    """The web that WARC files hold."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.archives = WarcIndex([path])
        self.digest = _digest(path)

    async def __call__(self, request: Request) -> FetchResult:
        """Read, never asked for: there is nothing to wait for."""
        return self.get(request.url)

    def get(self, url: str) -> Response:
        """The archived answer, or 404."""
        return as_answer(url, self.archives.answer(url) or _MISSING)

    def pages(self) -> Iterator[Response]:
        """All that is archived."""
        for url, response in self.archives.pages():
            yield as_answer(url, response)

    def subjects(self) -> dict[str, tuple[str, ...]]:
        """An archive knows nothing of subjects."""
        return {}

    def close(self) -> None:
        """Close the archive's files."""
        self.archives.close()


class PocketArchive:
    """The pocket web, answering in this process."""

    def __init__(self, size: int = _SIZE) -> None:
        self.name = self.digest = f"{POCKET}:{size}"
        self.web = PocketWeb(size)

    async def __call__(self, request: Request) -> FetchResult:
        """As its server would answer, without moods."""
        return self.get(request.url)

    def get(self, url: str) -> Response:
        """What the pocket web says."""
        host, slash, path = url.partition("://")[2].partition("/")
        return as_answer(url, self.web.answer(host, slash + path or "/", {}))

    def pages(self) -> Iterator[Response]:
        """All that can be listed; traps have no end."""
        for truth in self.web.pages(links=False):
            yield self.get(truth.url)

    def subjects(self) -> dict[str, tuple[str, ...]]:
        """The topic of each page that is no copy of another."""
        pages = self.web.pages(links=False)
        return {p.url: (p.topic,) for p in pages if p.topic and not p.duplicate_of and p.kind not in _NO_TOPIC}

    def close(self) -> None:
        """It has no files."""


def open_web(name: str) -> StillWeb:
    """The web of a name: a WARC file, a folder of such, `pocket` or `pocket:SIZE`."""
    kind, _, size = name.partition(":")
    if kind != POCKET or Path(name).exists():
        return ArchiveWeb(Path(name))
    if size and not (size.isdecimal() and int(size) >= 100):
        raise UsageError(f"the pocket web has a size of 100 pages or more, as in pocket:3000, not {size!r}")
    return PocketArchive(int(size or _SIZE))


def as_answer(url: str, response: ServedResponse) -> Response:
    """A response as the fetcher gives it."""
    raw = response.body
    if url.endswith("/robots.txt") and response.status == 200:
        raw = _SPEED.sub(b"", raw)
    head = wire(ServedResponse(response.status, response.head, raw, response.reason), head_only=True)
    parsed = parse_head(head.splitlines(keepends=True))
    assert parsed is not None
    status, head, headers = parsed
    body, _ = decode(raw, headers.get("content-encoding", ""), _LARGEST)
    return Response(url, status, head, headers, raw, body)


def _digest(path: Path) -> str:
    """SHA-256 of an archive's files."""
    found = hashlib.sha256()
    for file in warc_files([path]):
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                found.update(block)
    return found.hexdigest()
