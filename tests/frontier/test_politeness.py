"""Manners: whatever happens, no host is asked too often or too much; time is an argument."""

import time
from email.utils import formatdate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from making import candidate, pushed, shard_at

from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import MAX_WAIT, MIN_WAIT, Domain, HostQueue, Politeness, retry_after

NOW = 1_700_000_000.0
QUICK = settings(max_examples=150, deadline=None)
WHATS = ("ask", "ask", "leave", "leave", "answered", "pressed", "failed", "dropped")
STEPS = st.lists(st.tuples(st.sampled_from((0.0, 0.1, 0.7, 2.0, 9.0)), st.sampled_from(WHATS)), max_size=60)


def turns_at(manners, now=0.0):
    return HostQueue("h.test", Domain(), manners, now)


@QUICK
@given(STEPS, st.sampled_from((0.0, 0.5, 3.0)), st.integers(1, 4))
def test_no_two_starts_are_closer_than_the_delay_nor_more_under_way_than_allowed(steps, delay, parallel):
    manners = Politeness(delay, parallel, strikes=1000)
    turns, now, last, ended = turns_at(manners), 0.0, -1e9, -1e9
    for seconds, what in steps:
        now += seconds
        if what == "ask" and turns.free() and turns.next <= now:
            assert now - ended >= delay
            turns.asked()
            assert turns.in_flight <= parallel
        elif what == "leave" and turns.unsent:
            assert now - last >= delay
            turns.left(now)
            last = now
        elif what not in ("ask", "leave") and turns.in_flight > turns.unsent:
            ended = ended if what == "dropped" else now
            end(turns, what, now, manners)


def end(turns, what, now, manners):
    if what == "pressed":
        turns.pressed(now, manners, 1.0)
    elif what == "dropped":
        turns.dropped(now)
    else:
        getattr(turns, what)(now, manners)


@QUICK
@given(STEPS)
def test_the_time_of_the_next_request_never_moves_back(steps):
    manners = Politeness(1.0, 3, strikes=1000)
    turns, now, due = turns_at(manners), 0.0, 0.0
    for seconds, what in steps:
        now += seconds
        if what == "ask" and turns.free() and turns.next <= now:
            turns.asked()
        elif what == "leave" and turns.unsent:
            turns.left(now)
        elif what not in ("ask", "leave") and turns.in_flight > turns.unsent:
            end(turns, what, now, manners)
        assert turns.next >= due
        due = turns.next


def test_f22_a_host_that_presses_is_asked_half_as_much_and_trusted_again_slowly():
    manners = Politeness(0.0, 8)
    turns = turns_at(manners)
    turns.asked()
    turns.pressed(0.0, manners, 60.0)
    assert (turns.parallel, turns.next) == (4, 60.0)
    for good in range(40):
        assert turns.parallel == 4 + good // 10
        turns.asked()
        turns.answered(60.0, manners)
    assert turns.parallel == 8


def test_f09_a_host_that_fails_is_left_alone_twice_as_long_each_time_then_given_up():
    manners = Politeness(1.0, 2, strikes=3, back_off=10.0, patience=0.0)
    turns, waits = turns_at(manners), []
    for _ in range(3):
        now = turns.next
        turns.asked()
        turns.left(now)
        turns.failed(now, manners)
        waits.append(turns.next - now)
    assert waits == [10.0, 20.0, 40.0]
    assert turns.bad
    assert not turns.free()


def test_a_good_answer_forgives_failures():
    manners = Politeness(0.0, 2, strikes=2)
    turns = turns_at(manners)
    for how in ("failed", "answered", "failed"):
        turns.asked()
        getattr(turns, how)(0.0, manners)
    assert not turns.bad


def test_a_held_host_has_no_turn_until_the_fetch_is_over():
    turns = turns_at(Politeness(0.0, 2))
    turns.asked()
    turns.held = True
    assert not turns.free()
    turns.dropped(1.0)
    assert turns.free()


@pytest.mark.parametrize(("took", "pause"), [(0.1, 1.0), (2.0, 10.0), (60.0, 30.0)])
def test_f69_a_delay_may_adapt_to_the_response_time_within_bounds(took, pause):
    manners = Politeness(1.0, delay_factor=5.0, max_delay=30.0)
    turns = turns_at(manners)
    turns.asked()
    turns.left(0.0)
    turns.answered(took, manners, took)
    assert turns.next == took + pause


