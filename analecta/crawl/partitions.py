"""The coordinator: starts the partitions, shares out the pages, trains the judge, and sees when the crawl is over.

It holds stop rules and tallies but no truth: that is in the shards. Whenever it or a partition is killed, the next
start goes on from there.
"""

import contextlib
import os
import signal
import socket
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from analecta.crawl.checks import check
from analecta.crawl.collector import record
from analecta.crawl.course import Helm
from analecta.crawl.given import digest, given_files
from analecta.crawl.judges import load_judge, new_judge
from analecta.crawl.messages import COORDINATOR, UNLIMITED, Order, Report, decode, encode
from analecta.crawl.roster import Job, Process, Worker, add, start_process
from analecta.crawl.stop import disk_is_short, rules
from analecta.crawl.training import Lesson, Schedule, Teacher
from analecta.crawl.transport import PeerGone, Pipes, pair, wait
from analecta.errors import AnalectaError, BadUse, Environment
from analecta.model import Example, Found, State, Tally
from analecta.seams import Judge
from analecta.settings import Settings
from analecta.store.library import Library

_TICK = 0.05  # seconds between two looks around, if no report comes before
_OUTAGE = 15.0  # seconds without any answer
_STRAGGLERS = 5.0  # seconds that training waits for examples whose hosts do not answer
_RESTARTS = 50
_HUNGRY = 400  # pages that a partition may have left when it gets more: half a second of work


class Ending(msgspec.Struct):
    """How a crawl ended: in words, in figures, and with which exit code."""

    reason: str
    tally: Tally
    code: int = 0


