"""A folder of examples: each folder in it is a topic, with files that show what is meant and lists of addresses.

Folders in folders are the tree; what stands in no folder is of the topic that the person named. `OTHERS`, at the top,
holds what is not meant. A list of addresses is a file `*.urls`, or a text that holds nothing else. What browsers keep
beside a saved page (`Roses_files` of `Roses.html`) and hidden files are passed over.
"""

import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec
import xxhash

from analecta.errors import UsageError
from analecta.parse.saved_page import MAX_FILE
from analecta.settings.schema import NegativeSettings, Topic
from analecta.sources.collector import MAX_DEPTH, NOT_MEANT, Place, TopicCollector, sound
from analecta.sources.files import lines_of, read_bytes, text_of
from analecta.sources.lists import add_addresses, entries
from analecta.sources.result import SourceResult

OTHERS = "OTHERS"
MAX_FILES = 2000  # no judge learns from more at once; ten good ones a topic do as well
MAX_TOTAL = 1_000_000_000
_LOOKED_AT = 5  # times as many files and folders, used or not
_LIST = 1_000_000  # bytes: a longer file is no list unless its name says so
_LINK = re.compile(r"https?://\S+", re.IGNORECASE)
_PAGE = frozenset((".htm", ".html", ".xhtml"))
# What browsers and Windows, in the person's language, add to the name of a page for the folder of its pictures.
_BESIDE = re.compile(
    "(?i)[_.-](?:files|dateien|fichiers|archivos|file|bestanden|filer|ficheiros|arquivos|pliki|soubory|tiedostot"
    "|dosyalar|elemei|datoteke|fitxers|fitxategiak|failid|fails|bylos|fajlovi)"
)
_UNSAFE = re.compile(r"[^\w .()+,=-]+")
_LONGEST = 80  # characters of a name: at most 240 bytes in any script that has names
_DEVICES = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")  # names that Windows keeps for itself


def read_examples(folder: Path, topic: str, most: int = MAX_FILES, size: int = MAX_TOTAL) -> SourceResult:
    """The topics that a folder is; their examples are paths as brought, which `files` gives their place by."""
    found = _Folder(folder, topic, most, size)
    for place, path in found.walk():
        found.take(place, path)
    return found.reading()


