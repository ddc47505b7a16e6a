"""The command line. A command reads its arguments, calls the part that does the work, and shows what came of it.

The module of a command is imported when the command is called (`cli/app.py`): all together they take 0.9 s (numpy,
scipy, curl), which `--help` and each command should not have to wait for.
"""

import contextlib
import errno
import os
import re
import sys
from typing import Annotated, Any

import typer

from analecta import __version__
from analecta.cli.app import app
from analecta.cli.process import check_limits, open_streams
from analecta.errors import AnalectaError
from analecta.files import discard
from analecta.signals import INTERRUPTED, interrupt_on_stop, was_stopped
from analecta.store import OperationalError, SqliteError
from analecta.text.display import plain

_MISUSE: Any = typer.BadParameter.__base__  # all that is wrong with a command line; typer has no name for it


def main() -> None:
    """Run the command; what goes wrong on purpose is one sentence on stderr and an exit code (errors.py)."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # idle helpers of BLAS spin, on cores that partitions need
    with interrupt_on_stop():
        code = _ended(_run())
    sys.exit(code)


def _run() -> int:
    """The exit code of the command."""
    try:
        open_streams()
        return int(app(prog_name="analecta", standalone_mode=False) or 0)
    except AnalectaError as error:
        return _complain(str(error), error.exit_code)
    except _MISUSE as error:
        return _misused(error)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except (OSError, SqliteError) as error:
        return INTERRUPTED if was_stopped() else _complain(_of_system(error), 4)
    except UnicodeEncodeError as error:
        if "surrogates not allowed" not in str(error):
            raise
        return _complain("a name that is not written in UTF-8 cannot be used here: rename the file or folder", 2)
    except MemoryError:
        return _complain("there is not enough memory: close other programs, or raise `ulimit -v`", 4)
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        return _complain("the system allows no more threads: raise `ulimit -u` or `ulimit -v`", 4)


def _ended(code: int) -> int:
    """The code, when all that was printed is written; what was interrupted may have nobody left who reads it."""
    try:
        discard(sys.stdout) if was_stopped() else sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError):
            discard(sys.stdout)
        if not isinstance(error, BrokenPipeError) and not was_stopped():
            return _complain(f"cannot write to standard output: {error.strerror}", 4)
    return code


def _of_system(error: Exception) -> str:
    """What the system or a database says, as a sentence."""
    if isinstance(error, OperationalError) and re.search("no such (table|column)|has no column", str(error)):
        return f"the library is of another version of Analecta, which this one cannot read ({error})"
    if getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE):
        return "too many files are open: raise `ulimit -n`"
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
    print(f"analecta: {plain(words)}", file=sys.stderr)
    return code


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    check_limits()
    if version:
        print(f"analecta {__version__}")
        raise typer.Exit
