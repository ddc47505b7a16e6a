"""Learning anew from what a person said, judging all that is stored again, and the way back (B18).

The new model is on disk and the old verdicts are in a file below undo/ before anything changes; then one transaction in
library.db makes the new model the library's and writes down what is left to do; then the rows change, batch by batch.
Whenever the process is killed, each row is as before or as after, and the next crawl or retraining does the rest.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from analecta.errors import ResourceError, UsageError
from analecta.learning.examples import spoken, with_words
from analecta.learning.reclassify import (
    Rows,
    TrainedModel,
    VerdictChange,
    changes,
    judged,
    load,
    put_back,
    save,
    stored,
)
from analecta.learning.trainer import Trainer, TrainingResult
from analecta.settings.schema import Settings
from analecta.store.library import LibraryFolder
from analecta.store.library_db import MARK, adopt_model, lesson_held, record, said, want_lesson
from analecta.store.schema import MetaKey

_MOST_STEPS = 5

Doing = Callable[[int, int], None]


def _quiet(done: int, all: int) -> None: ...


class RetrainStep(msgspec.Struct, frozen=True):
    """A retraining that can be undone: the model and what it was taught before and after; the file of old verdicts."""

    before: str
    taught: str
    after: str
    file: str
    topics: list[str]  # that there were


class PendingReclassification(msgspec.Struct, frozen=True):
    """What is left to do to all rows: judge them by a model, or give them back what a file holds."""

    model: str
    restore: str = ""
    again: bool = False  # also pages that the model has judged already: what was said of them may be taken back


class Retrained(msgspec.Struct, frozen=True):
    """What came of it: the models before and after, what the new one learnt from, and the pages that changed."""

    before: str
    model: str
    about: str
    pages: int
    topics: list[str]
    changes: list[VerdictChange]
    seconds: float = 0.0


def retrain(library: LibraryFolder, settings: Settings, dry: bool = False, doing: Doing = _quiet) -> Retrained:
    """Learn anew and judge everything again; `dry` only tells what would change. Waits for nobody: Busy if held."""
    began = time.monotonic()
    with library.lock(), contextlib.ExitStack() as stack:
        finish(library, settings)
        _check(library, settings)
        models = Path(stack.enter_context(TemporaryDirectory())) if dry else library.models
        topics = library.topic_names(tuple(topic.name for topic in settings.topics))
        words = said(library)
        lesson = _lesson(library, settings, topics, models)
        before, old = stored(library), str(library.get(MetaKey.MODEL, ""))
        model = TrainedModel(str(models), lesson.model, settings.judge.kind)
        if dry:
            after = _after(library, settings, model, before, topics, doing)
        else:
            # Seeds that were given since the last crawl are not here yet: they stay to be learnt from.
            known = str(library.get(MetaKey.TAUGHT, ""))
            taught = with_words(known.partition(MARK)[0], words)
            _adopt(library, model, lesson.about, taught, before, _tree(library, settings))
            lesson_held(library, time.time())
            finish(library, settings, doing)
            after = stored(library)
        found = changes(library, before, after)
        if not dry and before == after and taught == known:
            _forget_step(library)
        elif not dry:
            _tell(library, f"learnt anew from feedback, {_in_short(found)}")
    return Retrained(old, lesson.model, lesson.about, sum(map(len, before)), topics, found, time.monotonic() - began)


def undo(library: LibraryFolder, settings: Settings, doing: Doing = _quiet) -> Retrained:
    """Take the last retraining back: the model and all verdicts are as they were before it."""
    began = time.monotonic()
    with library.lock():
        finish(library, settings)
        steps = _steps(library)
        if not steps:
            raise UsageError("there is no retraining to undo")
        step, model = steps[-1], str(library.get(MetaKey.MODEL, ""))
        if step.topics != _tree(library, settings):
            raise UsageError("the topics have changed since the last retraining, so it cannot be undone")
        if step.after != model:
            raise UsageError(
                "a crawl has learnt more since the last retraining, so it cannot be undone: take back what was said "
                "with `analecta feedback LIB --undo`, and retrain"
            )
        now = stored(library)
        work = _work(PendingReclassification(step.after, step.file), steps[:-1])
        library.put_all({**work, MetaKey.MODEL: step.before, MetaKey.TAUGHT: step.taught})
        finish(library, settings, doing)
        found = changes(library, now, stored(library))
        _tell(library, f"the retraining was undone, {_in_short(found)}")
    topics, seconds = library.topic_names(), time.monotonic() - began
    return Retrained(model, step.before, "", sum(map(len, now)), topics, found, seconds)


def finish(library: LibraryFolder, settings: Settings, doing: Doing = _quiet) -> None:
    """Do what a retraining or its undoing has left to do, if anything; the caller holds the library."""
    _miss_model(library)
    left = msgspec.json.decode(library.get(MetaKey.RECLASSIFYING, "null"), type=PendingReclassification | None)
    if left is None:
        return
    if left.restore:
        put_back(library, load(library.folder / left.restore), left.model, doing)
    else:
        _judge_all(library, settings, left, doing)
    library.remove(MetaKey.RECLASSIFYING)
    _sweep(library)


def ask_crawl(library: LibraryFolder) -> bool:
    """Ask the crawl that holds the library to learn now; False where no crawl does."""
    run = library.last_run()
    if run is None or run.ended is not None or not library.holder():
        return False
    want_lesson(library)
    return True


def can_undo(library: LibraryFolder) -> int:
    """How many retrainings can be undone."""
    return len(_steps(library))


# --- the steps -------------------------------------------------------------------------------------------------------


def _check(library: LibraryFolder, settings: Settings) -> None:
    if settings.judge.kind == "none":
        raise UsageError("this library's recipe does not judge pages, so there is nothing to train")
    if not library.get(MetaKey.MODEL):
        raise UsageError("nothing was learnt yet: `analecta crawl LIB` comes first")
    with library.writers():  # a partition that was killed while it was made has its tables now
        pass


def _lesson(library: LibraryFolder, settings: Settings, topics: Sequence[str], models: Path) -> TrainingResult:
    lesson = Trainer(library, settings, topics, models).anew()
    if lesson.refused:
        raise UsageError(f"nothing can be learnt: {lesson.refused}")
    return lesson


def _miss_model(library: LibraryFolder) -> None:
    """Where somebody removed the files of the model, the next crawl learns anew."""
    name = library.get(MetaKey.MODEL, "")
    if library.get(MetaKey.TAUGHT) and not (library.models / f"{name}.json").exists():
        library.put(MetaKey.TAUGHT, "")
        library.note(f"the files of the model were gone from {library.models}: it is learnt anew")


def _judge_all(library: LibraryFolder, settings: Settings, left: PendingReclassification, doing: Doing) -> None:
    name = left.model
    with library.snapshot() as snapshot:
        known = snapshot.model(name)
    if known is None:
        raise ResourceError(f"the library does not know its model {name} any more: crawl it, or retrain")
    model = TrainedModel(str(library.models), name, known.kind)
    words = spoken(library, settings, library.topic_names())
    with library.writers() as shards:
        for n, rows in judged([shard.path for shard in shards], model, words, doing=doing, again=left.again):
            for row in rows:
                shards[n].set_verdict(row.seq, row.topic, row.confidence or 0.0, row.topics, name)
            shards[n].commit()


def _after(
    library: LibraryFolder, settings: Settings, model: TrainedModel, before: Rows, topics: Sequence[str], doing: Doing
) -> Rows:
    """What the verdicts would be."""
    new = [{row.seq: row for row in rows} for rows in before]
    words, again = spoken(library, settings, topics), model.name == library.get(MetaKey.MODEL)
    for n, rows in judged(library.shard_paths, model, words, doing=doing, again=again):
        new[n] |= {row.seq: row for row in rows}
    return [list(rows.values()) for rows in new]


def _adopt(
    library: LibraryFolder, model: TrainedModel, about: str, taught: str, before: Rows, topics: list[str]
) -> None:
    """Make the model the library's, once the way back is on disk."""
    file = f"undo/{time.time_ns()}.zst"
    step = RetrainStep(str(library.get(MetaKey.MODEL)), str(library.get(MetaKey.TAUGHT, "")), model.name, file, topics)
    save(library.folder / step.file, before)
    pending = PendingReclassification(model.name, again=model.name == step.before)
    work = _work(pending, [*_steps(library), step][-_MOST_STEPS:])
    adopt_model(library, model.name, model.kind, about, taught, work)