class _Folder:
    """Goes through a folder and collects what is of use."""

    def __init__(self, folder: Path, topic: str, most: int, size: int) -> None:
        self.folder = folder
        self._real = os.path.realpath(folder)
        self.most, self.size = most, size
        self.name = safe(folder.resolve().name or "examples")
        self.found = TopicCollector(folder, topic)
        self._files: dict[Place, dict[int, str]] = {}  # by the digest of what is in them
        self._places: dict[str, str] = {}
        self._taken = self._bytes = self._looked = 0

    def walk(self) -> Iterator[tuple[Place, Path]]:
        """All files that may be of use, with the place in the tree where they stand."""
        try:
            is_folder = stat.S_ISDIR(self.folder.stat().st_mode)
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {self.folder}: {getattr(error, 'strerror', None) or error}") from error
        if not is_folder:
            raise UsageError(f"{self.folder} is a file: --examples wants a folder that holds a folder for each topic")
        todo: list[tuple[Place, Path, int]] = [((), self.folder, 0)]
        while todo:
            place, path, depth = todo.pop()
            inner, files = self._entries(path)
            yield from ((place, file) for file in files)
            if inner and depth >= MAX_DEPTH:
                raise UsageError(f"{sound(str(path))}: folders lie more than {MAX_DEPTH} deep, which is too deep")
            todo += [(self._enter(place, name.name), name, depth + 1) for name in reversed(inner)]

    def _enter(self, place: Place, name: str) -> Place:
        if place == NOT_MEANT or (not place and name.upper() == OTHERS):
            return NOT_MEANT
        return self.found.enter(place, _printable(name))

    def _entries(self, folder: Path) -> tuple[list[Path], list[Path]]:
        """The folders and the files in a folder, in the order of their names."""
        try:
            with os.scandir(folder) as entries:
                all_of_it = sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name)
        except OSError as error:
            self._skip(folder, f"it cannot be read: {error.strerror}")
            return [], []
        self._looked += len(all_of_it)
        if self._looked > _LOOKED_AT * self.most:
            most = f"{_LOOKED_AT * self.most:,} files and folders"
            raise UsageError(f"{self.folder} holds more than {most}: ten good files for each topic are enough")
        pages = [Path(e.name).stem for e in all_of_it if Path(e.name).suffix.lower() in _PAGE]
        inner, files = [], []
        for entry in all_of_it:
            path = folder / entry.name
            if entry.is_dir(follow_symlinks=False):
                if _belongs_to_a_page(entry.name, pages):
                    self._skip(path, "a browser keeps there what belongs to a page that it saved")
                else:
                    inner.append(path)
            elif entry.is_symlink() and path.is_dir():
                self._skip(path, "links to folders are not followed")
            else:
                files.append(path)
        return inner, files

    def take(self, place: Place, path: Path) -> None:
        """One file: a list of addresses, or an example, or nothing of use."""
        try:
            about = path.stat()
        except OSError as error:
            self._skip(path, f"it cannot be read: {error.strerror}")
            return
        if not stat.S_ISREG(about.st_mode):
            self._skip(path, "it is no ordinary file")
        elif not Path(os.path.realpath(path)).is_relative_to(self._real):
            self._skip(path, "the link leads out of the folder: give that file or its folder, too")
        elif not about.st_size:
            self._skip(path, "it is empty")
        elif about.st_size > MAX_FILE:
            self._skip(path, f"it is larger than {MAX_FILE // 1_000_000} MB")
        elif path.suffix.lower() == ".urls":
            self._list(place, path)
        else:
            self._file(place, path)

    def _file(self, place: Place, path: Path) -> None:
        try:
            data = read_bytes(path, MAX_FILE)
        except UsageError as error:
            self._unread(path, error)
            return
        if len(data) <= _LIST and _is_list(data, path):
            self._list(place, path)
            return
        self._taken, self._bytes = self._taken + 1, self._bytes + len(data)
        if self._taken > self.most or self._bytes > self.size:
            most = f"{self.most:,} files" if self._taken > self.most else f"{self.size // 1_000_000:,} MB"
            raise UsageError(
                f"{self.folder} holds more than {most} of examples: ten good ones for each topic are enough"
            )
        same = self._files.setdefault(place, {})
        digest = xxhash.xxh3_64_intdigest(data)
        if digest in same:
            self.found.repeated += 1
            return
        same[digest] = str(path)
        steps = path.relative_to(self.folder).parts
        self._places[str(path)] = str(PurePosixPath("topics", self.name, *map(safe, steps)))

    def _list(self, place: Place, path: Path) -> None:
        """Addresses of pages, one a line."""
        before = len(self.found.skipped)
        try:
            lines = [*entries(path)]
        except UsageError as error:
            self._unread(path, error)
            return
        add_addresses(self.found, place, lines)
        for i, skipped in enumerate(self.found.skipped[before:], before):
            self.found.skipped[i] = msgspec.structs.replace(skipped, file=sound(str(path)))

    def _unread(self, path: Path, error: UsageError) -> None:
        self._skip(path, str(error).replace(f"{path} ", "it ", 1))

    def _skip(self, path: Path, why: str) -> None:
        self.found.skip(sound(str(path.relative_to(self.folder))), why)

    def reading(self) -> SourceResult:
        """All of it."""
        reading = self.found.reading(queries=True)
        seeds = {topic.name: topic.seeds for topic in reading.topics}
        others = msgspec.structs.replace(reading.others, examples=tuple(self._files.pop(NOT_MEANT, {}).values()))
        files: dict[str, list[str]] = {}
        for place, same in self._files.items():
            files.setdefault(" / ".join(place) or self.found.topic, []).extend(same.values())
        topics = tuple(
            Topic(name, seeds.get(name, ()), examples=tuple(files.get(name, ()))) for name in {**seeds, **files}
        )
        if not topics:
            raise self._nothing(others)
        if any(topic.name == self.found.topic for topic in topics) and self.found.topic.upper() == OTHERS:
            raise UsageError(
                f"files in {self.folder} stand in no folder, and {OTHERS} is what is not meant: name a --topic"
            )
        empty = {name: query for name, query in reading.queries.items() if name not in files}
        return msgspec.structs.replace(reading, topics=topics, others=others, files=self._places, queries=empty)

    def _nothing(self, others: NegativeSettings) -> UsageError:
        if others.seeds or others.examples:
            return UsageError(f"{self.folder} holds only {OTHERS}, which is not meant: add a folder for each topic")
        return self.found.nothing("example: put pages, texts or *.urls lists into it, in a folder for each topic")


def safe(name: str) -> str:
    """A name that every file system takes, as like the one given as can be."""
    known = unicodedata.normalize("NFC", sound(name))
    stem, dot, ending = _UNSAFE.sub("_", known).strip(" .").rpartition(".")
    if not dot or not 0 < len(ending) <= 10:
        stem, ending = stem + dot + ending, ""
    whole = stem[: _LONGEST - 12].strip(" .") + ("." + ending if ending else "")
    return f"_{whole}" if not whole or _DEVICES.fullmatch(whole) else whole


def _printable(name: str) -> str:
    """A folder's name without what no line of text holds."""
    return "".join(" " if unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp") else sign for sign in sound(name))


def _belongs_to_a_page(name: str, pages: list[str]) -> bool:
    """Whether a folder is what a browser saved beside a page: Roses_files, Roses-Dateien, Roses.files."""
    return any(_BESIDE.fullmatch(name, len(page)) for page in pages if name.startswith(page))


def _is_list(data: bytes, path: Path) -> bool:
    """Whether a text holds addresses, one a line, and nothing else but comments."""
    try:
        lines = [line.strip() for line in lines_of(text_of(data, path))]
    except UsageError:
        return False
    said = [line for line in lines if line and not line.startswith("#")]
    return bool(said) and all(_LINK.fullmatch(line) for line in said)
