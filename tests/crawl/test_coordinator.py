"""The coordinator's decisions, without its processes: shares, endings, sums."""

import contextlib
import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analecta.crawl.control import ControlChannel, Directive, EngineStatus, decode, encode, with_settled
from analecta.crawl.coordinator import Crawl, WorkerHandle, add, partitions
from analecta.crawl.phases import CrawlPhases
from analecta.errors import ResourceError, UsageError
from analecta.frontier.policy import CrawlPhase
from analecta.model import Tally, UrlState
from analecta.settings.schema import CrawlSettings, FetchSettings, Settings, StopSettings, Topic, TrainingSettings
from analecta.store.library import LibraryFolder

REPORT = EngineStatus(0, 1, Tally(), 0, 0, 0, 0, 0, 0, 0, 0, "", -1.0, 0, [])
LOCAL = FetchSettings(connect_to="127.0.0.1:1")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return LibraryFolder.create(tmp_path_factory.mktemp("crawl") / "lib", "")


def crawl_of(library, workers=2, clock=lambda: 0.0, **stop):
    """A crawl whose partitions are told of, but not started."""
    library.put("partitions", workers)
    crawl = Crawl(library, Settings(topics=(Topic("t"),), fetch=LOCAL, stop=StopSettings(**stop)), clock)
    crawl.workers = [WorkerHandle(None, None) for _ in range(workers)]
    crawl.partitions, crawl.lessons.model = workers, "model"
    return crawl


def says(crawl, **values):
    """Every partition makes the same report, one number later than the last."""
    for worker in crawl.workers:
        serial = worker.report.serial + 1 if worker.report else 1
        worker.report = msgspec.structs.replace(REPORT, serial=serial, **values)


def test_f70_demoted_urls_wait_until_all_have_said_twice_that_nothing_else_is_left(library):
    crawl = crawl_of(library)
    one, other = crawl.workers

    def report(worker, number, serial, **values):
        worker.report = msgspec.structs.replace(REPORT, partition=number, serial=serial, **values)

    report(one, 0, 5, best=-2.0)
    report(other, 1, 8, best=-3.0)
    assert crawl._floor() == 0, "a link may have left one since it reported"
    report(one, 0, 6, best=-2.0)
    assert crawl._floor() == 0, "the other has not reported again"
    report(other, 1, 9, best=-3.0)
    assert crawl._floor() < 0
    report(other, 1, 10, best=-3.0, pending=1)
    assert crawl._floor() == 0
    report(other, 1, 11, best=-3.0)
    assert crawl._floor() == 0, "it is said anew"


# --- sharing out the pages -------------------------------------------------------------------------------------------


class Partition:
    """A partition as `_share` sees it: it obeys and reports late, and never asks for more than it was granted."""

    def __init__(self, queued):
        self.granted = self.pages = self.flying = self.order = 0
        self.queued = queued

    def work(self, rng):
        start = max(0, min(self.queued, self.granted - self.pages - self.flying, rng.randrange(20)))
        self.queued, self.flying = self.queued - start, self.flying + start
        done = rng.randint(0, self.flying)
        self.flying, self.pages = self.flying - done, self.pages + done

    def report(self):
        return msgspec.structs.replace(
            REPORT,
            tally=Tally(pages=self.pages),
            order=self.order,
            granted=self.granted,
            flying=self.flying,
            queued=self.queued,
        )


def simulate(crawl, rng, links, rounds=300):
    """Orders and reports come when they come; letters bring partitions that were idle new URLs."""
    parts = [Partition(rng.choice((0, 5, 1000))) for _ in crawl.workers]
    for serial in range(1, rounds):
        crawl._share()
        for worker, part in zip(crawl.workers, parts, strict=True):
            granted = worker.tell(serial)
            if rng.random() < 0.5:
                part.granted, part.order = granted, serial
            part.work(rng)
            if rng.random() < links:
                part.queued += rng.randrange(40)
            if rng.random() < 0.5:
                worker.report = part.report()
        yield parts


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), limit=st.sampled_from((1, 7, 100, 500)), workers=st.integers(1, 4))
def test_no_more_pages_are_granted_than_asked_for(library, seed, limit, workers):
    crawl = crawl_of(library, workers, pages=limit)
    for parts in simulate(crawl, random.Random(seed), links=0.0):
        assert sum(part.pages + part.flying for part in parts) <= limit


