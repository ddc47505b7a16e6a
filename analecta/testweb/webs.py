"""A web that stands still, read without a network: an archive (WARC files), or the pocket web.

Reading an archive bothers nobody, so what robots.txt says of speed is left out; what it forbids stays forbidden.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from analecta.errors import UsageError
from analecta.fetch.message import decode, parse_head
from analecta.model import FetchResult, Request, Response
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.search import MadeUpPages
from analecta.testweb.server import ServedResponse, wire
from analecta.testweb.warc_index import WarcIndex, warc_files

POCKET = "pocket"
_SIZE = 3000
_LARGEST = 20_000_000  # bytes of a body, as a crawl has it by default
_HTML = b"Content-Type: text/html\r\n"
_MISSING = ServedResponse(404, _HTML, b"Not in the archive.\n")
_SPEED = re.compile(rb"(?im)^[ \t]*crawl-delay[ \t]*:.*$")
_NO_TOPIC = ("file", "redirect", "missing", "trap", "soft-404", "parked", "robots", "sitemap", "alias", "about")


class StillWeb:
    """A web that stands still: its answers by URL, and as the Fetch of a crawl."""

    def __init__(self, name: str, digest: str, archives: WarcIndex | MadeUpPages) -> None:
        self.name, self.digest, self.archives = name, digest, archives

    async def __call__(self, request: Request) -> FetchResult:
        """Read, never asked for: there is nothing to wait for."""
        return self.get(request.url)

    def get(self, url: str) -> Response:
        """The answer for a URL: 404 where there is none."""
        return as_answer(url, self.archives.answer(url) or _MISSING)

    def pages(self) -> Iterator[Response]:
        """All answers, in a fixed order."""
        return (as_answer(url, response) for url, response in self.archives.pages())

    def subjects(self) -> dict[str, tuple[str, ...]]:
        """The subjects of pages by URL, where the web itself knows them: an archive does not."""
        return {}

    def close(self) -> None:
        """Close its files."""
        self.archives.close()


class PocketArchive(StillWeb):
    """The pocket web, answering in this process, without moods; of traps only the entries are listed."""

    def __init__(self, size: int) -> None:
        self.web = PocketWeb(size)
        pages = MadeUpPages(self.web.answer, lambda: (truth.url for truth in self.web.pages(links=False)))
        super().__init__(f"{POCKET}:{size}", f"{POCKET}:{size}", pages)

    def subjects(self) -> dict[str, tuple[str, ...]]:
        """The topic of each page that is no copy of another."""
        pages = self.web.pages(links=False)
        return {p.url: (p.topic,) for p in pages if p.topic and not p.duplicate_of and p.kind not in _NO_TOPIC}


def open_web(name: str) -> StillWeb:
    """The web of a name: a WARC file, a folder of such, `pocket` or `pocket:SIZE`."""
    kind, _, size = name.partition(":")
    if kind != POCKET or Path(name).exists():
        path = Path(name)
        archives = WarcIndex([path])
        return StillWeb(path.name, _digest(path), archives)
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
