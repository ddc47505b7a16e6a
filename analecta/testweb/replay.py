"""Replay: WARC files served as a web under their own host names, on loopback."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from analecta.errors import BadUse, Environment
from analecta.testweb.made_up import Searched, made_up
from analecta.testweb.search import Search
from analecta.testweb.server import HERE, Answer, Response, serve
from analecta.testweb.warc_index import Warcs, warc_files
from analecta.text.display import plain

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