def test_what_a_partition_used_before_it_heard_that_its_grant_was_withdrawn_counts(library):
    crawl = crawl_of(library, 2, pages=100)
    one, other = crawl.workers
    one.granted = other.granted = 50
    for worker in (one, other):
        worker.tell(1)
    one.report = msgspec.structs.replace(REPORT, tally=Tally(pages=50), order=1, granted=50, queued=1000)
    other.report = msgspec.structs.replace(REPORT, tally=Tally(pages=10), order=1, granted=50)
    crawl._share()
    assert other.tell(2) == 10
    other.report = msgspec.structs.replace(REPORT, tally=Tally(pages=45), order=2, granted=10, queued=5)  # too late
    crawl._share()
    assert one.granted + max(45, other.granted) <= 100


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), workers=st.integers(1, 4))
def test_all_pages_asked_for_are_granted_to_those_who_have_work(library, seed, workers):
    crawl = crawl_of(library, workers, pages=200)
    parts = [Partition(0) for _ in range(workers)]
    for parts in simulate(crawl, random.Random(seed), links=0.0):  # noqa: B007
        pass
    left = sum(part.queued for part in parts)
    assert sum(part.pages + part.flying for part in parts) == 200 or left == 0


def test_without_a_limit_everything_is_granted(library):
    crawl = crawl_of(library)
    crawl._share()
    assert all(worker.granted > 10**12 for worker in crawl.workers)


def test_a_partition_started_again_gets_only_what_is_left(library):
    crawl = crawl_of(library, 1, pages=100)
    crawl._share()
    worker = crawl.workers[0]
    worker.report = msgspec.structs.replace(REPORT, tally=Tally(pages=60), granted=100, queued=500)
    worker.bury()
    crawl._share()
    assert worker.before.pages + worker.granted == 100


# --- the end ---------------------------------------------------------------------------------------------------------


def test_a_crawl_is_over_when_nothing_is_left_seen_twice(library):
    crawl = crawl_of(library)
    says(crawl, tally=Tally(answers=3))
    assert crawl._nothing_left() == ("", 0)
    assert crawl._nothing_left() == ("", 0), "the same reports are no second look"
    says(crawl, tally=Tally(answers=3))
    assert crawl._nothing_left() == ("nothing is left to fetch", 0)


def test_a_crawl_that_did_nothing_says_so_by_its_code(library):
    crawl = crawl_of(library)
    for _ in range(2):
        says(crawl)
        ending = crawl._nothing_left()
    assert ending == ("nothing is left to fetch", 3)


@pytest.mark.parametrize("busy", [{"flying": 1}, {"pending": 1}, {"sent": 1}, {"received": 1}, {"queued": 1}])
def test_a_crawl_is_not_over_while_something_is_under_way(library, busy):
    crawl = crawl_of(library)
    for _ in range(4):
        says(crawl)
        crawl.workers[1].report = msgspec.structs.replace(crawl.workers[1].report, **busy)
        assert crawl._nothing_left() == ("", 0)


def test_a_crawl_is_not_over_before_every_partition_has_spoken(library):
    crawl = crawl_of(library)
    for _ in range(3):
        says(crawl)
        crawl.workers[0].report = None
        assert crawl._nothing_left() == ("", 0)


def test_a_change_between_two_looks_starts_them_anew(library):
    crawl = crawl_of(library)
    for answers in (1, 2, 3):
        says(crawl, tally=Tally(answers=answers))
        assert crawl._nothing_left() == ("", 0)


