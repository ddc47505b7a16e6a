"""Counted time, and the lines in which requests to one host stand."""

import asyncio

from making import candidate, pushed, shard_at

from analecta.frontier.clock import PAGE, CountedClock
from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import Politeness


class Clock:
    time = 1000.3

    def __call__(self):
        return self.time


def test_counted_time_passes_with_pages_and_not_by_the_clock():
    lines = CountedClock(clock := Clock())
    clock.time += 60
    assert lines.now == 0
    lines.count(128)
    assert lines.now == 1


def test_where_nothing_can_be_done_time_passes_by_the_clock():
    lines = CountedClock(clock := Clock())
    lines.idle(2.5)
    clock.time += 2.4
    lines.idle(2.5)
    assert lines.now == 0
    clock.time += 0.2
    lines.idle(2.5)
    assert lines.now == 2.5


def test_time_stays_whole_pages_whatever_is_waited_for():
    lines = CountedClock(clock := Clock())
    lines.idle(0.3)
    clock.time += 1
    lines.idle(0.3)
    assert 0.3 <= lines.now < 0.3 + PAGE
    assert lines.now % PAGE == 0


def test_who_joins_after_trouble_was_taken_in_stands_in_a_new_line():
    lines = CountedClock(clock := Clock())
    first, second = lines.join("a.test"), lines.join("a.test")
    assert first is second
    first.broken = True
    lines.leave("a.test", first, 10)
    assert lines.join("a.test") is not first
    assert lines.join("a.test").next == clock() + 10


def test_a_turn_out_of_line_is_waited_for_but_not_for_ever():
    lines = CountedClock(clock := Clock())
    lines.join("a.test", clock() + 2)
    assert [lines.reserve("a.test", 1), lines.reserve("a.test", 1)] == [2, 3]
    lines.join("a.test", clock() + 3600)
    assert lines.reserve("a.test", 1) is None


def test_b16_nobody_goes_before_the_host_may_be_asked():
    lines = CountedClock()
    line = lines.join("a.test", lines.clock() + 0.05)
    asyncio.run(line.turn(lines.clock))
    assert lines.clock() >= line.next


def test_a_frontier_in_order_goes_by_counted_time_alone():
    lines = CountedClock(clock := Clock())
    with shard_at() as shard:
        frontier = Frontier(shard, Politeness(1.0), now=clock())
        frontier.count_time(lines)
        pushed(frontier, candidate("http://a.test/1"), candidate("http://a.test/2"))
        assert len(frontier.pop(9, lines.now)) == 1
        clock.time += 60
        assert frontier.pop(9, lines.now) == []
        assert (frontier.first_due(), frontier.next_due()) == (1.0, clock() + 1.0)
        lines.count(128)
        assert len(frontier.pop(9, lines.now)) == 1