def test_f64_refusals_in_a_row_are_waited_for_longer_each_time_and_given_up_in_the_end():
    manners = Politeness(1.0, back_off=10.0)
    turns, waits, reason = turns_at(manners), [], ""
    while not reason:
        now = turns.next
        turns.asked()
        reason = turns.pressed(now, manners, 1.0)
        waits.append(turns.next - now)
    assert waits[:8] == [1.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 600.0]
    assert (reason, turns.free()) == ("busy-host", False)
    assert 3600.0 <= sum(waits[:-1]) <= 4300.0


def test_f72_what_cannot_change_is_given_up_without_patience():
    manners = Politeness(1.0, strikes=2)
    turns, reasons = turns_at(manners), []
    for _ in range(2):
        turns.asked()
        reasons.append(turns.failed(turns.next, manners, hopeless=True))
    assert reasons == ["", "bad-host"]


# --- Retry-After -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", MIN_WAIT),
        ("-5", 10.0),
        ("1.5", 10.0),
        ("99999999999999999999", MAX_WAIT),
        ("9" * 5000, MAX_WAIT),
        ("٣٠", 10.0),
        ("²", 10.0),
        ("", 10.0),
        ("soon", 10.0),
        ("nan", 10.0),
        ("1e9", 10.0),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW - 90, usegmt=True), MIN_WAIT),
        (formatdate(NOW + 10 * 365 * 86_400, usegmt=True), MAX_WAIT),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 60.0),
        ("Tuesday, 14-Nov-23 22:14:20 GMT", 60.0),
        ("Wed, 31 Feb 2024 00:00:00 GMT", 10.0),
        ("Fri, 01 Jan 99999 00:00:00 GMT", 10.0),
    ],
)
def test_f22_retry_after(text, wait):
    assert retry_after({"retry-after": text}, NOW, 10.0) == wait


@QUICK
@given(st.text() | st.from_regex(r"\A[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} \d\d:\d\d:\d\d( [-+]?\w+)?\Z"))
@example("Mon, 01 Jan 0001 00:00:00 +2359")
@example("Mon, 01 Jan 0001 00:00:00")
def test_f22_whatever_retry_after_says_the_wait_is_within_reason(text):
    assert MIN_WAIT <= retry_after({"retry-after": text}, NOW, 10.0) <= MAX_WAIT


@pytest.mark.parametrize("default", [0.0, 1e9])
def test_f22_a_default_out_of_reason_is_brought_within_it(default):
    assert MIN_WAIT <= retry_after({}, NOW, default) <= MAX_WAIT


@pytest.fixture
def in_tokyo(monkeypatch):
    monkeypatch.setenv("TZ", "JST-9")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("text", ["Tue Nov 14 22:14:20 2023", "Tue, 14 Nov 2023 22:14:20 -0000"])
def test_f22_a_date_without_a_zone_is_in_utc_wherever_we_are(in_tokyo, text):
    assert retry_after({"retry-after": text}, NOW, 10.0) == 60.0


# --- clocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump", [-86_400.0, 0.0, 86_400.0])
def test_f07_a_date_is_turned_into_a_wait_once_and_later_jumps_do_not_matter(jump):
    turns = turns_at(Politeness(1.0), now=500.0)
    turns.asked()
    turns.pressed(501.0, Politeness(1.0), retry_after({"retry-after": formatdate(NOW + 30, usegmt=True)}, NOW, 10.0))
    retry_after({"retry-after": formatdate(NOW, usegmt=True)}, NOW + jump, 10.0)
    assert turns.next == 531.0


def test_f07_the_frontier_never_looks_at_a_clock(monkeypatch):
    def never():
        raise AssertionError("the frontier asked for the time")

    manners = Politeness(5.0)
    with shard_at() as shard:
        for clock in ("time", "time_ns", "monotonic", "perf_counter", "sleep"):
            monkeypatch.setattr(time, clock, never)
        frontier = Frontier(shard, manners, now=7.0)
        pushed(frontier, candidate("http://a/1"), candidate("http://a/2"))
        one = frontier.pop(2, 7.0)
        frontier.close(one[0], 8.0, lambda host: host.answered(8.0, manners))
        assert (len(one), frontier.pop(1, 12.9), frontier.next_due()) == (1, [], 13.0)
        monkeypatch.undo()