@pytest.mark.parametrize(("wait", "over"), [(119.0, False), (121.0, True), (-1.0, False)])
def test_f22_a_crawl_ends_where_all_hosts_must_be_waited_for_too_long(library, wait, over):
    crawl = crawl_of(library, idle=120.0)
    for _ in range(2):
        says(crawl, queued=1200, wait=wait)
        reason, code = crawl._nothing_left()
    assert reason.startswith("2,400 URLs are left on hosts that must be waited for") == over
    assert code == 0


def test_f64_f72_a_crawl_ends_where_for_long_only_hosts_in_trouble_were_left(library):
    now = [0.0]
    crawl = crawl_of(library, 2, lambda: now[0], idle=120.0)

    def over(at, **values):
        now[0] = at
        says(crawl, queued=7, flying=1, wait=3.0, **values)
        return crawl._nothing_left()[0]

    assert [over(0.0, stuck=True), over(100.0, stuck=True), over(110.0, stuck=False)] == ["", "", ""]
    assert [over(120.0, stuck=True), over(239.0, stuck=True)] == ["", ""]
    assert "14 URLs are left on hosts that fail or refuse" in over(241.0, stuck=True)


def test_an_interrupt_ends_it_before_any_rule(library):
    crawl = crawl_of(library)
    crawl.interrupt()
    assert crawl._verdict([lambda _: "rule"]) == ("interrupted", 130)


class Alive:
    """A process that runs."""

    def poll(self):
        return None


def test_b8_partitions_are_not_told_to_stop_before_the_last_of_them_has_reported(library):
    crawl = crawl_of(library)
    for worker in crawl.workers:
        worker.process = Alive()
    says(crawl)
    assert crawl._drained([0, 0])
    crawl.workers[1].report = None
    assert not crawl._drained([0, 0]), "its letters would find nobody, and it would wait for receipts"


def test_c16_the_hosts_that_are_waited_for_are_named(library):
    crawl = crawl_of(library)
    for _ in range(2):
        says(crawl, queued=1, wait=500.0, next_host="slow.test")
        reason, _ = crawl._nothing_left()
    assert "hosts that must be waited for (slow.test first)" in reason


def test_a_rule_ends_it_once_all_pages_are_judged(library):
    crawl = crawl_of(library)
    says(crawl, model="m")
    assert crawl._verdict([lambda _: "enough"]) == ("", 0)
    crawl.lessons.model = "m"
    assert crawl._verdict([lambda _: "enough"]) == ("enough", 0)


def test_f03_a_short_disk_ends_it_with_its_own_code(library):
    crawl = crawl_of(library, free_disk=1 << 60)
    reason, code = crawl._verdict([])
    assert "free on the disk" in reason
    assert code == 4


@pytest.mark.parametrize(
    ("troubles", "silent", "delay", "down"),
    [(3, 3, None, True), (0, 3, None, False), (3, 0, None, False), (3, 3, 20.0, False)],
)
def test_the_network_is_down_where_requests_get_no_answer_and_not_where_none_is_made(
    library, troubles, silent, delay, down
):
    now = [0.0]
    crawl = crawl_of(library, 1, lambda: now[0])
    crawl.settings = msgspec.structs.replace(crawl.settings, fetch=FetchSettings(delay=delay))
    says(crawl, queued=100, silent=silent)
    assert crawl._outage(Tally(answers=500, troubles=3)) == ""
    now[0] = 16.0
    assert bool(crawl._outage(Tally(answers=500, troubles=3 + troubles))) == down


# --- lessons and the course ------------------------------------------------------------------------------------------


class Clumsy:
    """A teacher whose lessons go wrong."""

    def first(self):
        raise ValueError("two and two is five")

    def again(self, load, old):
        raise ValueError("two and two is five")


