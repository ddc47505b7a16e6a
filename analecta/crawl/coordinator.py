"""The coordinator: starts the partitions, shares out the pages, trains the judge, and sees when the crawl is over.

It holds stop rules and tallies but no truth: that is in the shards. Whenever it or a partition is killed, the next
start goes on from there.
"""

import contextlib
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from analecta.crawl.checks import check, check_files
from analecta.crawl.control import COORDINATOR, Directive, EngineStatus, decode, encode
from analecta.crawl.phases import CrawlPhases
from analecta.crawl.processes.pool import WorkerHandle, WorkerJob, WorkerProcess, add, start_process
from analecta.crawl.processes.transport import PeerGone, SocketTransport, pair, wait
from analecta.crawl.site_growth import SiteGrowth
from analecta.crawl.stop import disk_is_short, rules
from analecta.crawl.training_schedule import TrainingSchedule
from analecta.errors import AnalectaError, ResourceError, UsageError
from analecta.frontier.mirrors import Mirrors, Sighting
from analecta.model import UNLIMITED, Tally
from analecta.settings.schema import Settings
from analecta.store import SqliteError
from analecta.store.library import LibraryFolder
from analecta.store.library_db import record

_TICK = 0.05  # seconds between two looks around, if no report comes before
_OUTAGE = 15.0  # seconds in which requests got no answer
_RESTARTS = 50
_PATIENCE, _HASTE = 20.0, 3.0  # seconds that what is under way has to end; the second where a person stops the crawl
_SLACK = 0.5  # by how much less than the best what is demoted may be worth to be asked for as well
_MOST_TOLD = 500  # mirrors, in every order
_HUNGRY = 400  # pages that a partition may have left when it gets more: half a second of work


class CrawlResult(msgspec.Struct):
    """How a crawl ended: in words, in figures, and with which exit code."""

    reason: str
    tally: Tally
    code: int = 0


