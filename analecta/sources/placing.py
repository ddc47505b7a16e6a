"""Where the files that a person brought stand in the library, and how they get there: nothing is ever overwritten."""

import contextlib
import errno
import filecmp
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path, PurePosixPath

import msgspec

from analecta.errors import Environment
from analecta.sources.result import Reading


def place(reading: Reading, library: Path) -> Reading:
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


def renamed(reading: Reading, names: Mapping[str, str]) -> Reading:
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
            raise Environment(f"cannot copy {source} into {library}: {error.strerror}") from error
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