def test_a_lesson_that_goes_wrong_costs_the_lesson_and_not_the_crawl(library):
    ordered = CrawlSettings(ordered=True)
    crawl = Crawl(library, Settings(fetch=LOCAL, learn=TrainingSettings(every=4), crawl=ordered), lambda: 0.0)
    lessons = crawl.lessons
    lessons.model, lessons._teacher = "old", Clumsy()
    with contextlib.closing(lessons):
        adopted = [lessons.look([REPORT], Tally(pages=pages), False) for pages in (5, 10)]
    told = [note for _, note in library.notes()]
    assert told == ["a new model was not taken up: ValueError: two and two is five"] * 2
    assert (adopted, lessons.model) == ([False, False], "old")


def test_a_first_lesson_that_goes_wrong_is_told_in_words(library):
    crawl = crawl_of(library)
    crawl.lessons._teacher, crawl.lessons.model = Clumsy(), ""
    with pytest.raises(ResourceError, match="nothing could be learnt from the examples: ValueError: two and two"):
        crawl.lessons.look([REPORT], Tally(), True)


@pytest.mark.parametrize(("in_turn", "done"), [(True, False), (False, True)])
def test_l7_examples_on_hosts_with_a_long_delay_are_waited_for(library, in_turn, done):
    """robots.txt takes the first turn: then nothing is under way for as long as the delay."""
    now = [0.0]
    lessons = crawl_of(library, 1, lambda: now[0]).lessons
    waits = msgspec.structs.replace(REPORT, seeds_left=1, queued=1, wait=6.0, in_turn=in_turn)
    assert not lessons._seeds_done([waits], False)
    now[0] = 5.5
    assert lessons._seeds_done([waits], False) == done


@pytest.mark.parametrize(
    ("report", "near_only"),
    [({"near": -1}, True), ({"near": 3}, True), ({"near": 0}, False), ({"near": 0, "pending": 1}, True),
     ({"near": 3, "wait": 500.0}, False), ({"near": 3, "wait": 500.0, "flying": 1}, True)],
)  # fmt: skip
def test_b10_what_lies_outside_waits_while_a_partition_has_what_is_near(library, report, near_only):
    crawl = crawl_of(library)
    says(crawl, **report)
    assert not crawl._near_only(), "there is no learning phase"
    crawl._helm = CrawlPhases(["t"], learning=10)
    assert crawl._near_only() == near_only


# --- sums and numbers ------------------------------------------------------------------------------------------------


def test_tallies_add_up():
    one = Tally(pages=1, bytes=5, reasons={"a": 1, "b": 2}, topics={0: 1})
    other = Tally(pages=2, failed=3, reasons={"b": 3, "c": 4})
    both = add(one, other)
    assert (both.pages, both.bytes, both.failed) == (3, 5, 3)
    assert (both.reasons, both.topics) == ({"a": 1, "b": 5, "c": 4}, {0: 1})
    assert add(Tally(), one) == one


def test_what_was_settled_unasked_is_in_the_tally_that_is_told():
    tally = Tally(failed=1, refused=2, reasons={"timeout": 1, "robots": 2})
    whole = with_settled(tally, {(UrlState.FAILED, "bad-host"): 30, (UrlState.REFUSED, "queue-full"): 50})
    assert (whole.failed, whole.refused) == (31, 52)
    assert whole.reasons == {"timeout": 1, "robots": 2, "bad-host": 30, "queue-full": 50}
    assert (tally.failed, len(tally.reasons)) == (1, 2), "it is told again and again"


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
    reins = ControlChannel(None, lambda: now[0])
    assert not reins.over()
    reins.accept(Directive(0, stop="drain"))
    now[0] = 19.0
    reins.accept(Directive(0, stop="drain"))
    assert not reins.over()
    now[0] = 20.1
    assert reins.over(), "what is still under way is given up"
    now[0] = 1.0
    reins.accept(Directive(0, stop="now"))
    assert reins.over()


def test_an_order_that_comes_late_is_none():
    reins = ControlChannel(None, lambda: 0.0)
    for serial in (1, 3, 2):
        reins.accept(Directive(10 * serial, serial=serial))
    assert reins.order.granted == 30
