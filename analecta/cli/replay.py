"""The command that serves an archived or made-up web on this machine."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from analecta.cli.app import app
from analecta.errors import ResourceError, UsageError
from analecta.signals import INTERRUPTED
from analecta.testweb.search import MadeUpPages, WebSearch
from analecta.testweb.server import Answer, Mood, ServerOptions, serve
from analecta.testweb.warc_index import WarcIndex, warc_files
from analecta.testweb.webs import Replay, SearchedWeb, made_up
from analecta.text.display import many, plain


@app.command()
def replay(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="WARC files, or folders of such; or pocket[:PAGES], villages[:SITES]."),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen on 127.0.0.1; 0 takes a free one.")],
    search: Annotated[bool, typer.Option("--search", help="Also answer /search?q=WORDS.")] = False,
    delay: Annotated[float, typer.Option(metavar="S", min=0, help="Seconds before each answer.")] = 0.0,
    error_rate: Annotated[float, typer.Option(metavar="X", min=0, max=1, help="Share of answers that fail.")] = 0.0,
    processes: Annotated[int, typer.Option(metavar="N", min=1, help="Processes that serve.")] = 1,
) -> None:
    """Serve archived pages as a web on this machine, under their own host names; or a made-up web."""
    if not 0 <= error_rate <= 1:  # which nan is not
        raise UsageError(f"The error rate is a share between 0 and 1, not {error_rate}.")
    options = ServerOptions(port, delay, error_rate, processes=processes)
    if len(paths) == 1 and not paths[0].exists() and (web := made_up(str(paths[0]))):
        answer = web.answer
        if search:
            answer = SearchedWeb(answer, WebSearch(MadeUpPages(answer, web.listed))).answer
        _serve(answer, options, "A made-up web", web.hosts, search, web.moods)
    else:
        console = Console(stderr=True)
        with closing(_load(paths, console)) as archives:
            for warning in archives.warnings:
                console.print(f"Warning: {plain(warning)}", style="yellow", markup=False)
            answer = Replay(archives).answer
            if search:
                answer = SearchedWeb(answer, _index(archives, console)).answer
            _serve(answer, options, many(len(archives), "page"), list(archives.hosts), search)
    raise typer.Exit(INTERRUPTED)  # nothing else ends it


def _serve(
    answer: Answer,
    options: ServerOptions,
    what: str,
    hosts: Sequence[str],
    search: bool = False,
    moods: Mapping[str, Mood] = {},
) -> None:
    """Serve, and say where and how to ask."""

    def ready(at: int) -> None:
        host = plain(hosts[0]) if hosts else "example.org"
        lines = [f"{what} of {many(len(hosts), 'host')} served on 127.0.0.1:{at}. Ctrl-C ends it."]
        lines.append(f"Try:  curl --connect-to ::127.0.0.1:{at} http://{host}/")
        if search:
            lines.append(f'      curl "http://127.0.0.1:{at}/search?q=WORDS&format=json"')
        lines.append(f'In the settings of a crawl:  connect_to = "127.0.0.1:{at}"')
        print("\n".join(lines), flush=True)

    try:
        serve(answer, options, moods, ready)
    except OSError as error:
        raise ResourceError(
            f"Port {options.port} cannot be used ({error.strerror}); choose another, or 0 for a free one."
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


def _load(paths: Sequence[Path], console: Console) -> WarcIndex:
    with _progress(console) as bar:
        sizes = sum(path.stat().st_size for path in warc_files(map(Path, paths)))
        task = bar.add_task("Reading the archives", total=sizes)
        return WarcIndex(map(Path, paths), lambda done: bar.update(task, completed=done))


def _index(archives: WarcIndex, console: Console) -> WebSearch:
    with _progress(console) as bar:
        task = bar.add_task("Indexing the words", total=len(archives))
        return WebSearch(archives, lambda: bar.advance(task))
