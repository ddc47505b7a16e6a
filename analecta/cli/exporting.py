"""The command that writes what a library holds in the formats of others."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analecta.cli.app import Lib, app, console
from analecta.errors import BadUse

if TYPE_CHECKING:
    pass


class Kind(StrEnum):
    """What can be exported."""

    PAGES = "pages"
    LINKS = "links"
    REFUSALS = "refusals"
    HISTORY = "history"


class Format(StrEnum):
    """How it can be written."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


@app.command()
def export(
    lib: Lib,
    what: Annotated[
        Kind, typer.Argument(metavar="pages|links|refusals|history", help="What to write.", show_default=False)
    ],
    format: Annotated[Format, typer.Option("--format", help="Lines of JSON, a table, or Parquet.")] = Format.JSONL,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to (default: standard output).")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also pages that say noindex.")] = False,
    for_training: Annotated[
        bool, typer.Option("--for-training", help="Leave out pages whose owners reserve them against AI training.")
    ] = False,
) -> None:
    """Write pages, links, refusals or the history of collections as a table."""
    from analecta.publish.rows import COLUMNS, KINDS, Left
    from analecta.publish.tables import write
    from analecta.store.library import Library

    if what != Kind.PAGES and (everything or for_training):
        raise BadUse(f"--all and --for-training are about pages, not {what}")
    left = Left()
    options = {"everything": everything, "for_training": for_training} if what == Kind.PAGES else {}
    rows = KINDS[what](Library(lib), left, **options)
    try:
        count = write(rows, COLUMNS[what], format, output)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as `head` has
        sys.stderr.close()
        raise typer.Exit from None
    _tell_left(what, count, left, for_training)


def _tell_left(what: str, count: int, left: Any, for_training: bool) -> None:
    screen = console(stderr=True)
    screen.print(f"{count:,} {'moments' if what == Kind.HISTORY else what}.")
    if left.noindex:
        screen.print(f"Left out: {left.noindex:,} pages that say noindex (--all has them).")
    if for_training:
        screen.print(f"Left out: {left.reserved:,} pages whose owners reserve them against use for training.")
    if left.unknown:
        screen.print(f"Left out: {left.unknown:,} links that were not followed, so that their targets are not known.")
