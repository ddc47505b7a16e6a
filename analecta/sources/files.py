"""Files that a person brings: read whole, and copied into the library."""

import codecs
import contextlib
import errno
import filecmp
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from analecta.errors import ResourceError, UsageError
from analecta.parse.xml import DoctypeRefused, Tag, XmlError, XmlTooDeep, read_tree
from analecta.sources.result import SourceResult

MAX_BYTES = 50_000_000  # 5,000 bookmarks with their icons are 10 MB
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ADDRESS = re.compile(r"https?:/", re.IGNORECASE)  # of "https://" a path keeps one slash


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """All bytes of a file; one that is too large is refused before it is read."""
    if _ADDRESS.match(str(path)):
        raise UsageError(f"{path} is an address, not a file: save what is there to a file and give its name")
    try:
        with path.open("rb") as file:
            large = os.fstat(file.fileno()).st_size > most
            data = b"" if large else file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if large or len(data) > most:
        raise UsageError(f"{path} is larger than {most // 1_000_000} MB: split it, or take the right file")
    if not data.strip():
        raise UsageError(f"{path} is empty")
    return data


def text_of(data: bytes, path: Path | str) -> str:
    """The text of a file in UTF-8, or in UTF-16 with its mark."""
    try:
        text = data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a text file in UTF-8 (byte {error.start}); save it as UTF-8") from error
    if "\0" in text:
        raise UsageError(f"{path} is not a text file: it holds NUL characters")
    return text


def lines_of(text: str) -> list[str]:
    """Its lines, however they end."""
    return re.split(r"\r\n|\r|\n", text)


def json_of(data: bytes, path: Path | str, pairs: Callable[[list[tuple[str, Any]]], Any] = dict) -> Any:
    """What a JSON file says."""
    try:
        return json.loads(text_of(data, path), object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}, line {error.lineno}: not valid JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
        raise UsageError(f"{path} is JSON beyond reason: {error}") from error


def xml_of(data: bytes, path: Path | str) -> Tag:
    """The root of an XML file."""
    try:
        return read_tree(data)
    except DoctypeRefused as error:
        raise UsageError(f"{path} has a DOCTYPE, which may hide entities: it is not read") from error
    except XmlTooDeep as error:
        raise UsageError(f"{path}, line {error.line}: nested more than {error.most} deep") from error
    except XmlError as error:
        raise UsageError(f"{path} is not valid XML: {error.wrong}") from error


def first_sign(data: bytes) -> bytes:
    """The first character that is no blank and no byte order mark."""
    return data.lstrip(codecs.BOM_UTF8 + codecs.BOM_UTF16 + b" \t\r\n\0")[:1]


# --- placing ---------------------------------------------------------------------------------------------------------
# Where the files that a person brought stand in the library, and how they get there: nothing is ever overwritten.


def place(reading: SourceResult, library: Path) -> SourceResult:
    """The same, with examples named by where they will be. `files` are those that are to be copied there."""
    there = _there(library)
    wanted = {source: _in_folder(PurePosixPath(name), there) for source, name in reading.files.items()}
    taken = {_key(folder) for path in wanted.values() for folder in path.parents}
    places: dict[str, str] = {}
    for source, path in wanted.items():
        free = (one for one in _names(path) if _key(one) not in taken)
        found = next(one for one in free if _fits(Path(source), library / one, _key(one) in there))
        places[source] = str(found)
        taken.add(_key(found))
    new = {source: name for source, name in places.items() if not (library / name).exists()}
    return msgspec.structs.replace(renamed(reading, places), files=new)


def renamed(reading: SourceResult, names: Mapping[str, str]) -> SourceResult:
    """The same, with examples called by other names; a paper's text, which has none, is in its place already."""
    topics = tuple(msgspec.structs.replace(one, examples=_all(one.examples, names)) for one in reading.topics)
    others = msgspec.structs.replace(reading.others, examples=_all(reading.others.examples, names))
    return msgspec.structs.replace(reading, topics=topics, others=others)


def bring(files: Mapping[str, str], library: Path) -> list[Path]:
    """Copy files to their places in a library; what was made, or nothing at all."""
    made: list[Path] = []
    for source, name in files.items():
        target = library / name
        try:
            if not target.parent.resolve().is_relative_to(library.resolve()):
                raise OSError(errno.EXDEV, f"{target.parent} is a link that leads out of it")
            target.parent.mkdir(parents=True, exist_ok=True)
            with Path(source).open("rb") as old, target.open("xb") as new:
                made.append(target)
                shutil.copyfileobj(old, new)
        except OSError as error:
            take_back(made, library)
            raise ResourceError(f"cannot copy {source} into {library}: {error.strerror}") from error
    return made


def take_back(made: Sequence[Path], library: Path) -> None:
    """Remove files that were copied, and the folders that are empty then."""
    for path in made:
        path.unlink(missing_ok=True)
    for path in made:
        with contextlib.suppress(OSError):  # it is not empty
            for folder in path.parents:
                if folder == library:
                    break
                folder.rmdir()


def _there(library: Path) -> dict[str, bool]:
    """What stands in the library's `topics` already, and whether it is a folder."""
    found: dict[str, bool] = {}
    for folder, folders, files in os.walk(library / "topics"):
        here = PurePosixPath(Path(folder).relative_to(library).as_posix())
        found |= {_key(here / name): True for name in folders} | {_key(here / name): False for name in files}
    return found


def _in_folder(wanted: PurePosixPath, there: Mapping[str, bool]) -> PurePosixPath:
    """The same in folders that can be made: a number is added to one in whose place a file stands."""
    path = PurePosixPath()
    for step in wanted.parts[:-1]:
        path = next(one for one in _names(path / step) if there.get(_key(one), True))
    return path / wanted.name


def _names(path: PurePosixPath) -> Iterator[PurePosixPath]:
    """The name that was wanted, then the same with numbers."""
    yield path
    yield from (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))


def _key(path: PurePosixPath) -> str:
    return str(path).casefold()  # there are file systems that do not tell a from A


def _fits(source: Path, target: Path, there: bool) -> bool:
    """Whether a file can stand there, where nothing of that name is `there` in any case of letters, or does already."""
    if not target.exists():
        return not there and not target.is_symlink()
    try:
        return target.is_file() and filecmp.cmp(source, target, shallow=False)
    except OSError:
        return False


def _all(paths: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(names.get(path, path) for path in paths)
