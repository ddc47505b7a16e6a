"""Files and folders that are there whole or not at all: they are made beside, then put in their place."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from glob import escape
from pathlib import Path
from typing import IO, Any, BinaryIO

from analecta.errors import ResourceError, UsageError


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that takes its name when all is written, folders above it too; what had the name is gone then."""
    part = _beside(path, "part")
    with _told(path, part):
        if path.exists() and not path.is_file():  # a device or a named pipe cannot be replaced
            with path.open("wb") as out:
                try:
                    yield out
                except BaseException:
                    discard(out)  # what is left to write must not hold us up: nobody may be reading
                    raise
            return
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
        try:
            with part.open("wb") as out:
                yield out
            part.replace(path)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_folder(folder: Path, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """A folder that takes its name when all is in it; the one before it, if that is ours, stays until then."""
    check_ours(folder, is_ours)
    folder = folder.resolve()
    part, old = _beside(folder, "part"), _beside(folder, "old")
    with _told(folder, part):
        _remove_left(folder)
        part.mkdir(parents=True)
        try:
            yield part
            if folder.exists():
                folder.replace(old)
            part.replace(folder)
        finally:
            if old.exists() and not folder.exists():
                old.replace(folder)
            for left in (part, old):
                shutil.rmtree(left, ignore_errors=True)


def discard(stream: IO[Any]) -> None:
    """Let all that is still written to a stream go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def check_ours(folder: Path, is_ours: Callable[[Path], bool]) -> None:
    """Say so where something else is in the way: only what is ours, or empty, is replaced."""
    free = not folder.exists() or (folder.is_dir() and (not any(folder.iterdir()) or is_ours(folder)))
    if folder.is_symlink() or not free:
        raise UsageError(f"{folder} is there already and was not made by this command: choose another folder")


def _beside(path: Path, end: str) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{end}")


@contextlib.contextmanager
def _told(path: Path, part: Path) -> Iterator[None]:
    """What the disk says against it, in one sentence."""
    try:
        yield
    except OSError as error:
        named = str(error.filename or part)
        about = "" if named.startswith(str(part)) else f" ({named})"
        raise ResourceError(f"cannot write {path}: {error.strerror or error}{about}") from error


def _remove_left(folder: Path) -> None:
    """Take away what runs that were killed have left."""
    for left in folder.parent.glob(f".{escape(folder.name)}.*.part"):
        if not _runs(left.name.split(".")[-2]):
            shutil.rmtree(left, ignore_errors=True)


def _runs(process: str) -> bool:
    if not process.isdecimal():
        return True
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
