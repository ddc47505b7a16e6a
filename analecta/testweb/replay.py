"""Archived and made-up webs, served under their own host names on loopback."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from analecta.errors import UsageError
from analecta.testweb.community_web import CommunityWebServer
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.search import MadeUpPages, WebSearch
from analecta.testweb.server import HERE, ServedResponse
from analecta.testweb.warc_index import WarcIndex

# --- made up ---------------------------------------------------------------------------------------------------------
# Made-up webs by name: `pocket[:PAGES]`, a small web of topics, and `villages[:SITES]`, a web of communities.


_LEAST, _MOST = 100, 1_000_000


def made_up(name: str) -> PocketWeb | CommunityWebServer | None:
    """The web of a name; None where it is not one of these."""
    kind, colon, size = name.partition(":")
    if kind not in ("pocket", "villages"):
        return None
    if colon and not (size.isdecimal() and _LEAST <= int(size) <= _MOST):
        raise UsageError(f"{kind} wants a size of {_LEAST} to {_MOST:,}, as in {kind}:1100, not {size!r}")
    if kind == "pocket":
        return PocketWeb(int(size or 3000))
    return CommunityWebServer(int(size or 1100))


class SearchedWeb:
    """A made-up web with a search engine, at localhost."""

    def __init__(self, web: PocketWeb | CommunityWebServer) -> None:
        self.web = web
        self.search = WebSearch(MadeUpPages(web.answer, web.listed))

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> ServedResponse:
        """What the search engine or the web says."""
        found = self.search.asked(target) if host in HERE else None
        return found or self.web.answer(host, target, headers)


# --- Replay: WARC files served as a web under their own host names, on loopback --------------------------------------


_TEXT = b"Content-Type: text/plain; charset=utf-8\r\n"
_NOTHING = ServedResponse(404, _TEXT, b"Nothing here.\n")


class Replay:
    """Answers requests from archives; asked as localhost, it says what it holds, and searches."""

    def __init__(self, archives: WarcIndex, search: WebSearch | None = None) -> None:
        self.archives, self.search = archives, search

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> ServedResponse:
        """The archived answer, or 404."""
        if host in HERE:
            return self._here(target)
        found = self.archives.answer(f"http://{host}{target}")
        return found or ServedResponse(404, _TEXT, b"Not in the archive.\n")

    def _here(self, target: str) -> ServedResponse:
        if self.search and (found := self.search.asked(target)):
            return found
        hosts = "".join(f"{count}\t{host}\n" for host, count in sorted(self.archives.hosts.items()))
        return ServedResponse(200, _TEXT, hosts.encode()) if target == "/" else _NOTHING


def make(paths: Sequence[str], search: bool = False) -> Replay:
    """A replay of WARC files, for ServerProcess."""
    archives = WarcIndex(map(Path, paths))
    return Replay(archives, WebSearch(archives) if search else None)
