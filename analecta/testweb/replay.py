"""Archived and made-up webs, served under their own host names on loopback."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from analecta.errors import BadUse, Environment
from analecta.testweb.community_web import VillagesWeb
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.search import Search
from analecta.testweb.server import HERE, Answer, Response, serve
from analecta.testweb.warc_index import Warcs, warc_files
from analecta.text.display import plain

# --- made up ---------------------------------------------------------------------------------------------------------
# Made-up webs by name: `pocket[:PAGES]`, a small web of topics, and `villages[:SITES]`, a web of communities.


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


# --- Replay: WARC files served as a web under their own host names, on loopback --------------------------------------


_TEXT = b"Content-Type: text/plain; charset=utf-8\r\n"


class Replay:
    """Answers requests from archives; asked as localhost, it says what it holds, and searches."""

    def __init__(self, archives: Warcs, search: Search | None = None) -> None:
        self.archives, self.search = archives, search

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> Response:
        """The archived answer, or 404."""
        if host in HERE:
            return self._here(target)
        found = self.archives.answer(f"http://{host}{target}")
        if found is None:
            return Response(404, _TEXT, b"Not in the archive.\n")
        return found

    def _here(self, target: str) -> Response:
        if self.search and (found := self.search.asked(target)):
            return found
        hosts = "".join(f"{count}\t{host}\n" for host, count in sorted(self.archives.hosts.items()))
        return Response(200, _TEXT, hosts.encode()) if target == "/" else Response(404, _TEXT, b"Nothing here.\n")


def make(paths: Sequence[str], search: bool = False) -> Replay:
    """A replay of WARC files, for ServerProcess."""
    archives = Warcs(map(Path, paths))
    return Replay(archives, Search(archives) if search else None)


def replay(
    paths: Sequence[Path],
    port: int = 8080,
    delay: float = 0.0,
    error_rate: float = 0.0,
    search: bool = False,
    processes: int = 1,
    seed: int = 0,
) -> None:
    """Serve WARC files, or a made-up web, as a web until Ctrl-C."""
    if not 0 <= error_rate <= 1:
        raise BadUse(f"The error rate is a share between 0 and 1, not {error_rate}.")
    options: dict[str, Any] = {"delay": delay, "error_rate": error_rate, "processes": processes, "seed": seed}
    if len(paths) == 1 and not paths[0].exists() and (web := made_up(str(paths[0]))):
        answer = Searched(web).answer if search else web.answer
        _serve(answer, port, "A made-up web", web.hosts, search, moods=web.moods, **options)
        return
    console = Console(stderr=True)
    archives = _load(paths, console)
    for warning in archives.warnings:
        console.print(f"Warning: {plain(warning)}", style="yellow", markup=False)
    try:
        found = Replay(archives, _index(archives, console) if search else None)
        _serve(found.answer, port, _many(len(archives), "page"), list(archives.hosts), search, **options)
    finally:
        archives.close()


def _serve(answer: Answer, port: int, what: str, hosts: Sequence[str], search: bool = False, **options: Any) -> None:
    """Serve, and say where and how to ask."""

    def ready(at: int) -> None:
        host = plain(hosts[0]) if hosts else "example.org"
        lines = [f"{what} of {_many(len(hosts), 'host')} served on 127.0.0.1:{at}. Ctrl-C ends it."]
        lines.append(f"Try:  curl --connect-to ::127.0.0.1:{at} http://{host}/")
        if search:
            lines.append(f'      curl "http://127.0.0.1:{at}/search?q=WORDS&format=json"')
        lines.append(f'In the settings of a crawl:  connect_to = "127.0.0.1:{at}"')
        print("\n".join(lines), flush=True)

    try:
        serve(answer, port, ready=ready, **options)
    except OSError as error:
        raise Environment(
            f"Port {port} cannot be used ({error.strerror}); choose another, or 0 for a free one."
        ) from error


def _progress(console: Console) -> Progress:
    """A bar on a terminal, nothing elsewhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, disable=not sys.stderr.isatty(), transient=True)


def _load(paths: Sequence[Path], console: Console) -> Warcs:
    with _progress(console) as bar:
        sizes = sum(path.stat().st_size for path in warc_files(map(Path, paths)))
        task = bar.add_task("Reading the archives", total=sizes)
        return Warcs(map(Path, paths), lambda done: bar.update(task, completed=done))


def _index(archives: Warcs, console: Console) -> Search:
    with _progress(console) as bar:
        task = bar.add_task("Indexing the words", total=len(archives))
        return Search(archives, lambda: bar.advance(task))


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
