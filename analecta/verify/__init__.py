"""`analecta verify`: is every file of a library what it was when it was written, and what can be repaired?

`steps` lists what is looked at, `run` goes through it and remembers how far it came, `repair` puts right what it can.
The checks themselves are in the parts that own the files (store/verify.py, judge/model_files.py, publish/).
"""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from analecta.errors import ResourceError
from analecta.publish.oai.verify import seal_records
from analecta.store import DatabaseError, SqliteError, shard_ids
from analecta.store.library import LibraryFolder
from analecta.store.verify import CheckPart, VerifyReport, combined
from analecta.verify.repair import repair, repair_library_db, repair_shards
from analecta.verify.steps import VerifyStep, steps

# --- run -------------------------------------------------------------------------------------------------------------
# Goes through the steps of a check; a check that was stopped goes on where it was, as long as no file has changed.


NAME = "verify.json"
_SAVE_EVERY = 1.0  # seconds
_Parts = dict[str, CheckPart]  # what was found, by step
Doing = Callable[[str, int, int], None]  # the step, bytes read and bytes in all


def run(
    library: LibraryFolder, doing: Doing = lambda name, done, all: None, resume: bool = True
) -> tuple[VerifyReport, _Parts]:
    """Look at everything: the report, and what each step found."""
    path, todo = library.folder / NAME, steps(library)
    before = _load(path) if resume else {}
    parts: _Parts = {}
    total, done, saved = sum(step.size for step in todo), 0, time.monotonic()
    try:
        for step in todo:
            doing(step.name, done, total)
            part = parts[step.name] = _known(step, before.get(step.name))
            read = part.place
            for length in () if part.done else step.look(part):
                read += length
                doing(step.name, done + read, total)
                if time.monotonic() - saved >= _SAVE_EVERY:
                    saved = time.monotonic()
                    _save(path, parts)
            part.done = True
            done += step.size
    except KeyboardInterrupt:
        _save(path, parts)
        raise
    with contextlib.suppress(OSError):  # a check of a read-only library starts at the beginning
        path.unlink(missing_ok=True)
    report = combined(parts[step.name] for step in todo)
    report.resumed = any(part is before.get(name) for name, part in parts.items())
    return report, parts


def _known(step: VerifyStep, before: CheckPart | None) -> CheckPart:
    """What is known of a step: from before, where its files are as they were."""
    stamp = step.stamp()
    if before and before.stamp == stamp and (before.done or before.place):
        return before
    return CheckPart(stamp=stamp)


def _load(path: Path) -> _Parts:
    with contextlib.suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        return msgspec.json.decode(path.read_bytes(), type=_Parts)
    return {}


def _save(path: Path, parts: _Parts) -> None:
    part = path.with_name(f".{NAME}.part")
    with contextlib.suppress(OSError):
        part.write_bytes(msgspec.json.encode(parts))
        os.replace(part, path)


# --- Checks a library from beginning to end, and repairs it where that is asked for ----------------------------------


def check_library(folder: Path, repairing: bool = False, doing: Doing = lambda name, done, all: None) -> VerifyReport:
    """What is wrong with a library, after repairs if asked for; Environment where a part is missing or foreign."""
    try:
        done = _repair_databases(folder) if repairing else []
        library = LibraryFolder(folder, checked=False)
        _whole(folder, strict=True)
        report, parts = run(library, doing, resume=not repairing)
        if repairing and not report.clean:
            with library.lock():
                done += repair(library, parts)
            report, _ = run(library, doing, resume=False)
        if report.clean and not library.holder():
            _seal(library)
    except DatabaseError as error:
        raise ResourceError(f"{folder} cannot be read ({error}){_advice(folder)}") from error
    report.repaired = done
    return report


def _repair_databases(folder: Path) -> list[str]:
    """Make all databases readable; what was done."""
    with contextlib.suppress(ResourceError, DatabaseError):
        LibraryFolder(folder, checked=False)  # that it is none, is said before anything is done
    done = repair_library_db(folder)
    library = LibraryFolder(folder, checked=False)
    _whole(folder, strict=False)
    with library.lock(bare=True):
        return done + repair_shards(library)


def _whole(folder: Path, strict: bool) -> None:
    """Raise what is missing or foreign: nothing more can be said of such a library."""
    found = shard_ids.problems(folder, strict=False)
    if strict and not found:
        found += shard_ids.lost(folder).values()
    if found:
        raise ResourceError(f"{'; '.join(found)}. Nothing was changed")


def _seal(library: LibraryFolder) -> None:
    """From now on every changed byte is noticed; a library that cannot be written to is left as it is."""
    with contextlib.suppress(ResourceError, OSError, SqliteError), library.lock(bare=True):
        library.seal()
        seal_records(library)


def _advice(folder: Path) -> str:
    return f": put it back from a copy, or let `analecta verify {folder} --repair` save what can be read"
