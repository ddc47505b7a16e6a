"""Checks a library from beginning to end, and repairs it where that is asked for."""

import contextlib
import sqlite3
from pathlib import Path

from analecta.errors import Environment
from analecta.publish.oai.verify import seal_records
from analecta.store import shard_ids
from analecta.store.library import Library
from analecta.store.verify import Report
from analecta.verify.repair import repair, repair_library_db, repair_shards
from analecta.verify.run import Doing, quiet, run


def check_library(folder: Path, repairing: bool = False, doing: Doing = quiet) -> Report:
    """What is wrong with a library, after repairs if asked for; Environment where a part is missing or foreign."""
    try:
        done = _repair_databases(folder) if repairing else []
        library = Library(folder, checked=False)
        _whole(folder, strict=True)
        report, parts = run(library, doing, resume=not repairing)
        if repairing and not report.clean:
            with library.lock():
                done += repair(library, parts)
            report, _ = run(library, doing, resume=False)
        if report.clean and not library.holder():
            _seal(library)
    except sqlite3.DatabaseError as error:
        raise Environment(f"{folder} cannot be read ({error}){_advice(folder)}") from error
    report.repaired = done
    return report


def _repair_databases(folder: Path) -> list[str]:
    """Make all databases readable; what was done."""
    with contextlib.suppress(Environment, sqlite3.DatabaseError):
        Library(folder, checked=False)  # that it is none, is said before anything is done
    done = repair_library_db(folder)
    library = Library(folder, checked=False)
    _whole(folder, strict=False)
    with library.lock(bare=True):
        return done + repair_shards(library)


def _whole(folder: Path, strict: bool) -> None:
    """Raise what is missing or foreign: nothing more can be said of such a library."""
    found = shard_ids.problems(folder, strict=False)
    if strict and not found:
        found += shard_ids.lost(folder).values()
    if found:
        raise Environment(f"{'; '.join(found)}. Nothing was changed")


def _seal(library: Library) -> None:
    """From now on every changed byte is noticed; a library that cannot be written to is left as it is."""
    with contextlib.suppress(Environment, OSError, sqlite3.Error), library.lock():
        seal_records(library)


def _advice(folder: Path) -> str:
    return f": put it back from a copy, or let `analecta verify {folder} --repair` save what can be read"
