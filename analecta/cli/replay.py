"""The command that serves an archived or made-up web on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from analecta.cli.app import app
from analecta.signals import INTERRUPTED
from analecta.testweb.replay import replay as serve_archive


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
    serve_archive(paths, port, delay, error_rate, search, processes)
    raise typer.Exit(INTERRUPTED)  # nothing else ends it