class Crawl:
    """One run over a library. `run` returns when it is over; `interrupt` asks it to end."""

    def __init__(
        self,
        library: LibraryFolder,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
        start: Callable[[WorkerJob, IO[bytes]], WorkerProcess] | None = None,
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
        self.partitions = 0
        self.topics: list[str] = []
        self.lessons = TrainingSchedule(library, settings, clock)
        self.interrupts = 0
        self.workers: list[WorkerHandle] = []
        self.began = clock()
        self._answers = -1
        self._answered = self.began
        self._troubles = 0  # up to the last answer
        self._last_call = False  # a rule says stop: nothing more is fetched
        self._quiet: tuple[int, ...] = ()
        self._all_demoted: dict[int, int] = {}  # by partition its report since which nobody has any but demoted URLs
        self._stuck_since: float | None = None  # since when only hosts in trouble are left
        self._links: list[SocketTransport] = []
        self._serial = 0
        self._helm = CrawlPhases(self.topics)
        self._mirrors = Mirrors()  # across partitions
        self._growth: SiteGrowth | None = None  # where the crawl goes from site to site

    def interrupt(self) -> None:
        """Once: finish what is under way. Twice: stop now."""
        self.interrupts += 1

    @property
    def tally(self) -> Tally:
        """The sum over all partitions."""
        total = Tally()
        for worker in self.workers:
            total = add(total, worker.tally)
        total.clustering = self._growth.found.seconds if self._growth else 0.0
        return total

    @property
    def titles(self) -> list[tuple[str, str, float]]:
        """The last good pages: title, topic, confidence."""
        return [title for worker in self.workers if worker.report for title in worker.report.titles[-4:]]

    def run(self, progress: Callable[["Crawl"], None] = lambda _: None) -> CrawlResult:
        """Crawl until a rule, the person or the end of the web says stop."""
        with self.library.lock():
            self.partitions = partitions(self.library, self.settings)
            check_files(self.settings, self.partitions)
            self.topics = self.library.topic_names(tuple(topic.name for topic in self.settings.topics))
            asked = msgspec.to_builtins(self.settings)
            run = self.library.begin_run({"settings": asked, "partitions": self.partitions})
            try:
                self.lessons.prepare(self.topics)
                self._helm = self._new_helm(self.lessons.before)
                self._growth = SiteGrowth(self.library, self.settings) if self.settings.communities.grow else None
                with (
                    tempfile.TemporaryDirectory() as scratch,
                    contextlib.closing(self.lessons),
                    self._running(Path(scratch)),
                ):
                    ending = self._lead(progress)
            except AnalectaError as error:
                with contextlib.suppress(SqliteError, ResourceError):  # of a full disk, the first words count
                    self.library.end_run(run, str(error), msgspec.to_builtins(self.tally))
                raise
            if self.partitions > 1 and self.interrupts < 2:
                from analecta.crawl.processes.duplicates import (
                    settle_twins,  # 0.05 s, which a crawl of one partition need not pay
                )

                ending.tally.elsewhere += settle_twins(self.library)
            record(self.library, ending.tally.pages)
            self.library.end_run(run, ending.reason, msgspec.to_builtins(ending.tally))
            return ending

    # --- leading ---------------------------------------------------------------------------------------------------

    def _lead(self, progress: Callable[["Crawl"], None]) -> CrawlResult:
        named = [self.topics.index(topic.name) for topic in self.settings.topics]  # others are gone, and have numbers
        stop_rules = rules(self.settings.stop, named, self.clock)
        while True:
            self._listen()
            self._replace_the_dead()
            progress(self)
            reason, code = self._verdict(stop_rules)
            if reason:
                return self._end(reason, code, progress)
            if self.lessons.look(self._reports(), self.tally, self._last_call):
                record(self.library, self.tally.pages)
            if self.only_examples and self.lessons.model:
                return self._end("the examples are fetched", 0, progress)
            for words in self._helm.look(self.tally):
                self.library.note(words)
            if self._growth:
                self._growth.look(self._reports())
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
            self._answers, self._answered, self._troubles = tally.answers, now, tally.troubles
        since = tally.troubles - self._troubles
        silent = sum(worker.report.silent for worker in self.workers if worker.report)
        waiting = any(worker.report.queued for worker in self.workers if worker.report)
        patience = max(_OUTAGE, 2 * (self.settings.fetch.delay or 0.0))
        down = min(silent, since) >= 3 or (not tally.answers and since >= 5)
        if waiting and down and now - self._answered > patience:
            return "no host has answered for a while: the network seems to be down; crawl again when it is back"
        return ""

    def _judged(self) -> bool:
        """Whether all partitions have the model: pages kept before there was one are judged before we stop."""
        model = self.lessons.model
        return bool(model) and all(report and report.model == model for report in self._reports())

    def _nothing_left(self) -> tuple[str, int]:
        """Queues and outboxes empty and all letters received, seen twice; or only hosts that must be waited for."""
        reports = self._reports()
        if not all(reports):
            return "", 0
        state = [r for r in reports if r is not None]
        if self._only_trouble_left(state):
            if self.lessons.model:
                return self._left_over(state, "on hosts that fail or refuse"), 0
            self._last_call = True  # train with what there is
        if any(r.flying or r.pending or r.unread for r in state) or sum(r.sent for r in state) != sum(
            r.received for r in state
        ):
            self._quiet = ()
            return "", 0
        limit = min(self.lessons.limit(), self._helm.limit())
        if limit < UNLIMITED and any(r.queued and r.granted <= r.tally.pages for r in state):
            # A partition may not ask now, for a model or the course is waited for.
            self._quiet = ()
            return "", 0
        if self._growth and self._growth.waits(state):
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
            if not self.lessons.model:
                self._last_call = True  # train with what there is
                return "", 0
            if queued:
                return self._left_over(state, "on hosts that must be waited for"), 0
            return "nothing is left to fetch", 0 if self.tally.answers or self.tally.failed else 3
        return "", 0

    def _only_trouble_left(self, reports: list[EngineStatus]) -> bool:
        """Whether for so long as nothing may happen, nothing was left but what belongs to hosts in trouble."""
        now = self.clock()
        settled = all(r.stuck and not r.pending and not r.unread for r in reports)
        if not settled or not any(r.queued for r in reports):
            self._stuck_since = None
            return False
        if self._stuck_since is None:
            self._stuck_since = now
        return now - self._stuck_since > self.settings.stop.idle

    def _left_over(self, reports: list[EngineStatus], where: str) -> str:
        """What is left, in words."""
        queued = sum(r.queued for r in reports)
        left = "1 URL is left" if queued == 1 else f"{queued:,} URLs are left"
        hosts = ", ".join(sorted({r.next_host for r in reports if r.queued and r.next_host}))
        named = f" ({hosts} first)" if hosts else ""
        return f"{left} {where}{named}; crawl again later"

    def _end(self, reason: str, code: int, progress: Callable[["Crawl"], None]) -> CrawlResult:
        """Let the partitions finish what is under way (or not, at a second interrupt), and count."""
        deadline = self.clock() + 25.0
        serials = [worker.report.serial if worker.report else 0 for worker in self.workers]
        over = False  # for good: who has still to read it may have nobody left to exchange letters with
        while any(worker.process.poll() is None for worker in self.workers) and self.clock() < deadline:
            hurry = self.interrupts > 1
            over = over or hurry or self._drained(serials)
            self._command("now" if over else "drain")
            if hurry:
                deadline = min(deadline, self.clock() + 4.0)
            self._listen()
            progress(self)
            wait(self._links, _TICK)
        self._listen()
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.process.kill()
        return CrawlResult(reason, self.tally, code)

    def _drained(self, serials: list[int]) -> bool:
        """Whether every partition has nothing under way and all letters have arrived, by a report made since."""
        alive = [worker.report for worker in self.workers if worker.process.poll() is None]
        reports = [report for report in alive if report]
        if len(reports) < len(alive) and not self.interrupts:
            return False  # one that is just starting may have letters to exchange
        fresh = all(r.serial > serials[r.partition] and not r.flying and not r.pending for r in reports)
        if not self.interrupts and any(r.unread for r in reports):
            return False  # documents that wait are read, as long as the partitions have patience
        return fresh and sum(r.sent for r in reports) == sum(r.received for r in reports)

    def _new_helm(self, before: int) -> CrawlPhases:
        s = self.settings
        return CrawlPhases(
            self.topics,
            before=before,
            learning=s.learning.pages,
            full=s.stop.per_topic if s.stop.retire else 0,
            cutoff=s.policy.cutoff if s.policy.adjust else -1,
            ordered=s.crawl.ordered,
        )

    def _reports(self) -> list[EngineStatus | None]:
        return [worker.report for worker in self.workers]

    # --- talking to the partitions ---------------------------------------------------------------------------------

    def _listen(self) -> None:
        for i, link in enumerate(self._links):
            with contextlib.suppress(PeerGone):
                for message in map(decode, link.receive()):
                    if isinstance(message, EngineStatus):
                        self.workers[i].report = message
                        self._compare(message.seen)

    def _compare(self, seen: list[Sighting]) -> None:
        """Look for mirrors across partitions; a crawl in order goes by what its partitions see themselves."""
        if not self.settings.crawl.ordered:
            for page in seen:
                self._mirrors.see(page)

    def _command(self, stop: str = "") -> None:
        self._serial += 1
        sites = tuple(self._growth.now) if self._growth else ()
        mirrors = tuple(list(self._mirrors.found)[-_MOST_TOLD:])
        floor, patience = self._floor(), _HASTE if self.interrupts else _PATIENCE
        for i, worker in enumerate(self.workers):
            granted = worker.tell(self._serial)
            model, hubs = self.lessons.model, self.lessons.hubs
            near = self._near_only()
            order = Directive(
                granted, model, stop, self._serial, hubs, self._helm.course, near, sites, patience, floor, mirrors
            )
            self._links[i].send(i, encode(order))

    def _floor(self) -> float:
        """The least priority that partitions may ask for: what is demoted waits for all other URLs anywhere.

        Reports are not of one moment: a link may have left a partition since it reported. So all must say it twice.
        """
        reports = [r for r in self._reports() if r is not None]
        if len(reports) < len(self.workers) or any(r.pending or r.best >= 0 for r in reports):
            self._all_demoted = {}
            return 0.0
        for r in reports:
            self._all_demoted.setdefault(r.partition, r.serial)
        if any(r.serial == self._all_demoted[r.partition] for r in reports):
            return 0.0
        return max(r.best for r in reports) - _SLACK

    def _near_only(self) -> bool:
        """While the crawl learns: whether some partition has, or may have, what that phase wants."""
        learning = self._helm.course.learning
        return learning and any(r is None or r.pending or self._has_near(r) for r in self._reports())

    def _has_near(self, report: EngineStatus) -> bool:
        """Hosts that must be waited for too long do not count."""
        return report.near != 0 and (report.flying > 0 or report.wait <= self.settings.stop.idle)

    def _share(self) -> None:
        """Grant pages: all that are left, in equal parts; what an idle partition does not use goes to the others."""
        limit = min(self.settings.stop.pages or UNLIMITED, self.lessons.limit(), self._helm.limit())
        if limit == UNLIMITED:
            for worker in self.workers:
                worker.granted = UNLIMITED
            return
        free = limit - sum(worker.promised() for worker in self.workers)
        few = max(4, min(_HUNGRY, limit // 20))
        held = self._held()
        hungry = [worker for worker in self.workers if worker.unused() < few and worker not in held]
        starving = any(worker.unused() <= 0 and worker not in held for worker in self.workers)
        for worker in self.workers:
            if worker in held:
                worker.granted = worker.used()
            elif free <= 0 and starving and worker.unused() > 0:  # too slow for what it has: the others take half
                worker.granted = worker.used() + worker.unused() // 2
        # In portions, for nobody knows which partition's hosts are fast; a single one gets all at once.
        portion = max(few, free // (2 * len(self.workers))) if len(self.workers) > 1 else free
        for position, worker in enumerate(hungry):
            share = max(0, free // len(hungry) + (position < free % len(hungry)))
            worker.granted += min(share, portion)

    def _held(self) -> list[WorkerHandle]:
        """Partitions that can use no pages now: nothing is left there, or only what others have better."""
        floor = self._floor()
        return [w for w in self.workers if w.idle() or (w.report is not None and w.report.best < floor)]

    # --- processes -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _running(self, scratch: Path) -> Iterator[None]:
        """Start the partitions; at the end none is left."""
        count = self.partitions
        ends: list[dict[int, socket.socket]] = [{} for _ in range(count)]
        for i in range(count):
            ours, theirs = pair()
            self._links.append(SocketTransport({i: ours}))
            ends[i][COORDINATOR] = theirs
            for j in range(i):
                ends[i][j], ends[j][i] = pair()
        self._ends = ends
        try:
            for i in range(count):
                errors = (scratch / f"p{i:02d}.err").open("w+b")
                self.workers.append(WorkerHandle(self._start(i, errors), errors))
            yield
        finally:
            for worker in self.workers:
                if worker.process.poll() is None:
                    worker.process.kill()
            for link in (*self._links, *(SocketTransport(part) for part in ends)):
                link.close()  # at which a partition in a thread ends, which cannot be killed
            for worker in self.workers:
                worker.process.wait()
                worker.errors.close()

    def _start(self, i: int, errors: IO[bytes]) -> WorkerProcess:
        fds = {peer: end.fileno() for peer, end in self._ends[i].items()}
        return self.start(WorkerJob(str(self.library.folder), i, self.partitions, self.settings, fds), errors)

    def _replace_the_dead(self) -> None:
        """A partition that was killed or failed is started again; one that gave up for a reason ends the crawl."""
        for i, worker in enumerate(self.workers):
            code = worker.process.poll()
            if code is None:
                continue
            if code > 1 or worker.restarts >= _RESTARTS:
                raise ResourceError(f"partition {i} ended: {worker.said() or f'exit code {code}'}")
            cause = f"signal {signal.Signals(-code).name}" if code < 0 else worker.said()
            self.library.note(f"partition {i} was ended by {cause} and started again")
            worker.bury()
            worker.process = self._start(i, worker.errors)


def partitions(library: LibraryFolder, settings: Settings) -> int:
    """How many partitions this library has; chosen at its first crawl."""
    wanted = settings.crawl.workers or os.cpu_count() or 1
    made = library.partitions
    if not made:
        library.make_shards(wanted)
        return wanted
    if settings.crawl.workers and settings.crawl.workers != made:
        raise UsageError(
            f"this library is split into {made} partitions: crawl it with --workers {made}, or leave that out"
        )
    return made
