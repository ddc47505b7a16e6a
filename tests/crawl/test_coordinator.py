"""The coordinator's decisions, without its processes: shares, endings, sums."""

import contextlib
import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analecta.crawl.budget import PageBudget
from analecta.crawl.control import ControlChannel, Directive, EngineStatus, decode, encode, with_settled
from analecta.crawl.coordinator import Coordinator, add
from analecta.crawl.run import partitions
from analecta.crawl.training_schedule import TrainingSchedule
from analecta.errors import ResourceError, UsageError
from analecta.frontier.policy import CrawlPhase
from analecta.model import UNLIMITED, Tally, UrlState
from analecta.settings.schema import (
    CrawlSettings,
    FetchSettings,
    LearningPhaseSettings,
    Settings,
    StopSettings,
    Topic,
    TrainingSettings,
)
from analecta.store.library import LibraryFolder

REPORT = EngineStatus(0, Tally(), 0, 0, 0, 0, 0, 0, "model", -1.0, 0, [], serial=1)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return LibraryFolder.create(tmp_path_factory.mktemp("crawl") / "lib", "")


class Trained:
    """A training schedule that has its model, and needs no other."""

    topics, hubs, before, model = ["t"], (), 0, "model"

    def limit(self):
        return UNLIMITED

    def step(self, now, tally, **_):
        return False


def coordinator_of(partitions=2, training=None, disk=lambda: None, only_examples=False, **tables):
    """One that has heard nothing yet; keywords are tables of settings, or the rules of `stop`."""
    known = {name: tables.pop(name) for name in ("fetch", "learning", "crawl") if name in tables}
    asked = Settings(topics=(Topic("t"),), stop=StopSettings(**tables), **known)
    return Coordinator(asked, partitions, training or Trained(), disk=disk, only_examples=only_examples)


def says(coordinator, serial, *but, **values):
    """Every partition reports the same, all `but` some."""
    for n in range(coordinator.partitions):
        if n not in but:
            coordinator.observe(msgspec.structs.replace(REPORT, partition=n, serial=serial, **values))


def stepped(coordinator, now=0.0):
    """Why the crawl ends, with the exit code; after one step."""
    coordinator.step(now)
    return coordinator.reason, coordinator.status().code


def test_f70_demoted_urls_wait_until_all_have_said_twice_that_nothing_else_is_left():
    crawl = coordinator_of()

    def floor(number, serial, **values):
        crawl.observe(msgspec.structs.replace(REPORT, partition=number, serial=serial, in_flight=1, **values))
        crawl.step(0.0)
        return crawl.directive(0).floor

    floor(0, 5, best=-2.0)
    assert floor(1, 8, best=-3.0) == 0, "a link may have left one since it reported"
    assert floor(0, 6, best=-2.0) == 0, "the other has not reported again"
    assert floor(1, 9, best=-3.0) < 0
    assert floor(1, 10, best=-3.0, pending=1) == 0
    assert floor(1, 11, best=-3.0) == 0, "it is said again"


# --- sharing out the pages -------------------------------------------------------------------------------------------


class Partition:
    """A partition as the budget sees it: it obeys and reports late, and never asks for more than it was granted."""

    def __init__(self, number, queued):
        self.number = number
        self.granted = self.pages = self.in_flight = self.order = self.serial = 0
        self.queued = queued

    def work(self, rng):
        start = max(0, min(self.queued, self.granted - self.pages - self.in_flight, rng.randrange(20)))
        self.queued, self.in_flight = self.queued - start, self.in_flight + start
        done = rng.randint(0, self.in_flight)
        self.in_flight, self.pages = self.in_flight - done, self.pages + done

    def report(self):
        self.serial += 1
        return msgspec.structs.replace(
            REPORT,
            partition=self.number,
            serial=self.serial,
            tally=Tally(pages=self.pages),
            order=self.order,
            granted=self.granted,
            in_flight=self.in_flight,
            queued=self.queued,
            pending=1,  # it is never over
        )