def _work(pending: PendingReclassification, steps: Sequence[RetrainStep]) -> dict[str, str]:
    """What is left to do, and the steps that can be undone, as library.db holds them."""
    values = {MetaKey.RECLASSIFYING: pending, MetaKey.RETRAINED: steps}
    return {key: msgspec.json.encode(value).decode() for key, value in values.items()}


def _forget_step(library: LibraryFolder) -> None:
    """Nobody wants a step back that changes nothing."""
    *steps, _ = _steps(library)
    library.put(MetaKey.RETRAINED, msgspec.json.encode(steps).decode())
    _sweep(library)


def _tree(library: LibraryFolder, settings: Settings) -> list[str]:
    """All topics that there ever were, by number, and those that are meant now."""
    return [*library.topic_names(), *(topic.name for topic in settings.topics)]


def _steps(library: LibraryFolder) -> list[RetrainStep]:
    return msgspec.json.decode(library.get(MetaKey.RETRAINED, "[]"), type=list[RetrainStep])


def _sweep(library: LibraryFolder) -> None:
    """Remove files by which nothing can be undone any more."""
    wanted = {library.folder / step.file for step in _steps(library)}
    for path in (library.folder / "undo").glob("*"):
        if path not in wanted:
            path.unlink()


def _tell(library: LibraryFolder, words: str) -> None:
    """A person finds it in the notes, and the collections' new figures in the history."""
    library.note(words)
    past = library.history()
    record(library, past[-1].pages if past else 0)


def _in_short(found: Sequence[VerdictChange]) -> str:
    came = sum(one.before < 0 for one in found)
    went = sum(one.after < 0 for one in found)
    return f"{came} page{'' if came == 1 else 's'} came in, {went} went out, {len(found) - came - went} moved"
