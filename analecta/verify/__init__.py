"""`analecta verify`: is every file of a library what it was when it was written, and what can be repaired?

`steps` lists what is looked at, `run` goes through it and remembers how far it came, `repair` puts right what it can.
The checks themselves are in the parts that own the files (store/verify_*.py, judge/model_files.py, publish/).
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
_Parts = dict[str, CheckPart]
Doing = Callable[[str, int, int], None]  # the step, bytes read and bytes in all


def quiet(name: str, done: int, all: int) -> None:
    """For who wants no progress."""


def run(library: LibraryFolder, doing: Doing = quiet, resume: bool = True) -> tuple[VerifyReport, _Parts]:
    """Look at everything: the report, and what each step found."""
    state = _VerifyState(library.folder / NAME, resume)
    todo = steps(library)
    total, done = sum(step.size for step in todo), 0
    try:
        for step in todo:
            doing(step.name, done, total)
            part = state.begin(step)
            read = part.place
            for length in () if part.done else step.look(part):
                read += length
                doing(step.name, done + read, total)
                state.save_now_and_then()
            part.done = True
            done += step.size
    except KeyboardInterrupt:
        state.save()
        raise
    state.forget()
    report = combined(state.parts[step.name] for step in todo)
    report.resumed = state.resumed
    return report, state.parts


class _VerifyState:
    """What was found so far, in a file of the library; on a read-only one a check starts at the beginning."""

    def __init__(self, path: Path, resume: bool) -> None:
        self.path = path
        self.parts: _Parts = {}
        self.resumed = False
        self._before: _Parts = {}
        self._saved = time.monotonic()
        if resume:
            with contextlib.suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
                self._before = msgspec.json.decode(path.read_bytes(), type=_Parts)

    def begin(self, step: VerifyStep) -> CheckPart:
        """What is known of a step: from before, where its files are as they were."""
        stamp = step.stamp()
        part = self._before.get(step.name)
        if part is None or part.stamp != stamp or not (part.done or part.place):
            part = CheckPart(stamp=stamp)
        else:
            self.resumed = True
        self.parts[step.name] = part
        return part

    def save_now_and_then(self) -> None:
        """Write it down, at most once a second."""
        now = time.monotonic()
        if now - self._saved >= _SAVE_EVERY:
            self._saved = now
            self.save()

    def save(self) -> None:
        """Write it down."""
        part = self.path.with_name(f".{NAME}.part")
        with contextlib.suppress(OSError):
            part.write_bytes(msgspec.json.encode(self.parts))
            os.replace(part, self.path)

    def forget(self) -> None:
        """The check is over."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


# --- Checks a library from beginning to end, and repairs it where that is asked for ----------------------------------


def check_library(folder: Path, repairing: bool = False, doing: Doing = quiet) -> VerifyReport:
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
