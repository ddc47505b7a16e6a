"""The lessons of one crawl: the judge learns from the examples once they are there, and again as the crawl goes on.

The teacher (learning/trainer.py) makes models; here it is decided when, and each new model is made known.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial

from analecta.crawl.control import EngineStatus
from analecta.errors import ResourceError
from analecta.judge import load_judge, new_judge
from analecta.learning.examples import correct, digest, follow, given_files, spoken, with_words, writing
from analecta.learning.retrain import finish
from analecta.learning.trainer import Trainer, TrainingPlan, TrainingResult
from analecta.model import Example, Tally
from analecta.protocols import Judge
from analecta.settings.schema import Settings
from analecta.store import SqliteError
from analecta.store.library import LibraryFolder
from analecta.store.library_db import adopt_model, lesson_held, lesson_wanted, said

_LISTEN = 1.0  # seconds between two looks whether a person wants a lesson
_LISTED = 3  # files in one sentence
_STRAGGLERS = 5.0  # seconds that training waits for examples whose hosts do not answer


class TrainingSchedule:
    """Knows the model that counts now."""

    def __init__(self, library: LibraryFolder, settings: Settings, clock: Callable[[], float]) -> None:
        self.library = library
        self.settings = settings
        self.clock = clock
        self.model = ""
        self.hubs: tuple[int, ...] = ()  # pages whose links should come first
        self.made = 0  # models, in this run
        self.first_held = False  # in this run
        self.before = 0  # pages that earlier runs have kept
        self._schedule = TrainingPlan(settings.learn, settings.crawl.ordered)
        self._lonely_since: float | None = None
        self._topics: Sequence[str] = ()
        self._named = ""  # a digest of the examples that the settings name
        self._given = ""  # and of all, with what was said since
        self._listened = -_LISTEN
        self._wanted = 0.0  # when a person asked for a lesson

    def prepare(self, topics: Sequence[str]) -> None:
        """Go on with the last model, if it was made from the same examples; else see which are examples now."""
        settings, library = self.settings, self.library
        finish(library, settings)
        lesson_held(library, time.time())  # what was said before now is learnt from in any case
        self._topics = topics
        self._named = digest(settings, topics, library.folder)
        self._given = with_words(self._named, said(library))
        same = library.get("taught", "") == self._given
        self.model = str(library.get("model", "")) if same else ""
        if not same:
            with writing(library) as shards:
                follow(shards, settings, topics)
                for shard in shards:
                    shard.commit()
        files = given_files(settings, topics, library.folder)
        words = partial(spoken, library, settings, topics)
        self._teacher = Trainer(library, new_judge(settings), topics, settings.learn, files, words)
        self.before = self._schedule.before = self._teacher.kept()
        if not self.model:  # the examples are learnt from before that
            self._schedule.put_off(sum(len(topic.seeds) for topic in settings.topics), first=True)

    def examples(self) -> list[Example]:
        """What the person gave, as far as it is here."""
        return self._teacher.given()

    def limit(self) -> int:
        """How many pages of this run may be fetched now: a model that is late is waited for."""
        return self._schedule.limit()

    def look(self, reports: Sequence[EngineStatus | None], tally: Tally, last_call: bool) -> bool:
        """Make the first model once the examples are there, and later ones beside the crawl as the schedule says.

        On the `last_call` it is made from what there is. True where there is a new model.
        """
        if not self.model:
            return self._seeds_done(reports, last_call) and self._begin(tally)
        flying = any(report is None or report.flying for report in reports)
        if self._schedule.due(tally.pages, self._is_wanted()) and not (self._schedule.ordered and flying):
            if self._wanted:
                lesson_held(self.library, self._wanted)
                self._wanted = 0.0
            self._schedule.begin(self._next)
        lesson = self._schedule.ended(tally.pages)
        return lesson is not None and self._adopt(lesson)

    def close(self) -> None:
        """Let what is under way come to its end; what a person said of pages is true of them then."""
        self._schedule.close()
        with contextlib.suppress(SqliteError, ResourceError):  # of a full disk, the first words count
            correct(self.library, self.settings, self._topics)

    def _is_wanted(self) -> bool:
        """Whether a person asks for a lesson now."""
        if self.clock() - self._listened >= _LISTEN:
            self._listened, self._wanted = self.clock(), lesson_wanted(self.library)
        return self._wanted > 0

    def _seeds_done(self, reports: Sequence[EngineStatus | None], last_call: bool) -> bool:
        """Whether every example has been fetched, or only such are left whose hosts do not answer.

        A host that is given its delay may well answer: it is waited for.
        """
        if not all(reports):
            return False
        left = [r for r in reports if r is not None and r.seeds_left]
        if not left or (last_call and not any(r.flying for r in left)):
            return True
        if any(r.flying or r.in_turn for r in left):
            self._lonely_since = None
        elif self._lonely_since is None:
            self._lonely_since = self.clock()
        return self._lonely_since is not None and self.clock() - self._lonely_since > _STRAGGLERS

    def _begin(self, tally: Tally) -> bool:
        try:
            lesson = self._teacher.first()
        except Exception as error:
            raise ResourceError(f"nothing could be learnt from the examples: {_said(error)}") from error
        if lesson is None:
            raise ResourceError(self._no_seed(tally))
        self.first_held = True
        self._schedule.put_off(tally.pages, first=True)
        self._adopt(lesson)
        if self.before and self.settings.learn.every:  # else it would know less than the last one did
            self._adopt(self._next())
        return True

    def _next(self) -> TrainingResult:
        """Learn again; what goes wrong there costs the lesson, not the crawl."""
        given = with_words(self._named, said(self.library))
        try:
            if given == self._given:
                return self._teacher.again(self._load, self.model)
            self._given = given
            return self._teacher.anew()
        except Exception as error:
            return TrainingResult(self.model, refused=_said(error))

    def _load(self, model: str) -> Judge:
        return load_judge(self.settings, self.library.models, model)

    def _adopt(self, lesson: TrainingResult) -> bool:
        """Make a new model known; the next orders carry its name."""
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
        if waits := self._waiting():
            return f"no seed could be fetched, for no site is asked without its robots.txt: {waits}; {check}"
        why = ", ".join(f"{reason} {count}" for reason, count in tally.reasons.items())
        if tally.reasons or not (before := self._failed_before()):
            return f"no seed could be fetched ({why or 'no answer'}): {check}"
        return f"in earlier crawls no seed could be fetched ({before}): correct them in {self.library.settings_path}"

    def _waiting(self) -> str:
        """Which robots.txt could not be read, and why, where seeds wait for one."""
        with self.library.snapshot() as snapshot:
            rows = snapshot.waiting_seeds("robots-unreachable")
        files = {url[: url.find("/", 8)] + "/robots.txt": detail for url, detail in rows}
        listed = ", ".join(f"{file} ({why})" for file, why in list(files.items())[:_LISTED])
        more = f" and {len(files) - _LISTED} more" if len(files) > _LISTED else ""
        return f"{listed}{more}"

    def _failed_before(self) -> str:
        """Why the seeds gave no page, where this run did not even ask for them."""
        with self.library.snapshot() as snapshot:
            counts = snapshot.failed_seeds()
        return ", ".join(f"{reason} {count}" for reason, count in counts)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
