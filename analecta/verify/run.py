"""Goes through the steps of a check; a check that was stopped goes on where it was, as long as no file has changed."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from analecta.store.library import Library
from analecta.store.verify import Part, Report, combined
from analecta.verify.steps import Step, steps

NAME = "verify.json"
_SAVE_EVERY = 1.0  # seconds
_Parts = dict[str, Part]
Doing = Callable[[str, int, int], None]  # the step, bytes read and bytes in all


def quiet(name: str, done: int, all: int) -> None:
    """For who wants no progress."""


def run(library: Library, doing: Doing = quiet, resume: bool = True) -> tuple[Report, _Parts]:
    """Look at everything: the report, and what each step found."""
    state = _State(library.folder / NAME, resume)
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


class _State:
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

    def begin(self, step: Step) -> Part:
        """What is known of a step: from before, where its files are as they were."""
        stamp = step.stamp()
        part = self._before.get(step.name)
        if part is None or part.stamp != stamp or not (part.done or part.place):
            part = Part(stamp=stamp)
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