def test_f07_time_that_seems_to_go_back_is_taken_as_standing_still():
    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(5.0), now=100.0)
        pushed(frontier, candidate("http://a/1"), candidate("http://a/2"))
        (one,) = frontier.pop(1, 100.0)
        frontier.sent(one.id, one.host, 100.0)
        assert frontier.pop(1, 20.0) == []
        assert len(frontier.pop(1, 105.0)) == 1


def test_f68_a_host_waits_for_one_answer_and_not_for_the_parser():
    manners = Politeness(5.0, parallel=1)
    with shard_at() as shard:
        frontier = Frontier(shard, manners)
        pushed(frontier, *(candidate(f"http://a/{n}") for n in range(4)))
        (one,) = frontier.pop(1, 0.0)
        frontier.sent(one.id, one.host, 0.0)
        assert frontier.pop(1, 7.0) == [], "its answer is under way"
        frontier.land(one.id, one.host, 8.0)
        assert frontier.pop(1, 12.9) == []
        (two,) = frontier.pop(1, 13.0)
        frontier.sent(two.id, two.host, 13.0)
        frontier.land(two.id, two.host, 14.0)
        assert frontier.pop(1, 20.0) == [], "two are being parsed"
        frontier.close(one, 21.0, lambda host: host.answered(21.0, manners))
        assert len(frontier.pop(1, 26.0)) == 1


def test_f68_a_request_does_not_leave_when_another_answer_has_ended_while_it_was_connecting():
    manners = Politeness(5.0, parallel=2)
    with shard_at() as shard:
        frontier = Frontier(shard, manners)
        pushed(frontier, candidate("http://a/1"), candidate("http://a/2"))
        (one,) = frontier.pop(1, 0.0)
        assert frontier.sent(one.id, one.host, 0.0)
        (two,) = frontier.pop(1, 5.0)
        frontier.close(one, 6.0, lambda host: host.answered(6.0, manners))
        assert not frontier.sent(two.id, two.host, 6.1)
        assert frontier.sent(two.id, two.host, 11.0)


def test_f21_a_crawl_delay_counts_from_the_request_that_is_under_way():
    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(1.0, parallel=2))
        pushed(frontier, candidate("http://a/1"), candidate("http://a/2"))
        assert len(frontier.pop(1, 0.0)) == 1
        frontier.slow_down("a", 10.0)
        assert frontier.pop(1, 2.0) == []


def test_f21_a_crawl_delay_never_makes_us_faster():
    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(5.0))
        frontier.slow_down("a", 0.1)
        assert frontier.hosts["a"].delay == 5.0
        frontier.slow_down("a", 20.0)
        assert frontier.hosts["a"].delay == 20.0


def test_f21_a_crawl_delay_that_was_taken_back_is_forgotten():
    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(5.0))
        frontier.slow_down("a", 20.0)
        frontier.forget_delay("a")
        assert frontier.hosts["a"].delay == 5.0


def test_f19_a_robots_file_that_moved_within_its_host_is_waited_for_whatever_the_delay():
    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(20.0))
        pushed(frontier, candidate("http://a/"))
        (one,) = frontier.pop(1, 0.0)
        frontier.sent(one.id, one.host, 0.0)
        assert frontier.claim("a", 1.0) == 0.0
        assert frontier.turn_wait("a", 1.0) == 19.0
        assert frontier.claim("a", 1.0) > 0.0, "two turns are too long"


@pytest.mark.parametrize(
    ("end", "floor", "in_turn"),
    [("answered", 0.0, True), ("answered", 1.0, False), ("failed", 0.0, False), ("pressed", 0.0, False)],
)
def test_what_waits_for_its_turn_is_told_from_what_waits_for_a_host_in_trouble(end, floor, in_turn):
    manners = Politeness(20.0)
    ends = {
        "answered": lambda host: host.answered(1.0, manners),
        "failed": lambda host: host.failed(1.0, manners),
        "pressed": lambda host: host.pressed(1.0, manners, 60.0),
    }
    with shard_at() as shard:
        frontier = Frontier(shard, manners)
        pushed(frontier, candidate("http://a/1"), candidate("http://a/2"))
        (one,) = frontier.pop(1, 0.0)
        frontier.sent(one.id, one.host, 0.0)
        assert frontier.in_turn(0.0)
        frontier.close(one, 1.0, ends[end])
        assert frontier.in_turn(floor) == in_turn