def simulate(crawl, rng, links, rounds=300):
    """Directives and reports come when they come; links bring partitions that were idle new URLs."""
    parts = [Partition(n, rng.choice((0, 5, 1000))) for n in range(crawl.partitions)]
    for _ in range(1, rounds):
        crawl.step(0.0)
        for part in parts:
            directive = crawl.directive(part.number)
            if rng.random() < 0.5:
                part.granted, part.order = directive.granted, directive.serial
            part.work(rng)
            if rng.random() < links:
                part.queued += rng.randrange(40)
            if rng.random() < 0.5:
                crawl.observe(part.report())
        yield parts


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    limit=st.sampled_from((1, 7, 100, 500)),
    workers=st.integers(1, 4),
    links=st.sampled_from((0.0, 0.3)),
)
def test_no_more_pages_are_granted_than_asked_for(seed, limit, workers, links):
    for parts in simulate(coordinator_of(workers, pages=limit), random.Random(seed), links):
        assert sum(part.pages + part.in_flight for part in parts) <= limit


def test_what_a_partition_used_before_it_heard_that_its_grant_was_withdrawn_counts():
    budget = PageBudget(2)
    one, other = budget.shares
    one.granted = other.granted = 50
    for share in (one, other):
        share.tell(1)
    one.observe(msgspec.structs.replace(REPORT, tally=Tally(pages=50), order=1))
    other.observe(msgspec.structs.replace(REPORT, tally=Tally(pages=10), order=1))
    budget.share(100, held=[1])
    assert other.tell(2) == 10
    other.observe(msgspec.structs.replace(REPORT, tally=Tally(pages=45), order=2))  # too late
    budget.share(100)
    assert one.granted + max(45, other.granted) <= 100


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), workers=st.integers(1, 4))
def test_all_pages_asked_for_are_granted_to_those_who_have_work(seed, workers):
    parts = []
    for parts in simulate(coordinator_of(workers, pages=200), random.Random(seed), links=0.0):  # noqa: B007
        pass
    left = sum(part.queued for part in parts)
    assert sum(part.pages + part.in_flight for part in parts) == 200 or left == 0


def test_without_a_limit_everything_is_granted():
    crawl = coordinator_of()
    crawl.step(0.0)
    assert all(crawl.directive(n).granted > 10**12 for n in range(2))


def test_a_partition_started_again_gets_only_what_is_left():
    crawl = coordinator_of(1, pages=100)
    crawl.step(0.0)
    assert crawl.directive(0).granted == 100
    crawl.observe(msgspec.structs.replace(REPORT, tally=Tally(pages=60), granted=100, queued=500))
    crawl.restarted(0)
    crawl.step(0.0)
    assert crawl.status().tally.pages + crawl.directive(0).granted == 100


# --- the end ---------------------------------------------------------------------------------------------------------


def test_a_crawl_is_over_when_nothing_is_left_seen_twice():
    crawl = coordinator_of()
    says(crawl, 1, tally=Tally(answers=3))
    assert stepped(crawl) == ("", 0)
    assert stepped(crawl) == ("", 0), "the same reports are no second look"
    says(crawl, 2, tally=Tally(answers=3))
    assert stepped(crawl) == ("nothing is left to fetch", 0)


def test_a_crawl_that_did_nothing_says_so_by_its_code():
    crawl = coordinator_of()
    for serial in (1, 2):
        says(crawl, serial)
        ending = stepped(crawl)
    assert ending == ("nothing is left to fetch", 3)


@pytest.mark.parametrize(
    "busy", [{"in_flight": 1}, {"pending": 1}, {"sent": 1}, {"received": 1}, {"queued": 1}, {"unread": 1}]
)
def test_a_crawl_is_not_over_while_something_is_under_way(busy):
    crawl = coordinator_of()
    for serial in range(1, 5):
        says(crawl, serial, 1)
        crawl.observe(msgspec.structs.replace(REPORT, partition=1, serial=serial, **busy))
        assert stepped(crawl) == ("", 0)


def test_a_crawl_is_not_over_before_every_partition_has_spoken():
    crawl = coordinator_of()
    for serial in range(1, 4):
        says(crawl, serial, 0)
        assert stepped(crawl) == ("", 0)


def test_a_change_between_two_looks_starts_them_again():
    crawl = coordinator_of()
    for answers in (1, 2, 3):
        says(crawl, answers, tally=Tally(answers=answers))
        assert stepped(crawl) == ("", 0)


@pytest.mark.parametrize(("wait", "over"), [(119.0, False), (121.0, True), (-1.0, False)])
def test_f22_a_crawl_ends_where_all_hosts_must_be_waited_for_too_long(wait, over):
    crawl = coordinator_of(idle=120.0)
    for serial in (1, 2):
        says(crawl, serial, queued=1200, wait=wait)
        reason, code = stepped(crawl)
    assert reason.startswith("2,400 URLs are left on hosts that must be waited for") == over
    assert code == 0


