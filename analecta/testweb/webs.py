"""Archived and made-up webs: read without a network, or served under their own host names on loopback."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from analecta.errors import UsageError
from analecta.fetch.message import decode, parse_head
from analecta.model import FetchResult, Request, Response
from analecta.testweb.community_web import CommunityWebServer
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.search import MadeUpPages, WebSearch
from analecta.testweb.server import HERE, TEXT, Answer, ServedResponse, wire
from analecta.testweb.warc_index import WarcIndex, warc_files

# --- A web that stands still, read without a network: an archive (WARC files), or the pocket web ---------------------
# Reading an archive bothers nobody, so what robots.txt says of speed is left out; what it forbids stays forbidden.

POCKET = "pocket"
_SIZE = 3000
_LARGEST = 20_000_000  # bytes of a body, as a crawl has it by default
_MISSING = ServedResponse(404, b"Content-Type: text/html\r\n", b"Not in the archive.\n")
_SPEED = re.compile(rb"(?im)^[ \t]*crawl-delay[ \t]*:.*$")
_NO_TOPIC = ("file", "redirect", "missing", "trap", "soft-404", "parked", "robots", "sitemap", "alias", "about")


class StillWeb:
    """A web that stands still: its answers by URL, and as the Fetch of a crawl."""

    def __init__(
        self, name: str, digest: str, archives: WarcIndex | MadeUpPages, pocket: PocketWeb | None = None
    ) -> None:
        self.name, self.digest, self.archives, self.pocket = name, digest, archives, pocket

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
        """The topic of each page that is no copy of another, where the web itself knows it: an archive does not."""
        pages = self.pocket.pages(links=False) if self.pocket else ()
        return {p.url: (p.topic,) for p in pages if p.topic and not p.duplicate_of and p.kind not in _NO_TOPIC}

    def close(self) -> None:
        """Close its files."""
        self.archives.close()


def open_web(name: str) -> StillWeb:
    """The web of a name: a WARC file, a folder of such, `pocket` or `pocket:SIZE`."""
    kind, _, size = name.partition(":")
    if kind != POCKET or Path(name).exists():
        path = Path(name)
        archives = WarcIndex([path])
        return StillWeb(path.name, _digest(path), archives)
    if size and not (size.isdecimal() and int(size) >= 100):
        raise UsageError(f"the pocket web has a size of 100 pages or more, as in pocket:3000, not {size!r}")
    name = f"{POCKET}:{int(size or _SIZE)}"
    web = PocketWeb(int(size or _SIZE))
    # Answering in this process, without moods; of traps only the entries are listed.
    pages = MadeUpPages(web.answer, lambda: (truth.url for truth in web.pages(links=False)))
    return StillWeb(name, name, pages, web)


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


# --- Webs that are served on loopback: WARC files, and made-up webs by name ------------------------------------------
# `pocket[:PAGES]` is a small web of topics, `villages[:SITES]` a web of communities.

_LEAST, _MOST = 100, 1_000_000


def made_up(name: str) -> PocketWeb | CommunityWebServer | None:
    """The web of a name; None where it is not one of these."""
    kind, colon, size = name.partition(":")
    if kind not in ("pocket", "villages"):
        return None
    if colon and not (size.isdecimal() and _LEAST <= int(size) <= _MOST):
        raise UsageError(f"{kind} wants a size of {_LEAST} to {_MOST:,}, as in {kind}:1100, not {size!r}")
    return PocketWeb(int(size or _SIZE)) if kind == "pocket" else CommunityWebServer(int(size or 1100))


class Replay:
    """Answers requests from archives; asked as localhost, it says what it holds."""

    def __init__(self, archives: WarcIndex) -> None:
        self.archives = archives

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> ServedResponse:
        """The archived answer, or 404."""
        if host not in HERE:
            found = self.archives.answer(f"http://{host}{target}")
            return found or ServedResponse(404, TEXT, b"Not in the archive.\n")
        if target != "/":
            return ServedResponse(404, TEXT, b"Nothing here.\n")
        hosts = "".join(f"{count}\t{host}\n" for host, count in sorted(self.archives.hosts.items()))
        return ServedResponse(200, TEXT, hosts.encode())


class SearchedWeb:
    """A web with a search engine, at localhost."""

    def __init__(self, web: Answer, search: WebSearch) -> None:
        self.web, self.search = web, search

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> ServedResponse:
        """What the search engine or the web says."""
        found = self.search.asked(target) if host in HERE else None
        return found or self.web(host, target, headers)


def make(paths: Sequence[str], search: bool = False) -> Replay | SearchedWeb:
    """A replay of WARC files, for ServerProcess."""
    archives = WarcIndex(map(Path, paths))
    web = Replay(archives)
    return SearchedWeb(web.answer, WebSearch(archives)) if search else web
