"""Made-up webs by name: `pocket[:PAGES]`, a small web of topics, and `villages[:SITES]`, a web of communities."""

from collections.abc import Iterator, Mapping

from analecta.errors import BadUse
from analecta.testweb.community_web import VillagesWeb
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.search import Search
from analecta.testweb.server import HERE, Response

_LEAST, _MOST = 100, 1_000_000


def made_up(name: str) -> PocketWeb | VillagesWeb | None:
    """The web of a name; None where it is not one of these."""
    kind, colon, size = name.partition(":")
    if kind not in ("pocket", "villages"):
        return None
    if colon and not (size.isdecimal() and _LEAST <= int(size) <= _MOST):
        raise BadUse(f"{kind} wants a size of {_LEAST} to {_MOST:,}, as in {kind}:1100, not {size!r}")
    if kind == "pocket":
        return PocketWeb(int(size or 3000))
    return VillagesWeb(int(size or 1100))


class Searched:
    """A made-up web with a search engine, at localhost."""

    def __init__(self, web: PocketWeb | VillagesWeb) -> None:
        self.web = web
        self.search = Search(_Archived(web))

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> Response:
        """What the search engine or the web says."""
        found = self.search.asked(target) if host in HERE else None
        return found or self.web.answer(host, target, headers)


class _Archived:
    """A made-up web as if it had been archived."""

    def __init__(self, web: PocketWeb | VillagesWeb) -> None:
        self.web = web

    def pages(self) -> Iterator[tuple[str, Response]]:
        return ((url, self.answer(url)) for url in self.web.listed())

    def answer(self, url: str) -> Response:
        host, _, path = url.partition("://")[2].partition("/")
        return self.web.answer(host, f"/{path}", {})