def test_f64_f72_a_crawl_ends_where_for_long_only_hosts_in_trouble_were_left():
    crawl = coordinator_of(idle=120.0)

    def over(at, **values):
        says(crawl, int(at), queued=7, in_flight=1, wait=3.0, **values)
        return stepped(crawl, at)[0]

    assert [over(0.0, stuck=True), over(100.0, stuck=True), over(110.0, stuck=False)] == ["", "", ""]
    assert [over(120.0, stuck=True), over(239.0, stuck=True)] == ["", ""]
    assert "14 URLs are left on hosts that fail or refuse" in over(241.0, stuck=True)


def test_an_interrupt_ends_it_before_any_rule():
    crawl = coordinator_of(pages=1)
    says(crawl, 1, tally=Tally(pages=1))
    crawl.interrupts = 1
    assert stepped(crawl) == ("interrupted", 130)


def test_b8_partitions_are_not_told_to_stop_before_the_last_of_them_has_reported():
    crawl = coordinator_of(pages=2)
    says(crawl, 1, tally=Tally(pages=1))
    crawl.step(0.0)
    crawl.restarted(1)
    says(crawl, 2, 1, tally=Tally(pages=1))
    crawl.step(0.0)
    assert crawl.directive(0).stop == "drain", "its links would find nobody, and it would wait for receipts"
    says(crawl, 3, tally=Tally(pages=1))
    crawl.step(0.0)
    assert crawl.directive(0).stop == "now"


@pytest.mark.parametrize(
    ("last", "stop"),
    [({}, "now"), ({"serial": 1}, "drain"), ({"in_flight": 1}, "drain"), ({"pending": 1}, "drain"),
     ({"sent": 1}, "drain"), ({"unread": 1}, "drain")],
)  # fmt: skip
def test_partitions_stop_once_all_have_nothing_under_way_by_a_later_report(last, stop):
    crawl = coordinator_of(pages=2)
    says(crawl, 1, tally=Tally(pages=1))
    crawl.step(0.0)
    assert (crawl.directive(0).stop, crawl.status().reason) == ("drain", "2 pages were asked for and kept")
    says(crawl, 2, 1)
    crawl.observe(msgspec.structs.replace(REPORT, **{"partition": 1, "serial": 2} | last))
    crawl.step(0.0)
    assert crawl.directive(1).stop == stop


def test_who_has_stopped_is_not_waited_for_and_two_interrupts_wait_for_nobody():
    crawl = coordinator_of(pages=2)
    says(crawl, 1, tally=Tally(pages=1))
    crawl.step(0.0)
    crawl.ended(1)
    says(crawl, 2, 1)
    crawl.step(0.0)
    assert crawl.directive(0).stop == "now"
    crawl = coordinator_of()
    says(crawl, 1, in_flight=1)
    stops = []
    for crawl.interrupts in (0, 1, 2):
        crawl.step(0.0)
        stops.append(crawl.directive(0).stop)
    assert stops == ["", "drain", "now"]


def test_c16_the_hosts_that_are_waited_for_are_named():
    crawl = coordinator_of()
    for serial in (1, 2):
        says(crawl, serial, queued=1, wait=500.0, next_host="slow.test")
        reason, _ = stepped(crawl)
    assert "hosts that must be waited for (slow.test first)" in reason


def test_a_rule_ends_it_once_all_pages_are_judged():
    crawl = coordinator_of(pages=2)
    says(crawl, 1, tally=Tally(pages=1), model="older")
    assert stepped(crawl) == ("", 0)
    says(crawl, 2, tally=Tally(pages=1))
    assert stepped(crawl) == ("2 pages were asked for and kept", 0)


def test_so_many_minutes_are_counted_from_the_start():
    crawl = coordinator_of(minutes=1.0)
    says(crawl, 1, in_flight=1)
    assert stepped(crawl, 59.9) == ("", 0)
    assert stepped(crawl, 60.0) == ("1 minute is over", 0)


def test_f03_a_short_disk_ends_it_with_its_own_code():
    crawl = coordinator_of(disk=lambda: "only 1 MB is free on the disk")
    assert stepped(crawl) == ("only 1 MB is free on the disk", 4)


