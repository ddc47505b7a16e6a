"""The steps of a check, in order: databases, rows, archive files, models, the search index, OAI records."""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from analecta.errors import ResourceError
from analecta.judge.model_files import damaged_models
from analecta.publish.oai.verify import wrong_records
from analecta.search.update import changed_files, folder_of
from analecta.store import DatabaseError, SqliteError
from analecta.store.checksums import log_path
from analecta.store.library import LibraryFolder
from analecta.store.migrations import backups
from analecta.store.schema import MetaKey
from analecta.store.sqlite import Connection, looking
from analecta.store.verify import (
    DAMAGED,
    CheckPart,
    archive_files,
    is_sound,
    verify_database,
    verify_file,
    verify_places,
    verify_rows,
)
from analecta.store.warc import BAD_ZLIB

BACKUPS, MODELS, INDEX, OAI = "backups", "models", "search index", "OAI records"
_REBUILD = "it is rebuilt"
_LEARN = "the files are put aside; if it is the model in use, the next crawl or `analecta retrain` learns it again"


class VerifyStep(msgspec.Struct, frozen=True):
    """One thing to look at: the files it is made of, and what looks at them (yields bytes read)."""

    name: str
    files: list[Path]
    look: Callable[[CheckPart], Iterator[int]]

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(path.stat().st_size for path in self.files if path.is_file())

    def stamp(self) -> list[tuple[int, int]]:
        """Differs where a file was written to since."""
        found = [path.stat() for path in self.files if path.exists()]
        return [(one.st_size, one.st_mtime_ns) for one in found]


def steps(library: LibraryFolder) -> list[VerifyStep]:
    """All steps for a library as it is now."""
    found = [VerifyStep(path.name, _with_log(path), partial(verify_database, path)) for path in library.databases]
    running = bool(library.holder())
    for n in range(library.partitions):
        path = library.shard_path(n)
        if path.exists():
            found.append(VerifyStep(f"rows of {path.name}", _with_log(path), partial(_rows, library, n, running)))
            found += _archive_steps(library, path, running)
    if not running:
        found.append(VerifyStep("archive", [], partial(_strangers, library)))
    found += [VerifyStep(f"backup/{path.name}", [path], partial(_backup, path)) for path in backups(library.folder)]
    found.append(VerifyStep("models", sorted(library.models.glob("*")), partial(_models, library)))
    index = [path for path in folder_of(library).rglob("*") if path.is_file()]
    found.append(VerifyStep("index", sorted(index), partial(_index, library)))
    oai = library.folder / "oai.db"
    if oai.exists():
        found += [VerifyStep("oai.db", _with_log(oai), partial(verify_database, oai))]
        found += [VerifyStep("records of oai.db", [*_with_log(oai), *library.databases], partial(_oai, library, oai))]
    return found


def _with_log(path: Path) -> list[Path]:
    return [path, log_path(path)]


def _reading(path: Path, part: CheckPart, look: Callable[[Connection], Iterator[int]]) -> Iterator[int]:
    """Look at one moment of a database; where the file is damaged, that is a finding and no more."""
    try:
        with looking(path) as db:
            yield from look(db)
    except (DatabaseError, ResourceError) as error:
        part.find(DAMAGED, f"{path.name}: {error}", _REBUILD)


def _rows(library: LibraryFolder, n: int, running: bool, part: CheckPart) -> Iterator[int]:
    path = library.shard_path(n)
    topics = len(library.topic_names())

    def look(db: Connection) -> Iterator[int]:
        yield from verify_rows(db, path.name, n, library.partitions, topics, running, part)
        yield from verify_places(db, path.name, part)

    return _reading(path, part, look)


def _archive_steps(library: LibraryFolder, path: Path, running: bool) -> list[VerifyStep]:
    """A step for each archive file that a shard has committed."""
    files: list[tuple[int, str]] = []
    with contextlib.suppress(SqliteError, ResourceError):
        files = archive_files(path)

    def look(n: int, name: str, part: CheckPart) -> Iterator[int]:
        return _reading(path, part, lambda db: verify_file(db, library.archive, n, name, running, part))

    return [VerifyStep(name, [library.archive / name], partial(look, n, name)) for n, name in files]


def _strangers(library: LibraryFolder, part: CheckPart) -> Iterator[int]:
    """Archive files that no shard has committed: a kill leaves such, and the next crawl puts them aside."""
    known: set[str] = set()
    for path in map(library.shard_path, range(library.partitions)):
        yield 0
        try:
            known.update(name for _, name in archive_files(path))
        except (DatabaseError, ResourceError) as error:  # it cannot tell which files are its own
            part.find(DAMAGED, f"{path.name}: {error}", _REBUILD)
            return
    for path in sorted(library.archive.glob("*.warc.gz")):
        if path.name not in known:
            part.note(f"{path.name} is no file that a crawl has finished writing to; the next crawl puts it aside")


def _backup(path: Path, part: CheckPart) -> Iterator[int]:
    """A copy of a database from before an upgrade: no part of the library, but it should be of use."""
    yield 0
    if not is_sound(path):
        part.find(BACKUPS, f"{path.name} is damaged", "it is put into quarantine")


def _models(library: LibraryFolder, part: CheckPart) -> Iterator[int]:
    named = str(library.get(MetaKey.MODEL, ""))
    for name, fault in damaged_models(library.models):
        part.count("models")
        if fault:
            part.find(MODELS, f"{name} {fault}{' (in use)' if name == named else ''}", _LEARN)
        yield 0
    if named and library.get(MetaKey.TAUGHT) and not (library.models / f"{named}.json").exists():
        part.find(MODELS, f"{named}, which is in use, is missing", _LEARN)


def _index(library: LibraryFolder, part: CheckPart) -> Iterator[int]:
    yield 0
    for name in changed_files(library):
        part.find(INDEX, f"index/{name} is not as it was written", _REBUILD)


def _oai(library: LibraryFolder, path: Path, part: CheckPart) -> Iterator[int]:
    try:
        with looking(path) as db:
            for _, url, wrong in wrong_records(library, db):
                part.count("OAI records")
                if wrong:
                    part.find(OAI, f"the record of {url} is not what its page says", "it is written again")
                yield 0
    except (DatabaseError, ResourceError, BAD_ZLIB) as error:  # which is told where the file itself is checked
        part.note(f"OAI records were not compared with their pages: {error}")
