"""Where the files that a person brought stand in the library, and how they get there: nothing is ever overwritten."""

import contextlib
import filecmp
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from analecta.errors import Environment
from analecta.seed.reading import Reading
from analecta.settings import Topic


def place(reading: Reading, library: Path) -> Reading:
    """The same, with examples named by where they will be. `files` are those that are to be copied there."""
    places: dict[str, str] = {}
    taken: set[str] = set()
    for source, wanted in reading.files.items():
        found = next(name for name in _names(wanted) if _free(name, taken) and _fits(Path(source), library / name))
        places[source] = found
        taken.add(found.casefold())
    topics = tuple(_moved(topic, places) for topic in reading.topics)
    others = msgspec.structs.replace(reading.others, examples=_all(reading.others.examples, places))
    new = {source: name for source, name in places.items() if not (library / name).exists()}
    return msgspec.structs.replace(reading, topics=topics, others=others, files=new)


def bring(files: Mapping[str, str], library: Path) -> list[Path]:
    """Copy files to their places in a library; what was made, or nothing at all."""
    made: list[Path] = []
    for source, name in files.items():
        target = library / name
        try:
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


def _names(wanted: str) -> Iterator[str]:
    """The name that was wanted, then the same with numbers."""
    path = PurePosixPath(wanted)
    yield wanted
    number = 2
    while True:
        yield str(path.with_name(f"{path.stem}-{number}{path.suffix}"))
        number += 1


def _free(name: str, taken: set[str]) -> bool:
    return name.casefold() not in taken  # there are file systems that do not tell a from A


def _fits(source: Path, target: Path) -> bool:
    """Whether a file can stand there, or does already."""
    if not target.exists():
        return not target.is_symlink()
    try:
        return target.is_file() and filecmp.cmp(source, target, shallow=False)
    except OSError:
        return False


def _moved(topic: Topic, places: Mapping[str, str]) -> Topic:
    return msgspec.structs.replace(topic, examples=_all(topic.examples, places))


def _all(paths: Sequence[str], places: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(places.get(path, path) for path in paths)  # a paper's text is in its place already
