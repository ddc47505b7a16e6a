"""The command line. A command reads its arguments, calls the part that does the work, and shows what came of it.

Imports of that part are inside the commands: all together they take 0.9 s (numpy, scipy, curl), and `--help`, a typing
error or a file that is not there should be answered at once.
"""

import os
import re
import sqlite3
import sys
from typing import Annotated, Any

import typer

from analecta.cli import (  # noqa: F401 (each brings its commands)
    analysing,
    beginning,
    bundling,
    collecting,
    communities,
    crawling,
    exporting,
    feeding,
    looking,
    mapping,
    publishing,
    searching,
    serving,
    topics,
    trying,
    verify,
)
from analecta.cli.app import app
from analecta.errors import AnalectaError

# The help goes the way a library goes: begun, grown, looked at, understood, shown, passed on.
_ORDER = (
    "new", "add", "crawl", "health", "status", "explain", "collection", "search", "index", "feedback", "retrain",
    "analyse", "communities", "sites", "map", "publish", "export", "serve-oai", "bundle", "repeat", "recipes", "demo",
    "replay", "evaluate", "verify",
)  # fmt: skip
_MISUSE: Any = typer.BadParameter.__base__  # all that is wrong with a command line; typer has no name for it

app.registered_commands.sort(key=lambda one: _ORDER.index(one.name or getattr(one.callback, "__name__", "")))


def main() -> None:
    """Run the command; what goes wrong on purpose is one sentence on stderr and an exit code (errors.py)."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # idle helpers of BLAS spin, on cores that partitions need
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a title must not end the program where the terminal has no letter for it
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(app(standalone_mode=False))
    except AnalectaError as error:
        sys.exit(_complain(str(error), error.exit_code))
    except _MISUSE as error:
        sys.exit(_misused(error))
    except (OSError, sqlite3.Error) as error:
        sys.exit(_complain(_of_system(error), 4))


def _of_system(error: Exception) -> str:
    """What the system or a database says, as a sentence."""
    if isinstance(error, sqlite3.OperationalError) and re.search("no such (table|column)|has no column", str(error)):
        return f"the library is of another version of Analecta, which this one cannot read ({error})"
    file = getattr(error, "filename", None)
    why = getattr(error, "strerror", None) or error
    return f"the disk or the network does not allow it: {why}{f': {file}' if file else ''}"


def _misused(error: Any) -> int:
    """What is wrong with the command line; where nothing was said, its help has been shown instead."""
    if words := " ".join(error.format_message().replace("Value error, ", "").split()):
        more = f" ({error.ctx.command_path} --help tells more)" if error.ctx else ""
        _complain(words + more, error.exit_code)
    return int(error.exit_code)


def _complain(words: str, code: int) -> int:
    from analecta.publish.plain import plain

    print(f"analecta: {plain(words)}", file=sys.stderr)
    return code


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if version:
        from importlib.metadata import version as installed

        print(f"analecta {installed('analecta')}")
        raise typer.Exit