@pytest.mark.parametrize(
    ("troubles", "silent", "delay", "down"),
    [(3, 3, None, True), (0, 3, None, False), (3, 0, None, False), (3, 3, 20.0, False)],
)
def test_the_network_is_down_where_requests_get_no_answer_and_not_where_none_is_made(troubles, silent, delay, down):
    crawl = coordinator_of(1, fetch=FetchSettings(delay=delay))
    says(crawl, 1, queued=100, silent=silent, tally=Tally(answers=500, troubles=3))
    assert stepped(crawl) == ("", 0)
    says(crawl, 2, queued=100, silent=silent, tally=Tally(answers=500, troubles=3 + troubles))
    reason, code = stepped(crawl, 16.0)
    assert (reason.startswith("no host has answered for a while"), code) == (down, 4 if down else 0)


def test_a_look_at_the_examples_is_over_with_the_first_model():
    assert stepped(coordinator_of(only_examples=True)) == ("the examples are fetched", 0)


# --- training and phases ---------------------------------------------------------------------------------------------


class Clumsy:
    """A trainer whose training goes wrong."""

    def first(self):
        raise ValueError("two and two is five")

    def again(self, old):
        raise ValueError("two and two is five")


def schedule_of(library, model, **tables):
    schedule = TrainingSchedule(library, Settings(topics=(Topic("t"),), **tables))
    schedule.model, schedule.trainer = model, Clumsy()
    return schedule


def test_a_lesson_that_goes_wrong_costs_the_lesson_and_not_the_crawl(library):
    schedule = schedule_of(library, "old", learn=TrainingSettings(every=4), crawl=CrawlSettings(ordered=True))
    quiet = {"examples_left": 0, "in_flight": False, "in_turn": False, "last_call": False}
    library.put("partitions", 1)
    with contextlib.closing(schedule):
        adopted = [schedule.step(0.0, Tally(pages=pages), **quiet) for pages in (5, 10)]
    told = [note for _, note in library.notes()]
    assert told == ["a new model was not taken up: ValueError: two and two is five"] * 2
    assert (adopted, schedule.model) == ([False, False], "old")


@pytest.mark.parametrize("in_flight", [False, True])
def test_a_first_lesson_that_goes_wrong_is_told_in_words(library, in_flight):
    schedule = schedule_of(library, "")
    last = {"examples_left": 1, "in_flight": in_flight, "in_turn": False, "last_call": True}
    failed = pytest.raises(ResourceError, match="nothing could be learnt from the examples: ValueError: two and two")
    with contextlib.nullcontext() if in_flight else failed:
        assert not schedule.step(0.0, Tally(), **last), "what is under way is waited for"


@pytest.mark.parametrize(("in_turn", "done"), [(True, False), (False, True)])
def test_l7_examples_on_hosts_with_a_long_delay_are_waited_for(library, in_turn, done):
    """robots.txt takes the first turn: then nothing is under way for as long as the delay."""
    schedule = schedule_of(library, "")
    waits = {"examples_left": 1, "in_flight": False, "in_turn": in_turn, "last_call": False}
    assert not schedule.step(0.0, Tally(), **waits)
    with pytest.raises(ResourceError) if done else contextlib.nullcontext():  # it tries to learn
        assert not schedule.step(5.5, Tally(), **waits)


class Numbers(Trained):
    """A training schedule that notes what it is told."""

    def __init__(self, model):
        self.model, self.told = model, []

    def step(self, now, tally, **numbers):
        self.told.append(numbers)
        return False


def test_the_schedule_is_told_numbers_of_all_partitions():
    training = Numbers("")
    crawl = coordinator_of(training=training)
    says(crawl, 1, 1, examples_left=2, model="")
    crawl.step(0.0)
    assert training.told == [], "one has not reported: its examples are not known"
    crawl.observe(msgspec.structs.replace(REPORT, partition=1, examples_left=3, in_turn=True, in_flight=1))
    crawl.step(0.0)
    assert training.told == [{"examples_left": 5, "in_flight": True, "in_turn": True, "last_call": False}]


def test_a_partition_that_has_not_reported_counts_as_busy_once_there_is_a_model():
    training = Numbers("model")
    crawl = coordinator_of(training=training)
    says(crawl, 1, 1)
    crawl.step(0.0)
    assert [told["in_flight"] for told in training.told] == [True]


