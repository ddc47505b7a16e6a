"""Training in one crawl: the judge learns from the examples once they are there, and again as the crawl goes on.

The trainer (learning/trainer.py) makes models; here it is decided when, and each new model is made known.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from analecta.errors import ResourceError
from analecta.learning.examples import correct, digest, follow, with_words
from analecta.learning.retrain import finish
from analecta.learning.trainer import Trainer, TrainingResult
from analecta.model import UNLIMITED, Tally
from analecta.settings.schema import Settings
from analecta.store import SqliteError
from analecta.store.library import LibraryFolder
from analecta.store.library_db import adopt_model, lesson_held, lesson_wanted, record, said

_LISTEN = 1.0  # seconds between two looks whether a person wants a new model
_LISTED = 3  # files in one sentence
_STRAGGLERS = 5.0  # seconds that training waits for examples whose hosts do not answer


class TrainingSchedule:
    """Knows the model that counts now, when to learn again, and how far a crawl may run ahead of what it has learnt."""

    def __init__(self, library: LibraryFolder, settings: Settings) -> None:
        self.library = library
        self.settings = settings
        self.learn, self.ordered = settings.learn, settings.crawl.ordered  # in order: each model is waited for
        self.topics: Sequence[str] = ()
        self.trainer: Trainer
        self.model = ""
        self.hubs: tuple[int, ...] = ()  # pages whose links should come first
        self.made = 0  # models, in this run
        self.first_held = False  # in this run
        self.before = 0  # pages that earlier runs have kept
        self._executor = ThreadPoolExecutor(1)
        self._running: Future[TrainingResult] | None = None
        self._lonely_since: float | None = None
        self._named = ""  # a digest of the examples that the settings name
        self._given = ""  # and of all, with what was said since
        self._listened = -_LISTEN
        self._wanted = 0.0  # when a person asked for a new model
        self._next = 0.0  # pages of this run with which the next lesson is due
        self.put_off(0)

    def prepare(self, topics: Sequence[str]) -> None:
        """Go on with the last model, if it was made from the same examples; else see which are examples now."""
        settings, library = self.settings, self.library
        finish(library, settings)
        lesson_held(library, time.time())  # what was said before now is learned from in any case
        self.topics = topics
        self._named = digest(settings, topics, library.folder)
        self._given = with_words(self._named, said(library))
        same = library.get("taught", "") == self._given
        self.model = str(library.get("model", "")) if same else ""
        if not same:
            with library.writers() as shards:
                follow(shards, settings, topics)
                for shard in shards:
                    shard.commit()
        self.trainer = Trainer(library, settings, topics)
        with library.snapshot() as snapshot:
            self.before = snapshot.page_count()
        if not self.model:  # the examples are learned from before that
            self.put_off(sum(len(topic.seeds) for topic in settings.topics), first=True)

    def limit(self) -> int:
        """How many pages of this run may be fetched now: a model that is late is waited for."""
        if not self.learn.every:
            return UNLIMITED
        return int(self._next if self.ordered else self._next + self._step(int(self._next)))

    def put_off(self, pages: int, first: bool = False) -> None:
        """The next lesson is due some pages from now; the first one sooner, for the first pages met tell the most."""
        self._next = pages + self._step(pages) / (2 if first else 1)

    def _step(self, pages: int) -> float:
        return max(float(self.learn.every), (self.learn.growth - 1) * (self.before + pages))

    def due(self, pages: int, wanted: bool = False) -> bool:
        """Whether to learn again now: it is time, or `wanted` by a person."""
        in_time = bool(self.learn.every) and pages >= int(self._next)
        return self._running is None and (in_time or wanted)

    def begin(self, lesson: Callable[[], TrainingResult]) -> None:
        """Learn, beside all else."""
        self._running = self._executor.submit(lesson)

    def ended(self, pages: int) -> TrainingResult | None:
        """What was learnt, once that is over. What the lesson raised is raised here; the next one is due as ever."""
        if self._running is None or not (self.ordered or self._running.done()):
            return None
        running, self._running = self._running, None
        self.put_off(pages)
        return running.result()

    def step(
        self, now: float, tally: Tally, *, examples_left: int, in_flight: bool, in_turn: bool, last_call: bool
    ) -> bool:
        """Make the first model once the examples are there, and later ones beside the crawl as the schedule says.

        `in_turn`: an example waits for nothing but the delay of its host. On the `last_call` the first model is made
        from what there is. True where there is a new model.
        """
        if not self.model:
            if not (last_call and not in_flight) and self._waits_for_examples(now, examples_left, in_flight or in_turn):
                return False
            adopted = self._begin(tally)
        else:
            if self.due(tally.pages, self._is_wanted(now)) and not (self.ordered and in_flight):
                if self._wanted:
                    lesson_held(self.library, self._wanted)
                    self._wanted = 0.0
                self.begin(self._learn_again)
            lesson = self.ended(tally.pages)
            adopted = lesson is not None and self._adopt(lesson)
        if adopted:
            record(self.library, tally.pages)
        return adopted

    def close(self) -> None:
        """Let what is under way come to its end; what a person said of pages is true of them then."""
        self._executor.shutdown(wait=True)
        with contextlib.suppress(SqliteError, ResourceError):  # of a full disk, the first words count
            correct(self.library, self.settings, self.topics)

    def _is_wanted(self, now: float) -> bool:
        """Whether a person asks for a new model now."""
        if now - self._listened >= _LISTEN:
            self._listened, self._wanted = now, lesson_wanted(self.library)
        return self._wanted > 0

    def _waits_for_examples(self, now: float, left: int, busy: bool) -> bool:
        """Whether examples are still to be fetched, other than from hosts that do not answer.

        A host that is given its delay may well answer: it is waited for.
        """
        if not left:
            return False
        if busy:
            self._lonely_since = None
        elif self._lonely_since is None:
            self._lonely_since = now
        return self._lonely_since is None or now - self._lonely_since <= _STRAGGLERS

    def _begin(self, tally: Tally) -> bool:
        try:
            lesson = self.trainer.first()
        except Exception as error:
            raise ResourceError(f"nothing could be learnt from the examples: {_said(error)}") from error
        if lesson.refused:
            raise ResourceError(self._no_seed(tally))
        self.first_held = True
        self.put_off(tally.pages, first=True)
        self._adopt(lesson)
        if self.before and self.learn.every:  # else it would know less than the last one did
            self._adopt(self._learn_again())
        return True

    def _learn_again(self) -> TrainingResult:
        """Learn again; what goes wrong there costs the new model, not the crawl."""
        given = with_words(self._named, said(self.library))
        try:
            if given == self._given:
                return self.trainer.again(self.model)
            self._given = given
            return self.trainer.anew()
        except Exception as error:
            return TrainingResult(self.model, refused=_said(error))

    def _adopt(self, lesson: TrainingResult) -> bool:
        """Make a new model known; the next directives carry its name."""
        if lesson.refused:
            self.library.note(f"a new model was not taken up: {lesson.refused}")
            return False
        adopt_model(self.library, lesson.model, self.settings.judge.kind, lesson.about, self._given)
        self.model, self.hubs = lesson.model, lesson.hubs
        self.made += 1
        return True

    def _no_seed(self, tally: Tally) -> str:
        if not any(topic.seeds for topic in self.settings.topics):
            return "no file that is an example holds text that can be read: `analecta status` says why"
        to = self.settings.fetch.connect_to
        check = f"check the seeds and {f'what answers at {to}' if to else 'the network'}"
        with self.library.snapshot() as snapshot:
            waits = _robots_files(snapshot.waiting_seeds("robots-unreachable"))
            before = snapshot.failed_seeds()
        if waits:
            return f"no seed could be fetched, for no site is asked without its robots.txt: {waits}; {check}"
        why = ", ".join(f"{reason} {count}" for reason, count in tally.reasons.items())
        if tally.reasons or not before:
            return f"no seed could be fetched ({why or 'no answer'}): {check}"
        why = ", ".join(f"{reason} {count}" for reason, count in before)  # this run did not even ask for them
        return f"in earlier crawls no seed could be fetched ({why}): correct them in {self.library.settings_path}"


def _robots_files(waiting: Iterable[tuple[str, str]]) -> str:
    """Which robots.txt could not be read, and why, where seeds wait for one."""
    files = {url[: url.find("/", 8)] + "/robots.txt": detail for url, detail in waiting}
    listed = ", ".join(f"{file} ({why})" for file, why in list(files.items())[:_LISTED])
    more = f" and {len(files) - _LISTED} more" if len(files) > _LISTED else ""
    return f"{listed}{more}"


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
