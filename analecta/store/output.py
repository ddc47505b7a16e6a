"""Where a command may write what a person asked for: never over a library, nor over files of other kinds."""

import codecs
import contextlib
import io
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from analecta.errors import UsageError
from analecta.files import whole_file
from analecta.store.library import SETTINGS
from analecta.text.display import escape_json, plain

# What a command may write inside a library, by its kind: what `demo` makes there, for people to find it.
INSIDE = {"site": "site", "map": "map.html"}
_PARTS = ("library.db", "shards", "archive")  # one of them beside the settings makes a folder a library
ARCHIVES = ("wacz", "cdxj")  # what takes long to make is not replaced without a word
_HEAD = 2000  # bytes that show what a file is
_NAMES = re.compile(rb"[a-z0-9_]+(,[a-z0-9_]+)+\r?\n")  # the first line of our tables


def _starts(*beginnings: bytes) -> Callable[[Path, bytes], bool]:
    return lambda _, head: head.lstrip(codecs.BOM_UTF8 + b" \t\r\n").lower().startswith(beginnings)


def _is_bundle(path: Path, _: bytes) -> bool:
    try:
        with zipfile.ZipFile(path) as file:
            return "manifest.json" in file.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


# How a file is known to be of a kind, by its path and its first bytes.
KINDS: dict[str, Callable[[Path, bytes], bool]] = {
    "map": _starts(b"<!doctype html"),
    "html": _starts(b"<!doctype html"),
    "svg": _starts(b"<svg", b"<?xml"),
    "jsonl": _starts(b"{"),
    "json": _starts(b"{", b"["),
    "md": _starts(b"# "),
    "csv": lambda _, head: bool(_NAMES.match(head)),
    "parquet": _starts(b"par1"),
    "bibtex": _starts(b"@"),
    "ris": _starts(b"ty  - "),
    "gexf": lambda _, head: b"<gexf" in head,
    "graphml": lambda _, head: b"<graphml" in head,
    "bundle": _is_bundle,
}


@contextlib.contextmanager
def output(path: Path | None, kind: str, force: bool = False) -> Iterator[BinaryIO]:
    """A file that is there when it is whole, or standard output."""
    if path is None:
        yield cast(BinaryIO, Terminal(kind)) if sys.stdout.isatty() else sys.stdout.buffer
        return
    check_output(path, kind, force)
    with whole_file(path) as out:
        yield out


def check_output(path: Path, kind: str, force: bool = False) -> None:
    """Refuse a path inside a library, and without `force` a file of another kind; to be asked before long work."""
    check_outside(path, kind)
    if force or not path.is_file():
        return
    if kind in ARCHIVES:
        raise UsageError(f"{path} exists already: choose another name, or replace it with --force")
    if not path.stat().st_size:
        return
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not KINDS[kind](path, head):
        raise UsageError(
            f"{path} exists and is no {kind} file of ours: choose another name, or replace it with --force"
        )


def check_outside(path: Path, kind: str = "") -> None:
    """Refuse a path inside a library, by whatever links it leads there, but for the one name this kind has there."""
    for place in {path.parent.resolve() / path.name, path.resolve()}:
        library = library_above(place)
        if library and not (kind in INSIDE and place == library / INSIDE[kind]):
            raise UsageError(f"{path} is inside the library {library}: choose a place outside it")


def check_replaceable(folder: Path, kind: str = "") -> None:
    """Refuse to replace a folder that is or holds a library, or lies inside one."""
    check_outside(folder, kind)
    for found, folders, _ in os.walk(folder):
        if is_library(Path(found)):
            raise UsageError(f"{folder} holds the library {found}: choose another folder")
        folders[:] = [name for name in folders if not (Path(found) / name).is_symlink()]


def library_above(path: Path) -> Path | None:
    """The library in whose folder a path lies, or which it is."""
    return next((folder for folder in (path, *path.parents) if is_library(folder)), None)


def is_library(folder: Path) -> bool:
    """Whether a folder is a library, also a damaged one."""
    try:
        settings = (folder / SETTINGS).is_file()
        return (settings or (folder / "library.db").is_file()) and any((folder / part).exists() for part in _PARTS)
    except OSError:
        return False


class Terminal(io.BufferedIOBase):
    """Standard output that a person looks at: what could command the terminal is shown as an escape."""

    def __init__(self, kind: str) -> None:
        self._escape = escape_json if kind in ("json", "jsonl") else plain
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: object) -> int:
        """Write text in UTF-8; line ends stay what they are."""
        raw = bytes(data)  # type: ignore[call-overload]
        text = self._rest + self._decode(raw)
        self._rest = "\r" if text.endswith("\r") else ""  # the next part may begin with its line feed
        lines = text.removesuffix("\r").replace("\r\n", "\n").split("\n")
        sys.stdout.write("\n".join("\t".join(map(self._escape, line.split("\t"))) for line in lines))
        return len(raw)

    def flush(self) -> None:
        """Write what is held back."""
        sys.stdout.flush()