@pytest.mark.parametrize(
    ("report", "near_only"),
    [({"near": -1}, True), ({"near": 3}, True), ({"near": 0}, False), ({"near": 0, "pending": 1}, True),
     ({"near": 3, "wait": 500.0}, False), ({"near": 3, "wait": 500.0, "in_flight": 1}, True)],
)  # fmt: skip
@pytest.mark.parametrize("learning", [0, 10])
def test_b10_what_lies_outside_waits_while_a_partition_has_what_is_near(report, near_only, learning):
    crawl = coordinator_of(learning=LearningPhaseSettings(pages=learning))
    says(crawl, 1, **report)
    crawl.step(0.0)
    assert crawl.directive(0).near_only == (near_only and learning > 0)
    assert crawl.status().phase.learning == (learning > 0)


# --- sums and numbers ------------------------------------------------------------------------------------------------


def test_the_status_is_the_sum_of_all_partitions_and_of_those_that_were_replaced():
    crawl = coordinator_of()
    says(crawl, 1, tally=Tally(pages=3), queued=5, in_flight=2, unread=1, titles=[("t", "n", 0.5)])
    crawl.restarted(0)
    crawl.observe(msgspec.structs.replace(REPORT, tally=Tally(pages=1), queued=4))
    status = crawl.status()
    assert (status.tally.pages, status.queued, status.in_flight, status.unread) == (7, 9, 2, 1)
    assert (status.titles, status.model, status.reason) == ([("t", "n", 0.5)], "model", "")


def test_tallies_add_up():
    one = Tally(pages=1, bytes=5, reasons={"a": 1, "b": 2}, topics={0: 1})
    other = Tally(pages=2, failed=3, reasons={"b": 3, "c": 4})
    both = add(one, other)
    assert (both.pages, both.bytes, both.failed) == (3, 5, 3)
    assert (both.reasons, both.topics) == ({"a": 1, "b": 5, "c": 4}, {0: 1})
    assert add(Tally(), one) == one


def test_what_was_settled_unasked_is_in_the_tally_that_is_told():
    tally = Tally(failed=1, refused=2, reasons={"timeout": 1, "robots": 2}, topics={0: 1})
    whole = with_settled(tally, {(UrlState.FAILED, "bad-host"): 30, (UrlState.REFUSED, "queue-full"): 50})
    assert (whole.failed, whole.refused) == (31, 52)
    assert whole.reasons == {"timeout": 1, "robots": 2, "bad-host": 30, "queue-full": 50}
    assert (tally.failed, len(tally.reasons)) == (1, 2), "it is told again and again"
    tally.topics[0] += 1
    assert whole.topics == {0: 1}, "what was told stays as it was"


def test_the_number_of_partitions_is_chosen_once(tmp_path):
    library = LibraryFolder.create(tmp_path / "lib", "")
    assert partitions(library, Settings(crawl=CrawlSettings(workers=3))) == 3
    assert partitions(library, Settings()) == 3
    with pytest.raises(UsageError, match="split into 3 partitions"):
        partitions(library, Settings(crawl=CrawlSettings(workers=2)))


def test_messages_come_back_as_they_were_sent():
    for message in (
        Directive(5, "m", "drain"),
        Directive(5, "m", "", 7, (1, 2), CrawlPhase(True, (0, 3), 2), near_only=True),
        msgspec.structs.replace(REPORT, tally=Tally(reasons={"x": 1}, topics={-1: 2}), titles=[("t", "n", 0.5)]),
    ):  # fmt: skip
        assert decode(encode(message)) == message


def test_f04_a_partition_drains_for_a_while_and_stops_at_once_when_told():
    now = [0.0]
    control = ControlChannel(None, lambda: now[0])
    assert not control.over()
    control.accept(Directive(0, stop="drain"))
    now[0] = 19.0
    control.accept(Directive(0, stop="drain"))
    assert not control.over()
    now[0] = 20.1
    assert control.over(), "what is still under way is given up"
    now[0] = 1.0
    control.accept(Directive(0, stop="now"))
    assert control.over()


def test_a_directive_that_comes_late_is_none():
    control = ControlChannel(None, lambda: 0.0)
    for serial in (1, 3, 2):
        control.accept(Directive(10 * serial, serial=serial))
    assert control.order.granted == 30
