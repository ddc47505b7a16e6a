"""What all commands share: the application, and how they speak."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analecta.files import discard
from analecta.signals import INTERRUPTED
from analecta.text.display import escape_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

app = typer.Typer(
    name="analecta",
    help="Grow a library on any topic from the web: give it pages you like, and it finds more of their kind.",
    epilog="Start with: analecta demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


Lib = Annotated[Path, typer.Argument(metavar="LIB", help="The library's folder.", show_default=False)]


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def console(stderr: bool = False) -> "Console":
    """Text as it is: nothing that comes from the web is read as markup, and no URL is cut where nobody looks on."""
    from analecta.cli.render import Screen

    on_screen = (sys.stderr if stderr else sys.stdout).isatty()
    return Screen(stderr=stderr, markup=False, highlight=False, emoji=False, width=None if on_screen else 1000)


def busy(what: str) -> "Status":
    """Shows that something takes a while."""
    return console(stderr=True).status(what)


@contextlib.contextmanager
def stoppable(told: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C ends what takes a while, with a word on what came of it."""
    try:
        yield
    except KeyboardInterrupt:
        console(stderr=True).print(f"Stopped. {told()}", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None


Force = Annotated[bool, typer.Option("--force", help="Replace a file of another kind that is there.")]


def write_text(path: Path, text: str, kind: str, force: bool) -> None:
    """Write a file that was asked for."""
    from analecta.store.output import output

    with output(path, kind, force) as out:
        out.write(text.encode())


def print_json(value: Any) -> None:
    """What a machine reads: one JSON object on a line."""
    try:
        sys.stdout.write(_as_json(value) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)


def _as_json(value: Any) -> str:
    """One line of JSON, which no terminal obeys; what is no character in the name of a file has a sign instead."""
    import json

    import msgspec

    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":"))
        text = text.encode("utf-8", "replace").decode()
    return escape_json(text)
