"""The command that writes what a library holds in the formats of others."""

import contextlib
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from analecta.cli.app import Lib, app
from analecta.cli.render import busy, console
from analecta.export import FORMATS, ExportRequest, check_request
from analecta.export import export as write_export
from analecta.files import discard
from analecta.store.library import LibraryFolder

# The names of `FORMATS`, to choose from.
ExportKind = StrEnum("ExportKind", list(FORMATS))  # type: ignore[misc]
FormatName = StrEnum("FormatName", list(dict.fromkeys(name for one in FORMATS.values() for name in one)))  # type: ignore[misc]
GraphOf = StrEnum("GraphOf", ["sites", "pages"])


@app.command()
def export(
    lib: Lib,
    what: Annotated[ExportKind, typer.Argument(metavar="WHAT", help="What to write.", show_default=False)],
    format: Annotated[
        FormatName | None,
        typer.Option(help="How to write it; which are possible is said in docs/commands.md."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to (default: standard output).")
    ] = None,
    topic: Annotated[str | None, typer.Option(metavar="T", help="Only of this topic.")] = None,
    community: Annotated[
        str | None, typer.Option(metavar="C", help="Only of this one: its number, its name or a site.")
    ] = None,
    top: Annotated[int | None, typer.Option(metavar="N", min=1, help="Items of each collection (50).")] = None,
    per_host: Annotated[int | None, typer.Option(metavar="K", min=0, help="Items of one host in each (5).")] = None,
    of: Annotated[GraphOf | None, typer.Option(help="A graph of sites, or of pages (sites).")] = None,
    text: Annotated[bool, typer.Option("--text", help="An archive's list of pages with their texts.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also pages whose owners want them not shown, or no copy of them.")
    ] = False,
    for_training: Annotated[
        bool, typer.Option("--for-training", help="Leave out pages whose owners reserve them against AI training.")
    ] = False,
    with_reserved: Annotated[
        bool, typer.Option("--with-reserved", help="A corpus that is not for training: with what owners reserve.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write tables, collections, a corpus with texts, graphs, or the archive, for other tools to read."""
    options: dict[str, Any] = {
        "all": everything, "for_training": for_training, "with_reserved": with_reserved, "topic": topic,
        "community": community, "top": top, "per_host": per_host, "of": of, "text": text,
    }  # fmt: skip
    how = check_request(what, format, options)
    waiting = FORMATS[what][how].busy
    request = ExportRequest(kind=what, format=how, path=output, force=force, **options)
    try:
        with busy(waiting) if waiting else contextlib.nullcontext():
            sentences = write_export(LibraryFolder(lib), request)
        for sentence in sentences:
            console(stderr=True).print(sentence, soft_wrap=True)
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)
