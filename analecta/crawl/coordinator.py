"""The coordinator: what all partitions together decide. It shares out the pages, says which model counts, and sees when
the crawl is over.

It takes in what partitions report (`observe`), decides (`step`), and says what each shall do (`directive`); how these
reach each other is not its concern (crawl/processes/pool.py, crawl/local.py). It holds stop rules and tallies but no
truth: that is in the shards. Whenever it or a partition is killed, the next start goes on from there.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import msgspec

from analecta.crawl.budget import PageBudget
from analecta.crawl.control import Directive, EngineStatus
from analecta.crawl.phases import CrawlPhases
from analecta.crawl.site_growth import SiteGrowth
from analecta.crawl.stop import EndOfWork, Outage, all_received, left_over, rules
from analecta.crawl.training_schedule import TrainingSchedule
from analecta.frontier.mirrors import Mirrors
from analecta.frontier.policy import CrawlPhase
from analecta.model import UNLIMITED, Tally
from analecta.settings.schema import Settings

_PATIENCE, _HASTE = 20.0, 3.0  # seconds that what is under way has to end; the second where a person stops the crawl
_SLACK = 0.5  # by how much less than the best what is demoted may be worth to be asked for as well
_MOST_TOLD = 500  # mirrors, in every directive


class CrawlStatus(msgspec.Struct, frozen=True):
    """How a crawl stands, or has ended: what progress and everything else that looks at a crawl reads."""

    seconds: float  # since the start
    tally: Tally  # of all partitions
    engines: list[EngineStatus]  # of the partitions that have reported
    phase: CrawlPhase
    model: str  # that counts now; "" until the examples have been learned from
    limit: int  # pages that were asked for; 0: no limit
    only_examples: bool
    interrupts: int
    reason: str  # why the crawl ends, once it does
    code: int = 0  # the exit code, then

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        return sum(engine.in_flight for engine in self.engines)

    @property
    def queued(self) -> int:
        """URLs that wait."""
        return sum(engine.queued for engine in self.engines)

    @property
    def unread(self) -> int:
        """Documents that are kept and not yet read."""
        return sum(engine.unread for engine in self.engines)

    @property
    def titles(self) -> list[tuple[str, str, float]]:
        """The last good pages: title, topic, confidence."""
        return [title for engine in self.engines for title in engine.titles[-4:]]


class Coordinator:
    """Decides for all partitions of one run."""

    def __init__(
        self,
        settings: Settings,
        partitions: int,
        training: TrainingSchedule,
        growth: SiteGrowth | None = None,
        *,
        disk: Callable[[], str | None] = lambda: None,
        note: Callable[[str], None] = lambda _: None,
        now: float = 0.0,
        only_examples: bool = False,
    ) -> None:
        """`growth` leads a crawl that goes from site to site. `disk` says whether it is short, `note` takes notes.

        With `only_examples` the crawl is over when the examples are fetched and learned from.
        """
        s, topics = settings, training.topics
        self.settings = settings
        self.partitions = partitions
        self.training = training
        self.growth = growth
        self.only_examples = only_examples
        self.interrupts = 0  # 1: finish what is under way; 2: stop now
        self.serial = 0  # of the directives that are given now
        self.reason, self.stop = "", ""  # why the crawl ends, once it does; and as directives say it
        self._code = 0
        self._disk, self._note = disk, note
        self._began = self._now = now
        self._statuses: list[EngineStatus | None] = [None] * partitions
        self._before = [Tally() for _ in range(partitions)]  # what earlier engines of a partition counted in this run
        self._ended: set[int] = set()  # partitions that have stopped
        self._budget = PageBudget(partitions)
        # Topics that the settings name no more have numbers all the same.
        self._rules = rules(s.stop, [topics.index(topic.name) for topic in s.topics])
        self._outage = Outage(s.fetch.delay, now)
        self._work = EndOfWork(s.stop.idle)
        self._phases = CrawlPhases(
            topics,
            before=training.before,
            learning=s.learning.pages,
            full=s.stop.per_topic if s.stop.retire else 0,
            cutoff=s.policy.cutoff if s.policy.adjust else -1,
            ordered=s.crawl.ordered,
        )
        self._mirrors = Mirrors()  # across partitions
        self._floor = 0.0  # the least priority that partitions may ask for
        self._all_demoted: dict[int, int] = {}  # by partition its status since which nobody has any but demoted URLs
        self._last_call = False  # a rule says stop: nothing more is fetched
        self._serials: dict[int, int] = {}  # of the statuses when the crawl was told to end

    # --- what partitions say, and what they are told ---------------------------------------------------------------

    def observe(self, status: EngineStatus) -> None:
        """Take in how a partition stands."""
        self._statuses[status.partition] = status
        self._budget.shares[status.partition].observe(status)
        if not self.settings.crawl.ordered:  # a crawl in order goes by what its partitions see themselves
            for page in status.seen:
                self._mirrors.see(page)

    def restarted(self, n: int) -> None:
        """A partition begins again: what it counted stays, and it may fetch only what is left."""
        if status := self._statuses[n]:
            self._before[n] = add(self._before[n], status.tally)
        self._statuses[n] = None
        self._budget.shares[n].restart()

    def ended(self, n: int) -> None:
        """A partition has stopped, and says nothing more."""
        self._ended.add(n)

    def directive(self, n: int) -> Directive:
        """What a partition shall do now."""
        return Directive(
            granted=self._budget.shares[n].tell(self.serial),
            model=self.training.model,
            stop=self.stop,
            serial=self.serial,
            hubs=self.training.hubs,
            course=self._phases.course,
            near_only=self._near_only(),
            sites=tuple(self.growth.now) if self.growth else (),
            patience=_HASTE if self.interrupts else _PATIENCE,
            floor=self._floor,
            mirrors=tuple(list(self._mirrors.found)[-_MOST_TOLD:]),
        )

    def status(self) -> CrawlStatus:
        """How the crawl stands."""
        return CrawlStatus(
            seconds=self._now - self._began,
            tally=self._tally(),
            engines=self._heard(),
            phase=self._phases.course,
            model=self.training.model,
            limit=self.settings.stop.pages,
            only_examples=self.only_examples,
            interrupts=self.interrupts,
            reason=self.reason,
            code=self._code,
        )

    # --- deciding --------------------------------------------------------------------------------------------------

    def step(self, now: float) -> None:
        """Decide by what was observed up to now; the next directives say it."""
        self._now = now
        self.serial += 1
        self._floor = self._demotion_floor()
        if not self.reason:
            self._go_on(now)
        if self.reason and self.stop != "now":  # that is for good: who has still to read it may have nobody left
            self.stop = "now" if self.interrupts > 1 or self._is_drained() else "drain"

    def _go_on(self, now: float) -> None:
        tally = self._tally()
        reason, code = self._verdict(now, tally)
        if not reason:
            self._train(now, tally)
            reason = "the examples are fetched" if self.only_examples and self.training.model else ""
        if reason:
            self.reason, self._code = reason, code
            self._serials = {status.partition: status.serial for status in self._heard()}
            return
        for words in self._phases.step(tally):
            self._note(words)
        if self.growth and self._all_heard():
            self.growth.step(self._heard())
        limit = min(self.settings.stop.pages or UNLIMITED, self._limit())
        # Those can use no pages now of which nothing is left, or only what others have better.
        held = [s for s in self._heard() if (not s.queued and not s.in_flight) or s.best < self._floor]
        self._budget.share(limit, [s.partition for s in held])

    def _verdict(self, now: float, tally: Tally) -> tuple[str, int]:
        """Why the crawl should end now, with the exit code; "" where it should not."""
        if self.interrupts:
            return "interrupted", 130
        for rule in self._rules:
            if reason := rule(tally, now - self._began):
                self._last_call = True
                return (reason, 0) if self._is_judged() else ("", 0)
        if reason := self._outage.step(now, tally, self._heard()) or self._disk():
            return reason, 4
        return self._end_of_work(now, tally) if self._all_heard() else ("", 0)

    def _is_judged(self) -> bool:
        """Whether all partitions have the model: pages kept before there was one are judged before we stop."""
        model = self.training.model
        return bool(model) and self._all_heard() and all(status.model == model for status in self._heard())

    def _end_of_work(self, now: float, tally: Tally) -> tuple[str, int]:
        statuses, model = self._heard(), self.training.model
        if self._work.is_stuck(now, statuses):
            if model:
                return left_over(statuses, "on hosts that fail or refuse"), 0
            self._last_call = True  # train with what there is
        # A partition may be unable to ask now, for a model, the next phase or other sites are waited for.
        held_up = self._limit() < UNLIMITED and any(s.queued and s.granted <= s.tally.pages for s in statuses)
        if not self._work.is_reached(statuses, held_up or bool(self.growth and self.growth.waits(statuses))):
            return "", 0
        if not model:
            self._last_call = True
            return "", 0
        if any(s.queued for s in statuses):
            return left_over(statuses, "on hosts that must be waited for"), 0
        return "nothing is left to fetch", 0 if tally.answers or tally.failed else 3

    def _train(self, now: float, tally: Tally) -> None:
        """Let the schedule see whether it is time to learn: for the first time once every partition has reported."""
        statuses = self._heard()
        if not self.training.model and not self._all_heard():
            return
        self.training.step(
            now,
            tally,
            examples_left=sum(s.examples_left for s in statuses),
            in_flight=any(s.in_flight for s in statuses) or not self._all_heard(),
            in_turn=any(s.in_turn for s in statuses if s.examples_left),
            last_call=self._last_call,
        )

    def _is_drained(self) -> bool:
        """Whether every partition has nothing under way and all links have arrived, by a status reported since."""
        alive = [status for n, status in enumerate(self._statuses) if n not in self._ended]
        statuses = [status for status in alive if status]
        if len(statuses) < len(alive) and not self.interrupts:
            return False  # one that is just starting may have links to exchange
        if not self.interrupts and any(s.unread for s in statuses):
            return False  # documents that wait are read, as long as the partitions have patience
        settled = all(
            s.serial > self._serials.get(s.partition, 0) and not s.in_flight and not s.pending for s in statuses
        )
        return settled and all_received(statuses)

    # --- what is looked at -----------------------------------------------------------------------------------------

    def _heard(self) -> list[EngineStatus]:
        return [status for status in self._statuses if status is not None]

    def _all_heard(self) -> bool:
        return None not in self._statuses

    def _tally(self) -> Tally:
        """The sum over all partitions."""
        total = reduce(add, (*self._before, *(status.tally for status in self._heard())), Tally())
        total.clustering = self.growth.found.seconds if self.growth else 0.0
        return total

    def _limit(self) -> int:
        """How many pages may be fetched before the next model or phase."""
        return min(self.training.limit(), self._phases.limit())

    def _demotion_floor(self) -> float:
        """The least priority that partitions may ask for: what is demoted waits for all other URLs anywhere.

        Statuses are not of one moment: a link may have left a partition since it reported. So all must say it twice.
        """
        statuses = self._heard()
        if not self._all_heard() or any(s.pending or s.best >= 0 for s in statuses):
            self._all_demoted = {}
            return 0.0
        for s in statuses:
            self._all_demoted.setdefault(s.partition, s.serial)
        if any(s.serial == self._all_demoted[s.partition] for s in statuses):
            return 0.0
        return max(s.best for s in statuses) - _SLACK

    def _near_only(self) -> bool:
        """While the crawl learns: whether some partition has, or may have, what that phase wants."""
        if not self._phases.course.learning:
            return False
        idle = self.settings.stop.idle  # hosts that must be waited for longer do not count
        near = any(s.near and (s.in_flight or s.wait <= idle) for s in self._heard())
        return near or not self._all_heard() or any(s.pending for s in self._heard())


def add(a: Tally, b: Tally) -> Tally:
    """Two tallies as one."""
    return Tally(*(_sum(getattr(a, name), getattr(b, name)) for name in Tally.__struct_fields__))


def _sum(a: Any, b: Any) -> Any:
    return {key: a.get(key, 0) + b.get(key, 0) for key in a | b} if isinstance(a, dict) else a + b