class Crawl:
    """One run over a library. `run` returns when it is over; `interrupt` asks it to end."""

    def __init__(
        self,
        library: Library,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
        start: Callable[[Job, IO[bytes]], Process] | None = None,
        only_examples: bool = False,
    ) -> None:
        """`start` gives life to a partition: by default as a process of its own.

        With `only_examples` it is over when the examples are fetched and learnt from.
        """
        check(settings, library.settings_path)
        self.library = library
        self.settings = settings
        self.clock = clock
        self.start = start or start_process
        self.only_examples = only_examples
        self.first_lesson = False  # held in this run
        self.partitions = 0
        self.topics: list[str] = []
        self.model = ""
        self.lessons = 0  # models made in this run
        self.interrupts = 0
        self.workers: list[Worker] = []
        self.began = clock()
        self._lonely_since: float | None = None
        self._answers = -1
        self._answered = self.began
        self._last_call = False  # a rule says stop: nothing more is fetched
        self._quiet: tuple[int, ...] = ()
        self._links: list[Pipes] = []
        self._schedule = Schedule(settings.learn, settings.crawl.ordered)
        self._serial = 0
        self._hubs: tuple[int, ...] = ()
        self._given = ""  # a digest of the examples
        self._helm = Helm(self.topics)

    def interrupt(self) -> None:
        """Once: finish what is under way. Twice: stop now."""
        self.interrupts += 1

    @property
    def tally(self) -> Tally:
        """The sum over all partitions."""
        total = Tally()
        for worker in self.workers:
            total = add(total, worker.tally)
        return total

    @property
    def titles(self) -> list[tuple[str, str, float]]:
        """The last good pages: title, topic, confidence."""
        return [title for worker in self.workers if worker.report for title in worker.report.titles[-4:]]

    def examples(self) -> list[Example]:
        """What the person gave, as far as it is here."""
        return self._teacher.given()

    def run(self, progress: Callable[["Crawl"], None] = lambda _: None) -> Ending:
        """Crawl until a rule, the person or the end of the web says stop."""
        with self.library.lock():
            self.partitions = partitions(self.library, self.settings)
            self.topics = self.library.topic_names(tuple(topic.name for topic in self.settings.topics))
            self._given = digest(self.settings, self.topics, self.library.folder)
            same = self.library.get("taught", "") == self._given
            self.model = str(self.library.get("model", "")) if same else ""
            asked = msgspec.to_builtins(self.settings)
            run = self.library.begin_run({"settings": asked, "partitions": self.partitions})
            try:
                files = given_files(self.settings, self.topics)
                self._teacher = Teacher(self.library, new_judge(self.settings), self.topics, self.settings.learn, files)
                self._schedule.before = self._teacher.kept()
                if not self.model:  # the examples are learnt from before that
                    self._schedule.put_off(sum(len(topic.seeds) for topic in self.settings.topics), first=True)
                self._helm = self._new_helm(self._schedule.before)
                with (
                    tempfile.TemporaryDirectory() as scratch,
                    contextlib.closing(self._schedule),
                    self._running(Path(scratch)),
                ):
                    ending = self._lead(progress)
            except AnalectaError as error:
                with contextlib.suppress(sqlite3.Error, Environment):  # of a full disk, the first words count
                    self.library.end_run(run, str(error), msgspec.to_builtins(self.tally))
                raise
            if self.partitions > 1 and self.interrupts < 2:
                from analecta.crawl.twins import settle_twins  # 0.05 s, which a crawl of one partition need not pay

                ending.tally.elsewhere += settle_twins(self.library)
            record(self.library, ending.tally.pages)
            self.library.end_run(run, ending.reason, msgspec.to_builtins(ending.tally))
            return ending

    # --- leading ---------------------------------------------------------------------------------------------------

    def _lead(self, progress: Callable[["Crawl"], None]) -> Ending:
        topics = range(len(self.settings.topics))
        stop_rules = rules(self.settings.stop, topics, self.clock)
        while True:
            self._listen()
            self._replace_the_dead()
            progress(self)
            reason, code = self._verdict(stop_rules)
            if reason:
                return self._end(reason, code, progress)
            self._train()
            if self.only_examples and self.model:
                return self._end("the examples are fetched", 0, progress)
            for words in self._helm.look(self.tally):
                self.library.note(words)
            self._share()
            self._command()
            wait(self._links, _TICK)

    def _verdict(self, stop_rules: list[Callable[[Tally], str | None]]) -> tuple[str, int]:
        """Why the crawl should end now, with the exit code; "" where it should not."""
        if self.interrupts:
            return "interrupted", 130
        tally = self.tally
        for rule in stop_rules:
            if reason := rule(tally):
                self._last_call = True
                return (reason, 0) if self._judged() else ("", 0)
        if reason := self._outage(tally):
            return reason, 4
        if reason := disk_is_short(self.library.folder, self.settings.stop.free_disk):
            return reason, 4
        return self._nothing_left()

    def _outage(self, tally: Tally) -> str:
        """Whether the network seems to be down; going on would only wear out the hosts' good names."""
        now = self.clock()
        if tally.answers != self._answers:
            self._answers, self._answered = tally.answers, now
        silent = sum(worker.report.silent for worker in self.workers if worker.report)
        waiting = any(worker.report.queued for worker in self.workers if worker.report)
        if waiting and now - self._answered > _OUTAGE and (silent >= 3 or (not tally.answers and tally.troubles >= 5)):
            return "no host has answered for a while: the network seems to be down; crawl again when it is back"
        return ""

    def _judged(self) -> bool:
        """Whether all partitions have the model: pages kept before there was one are judged before we stop."""
        reports = [worker.report for worker in self.workers]
        return bool(self.model) and all(report and report.model == self.model for report in reports)

    def _nothing_left(self) -> tuple[str, int]:
        """Queues and outboxes empty and all letters received, seen twice; or only hosts that must be waited for."""
        reports = [worker.report for worker in self.workers]
        if not all(reports):
            return "", 0
        state = [r for r in reports if r is not None]
        if any(r.flying or r.pending or r.unread for r in state) or sum(r.sent for r in state) != sum(
            r.received for r in state
        ):
            self._quiet = ()
            return "", 0
        limit = min(self._schedule.limit(), self._helm.limit())
        if limit < UNLIMITED and any(r.queued and r.granted <= r.tally.pages for r in state):
            # A partition may not ask now, for a model or the course is waited for.
            self._quiet = ()
            return "", 0
        waits = [r.wait for r in state if r.queued]
        if waits and not all(wait > self.settings.stop.idle for wait in waits):
            self._quiet = ()
            return "", 0
        now = tuple(n for r in state for n in (r.sent, r.received, r.queued, r.tally.answers))
        serials = tuple(r.serial for r in state)
        if self._quiet[: len(now)] != now:
            self._quiet = now + serials
        elif all(new > old for new, old in zip(serials, self._quiet[len(now) :], strict=True)):
            queued = sum(r.queued for r in state)
            if not self.model:
                self._last_call = True  # train with what there is
                return "", 0
            if queued:
                return f"{queued:,} URLs are left on hosts that must be waited for; crawl again later", 0
            return "nothing is left to fetch", 0 if self.tally.answers or self.tally.failed else 3
        return "", 0

    def _end(self, reason: str, code: int, progress: Callable[["Crawl"], None]) -> Ending:
        """Let the partitions finish what is under way (or not, at a second interrupt), and count."""
        deadline = self.clock() + 25.0
        serials = [worker.report.serial if worker.report else 0 for worker in self.workers]
        while any(worker.process.poll() is None for worker in self.workers) and self.clock() < deadline:
            hurry = self.interrupts > 1
            stop = "now" if hurry or self._drained(serials) else "drain"
            self._command(stop)
            if hurry:
                deadline = min(deadline, self.clock() + 4.0)
            self._listen()
            progress(self)
            wait(self._links, _TICK)
        self._listen()
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.process.kill()
        return Ending(reason, self.tally, code)

    def _drained(self, serials: list[int]) -> bool:
        """Whether every partition has nothing under way and all letters have arrived, by a report made since."""
        reports = [worker.report for worker in self.workers if worker.report and worker.process.poll() is None]
        fresh = all(r.serial > serials[r.partition] and not r.flying and not r.pending for r in reports)
        if not self.interrupts and any(r.unread for r in reports):
            return False  # documents that wait are read, as long as the partitions have patience
        return fresh and sum(r.sent for r in reports) == sum(r.received for r in reports)

    def _new_helm(self, before: int) -> Helm:
        s = self.settings
        return Helm(
            self.topics,
            before=before,
            learning=s.learning.pages,
            full=s.stop.per_topic if s.stop.retire else 0,
            cutoff=s.policy.cutoff if s.policy.adjust else -1,
            ordered=s.crawl.ordered,
        )

    # --- talking to the partitions ---------------------------------------------------------------------------------

    def _listen(self) -> None:
        for i, link in enumerate(self._links):
            with contextlib.suppress(PeerGone):
                for message in map(decode, link.receive()):
                    if isinstance(message, Report):
                        self.workers[i].report = message

    def _command(self, stop: str = "") -> None:
        self._serial += 1
        for i, worker in enumerate(self.workers):
            granted = worker.tell(self._serial)
            order = Order(granted, self.model, stop, self._serial, self._hubs, self._helm.course, self._near_only())
            self._links[i].send(i, encode(order))

    def _near_only(self) -> bool:
        """While the crawl learns: whether some partition has, or may have, what that phase wants."""
        reports = [worker.report for worker in self.workers]
        return self._helm.course.learning and any(r is None or r.pending or self._has_near(r) for r in reports)

    def _has_near(self, report: Report) -> bool:
        """Hosts that must be waited for too long do not count."""
        return report.near != 0 and (report.flying > 0 or report.wait <= self.settings.stop.idle)

    def _share(self) -> None:
        """Grant pages: all that are left, in equal parts; what an idle partition does not use goes to the others."""
        limit = min(self.settings.stop.pages or UNLIMITED, self._schedule.limit(), self._helm.limit())
        if limit == UNLIMITED:
            for worker in self.workers:
                worker.granted = UNLIMITED
            return
        free = limit - sum(worker.promised() for worker in self.workers)
        few = max(4, min(_HUNGRY, limit // 20))
        hungry = [worker for worker in self.workers if worker.unused() < few and not worker.idle()]
        starving = any(worker.unused() <= 0 and not worker.idle() for worker in self.workers)
        for worker in self.workers:
            if worker.idle():
                worker.granted = worker.used()
            elif free <= 0 and starving and worker.unused() > 0:  # too slow for what it has: the others take half
                worker.granted = worker.used() + worker.unused() // 2
        # In portions, for nobody knows which partition's hosts are fast; a single one gets all at once.
        portion = max(few, free // (2 * len(self.workers))) if len(self.workers) > 1 else free
        for position, worker in enumerate(hungry):
            share = max(0, free // len(hungry) + (position < free % len(hungry)))
            worker.granted += min(share, portion)

    # --- training --------------------------------------------------------------------------------------------------

    def _seeds_done(self) -> bool:
        """Whether every example has been fetched, or only such are left whose hosts do not answer."""
        reports = [worker.report for worker in self.workers]
        if not all(reports) or self.model:
            return False
        left = [r for r in reports if r is not None and r.seeds_left]
        if not left or (self._last_call and not any(r.flying for r in left)):
            return True
        if any(r.flying for r in left):
            self._lonely_since = None
        elif self._lonely_since is None:
            self._lonely_since = self.clock()
        return self._lonely_since is not None and self.clock() - self._lonely_since > _STRAGGLERS

    def _train(self) -> None:
        """Make the first model once the examples are there, and later ones beside the crawl as the schedule says."""
        if not self.model:
            if self._seeds_done():
                lesson = self._first_lesson()
                if lesson is None:
                    raise Environment(self._no_seed())
                self._adopt(lesson)
                self.first_lesson = True
                self._schedule.put_off(self.tally.pages, first=True)
            return
        pages = self.tally.pages
        flying = any(worker.report is None or worker.report.flying for worker in self.workers)
        if self._schedule.due(pages) and not (self._schedule.ordered and flying):
            self._schedule.begin(self._next_lesson)
        if (lesson := self._schedule.ended(pages)) is not None:
            self._adopt(lesson)

    def _first_lesson(self) -> Lesson | None:
        try:
            return self._teacher.first()
        except Exception as error:
            raise Environment(f"nothing could be learnt from the examples: {_said(error)}") from error

    def _next_lesson(self) -> Lesson:
        """Learn again; what goes wrong there costs the lesson, not the crawl."""
        try:
            return self._teacher.again(self._load_judge, self.model)
        except Exception as error:
            return Lesson(self.model, refused=_said(error))

    def _load_judge(self, model: str) -> Judge:
        return load_judge(self.settings, self.library.models, model)

    def _adopt(self, lesson: Lesson) -> None:
        """Make a new model known; the next orders carry its name."""
        if lesson.refused:
            self.library.note(f"a new model was not taken up: {lesson.refused}")
            return
        with self.library.database() as db:
            values = (lesson.model, time.time(), self.settings.judge.kind, lesson.about)
            db.execute("INSERT OR IGNORE INTO models VALUES (?, ?, ?, ?)", values)
            db.execute("INSERT OR REPLACE INTO meta VALUES ('model', ?)", (lesson.model,))
            db.execute("INSERT OR REPLACE INTO meta VALUES ('taught', ?)", (self._given,))
        self.model, self._hubs = lesson.model, lesson.hubs
        self.lessons += 1
        record(self.library, self.tally.pages)

    def _no_seed(self) -> str:
        if not any(topic.seeds for topic in self.settings.topics):
            return "no file that is an example holds text that can be read: `analecta status` says why"
        why = ", ".join(f"{reason} {count}" for reason, count in self.tally.reasons.items())
        if self.tally.reasons or not (before := self._failed_before()):
            return f"no seed could be fetched ({why or 'no answer'}): check the seeds and the network"
        return f"in earlier crawls no seed could be fetched ({before}): correct them in {self.library.settings_path}"

    def _failed_before(self) -> str:
        """Why the seeds gave no page, where this run did not even ask for them."""
        query = "SELECT reason, count(*) FROM urls WHERE found = ? AND state IN (?, ?) GROUP BY 1"
        asked = (int(Found.SEED), int(State.FAILED), int(State.REFUSED))
        with self.library.shards() as shards:
            counts = [row for shard in shards for row in shard.execute(query, asked)]
        return ", ".join(f"{reason} {count}" for reason, count in counts)

    # --- processes -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _running(self, scratch: Path) -> Iterator[None]:
        """Start the partitions; at the end none is left."""
        count = self.partitions
        ends: list[dict[int, socket.socket]] = [{} for _ in range(count)]
        for i in range(count):
            ours, theirs = pair()
            self._links.append(Pipes({i: ours}))
            ends[i][COORDINATOR] = theirs
            for j in range(i):
                ends[i][j], ends[j][i] = pair()
        self._ends = ends
        try:
            for i in range(count):
                errors = (scratch / f"p{i:02d}.err").open("w+b")
                self.workers.append(Worker(self._start(i, errors), errors))
            yield
        finally:
            for worker in self.workers:
                if worker.process.poll() is None:
                    worker.process.kill()
                worker.process.wait()
                worker.errors.close()
            for link in (*self._links, *(Pipes(part) for part in ends)):
                link.close()

    def _start(self, i: int, errors: IO[bytes]) -> Process:
        fds = {peer: end.fileno() for peer, end in self._ends[i].items()}
        return self.start(Job(str(self.library.folder), i, self.partitions, self.settings, fds), errors)

    def _replace_the_dead(self) -> None:
        """A partition that was killed or failed is started again; one that gave up for a reason ends the crawl."""
        for i, worker in enumerate(self.workers):
            code = worker.process.poll()
            if code is None:
                continue
            if code > 1 or worker.restarts >= _RESTARTS:
                raise Environment(f"partition {i} ended: {worker.said() or f'exit code {code}'}")
            cause = f"signal {signal.Signals(-code).name}" if code < 0 else worker.said()
            self.library.note(f"partition {i} was ended by {cause} and started again")
            worker.bury()
            worker.process = self._start(i, worker.errors)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def partitions(library: Library, settings: Settings) -> int:
    """How many partitions this library has; chosen at its first crawl."""
    wanted = settings.crawl.workers or os.cpu_count() or 1
    made = library.partitions
    if not made:
        library.put("partitions", wanted)
        return wanted
    if settings.crawl.workers and settings.crawl.workers != made:
        raise BadUse(f"this library is split into {made} partitions: crawl it with --workers {made}, or leave that out")
    return made
